package cidr_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
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
	// An iterator may cost a few allocations to set up, whatever the number of prefixes.
	require.Greater(t, s.NumPrefixes(), 1000)
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() {
		for p := range s.Prefixes() {
			sum += p.Bits()
		}
	}), 4.0)
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() {
		for r := range s.Ranges() {
			sum += int(r.First.BitLen())
		}
		for _, v := range m.All() {
			sum += int(v)
		}
	}), 4.0)
}
