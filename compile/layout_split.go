package compile

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/cidrc/cidrc/cidr"
)

// chainSplit is the layout that firewall guides publish for large lists without sets: prefixes are grouped by their first
// octet (IPv4) or first 16 bits (IPv6), each group has a chain, and a list of rules jumps to the groups. Prefixes that are
// no longer than a group's stand in that list themselves.
//
// A packet comes back from the chain of its group if no prefix there matches, and walks the rest of the list, as
// published. Where Pass is a return, a chain that gives it cannot be jumped to; then the groups are gone to, and each ends
// in what happens to the rest.
type chainSplit struct{}

func (chainSplit) chain(hook string, f cidr.Family) string { return familyChain(hook, f) }

func groupBits(f cidr.Family) int {
	if f == cidr.V4 {
		return 8
	}
	return 16
}

// groupName is the octet in decimal, or the 16 bits in hexadecimal, as a reader of the prefix sees them.
func groupName(a netip.Addr) string {
	if a.Is4() {
		return fmt.Sprint(a.As4()[0])
	}
	b := a.As16()
	return fmt.Sprintf("%04x", binary.BigEndian.Uint16(b[:2]))
}

func (chainSplit) lookUp(b *programBuilder, hook string, c *Chain, f *familyPlan) error {
	way := f.polarity(cidr.Set.NumPrefixes)
	rest, do := f.actions[way.rest], DoJump
	for _, class := range way.class {
		if f.actions[class].Verdict == Pass && b.Target.Features.PassReturns {
			do = DoGoto
		}
	}
	groups := map[netip.Addr]*Chain{}
	var order []*Chain
	for i, s := range way.sets {
		a := f.actions[way.class[i]]
		for p := range s.Prefixes() {
			rule := ChainRule{Prefix: p, Do: doOf(a.Verdict), Counter: a.Counter}
			if p.Bits() <= groupBits(f.family) {
				c.Rules = append(c.Rules, rule)
				continue
			}
			g, _ := p.Addr().Prefix(groupBits(f.family))
			group := groups[g.Addr()]
			if group == nil {
				var err error
				if group, err = b.newChain(hook+"-"+groupName(g.Addr()), f.family, c.Side); err != nil {
					return err
				}
				groups[g.Addr()] = group
				order = append(order, group)
				c.Rules = append(c.Rules, ChainRule{Prefix: g, Do: do, Chain: group})
			}
			group.Rules = append(group.Rules, rule)
		}
	}
	for _, group := range order {
		if do == DoGoto {
			f.rest(group, rest)
		}
		b.finish(group)
	}
	f.rest(c, rest)
	return nil
}
