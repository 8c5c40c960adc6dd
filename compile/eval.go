package compile

import (
	"fmt"
	"net/netip"

	"github.com/cidrc/cidrc/cidr"
)

// Eval runs the packet through the program's rules as the kernel would, and says what becomes of it and which rule of
// which chain decides. The verdict agrees with that of the Decision, except that it is never Any. The error wraps
// ErrPacket.
func (p *Program) Eval(pkt Packet) (Ruling, error) {
	at, src, dst, f, err := p.decision.place(&pkt)
	if err != nil {
		return Ruling{}, err
	}
	for _, c := range p.Chains {
		if c.Hook != nil && c.Hook.Point == at {
			return run(c, &pkt, src, dst, f), nil
		}
	}
	panic(fmt.Sprintf("unreachable: the program has no base chain at %v", at))
}

// run is the kernel's loop (nft_do_chain in net/netfilter/nf_tables_core.c, ipt_do_table in
// net/ipv4/netfilter/ip_tables.c): rules in order, a stack for jumps, none for gotos.
func run(c *Chain, pkt *Packet, src, dst netip.Addr, f cidr.Family) Ruling {
	type frame struct {
		c    *Chain
		next int
	}
	var stack []frame
	out := Ruling{Verdict: Pass, Rule: "the end of chain " + c.Name}
	remote := end(c.Side, src, dst) // all chains of a hook compare the same side
	for i := 0; ; {
		if i == len(c.Rules) {
			if len(stack) == 0 {
				return out
			}
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			c, i = top.c, top.next
			continue
		}
		r := &c.Rules[i]
		i++
		out.Rules++
		if r.Prefix.IsValid() && !r.Prefix.Contains(remote) || r.Family != 0 && r.Family != f {
			continue
		}
		if r.Set != nil {
			if r.Set.Family != f {
				continue
			}
			out.Probes++
			if r.Set.Addrs.Contains(remote) == r.Not {
				continue
			}
		}
		if r.Match != nil && !r.Match.holds(pkt, f) {
			continue
		}
		do, next := r.Do, r.Chain
		if do == DoMap {
			if r.Map.Family != f {
				continue
			}
			out.Probes++
			to, ok := r.Map.Entries.Get(remote)
			if !ok {
				continue
			}
			do, next = r.Map.Targets[to].Do, r.Map.Targets[to].Chain
		}
		switch do {
		case DoJump:
			stack = append(stack, frame{c, i})
			c, i = next, 0
		case DoGoto:
			c, i = next, 0
		default:
			out.Verdict = Verdict(do)
			out.Rule = fmt.Sprintf("chain %s rule %d", c.Name, i)
			if r.Set != nil {
				out.Rule += ", set " + r.Set.Name
			}
			if r.Map != nil {
				out.Rule += ", map " + r.Map.Name
			}
			return out
		}
	}
}
