package compile

import (
	"context"
	"strings"

	"github.com/cidrc/cidrc/cidr"
)

// Layout is a way to arrange a decision in sets, chains and rules. All layouts of a policy give the same verdicts.
type Layout uint8

const (
	// Auto: the layout that costs a packet least on the target.
	Auto Layout = iota
	// Linear: one rule for each prefix. Every packet walks them, so it is for a handful.
	Linear
	// IntervalSet: one set of ranges for each action, asked by one rule.
	IntervalSet
	// ChainSplit: a chain for each first octet (IPv4) or first 16 bits (IPv6), jumped to from a list of them: the
	// published practice for iptables.
	ChainSplit
	// ChainTree: chains that part the traffic in halves, over the fewest prefixes that say what each address gets.
	ChainTree
)

var layoutNames = [...]string{"auto", "linear", "interval", "chain-split", "chain-tree"}

// Layouts lists all layouts, Auto not among them.
func Layouts() []Layout { return []Layout{Linear, IntervalSet, ChainSplit, ChainTree} }

// String returns the name of the layout in lower case.
func (l Layout) String() string {
	if int(l) < len(layoutNames) {
		return layoutNames[l]
	}
	return "unknown layout"
}

// ParseLayout reads what String writes, in any case.
func ParseLayout(s string) (Layout, error) {
	for i, name := range layoutNames {
		if strings.EqualFold(s, name) {
			return Layout(i), nil
		}
	}
	return 0, &NameError{Kind: "layout", Name: s, Why: "it is one of " + strings.Join(layoutNames[:], ", ")}
}

// lowering is a layout at work on one plan: it adds, at one hook and for one family, what looks addresses up.
type lowering interface {
	// chain is the name of the chain that the look-up of the family needs, and empty if its rules go to the base chain.
	chain(hook string, f cidr.Family) string
	// lookUp writes the rules to c, which is the chain asked for or the base chain of the hook.
	lookUp(b *programBuilder, hook string, c *Chain, f *familyPlan) error
}

// lower turns a plan into a program in one layout.
func lower(ctx context.Context, p *plan, l Layout, force bool) (*Program, error) {
	b := &programBuilder{Program: &Program{Owner: p.d.Owner(), Target: p.t, Layout: l, decision: p.d}}
	var low lowering
	switch l {
	case Linear:
		limit := p.t.Limits.LinearRules
		if force {
			limit = 0
		}
		low = &linear{limit: limit}
	case IntervalSet:
		if !p.t.Features.IntervalSets {
			return nil, &UnsupportedError{Where: "target " + p.t.String(), Feature: "layout interval", Instead: "it has no sets; use chain-tree"}
		}
		low = &intervalSet{}
	case ChainSplit:
		low = &chainSplit{}
	case ChainTree:
		low = &chainTree{ctx: ctx}
	default:
		return nil, &UnsupportedError{Where: "target " + p.t.String(), Feature: l.String()}
	}
	for _, h := range p.d.policy.Hooks {
		if err := b.hook(p, h, low); err != nil {
			return nil, err
		}
	}
	return b.Program, nil
}

// programBuilder is a Program in the making.
type programBuilder struct{ *Program }

func (b *programBuilder) newChain(local string, f cidr.Family, side Side) (*Chain, error) {
	name, err := b.Target.chainName(b.Owner, local)
	if err != nil {
		return nil, err
	}
	return &Chain{Name: name, Family: f, Side: side}, nil
}

func (b *programBuilder) finish(c *Chain) { b.Chains = append(b.Chains, c) }

// hook writes what stands at one hook: guards first, then the look-up.
func (b *programBuilder) hook(p *plan, h Hook, low lowering) error {
	name := p.t.hookName(h.Point)
	base, err := b.newChain(name, 0, Remote.at(h.Point))
	if err != nil {
		return err
	}
	base.Hook = &h
	var below [2]*Chain
	for i := range p.split {
		f := &p.split[i]
		local := low.chain(name, f.family)
		if local == "" {
			continue
		}
		if below[i], err = b.newChain(local, f.family, base.Side); err != nil {
			return err
		}
		if err := low.lookUp(b, name, below[i], f); err != nil {
			return err
		}
		b.finish(below[i])
	}
	for _, g := range Guards() {
		if !p.d.policy.guardOn(g) {
			continue
		}
		for _, m := range g.matches(h.Point) {
			if err := b.guard(base, name, g, m, below[1]); err != nil {
				return err
			}
		}
	}
	for i := range p.split {
		if below[i] != nil {
			base.Rules = append(base.Rules, ChainRule{Family: p.split[i].family, Do: DoGoto, Chain: below[i]})
		} else if err := low.lookUp(b, name, base, &p.split[i]); err != nil {
			return err
		}
	}
	b.finish(base)
	return nil
}

// guard writes one match of a guard. Where a rule can hold only one ICMP type, the types get a chain of their own, so
// that other packets pay for one rule only. It has to be gone to, not jumped to, since Pass may be a return to the
// administrator's chain; so it ends in the look-up of IPv6.
func (b *programBuilder) guard(base *Chain, hook string, g Guard, m Match, lookUp6 *Chain) error {
	comment := "guard: " + g.String()
	if len(m.ICMPTypes) == 0 || b.Target.Features.TypeLists {
		base.Rules = append(base.Rules, ChainRule{Match: &m, Do: DoPass, Comment: comment})
		return nil
	}
	c, err := b.newChain(hook+"-icmp6", cidr.V6, base.Side)
	if err != nil {
		return err
	}
	for _, t := range m.ICMPTypes {
		one := m
		one.ICMPTypes = []uint8{t}
		c.Rules = append(c.Rules, ChainRule{Match: &one, Do: DoPass})
	}
	c.Rules = append(c.Rules, ChainRule{Do: DoGoto, Chain: lookUp6})
	b.finish(c)
	m.ICMPTypes = nil
	base.Rules = append(base.Rules, ChainRule{Match: &m, Do: DoGoto, Chain: c, Comment: comment})
	return nil
}

// rest writes what happens to a packet of the family that no rule before has decided. The end of the chain passes it,
// unless it was jumped to.
func (f *familyPlan) rest(c *Chain, a Action) {
	if a.Verdict == Pass && !a.Counter {
		return
	}
	family := f.family
	if c.Family != 0 {
		family = 0
	}
	c.Rules = append(c.Rules, ChainRule{Family: family, Do: doOf(a.Verdict), Counter: a.Counter, Comment: "all others"})
}

// hookName is how chains at the hook are called: short where their names carry the owner as well.
func (t *Target) hookName(p Point) string {
	if t.Features.Namespaced {
		return p.String()
	}
	return map[Point]string{Input: "in", Forward: "fwd", Output: "out", Prerouting: "pre", Raw: "raw", Ingress: "ing"}[p]
}

// familyChain is the name of the chain that all packets of a family go to at a hook.
func familyChain(hook string, f cidr.Family) string { return hook + "-v" + familyDigit(f) }

func familyDigit(f cidr.Family) string {
	if f == cidr.V4 {
		return "4"
	}
	return "6"
}
