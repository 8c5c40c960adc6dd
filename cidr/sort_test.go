package cidr_test

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
	"go4.org/netipx"
)

// addrAt puts a number into the top bits of an address of the family, or into its low ones.
func addrAt(f cidr.Family, n uint32, low bool) netip.Addr {
	var b [16]byte
	if f == cidr.V4 {
		binary.BigEndian.PutUint32(b[:], n)
		return netip.AddrFrom4([4]byte(b[:4]))
	}
	b[0] = 0x20
	if low {
		binary.BigEndian.PutUint32(b[12:], n)
	} else {
		binary.BigEndian.PutUint32(b[:], n|0x4000_0000)
	}
	return netip.AddrFrom16(b)
}

// shapes are inputs that a sort by digits, or an index of equal blocks, could stumble over: all in one corner, spread by
// doubling distances, all alike, one far away, in order, in reverse, and none of it.
func shapes(f cidr.Family, n int, low bool) map[string][]netip.Prefix {
	rnd := rand.New(rand.NewPCG(uint64(n), uint64(f)))
	host := func(v uint32) netip.Prefix {
		a := addrAt(f, v, low)
		return netip.PrefixFrom(a, a.BitLen())
	}
	wide := func(v uint32, host int) netip.Prefix {
		bits := 32 - host
		if f == cidr.V6 && low {
			bits += 96
		}
		return netip.PrefixFrom(addrAt(f, v, low), bits).Masked()
	}
	out := map[string][]netip.Prefix{}
	for i := range n {
		u := rnd.Uint32()
		out["random"] = append(out["random"], wide(u, rnd.IntN(12)))
		out["hosts"] = append(out["hosts"], host(u))
		out["corner"] = append(out["corner"], host(u&0xffff))
		out["top corner"] = append(out["top corner"], host(u|0xffff_0000))
		out["doubling"] = append(out["doubling"], host(u>>(i%32)))
		out["alike"] = append(out["alike"], host(7))
		out["nested"] = append(out["nested"], wide(u&0xff00_0000, i%24))
		out["neighbours"] = append(out["neighbours"], host(uint32(i)))
		out["every other"] = append(out["every other"], host(uint32(2*i)))
	}
	out["one far away"] = append(slices.Clone(out["corner"]), host(1<<31))
	out["edges"] = append(slices.Clone(out["random"]), host(0), host(1<<32-1))
	reverse := slices.Clone(out["random"])
	slices.SortFunc(reverse, func(a, b netip.Prefix) int { return netipx.ComparePrefix(b, a) })
	out["reverse"] = reverse
	out["two runs"] = append(slices.Clone(out["every other"]), out["every other"]...)
	return out
}

// netipx, which sorts by comparing, is the twin of the sort; a scan is the twin of the index.
func TestSortAndIndexAgainstTwins(t *testing.T) {
	sizes := []int{1, 2, 15, 16, 17, 30, 200, 3000, 40_000}
	if testing.Short() {
		sizes = sizes[:7]
	}
	for _, f := range cidr.Families() {
		for _, n := range sizes {
			for _, low := range []bool{false, true} {
				if low && f == cidr.V4 {
					continue
				}
				for name, in := range shapes(f, n, low) {
					var ours cidr.Builder
					var theirs netipx.IPSetBuilder
					for _, p := range in {
						ours.AddPrefix(p)
						theirs.AddPrefix(p)
					}
					s, err := ours.Build()
					require.NoError(t, err)
					want, err := theirs.IPSet()
					require.NoError(t, err)
					var ranges []netipx.IPRange
					for r := range s.Ranges() {
						ranges = append(ranges, r.IPRange())
					}
					require.Equal(t, want.Ranges(), ranges, "%v %s %d", f, name, n)
					requireFinds(t, s, name)
				}
			}
		}
	}
}

// requireFinds asks for the ends of ranges and the addresses next to them.
func requireFinds(t *testing.T, s cidr.Set, name string) {
	t.Helper()
	ranges := slices.Collect(s.Ranges())
	step := max(1, len(ranges)/3000)
	for i := 0; i < len(ranges); i += step {
		r := ranges[i]
		for _, a := range []netip.Addr{r.First, r.Last} {
			if got, ok := s.Find(a); !ok || got != r || !s.Contains(a) {
				require.Equal(t, r, got, "%s: %v", name, a)
				require.True(t, ok && s.Contains(a), "%s: %v", name, a)
			}
		}
		// Ranges are maximal, so their neighbours are outside.
		for _, a := range []netip.Addr{r.First.Prev(), r.Last.Next()} {
			if got, ok := s.Find(a); ok || s.Contains(a) {
				require.False(t, ok || s.Contains(a), "%s: %v is in %v", name, a, got)
			}
		}
	}
}

// Entries of a builder lie in chunks; none may get lost between two.
func TestBuilderAtChunkBoundaries(t *testing.T) {
	for n := range 200 {
		var b cidr.Builder
		if n%3 == 0 {
			b.Grow(n/2, n/2)
		}
		for i := range n {
			v := uint32(i)
			if n%2 == 0 {
				v = uint32(n - i)
			}
			for _, f := range cidr.Families() {
				b.AddAddr(addrAt(f, 2*v, true))
			}
		}
		s, err := b.Build()
		require.NoError(t, err)
		require.Equal(t, 2*n, s.NumRanges())
		requireNormal(t, s)
	}
	require.Panics(t, func() { new(cidr.Builder).Grow(-1, 0) })
}

// The index of a set is made at the first question. Many may ask it at once.
func TestManyAskAtOnce(t *testing.T) {
	for _, f := range cidr.Families() {
		in := benchPrefixes(f, 2000)
		s, err := cidr.Of(in...)
		require.NoError(t, err)
		var b cidr.MapBuilder[int]
		b.SetAll(s, 7)
		m, err := b.Build(cidr.LastWins)
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for _, p := range in {
					if _, ok := m.Get(p.Addr()); !ok || !s.Contains(p.Addr()) || !s.ContainsPrefix(p) {
						t.Errorf("%v is not there", p)
					}
				}
			})
		}
		all.Wait()
	}
}
