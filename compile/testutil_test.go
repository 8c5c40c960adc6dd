package compile

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"

	"github.com/cidrc/cidrc/cidr"
)

// nftLike and iptablesLike are targets with the features of the two kinds of backends there are.
func nftLike() Target {
	return Target{
		Backend: "nftlike", Hooks: []string{"input", "forward", "output", "prerouting", "raw"},
		Features: Features{IntervalSets: true, Namespaced: true, TypeLists: true},
		Limits:   Limits{ChainName: 255, LinearRules: 2000},
		Costs:    Costs{Rule: 40, Probe: 200, Step: 33},
	}
}

func iptablesLike() Target {
	return Target{
		Backend: "iptableslike", Hooks: []string{"input", "forward", "output"},
		Features: Features{PassReturns: true, Counters: true},
		Limits:   Limits{ChainName: 28, LinearRules: 2000},
		Costs:    Costs{Rule: 2},
	}
}

// edges returns the first and last address of every range of the sets, the addresses beside them, and both ends of both
// families.
func edges(sets ...cidr.Set) []netip.Addr {
	seen := map[netip.Addr]bool{}
	var out []netip.Addr
	add := func(a netip.Addr) {
		if a.IsValid() && !seen[a] {
			seen[a] = true
			out = append(out, a)
		}
	}
	for _, s := range append(sets, cidr.Everything(cidr.V4), cidr.Everything(cidr.V6)) {
		for r := range s.Ranges() {
			add(r.First)
			add(r.Last)
			add(r.First.Prev())
			add(r.Last.Next())
		}
	}
	return out
}

// randomSet returns a set of a few prefixes of all sizes, often nested, touching or at the ends of the space.
func randomSet(rng *rand.Rand) cidr.Set {
	var b cidr.Builder
	for range 1 + rng.IntN(12) {
		var a netip.Addr
		if rng.IntN(2) == 0 {
			a = netip.AddrFrom4([4]byte{[]byte{0, 10, 11, 192, 255}[rng.IntN(5)], byte(rng.IntN(4) * 85), byte(rng.Uint32()), byte(rng.Uint32())})
		} else {
			var raw [16]byte
			raw[0], raw[1] = []byte{0, 0x20, 0x2a, 0xfd, 0xff}[rng.IntN(5)], byte(rng.IntN(3))
			raw[2], raw[15] = byte(rng.Uint32()), byte(rng.Uint32())
			a = netip.AddrFrom16(raw)
		}
		if a.Is4In6() {
			continue
		}
		p, err := a.Prefix(rng.IntN(a.BitLen() + 1))
		if err != nil {
			panic(err)
		}
		b.AddPrefix(p)
	}
	b.AddRange(cidr.Range{First: netip.MustParseAddr("192.0.2.9"), Last: netip.MustParseAddr("192.0.2.9")})
	s, err := b.Build()
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return s
}

// textBuffer collects text and finds words in it.
type textBuffer struct{ strings.Builder }

// index returns where the word stands after a position, and -1 if it does not.
func (b *textBuffer) index(word string, after int) int {
	if i := strings.Index(b.String()[after+1:], word); i >= 0 {
		return after + 1 + i
	}
	return -1
}
