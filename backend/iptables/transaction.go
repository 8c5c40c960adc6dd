package iptables

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// wanted is what a family's table is to hold of an owner, and where its jumps are to be, which may depend on where they
// are.
type wanted struct {
	chains []string
	rules  []byte // lines, "-A chain ...", those of a chain after the line that declares it
	jumps  func(now *state) map[string][]jump
}

// nothing is what Remove wants.
func nothing() *wanted {
	return &wanted{jumps: func(*state) map[string][]jump { return nil }}
}

// wantedBy returns what the program wants of the family. A jump stays where it is; of several, the first stays, since
// what stands before it has not been filtered until now either. Where there is none, it comes first.
func wantedBy(p *compile.Program, f cidr.Family) (*wanted, error) {
	w := &wanted{}
	goal := map[string]string{}
	for _, c := range ordered(p) { // see payload
		if c.Family != 0 && c.Family != f {
			continue
		}
		w.chains = append(w.chains, c.Name)
		w.rules = fmt.Appendf(w.rules, ":%s - [0:0]\n", c.Name)
		if c.Hook != nil {
			goal[builtin(c.Hook.Point)] = c.Name
		}
		for i := range c.Rules {
			r := &c.Rules[i]
			if of := r.FamilyIn(c); of != 0 && of != f {
				continue
			}
			var err error
			if w.rules, err = appendRule(w.rules, c, r, f); err != nil {
				return nil, fmt.Errorf("chain %s rule %d: %w", c.Name, i+1, err)
			}
			w.rules = append(w.rules, '\n')
		}
	}
	w.jumps = func(now *state) map[string][]jump {
		jumps := map[string][]jump{}
		for name, chain := range goal {
			at := 1
			if there := now.jumps[name]; len(there) > 0 {
				at = there[0].at
			}
			jumps[name] = []jump{{at: at, chain: chain}}
		}
		return jumps
	}
	return w, nil
}

// wantedAgain returns what puts a state back, with its counters and each jump at its old place.
func wantedAgain(s *state) *wanted {
	var rules []byte
	for _, c := range s.chains {
		rules = fmt.Appendf(rules, ":%s - [0:0]\n", c)
	}
	return &wanted{chains: s.chains, rules: append(rules, s.rules...), jumps: func(*state) map[string][]jump { return s.jumps }}
}

// transaction returns the payload, for one family, that makes the owner's part of the table what is wanted, and nil if
// there is nothing to do.
//
// Jumps are deleted by what they say, never by their number: should another program have changed the built-in chain since
// the state was read, a number could be another's rule.
func (now *state) transaction(owner string, w *wanted) ([]byte, error) {
	if now.isEmpty() && len(w.chains) == 0 {
		return nil, nil
	}
	keep := map[string]bool{}
	for _, c := range w.chains {
		keep[c] = true
	}
	for _, r := range now.foreign {
		if !keep[r.chain] {
			return nil, fmt.Errorf("%w: chain %s has to go, but another's rule goes to it: delete that rule first: %s",
				backend.ErrRefused, r.chain, backend.ClipDetail(r.line))
		}
	}
	var out bytes.Buffer
	out.Grow(len(w.rules) + 1<<12)
	out.WriteString("*filter\n")
	var gone []string
	for _, c := range now.chains {
		if !keep[c] {
			gone = append(gone, c)
			fmt.Fprintf(&out, ":%s - [0:0]\n", c) // empty, so that none of them holds another
		}
	}
	out.Write(w.rules)
	jumps := w.jumps(now)
	for _, name := range []string{"INPUT", "FORWARD", "OUTPUT"} {
		if sameJumps(now.jumps[name], jumps[name]) {
			continue
		}
		for _, j := range now.jumps[name] {
			fmt.Fprintf(&out, "-D %s %s\n", name, jumpRule(owner, j.chain))
		}
		for _, j := range jumps[name] {
			fmt.Fprintf(&out, "%s-I %s %d %s\n", j.counters, name, j.at, jumpRule(owner, j.chain))
		}
	}
	slices.Sort(gone)
	for _, c := range slices.Backward(gone) {
		fmt.Fprintf(&out, "-X %s\n", c)
	}
	out.WriteString("COMMIT\n")
	return out.Bytes(), nil
}
