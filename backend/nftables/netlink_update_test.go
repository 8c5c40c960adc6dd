package nftables_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// cramped is a connection whose send buffer is small, as in a container.
type cramped struct {
	nftables.Conn
	room int
}

func (c cramped) Room(n int) (int, error) {
	have, err := c.Conn.Room(n)
	return min(have, c.room), err
}

// crampedDial makes all connections cramped.
func crampedDial(dial func() (nftables.Conn, error), room int) func() (nftables.Conn, error) {
	return func() (nftables.Conn, error) {
		c, err := dial()
		return cramped{c, room}, err
	}
}

// manyRanges returns n ranges of a family that do not touch, from random ones of n and a half places, at random lengths.
func manyRanges(rng *rand.Rand, f cidr.Family, n int) cidr.Set {
	var b cidr.Builder
	for _, i := range rng.Perm(n + n/2 + 1)[:n] {
		at := uint32(i+1) << 8
		last := at + rng.Uint32N(200)
		if f == cidr.V4 {
			b.AddRange(cidr.Range{First: v4(at), Last: v4(last)})
		} else {
			b.AddRange(cidr.Range{First: v6(at), Last: v6(last)})
		}
	}
	s, err := b.Build()
	if err != nil {
		panic(err)
	}
	return s
}

func v4(n uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

func v6(n uint32) netip.Addr {
	return netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 15: 7})
}

func requireInKernel(t testing.TB, nl *nftables.Netlink, p *compile.Program, format string, args ...any) {
	t.Helper()
	found, err := nl.Verify(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, found, format, args)
}

// Every successive Update leaves exactly what the program says, however the kernel is told: in place, by swap, in parts,
// from the old program and from what is read.
func TestUpdates(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	h := testnet.NewPair(t).Inside
	dial := dialIn(h.Do)
	for _, way := range []struct {
		name    string
		options nftables.NetlinkOptions
	}{
		{"in place", nftables.NetlinkOptions{Dial: dial, InPlace: func() bool { return true }}},
		{"by swap", nftables.NetlinkOptions{Dial: dial, InPlace: func() bool { return false }}},
		{"in parts", nftables.NetlinkOptions{Dial: crampedDial(dial, 12000), InPlace: func() bool { return false }}},
	} {
		t.Run(way.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			nl := nftables.NewNetlink(way.options)
			require.NoError(t, nl.Remove(t.Context(), "geo"))
			programs := goldenPrograms(t)
			var list []*compile.Program
			for _, name := range []string{"block-interval", "actions-interval", "block-linear", "allow-interval", "block-split", "hooks-interval", "allow-split", "everything-linear"} {
				list = append(list, programs[name])
			}
			for range 8 {
				some := manyRanges(rng, cidr.V4, 300+rng.IntN(200)).Union(manyRanges(rng, cidr.V6, 200))
				list = append(list, compiled(t, blocking(some), compile.IntervalSet))
				for range 2 {
					drop := manyRanges(rng, cidr.V4, 20)
					some = some.Difference(drop).Union(manyRanges(rng, cidr.V6, 10)).Union(cidr.MustParse("255.255.255.0/25"))
					list = append(list, compiled(t, blocking(some), compile.IntervalSet))
					some = some.Union(cidr.MustParse("255.255.255.0/24", "ffff::/16", "0.0.0.0/32"))
					list = append(list, compiled(t, blocking(some), compile.IntervalSet))
				}
			}
			whole := 0
			var before *compile.Program
			for i, p := range list {
				old := before
				if i%3 == 0 {
					old = nil
				}
				dry, err := nl.Plan(t.Context(), old, p)
				require.NoError(t, err, i)
				if before != nil {
					requireInKernel(t, nl, before, "a plan changes nothing")
				}
				plan, err := nl.Update(t.Context(), old, p)
				require.NoError(t, err, "%d: %v", i, dry)
				if !plan.Whole {
					require.Equal(t, dry.String(), plan.String())
				} else {
					whole++
				}
				requireInKernel(t, nl, p, "%d", i)
				again, err := nl.Update(t.Context(), nil, p)
				require.NoError(t, err)
				require.True(t, again.Empty(), "%v", again)
				before = p
			}
			require.Less(t, whole, len(list))
			t.Logf("%d updates, %d of them whole", len(list), whole)
			require.NoError(t, nl.Remove(t.Context(), "geo"))
			require.Empty(t, h.Ruleset(t))
		})
	}
}

// Rules that stay keep their counters, wherever rules come and go.
func TestUpdateKeepsCounters(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	for _, inPlace := range []bool{true, false} {
		t.Run(fmt.Sprint(inPlace), func(t *testing.T) {
			n := testnet.NewPair(t)
			nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dialIn(n.Inside.Do), InPlace: func() bool { return inPlace }})
			policy := func(more ...string) compile.Policy {
				p := blocking(cidr.MustParse(append(more, "198.51.100.0/24")...))
				p.Rules[0].Action.Counter = true
				return p
			}
			count := func() (packets uint64) {
				s, err := nl.Read(t.Context(), "geo")
				require.NoError(t, err)
				for _, c := range s.Chains {
					for _, r := range c.Rules {
						packets += r.Packets
					}
				}
				return packets
			}
			first := compiled(t, policy(), compile.IntervalSet)
			require.NoError(t, nl.Apply(t.Context(), first))
			require.Zero(t, count())
			n.Check(t, testnet.Input, testnet.TCP(80), addrs("198.51.100.1", "198.51.100.2"), func(netip.Addr) bool { return false })
			counted := count()
			require.NotZero(t, counted)
			second := compiled(t, policy("192.0.2.0/24"), compile.IntervalSet)
			plan, err := nl.Update(t.Context(), first, second)
			require.NoError(t, err)
			require.False(t, plan.Whole)
			require.Equal(t, counted, count())
			third := policy("203.0.113.0/24")
			third.WithoutGuards = []compile.Guard{compile.GuardDHCP}
			plan, err = nl.Update(t.Context(), nil, compiled(t, third, compile.IntervalSet))
			require.NoError(t, err)
			require.False(t, plan.Whole)
			require.Equal(t, counted, count())
			requireInKernel(t, nl, compiled(t, third, compile.IntervalSet), "")
		})
	}
}

// Apply in parts replaces everything and leaves nothing of what was there.
func TestApplyInParts(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	h := testnet.NewPair(t).Inside
	dial := dialIn(h.Do)
	steps := 0
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: crampedDial(dial, 12000), Progress: func(p nftables.Progress) {
		if p.Step == "stage" {
			steps++
		}
	}})
	for _, p := range goldenPrograms(t) {
		require.NoError(t, nl.Apply(t.Context(), p))
		requireInKernel(t, nl, p, "")
	}
	steps = 0
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{3000, 20, 5000} {
		p := compiled(t, blocking(manyRanges(rng, cidr.V4, n).Union(manyRanges(rng, cidr.V6, n))), compile.IntervalSet)
		require.NoError(t, nl.Apply(t.Context(), p))
		requireInKernel(t, nl, p, "")
	}
	require.Greater(t, steps, 40, "it came in parts")
	split := compiled(t, blocking(manyRanges(rng, cidr.V4, 200)), compile.ChainSplit)
	require.NoError(t, nl.Apply(t.Context(), split))
	requireInKernel(t, nl, split, "")
	require.NoError(t, nl.Remove(t.Context(), "geo"))
	require.Empty(t, h.Ruleset(t))
}
