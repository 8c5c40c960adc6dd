package compile

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
)

// Every layout of every policy gives every address the verdict of the decision, which looks rules up one by one and
// knows nothing of layouts.
func TestLayoutsAgreeWithTheDecision(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := Policy{Owner: "geo", PassLocal: rng.IntN(2) == 0, Default: randomAction(rng)}
		var sets []cidr.Set
		for i := range 1 + rng.IntN(4) {
			s := randomSet(rng)
			sets = append(sets, s)
			p.Rules = append(p.Rules, Rule{Name: fmt.Sprintf("rule %d", i), Addrs: s, Action: randomAction(rng)})
		}
		if rng.IntN(3) == 0 {
			p.Keep = randomSet(rng)
			sets = append(sets, p.Keep)
		}
		p.Rules[0].Action = Action{Verdict: Drop}
		p.Hooks = [][]Hook{{{Point: Input}}, {{Point: Forward}, {Point: Input}}, {{Point: Output}}}[rng.IntN(3)]
		d, err := Decide(p)
		require.NoError(t, err)
		for _, target := range []Target{nftLike(), iptablesLike()} {
			for _, l := range Layouts() {
				if l == IntervalSet && !target.Features.IntervalSets {
					continue
				}
				prog, err := d.Compile(context.Background(), target, Options{Layout: l, Force: true})
				require.NoError(t, err, "seed %d %v", seed, l)
				requireSound(t, prog)
				for _, h := range p.Hooks {
					for _, a := range edges(append(sets, cidr.Local())...) {
						packet := Packet{Hook: h.Point, Source: a, Destination: a, Protocol: TCP, DestinationPort: 80}
						want, err := d.Eval(packet)
						require.NoError(t, err)
						got, err := prog.Eval(packet)
						require.NoError(t, err)
						if want.Verdict != Any {
							require.Equal(t, want.Verdict, got.Verdict, "seed %d, %v on %s at %v: %v: the policy says %q, the program %q",
								seed, l, target.Backend, h, a, want.Rule, got.Rule)
						}
					}
				}
			}
		}
	}
}

func randomAction(rng *rand.Rand) Action {
	a := Action{Verdict: []Verdict{Pass, Pass, Drop, Drop, Accept, Reject, Any}[rng.IntN(7)]}
	a.Counter = a.Verdict != Any && rng.IntN(4) == 0
	return a
}

// requireSound checks what backends rely on.
func requireSound(t *testing.T, p *Program) {
	t.Helper()
	seen, names := map[*Chain]bool{}, map[string]bool{}
	jumped := map[*Chain]bool{}
	for _, c := range p.Chains {
		require.False(t, names[c.Name], "chain %s stands there twice", c.Name)
		names[c.Name] = true
		for _, r := range c.Rules {
			if r.Do == DoJump || r.Do == DoGoto {
				require.True(t, seen[r.Chain], "chain %s stands after %s, which goes to it", r.Chain.Name, c.Name)
				if r.Do == DoJump {
					jumped[r.Chain] = true
				}
			}
			if r.Set != nil {
				require.Contains(t, p.Sets, r.Set)
				require.False(t, r.Set.Addrs.IsEmpty())
				require.True(t, r.Set.Addrs.Equal(r.Set.Addrs.Only(r.Set.Family)))
			}
		}
		seen[c] = true
	}
	// Where Pass is a return, it has to reach the administrator's chain, so it cannot stand below a jump.
	if !p.Target.Features.PassReturns {
		return
	}
	var below func(c *Chain)
	below = func(c *Chain) {
		for _, r := range c.Rules {
			require.NotEqual(t, DoPass, r.Do, "chain %s, below a jump, passes", c.Name)
			if r.Chain != nil {
				below(r.Chain)
			}
		}
	}
	for c := range jumped {
		below(c)
	}
}

