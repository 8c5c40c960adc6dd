package compile

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/cidrc/cidrc/cidr"
)

// Decision is what a policy means: at each hook, one rule decides about each address, and overlaps are resolved. It is
// immutable.
type Decision struct {
	policy   Policy
	deciders []decider
}

// decider is one thing that can decide about an address: a rule of the policy, Keep, local space or the default.
type decider struct {
	name   string
	addrs  cidr.Set // of the default: empty, since it takes what is left
	side   Side
	rule   *Rule // nil for all but the policy's own rules
	action Action
}

// Decide checks the policy and resolves it. The error says which part of the policy is wrong, as a *PolicyError.
func Decide(p Policy) (*Decision, error) {
	p.Hooks = cloneHooks(p.hooks())
	p.WithoutGuards = slices.Clone(p.WithoutGuards)
	p.Origins = slices.Clone(p.Origins)
	p.Rules = slices.Clone(p.Rules)
	for i := range p.Rules {
		p.Rules[i].Services = slices.Clone(p.Rules[i].Services)
		for j := range p.Rules[i].Services {
			p.Rules[i].Services[j].Ports = slices.Clone(p.Rules[i].Services[j].Ports)
		}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	d := &Decision{policy: p}
	if !p.Keep.IsEmpty() && p.guardOn(GuardKeep) {
		d.deciders = append(d.deciders, decider{name: NameKeep, addrs: p.Keep, action: Action{Verdict: Pass}})
	}
	if p.PassLocal {
		d.deciders = append(d.deciders, decider{name: NameLocal, addrs: cidr.Local(), action: Action{Verdict: Pass}})
	}
	for i := range p.Rules {
		r := &d.policy.Rules[i]
		d.deciders = append(d.deciders, decider{name: r.Name, addrs: r.Addrs, side: r.Side, rule: r, action: r.Action})
	}
	d.deciders = append(d.deciders, decider{name: NameDefault, action: p.Default})
	return d, nil
}

// Policy returns the policy that was decided. What its slices and pointers refer to must not be changed.
func (d *Decision) Policy() Policy { return d.policy }

// Owner returns the policy's owner.
func (d *Decision) Owner() string { return d.policy.Owner }

// Hooks returns where the policy stands.
func (d *Decision) Hooks() []Hook { return cloneHooks(d.policy.Hooks) }

// Rules returns the names of all that can decide about an address, in the order in which they are asked: Keep, local
// space, the policy's rules, the default. Map's values are indices into it.
func (d *Decision) Rules() []string {
	names := make([]string, len(d.deciders))
	for i, x := range d.deciders {
		names[i] = x.name
	}
	return names
}

// Map returns, for every address of both families, which of Rules decides when it is the remote end of a packet at the
// hook that no guard has passed. It is *UnsupportedError if the policy has rules that look at more than the remote
// address there. O(n log n) in the ranges of all rules.
func (d *Decision) Map(at Point) (cidr.Map[int], error) {
	var b cidr.MapBuilder[int]
	for i := len(d.deciders) - 1; i >= 0; i-- {
		x := &d.deciders[i]
		if x.rule == nil && x.name == NameDefault {
			b.SetAll(cidr.Everything(cidr.V4), i)
			b.SetAll(cidr.Everything(cidr.V6), i)
			continue
		}
		if x.rule != nil {
			where := fmt.Sprintf("rule %q", x.name)
			if len(x.rule.Services) > 0 {
				return cidr.Map[int]{}, &UnsupportedError{Where: where, Feature: "rules limited to services", Instead: "no layout can do that yet"}
			}
			if x.side.at(at) != Remote.at(at) {
				return cidr.Map[int]{}, &UnsupportedError{Where: where, Feature: fmt.Sprintf("matching the %v at %v", x.side, at), Instead: "no layout can do that yet"}
			}
		}
		b.SetAll(x.addrs, i)
	}
	return b.Build(cidr.LastWins)
}

// Eval says what the policy does with the packet: the verdict, which may be Any, and what decided. The error wraps
// ErrPacket.
func (d *Decision) Eval(p Packet) (Ruling, error) {
	hook, src, dst, f, err := d.place(&p)
	if err != nil {
		return Ruling{}, err
	}
	for _, g := range Guards() {
		if !d.policy.guardOn(g) {
			continue
		}
		for _, m := range g.matches(hook) {
			if m.holds(&p, f) {
				return Ruling{Verdict: Pass, Rule: "guard " + g.String()}, nil
			}
		}
	}
	for i := range d.deciders {
		x := &d.deciders[i]
		if x.name == NameDefault || x.holds(&p, hook, src, dst) {
			return Ruling{Verdict: x.action.Verdict, Rule: x.name}, nil
		}
	}
	panic("unreachable: the default decides about every packet")
}

func (x *decider) holds(p *Packet, at Point, src, dst netip.Addr) bool {
	if !x.addrs.Contains(end(x.side.at(at), src, dst)) {
		return false
	}
	return x.rule == nil || len(x.rule.Services) == 0 ||
		slices.ContainsFunc(x.rule.Services, func(s Service) bool { return s.holds(p) })
}

// place finds the hook at which the packet is met and checks that it can be.
func (d *Decision) place(p *Packet) (at Point, src, dst netip.Addr, f cidr.Family, err error) {
	at = p.Hook
	if at == 0 {
		at = d.policy.Hooks[0].Point
	}
	if !slices.ContainsFunc(d.policy.Hooks, func(h Hook) bool { return h.Point == at }) {
		return 0, src, dst, 0, fmt.Errorf("%w: the policy does not stand at %v", ErrPacket, at)
	}
	if src, dst, f, err = p.addrs(); err != nil {
		return 0, src, dst, 0, err
	}
	if !end(Remote.at(at), src, dst).IsValid() {
		return 0, src, dst, 0, fmt.Errorf("%w: at %v its %v address is what matters, and it has none", ErrPacket, at, Remote.at(at))
	}
	return at, src, dst, f, nil
}
