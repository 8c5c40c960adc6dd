package nftables

import (
	"context"
	"fmt"
	"strings"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// Difference is one thing in which the kernel is not as a program has it.
type Difference struct {
	Kind string // "table", "set", "chain" or "rule"
	Name string // of the table, the set or the chain; of a rule's chain
	Rule int    // number of the rule in its chain, from 1
	// Want and Have describe the object in the program and in the kernel; empty: it is not there.
	Want, Have string
	// Missing are the addresses that a set lacks, Extra those that it has too many.
	Missing, Extra cidr.Set
	// Stale: nothing uses the object. An operation that was killed has left it, and the next one sweeps it.
	Stale bool
}

// String describes the difference on one line, with the first ranges of a set that differ.
func (d Difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", d.Kind, d.Name)
	if d.Rule != 0 {
		fmt.Fprintf(&b, " rule %d", d.Rule)
	}
	switch {
	case d.Want != "" && d.Have == "":
		fmt.Fprintf(&b, ": missing: %s", d.Want)
	case d.Want == "" && d.Have != "":
		fmt.Fprintf(&b, ": not in the program: %s", d.Have)
	case d.Want != d.Have:
		fmt.Fprintf(&b, ": %s instead of %s", d.Have, d.Want)
	}
	for _, side := range []struct {
		name string
		set  cidr.Set
	}{{"missing", d.Missing}, {"extra", d.Extra}} {
		if n := side.set.NumRanges(); n > 0 {
			fmt.Fprintf(&b, ": %d ranges %s:", n, side.name)
			i := 0
			for r := range side.set.Ranges() {
				if i++; i > 5 {
					b.WriteString(" ...")
					break
				}
				fmt.Fprintf(&b, " %v", r)
			}
		}
	}
	return b.String()
}

// Verify compares what the kernel holds with the program, rule by rule and element by element, and returns the
// differences; none means that the program is in force as it is. Values of counters do not count.
func (n *Netlink) Verify(ctx context.Context, p *compile.Program) ([]Difference, error) {
	if err := checkProgram("verify", p); err != nil {
		return nil, err
	}
	var found []Difference
	err := n.do(ctx, "verify", p.Owner, func(s *session) (err error) {
		n.tell(Progress{Op: "verify", Owner: p.Owner, Step: "read"})
		found, err = n.verify(s, p)
		return err
	})
	return found, err
}

func (n *Netlink) verify(s *session, p *compile.Program) ([]Difference, error) {
	want, err := wanted(p)
	if err != nil {
		return nil, err
	}
	have, err := s.read(p.Owner, func(*SetState) bool { return true })
	if err != nil {
		return nil, err
	}
	return differences(p, want, have), nil
}

// Repair verifies, and if there is a difference brings the kernel to what the program says, as Update does. It returns the
// differences that there were.
func (n *Netlink) Repair(ctx context.Context, p *compile.Program) ([]Difference, error) {
	if err := checkProgram("repair", p); err != nil {
		return nil, err
	}
	var found []Difference
	err := n.do(ctx, "repair", p.Owner, func(s *session) error {
		n.tell(Progress{Op: "repair", Owner: p.Owner, Step: "read"})
		want, err := wanted(p)
		if err != nil {
			return err
		}
		have, err := s.read(p.Owner, func(*SetState) bool { return true })
		if err != nil {
			return err
		}
		if found = differences(p, want, have); len(found) == 0 {
			return nil
		}
		_, err = n.update(s, "repair", nil, p, false)
		return err
	})
	return found, err
}

// differences compares the state that a program makes with one that the kernel has.
func differences(p *compile.Program, want, have *State) []Difference {
	if !have.Exists {
		return []Difference{{Kind: "table", Name: tableName(p.Owner), Want: "table inet " + tableName(p.Owner)}}
	}
	var list []Difference
	if have.flags != 0 {
		list = append(list, Difference{Kind: "table", Name: tableName(p.Owner), Want: "flags 0x0", Have: fmt.Sprintf("flags %#x", have.flags)})
	}
	sets, used := have.setsByName(), map[*SetState]bool{}
	for _, s := range p.Sets {
		held := sets[s.Name]
		if held == nil {
			list = append(list, Difference{Kind: "set", Name: s.Name, Want: shapeOf(s).String()})
			continue
		}
		used[held] = true
		d := Difference{Kind: "set", Name: s.Name}
		if wants := shapeOf(s); held.shape != wants || held.other {
			d.Want, d.Have = wants.String(), held.shape.String()
			if held.other {
				d.Have += " with elements that are no ranges"
			}
			list = append(list, d)
			continue
		}
		addrs := s.Addrs.Only(s.Family)
		if addrs.Equal(held.Addrs) {
			continue
		}
		d.Extra, d.Missing = addrs.Diff(held.Addrs)
		list = append(list, d)
	}
	for i := range have.Sets {
		if s := &have.Sets[i]; !used[s] {
			list = append(list, Difference{Kind: "set", Name: s.Kernel, Have: s.shape.String(), Stale: s.stale})
		}
	}
	chains := have.chainsByName()
	inWant := want.chainsByName()
	for i := range want.Chains {
		w := &want.Chains[i]
		h := chains[w.Name]
		if h == nil {
			list = append(list, Difference{Kind: "chain", Name: w.Name, Want: w.describe()})
			continue
		}
		if w.Hook != h.Hook {
			list = append(list, Difference{Kind: "chain", Name: w.Name, Want: w.describe(), Have: h.describe()})
		}
		for i := range max(len(w.Rules), len(h.Rules)) {
			d := Difference{Kind: "rule", Name: w.Name, Rule: i + 1}
			if i < len(w.Rules) {
				d.Want = w.Rules[i].describe()
			}
			if i < len(h.Rules) {
				d.Have = h.Rules[i].describe()
			}
			if d.Want != d.Have {
				list = append(list, d)
			}
		}
	}
	for i := range have.Chains {
		if c := &have.Chains[i]; inWant[c.Name] == nil || chains[c.Name] != c {
			list = append(list, Difference{Kind: "chain", Name: c.Kernel, Have: c.describe(), Stale: c.stale})
		}
	}
	return list
}

func (s setShape) String() string {
	if f := s.family(); f != 0 && s.size == 0 && s.flags&setConstant == 0 {
		return fmt.Sprintf("set of %v ranges", f)
	}
	return fmt.Sprintf("set of flags %#x, keys of type %d and %d bytes, size %d", s.flags, s.keyType, s.keyLen, s.size)
}

func (c *ChainState) describe() string {
	if c.Hook != "" {
		return "base chain at " + c.Hook
	}
	return "chain"
}

func (r *RuleState) describe() string {
	if r.Comment != "" {
		return r.Text + " # " + r.Comment
	}
	return r.Text
}