func TestLinearIsRefusedWhenLong(t *testing.T) {
	var b cidr.Builder
	for i := range 2001 {
		a := cidr.MustParse(fmt.Sprintf("11.%d.%d.0/24", i/128, i%128*2))
		b.AddSet(a)
	}
	s, err := b.Build()
	require.NoError(t, err)
	p := Policy{Owner: "geo", Rules: []Rule{{Name: "block", Addrs: s, Action: Action{Verdict: Drop}}}, Default: Action{Verdict: Pass}}
	_, err = Compile(context.Background(), p, nftLike(), Options{Layout: Linear})
	require.ErrorIs(t, err, ErrLimit)
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, 2001, limit.Count)
	require.Equal(t, 2000, limit.Limit)
	prog, err := Compile(context.Background(), p, nftLike(), Options{Layout: Linear, Force: true})
	require.NoError(t, err)
	require.Equal(t, Linear, prog.Layout)

	prog, err = Compile(context.Background(), p, nftLike(), Options{})
	require.NoError(t, err)
	require.Equal(t, IntervalSet, prog.Layout)
	require.ErrorIs(t, prog.Candidates()[0].Refused, ErrLimit)

	prog, err = Compile(context.Background(), p, iptablesLike(), Options{})
	require.NoError(t, err)
	require.Equal(t, ChainTree, prog.Layout)
}

// Polarity changes what is written down, never a verdict.
func TestPolarity(t *testing.T) {
	// Ten holes in the space: it is shorter to write down the holes.
	holes := cidr.MustParse("11.0.0.0/24", "11.0.2.0/24", "11.0.4.0/24", "11.0.6.0/24", "11.0.8.0/24", "11.0.10.0/24", "2001:db8::/48")
	space := cidr.Everything(cidr.V4).Union(cidr.Everything(cidr.V6)).Difference(holes)
	p := Policy{Owner: "geo", Default: Action{Verdict: Drop}, Rules: []Rule{{Name: "allow", Addrs: space, Action: Action{Verdict: Pass}}}}
	prog, err := Compile(context.Background(), p, iptablesLike(), Options{Layout: Linear})
	require.NoError(t, err)
	require.Less(t, len(prog.Chains[0].Rules), 10, "the holes are dropped, rather than all else passed")

	// Where it makes no difference, an allow list stays one.
	p = italyOnly()
	prog, err = Compile(context.Background(), p, nftLike(), Options{Layout: IntervalSet})
	require.NoError(t, err)
	require.Equal(t, []string{"pass4", "pass6"}, []string{prog.Sets[0].Name, prog.Sets[1].Name})
	require.Equal(t, ChainRule{Set: prog.Sets[0], Not: true, Do: DoDrop}, prog.Chains[0].Rules[len(prog.Chains[0].Rules)-2])
}

// Unlisted space that does not matter joins what is on both of its sides.
func TestAnyMergesAcrossUnlistedSpace(t *testing.T) {
	blocked := cidr.MustParse("11.0.0.0/24", "11.0.2.0/24", "11.0.4.0/24", "11.0.9.0/24")
	allowed := cidr.MustParse("11.0.7.0/24")
	p := Block("block", blocked, blocked.Union(allowed))
	p.Owner, p.PassLocal = "geo", false
	count := func() int {
		prog, err := Compile(context.Background(), p, nftLike(), Options{Layout: IntervalSet})
		require.NoError(t, err)
		return prog.Sets[0].Addrs.NumRanges()
	}
	require.Equal(t, 4, count())
	p.Default.Verdict = Any
	require.LessOrEqual(t, count(), 2, "11.0.0.0-11.0.4.255 and 11.0.9.0/24, or the allowed /24 alone")
}

// The order of what the policy asks is the order in which it is printed.
func TestExplain(t *testing.T) {
	p := italyOnly()
	p.Origins = []Origin{{Name: "test data", Licence: "CC0"}}
	prog, err := Compile(context.Background(), p, nftLike(), Options{})
	require.NoError(t, err)
	var out textBuffer
	require.NoError(t, prog.Explain(&out))
	at := -1
	for _, word := range []string{"test data", "guard loopback", "guard established", NameLocal, "allow IT", "listed but not allowed", NameDefault, "layout:", "linear", "interval", "chain-split", "forward hook"} {
		next := out.index(word, at)
		require.Greater(t, next, at, "%q is missing or out of order in\n%s", word, out.String())
		at = next
	}
}
