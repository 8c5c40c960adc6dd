package compile

import (
	"context"
	"iter"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

// sources gives ranges that all have the same weight.
func sources(weight float64, ranges ...string) iter.Seq2[cidr.Range, float64] {
	return func(yield func(cidr.Range, float64) bool) {
		for _, text := range ranges {
			r, err := cidr.ParseRange(text)
			if err != nil {
				panic(err)
			}
			if !yield(r, weight) {
				return
			}
		}
	}
}

// math/big is the twin: the addresses that a block and a range share, as a part of the range's.
func TestSharesOfBlocks(t *testing.T) {
	weights := map[string]float64{
		"0.0.0.0-0.0.0.9": 1, "10.0.0.0/8": 2, "192.0.2.7": 4, "255.255.255.0-255.255.255.255": 8,
		"::": 1, "2001:db8::/32": 3, "2001:db9::5-2001:dba::": 5, "ffff::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff": 7,
	}
	all := func(yield func(cidr.Range, float64) bool) {
		for text, w := range weights {
			r, err := cidr.ParseRange(text)
			require.NoError(t, err)
			if !yield(r, w) {
				return
			}
		}
	}
	traffic := Traffic{Sources: all}
	rnd := rand.New(rand.NewPCG(5, 5))
	for _, f := range cidr.Families() {
		s, err := traffic.shares(&familyPlan{family: f})
		require.NoError(t, err)
		total := 0.0
		for r, w := range all {
			if r.Family() == f {
				total += w
			}
		}
		require.InDelta(t, total, s.of(blockKey{}), 1e-9)
		for range 2000 {
			bits := rnd.IntN(f.Bits() + 1)
			var a netip.Addr
			for r := range all {
				if r.Family() == f && (!a.IsValid() || rnd.IntN(3) == 0) {
					a = r.First
				}
			}
			p := netip.PrefixFrom(a, bits).Masked()
			block, err := cidr.Of(p)
			require.NoError(t, err)
			want := 0.0
			for r, w := range all {
				if r.Family() != f {
					continue
				}
				var b cidr.Builder
				b.AddRange(r)
				set, err := b.Build()
				require.NoError(t, err)
				part, _ := new(big.Rat).SetFrac(set.Intersection(block).NumAddrs(), r.NumAddrs()).Float64()
				want += w * part
			}
			require.InDelta(t, want, s.of(keyOfBlock(p)), 1e-9, "%v", p)
		}
	}
}

func TestSampleFollowsTraffic(t *testing.T) {
	traffic := Traffic{Sources: sources(1, "10.0.0.0/8", "192.0.2.1", "192.0.2.2", "2001:db8::/32")}
	s, err := traffic.shares(&familyPlan{family: cidr.V4})
	require.NoError(t, err)
	counts := map[string]int{}
	for a := range s.sample(300) {
		switch {
		case netip.MustParsePrefix("10.0.0.0/8").Contains(a):
			counts["wide"]++
		default:
			counts[a.String()]++
		}
	}
	require.Equal(t, map[string]int{"wide": 100, "192.0.2.1": 100, "192.0.2.2": 100}, counts)
}

// A hot block deep in a cold list is found at once when the traffic is known.
func TestTreePutsHotBlocksFirst(t *testing.T) {
	var b cidr.Builder
	for i := range 4000 {
		a := netip.AddrFrom4([4]byte{11, byte(i >> 6), byte(i << 2), 0})
		b.AddRange(cidr.Range{First: a, Last: a})
	}
	s, err := b.Build()
	require.NoError(t, err)
	p := Policy{Owner: "geo", Rules: []Rule{{Name: "block", Addrs: s, Action: Action{Verdict: Drop}}}, Default: Action{Verdict: Pass}}
	hot := "11.33.8.0"
	cold, err := Compile(context.Background(), p, iptablesLike(), Options{Layout: ChainTree})
	require.NoError(t, err)
	warm, err := Compile(context.Background(), p, iptablesLike(), Options{Layout: ChainTree, Traffic: Traffic{Sources: sources(1, hot)}})
	require.NoError(t, err)
	pkt := Packet{Source: netip.MustParseAddr(hot), Protocol: TCP, DestinationPort: 9}
	slow, err := cold.Eval(pkt)
	require.NoError(t, err)
	fast, err := warm.Eval(pkt)
	require.NoError(t, err)
	require.Equal(t, Drop, fast.Verdict)
	require.Less(t, fast.Rules, slow.Rules)
}
