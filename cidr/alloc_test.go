package cidr_test

import (
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
	"go4.org/netipx"
)

func TestNoAllocation(t *testing.T) {
	s, err := cidr.Of(randomPrefixes(rand.New(rand.NewPCG(12, 13)), 3000)...)
	require.NoError(t, err)
	var b cidr.MapBuilder[uint16]
	b.SetAll(s, 7)
	m, err := b.Build(cidr.LastWins)
	require.NoError(t, err)
	v4, v6 := netip.MustParseAddr("198.18.7.7"), netip.MustParseAddr("2001:db8::7")
	zoned := netip.MustParseAddr("fe80::1%eth0")
	p4, p6 := netip.MustParsePrefix("198.18.0.0/16"), netip.MustParsePrefix("2001:db8::/64")
	text4, text6, mapped := []byte("198.18.255.255"), []byte("2001:db8:1:2:3:4:5:6"), []byte("::ffff:198.18.0.1")
	sum := 0
	for name, f := range map[string]func(){
		"Contains": func() { s.Contains(v4); s.Contains(v6); s.Contains(zoned); s.Contains(netip.Addr{}) },
		"Find":     func() { s.Find(v4); s.Find(v6) },
		"Get":      func() { m.Get(v4); m.Get(v6) },
		"prefixes": func() { s.ContainsPrefix(p4); s.OverlapsPrefix(p6) },
		"ParseAddrBytes": func() {
			for _, text := range [][]byte{text4, text6, mapped} {
				if _, err := cidr.ParseAddrBytes(text); err != nil {
					panic(err)
				}
			}
		},
		"NumPrefixes": func() { sum += s.NumPrefixes() },
		"Overlaps":    func() { s.Overlaps(s); s.Equal(s) },
	} {
		require.Zero(t, testing.AllocsPerRun(50, f), name)
	}
	require.Greater(t, s.NumPrefixes(), 500)
	for name, f := range map[string]func(){
		"Prefixes": func() {
			for p := range s.Prefixes() {
				sum += p.Bits()
			}
		},
		"Ranges": func() {
			for r := range s.Ranges() {
				sum += r.First.BitLen()
			}
		},
		"All": func() {
			for _, v := range m.All() {
				sum += int(v)
			}
		},
	} {
		require.Zero(t, testing.AllocsPerRun(20, f), name)
	}
}

// Building allocates at most 32 bytes for an IPv4 prefix and 96 for an IPv6 one, in a few large pieces; remembering where
// entries came from at most doubles that.
func TestBuildAllocation(t *testing.T) {
	const n = 200_000
	for f, most := range map[cidr.Family]float64{cidr.V4: 32, cidr.V6: 96} {
		shuffled := benchPrefixes(f, n)
		sorted := slices.SortedFunc(slices.Values(shuffled), netipx.ComparePrefix)
		for name, in := range map[string][]netip.Prefix{"shuffled": shuffled, "sorted": sorted} {
			build := func(traced bool) (bytes float64, allocs uint64) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				var b cidr.Builder
				if traced {
					b.Trace()
				}
				for _, p := range in {
					b.AddPrefix(p)
				}
				if _, err := b.Build(); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc-before.TotalAlloc) / n, after.Mallocs - before.Mallocs
			}
			plain, allocs := build(false)
			require.LessOrEqual(t, plain, most, "%v %s", f, name)
			require.Less(t, allocs, uint64(n/100), "%v %s", f, name)
			traced, allocs := build(true)
			require.LessOrEqual(t, traced, 2*plain, "%v %s", f, name)
			require.Less(t, allocs, uint64(n/50), "%v %s", f, name)
		}
	}
}
