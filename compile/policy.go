package compile

import (
	"fmt"
	"slices"
	"time"

	"github.com/cidrc/cidrc/cidr"
)

// Policy is what the user wants. It is plain data; Decide and Compile do not keep the slices of a Policy but may share
// the memory of its sets, which are immutable.
//
// For a packet, the guards are asked first, then Keep, then local space if PassLocal is set, then the rules in their
// order. The first that is about the packet decides; if none is, Default does.
type Policy struct {
	// Owner is the name under which the program's objects live in the kernel; see CheckOwner. Programs of two owners do
	// not touch each other, and applying a program replaces the one of the same owner.
	Owner string
	// Hooks is where the rules stand; none means Input alone. The same sets serve all of them.
	Hooks []Hook
	// WithoutGuards turns guards off by name. All others are on.
	WithoutGuards []Guard
	// Keep is the never-block set: its addresses pass whatever the rules say.
	Keep cidr.Set
	// PassLocal passes the addresses of cidr.Local before any rule.
	PassLocal bool
	// Rules are asked in their order.
	Rules []Rule
	// Default decides about addresses that no rule holds.
	Default Action
	// Origins says where the addresses came from. It changes nothing; Explain and the head of a payload repeat it.
	Origins []Origin
}

// Rule decides about the packets whose address is in a set.
type Rule struct {
	// Name is what Eval and Explain call the rule. Letters, digits, blanks and _.,:+-/@()= can be used, at most
	// MaxRuleName of them, and no two rules share a name.
	Name string
	// Addrs is compared with the end of the packet that Side says.
	Addrs cidr.Set
	Side  Side
	// Services limits the rule to packets of any of these; none means no limit. Eval of a Decision understands them; no
	// layout does yet, so a policy that has them does not compile.
	Services []Service
	Action   Action
	// AllowEmpty lets Addrs be empty. Otherwise that is ErrEmptyRule.
	AllowEmpty bool
}

// Service is a kind of traffic. Zero fields match anything.
type Service struct {
	Protocol Protocol
	// Ports are the destination ports, of TCP, UDP or SCTP.
	Ports   []Ports
	In, Out string // interfaces
}

// Ports is an inclusive range of ports.
type Ports struct{ First, Last uint16 }

// Origin is where addresses came from.
type Origin struct {
	Name        string // "DB-IP Lite"
	Date        time.Time
	Licence     string
	Attribution string // a line that the licence asks for
}

// AllowOnly returns the policy that passes the allowed addresses and drops the others, with all guards on and local space
// passing. listed is the space that the data knows at all, for example cidr.Map.Set of a country database, and the empty
// Set for a plain list of addresses: what is listed and not allowed is dropped by a rule of its own, and Default, which is Drop, is left to unlisted space, so that it can
// be set to Pass or Any. Owner has to be filled in.
func AllowOnly(name string, allowed, listed cidr.Set) Policy {
	return listPolicy(name, "listed but not allowed", allowed, listed, Pass, Drop, Drop)
}

// Block returns the policy that drops the blocked addresses and passes the others, with all guards on and local space
// passing. listed is as in AllowOnly; Default, which is Pass, is left to unlisted space. Owner has to be filled in.
func Block(name string, blocked, listed cidr.Set) Policy {
	return listPolicy(name, "listed but not blocked", blocked, listed, Drop, Pass, Pass)
}

func listPolicy(name, restName string, chosen, listed cidr.Set, forChosen, forRest, forUnlisted Verdict) Policy {
	return Policy{
		PassLocal: true,
		Rules: []Rule{
			{Name: name, Addrs: chosen, Action: Action{Verdict: forChosen}},
			{Name: restName, Addrs: listed.Difference(chosen), Action: Action{Verdict: forRest}, AllowEmpty: true},
		},
		Default: Action{Verdict: forUnlisted},
	}
}

// hooks returns the policy's hooks, Input if it names none.
func (p *Policy) hooks() []Hook {
	if len(p.Hooks) == 0 {
		return []Hook{{Point: Input}}
	}
	return p.Hooks
}

// guardOn reports whether the guard is on.
func (p *Policy) guardOn(g Guard) bool { return !slices.Contains(p.WithoutGuards, g) }

// check finds what is wrong with the policy whatever the target.
func (p *Policy) check() error {
	if err := CheckOwner(p.Owner); err != nil {
		return &PolicyError{Where: "owner", Err: err}
	}
	for _, g := range p.WithoutGuards {
		if g == 0 || int(g) >= len(guardNames) {
			return &PolicyError{Where: "guards", Err: fmt.Errorf("%w: %v", ErrInvalid, g)}
		}
	}
	seen := map[Point]bool{}
	for _, h := range p.hooks() {
		if err := h.check(); err != nil {
			return err
		}
		if seen[h.Point] && h.Point != Ingress {
			return &PolicyError{Where: "hooks", Err: fmt.Errorf("%w: %v stands there twice", ErrInvalid, h.Point)}
		}
		seen[h.Point] = true
		for _, g := range Guards() {
			if !p.guardOn(g) {
				continue
			}
			if err := g.checkAt(h); err != nil {
				return err
			}
		}
	}
	if len(p.Rules) == 0 {
		return &PolicyError{Where: "rules", Err: ErrEmptyPolicy}
	}
	names := map[string]bool{}
	for i := range p.Rules {
		r := &p.Rules[i]
		if err := checkRuleName(r.Name); err != nil {
			return &PolicyError{Where: fmt.Sprintf("rule %d", i+1), Err: err}
		}
		where := fmt.Sprintf("rule %q", r.Name)
		if names[r.Name] {
			return &PolicyError{Where: where, Err: fmt.Errorf("%w: another rule has the same name", ErrInvalid)}
		}
		names[r.Name] = true
		if r.Addrs.IsEmpty() && !r.AllowEmpty {
			return &PolicyError{Where: where, Err: ErrEmptyRule}
		}
		if r.Side > Destination {
			return &PolicyError{Where: where, Err: fmt.Errorf("%w: %v", ErrInvalid, r.Side)}
		}
		if err := r.Action.check(); err != nil {
			return &PolicyError{Where: where, Err: err}
		}
		for _, s := range r.Services {
			if err := s.check(); err != nil {
				return &PolicyError{Where: where, Err: err}
			}
		}
	}
	if err := p.Default.check(); err != nil {
		return &PolicyError{Where: "default", Err: err}
	}
	return nil
}

func (a Action) check() error {
	if a.Verdict == 0 || int(a.Verdict) >= len(verdictNames) {
		return fmt.Errorf("%w: the verdict is not set", ErrInvalid)
	}
	if a.Verdict == Any && (a != Action{Verdict: Any}) {
		return fmt.Errorf("%w: an action that does not matter cannot count, mark, log or limit", ErrInvalid)
	}
	return nil
}

func (s Service) check() error {
	for _, ports := range s.Ports {
		if ports.Last < ports.First {
			return fmt.Errorf("%w: ports %d-%d end before they start", ErrInvalid, ports.First, ports.Last)
		}
	}
	if len(s.Ports) > 0 && s.Protocol != TCP && s.Protocol != UDP && s.Protocol != SCTP {
		return fmt.Errorf("%w: %v has no ports", ErrInvalid, s.Protocol)
	}
	for _, name := range []string{s.In, s.Out} {
		if name != "" {
			if err := checkInterface(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s Service) holds(p *Packet) bool {
	if s.Protocol != 0 && s.Protocol != p.Protocol || s.In != "" && s.In != p.In || s.Out != "" && s.Out != p.Out {
		return false
	}
	return len(s.Ports) == 0 || slices.ContainsFunc(s.Ports, func(r Ports) bool {
		return r.First <= p.DestinationPort && p.DestinationPort <= r.Last
	})
}
