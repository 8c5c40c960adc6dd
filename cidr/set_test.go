package cidr_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

func TestMustParse(t *testing.T) {
	s := cidr.MustParse("192.0.2.1", "198.51.100.0/24", "203.0.113.1 - 203.0.113.3", "2001:db8::/32")
	require.Equal(t, "{192.0.2.1 198.51.100.0/24 203.0.113.1-203.0.113.3 2001:db8::/32}", s.String())
	for _, bad := range []string{"", "192.0.2.1/24", "example.org", "::ffff:0:0/96"} {
		require.PanicsWithValue(t, panicText(bad), func() { cidr.MustParse("10.0.0.0/8", bad) })
	}
}

func panicText(entry string) string {
	_, err := cidr.ParseRange(entry)
	return fmt.Sprintf("cidr.MustParse: %q: %v", entry, err)
}

func TestOfRefuses(t *testing.T) {
	for _, p := range []netip.Prefix{{}, netip.MustParsePrefix("192.0.2.1/24"), netip.MustParsePrefix("::ffff:0:0/96")} {
		s, err := cidr.Of(netip.MustParsePrefix("10.0.0.0/8"), p)
		require.Error(t, err)
		require.True(t, s.IsEmpty())
	}
}

func TestEverything(t *testing.T) {
	v4, v6 := cidr.Everything(cidr.V4), cidr.Everything(cidr.V6)
	require.Equal(t, []string{"0.0.0.0/0", "::/0"}, prefixStrings(v4.Union(v6)))
	require.Equal(t, "4294967296", v4.NumAddrs().String())
	require.Equal(t, new(big.Int).Lsh(big.NewInt(1), 128), v6.NumAddrs())
	require.True(t, v4.Complement(cidr.V4).IsEmpty())
	require.True(t, v4.Complement(cidr.V6).Equal(v6), "the complement in one family says nothing about the other")
	require.False(t, v4.Overlaps(v6))
	require.True(t, v4.Difference(v6).Equal(v4))
	for _, a := range []string{"0.0.0.0", "255.255.255.255"} {
		require.True(t, v4.Contains(netip.MustParseAddr(a)))
		require.False(t, v6.Contains(netip.MustParseAddr(a)))
	}
	for _, a := range []string{"::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"} {
		require.True(t, v6.Contains(netip.MustParseAddr(a)))
		require.False(t, v4.Contains(netip.MustParseAddr(a)))
	}
	// Halves make the whole, and the whole less one address at either end is right.
	require.True(t, cidr.MustParse("0.0.0.0/1", "128.0.0.0/1", "::/1", "8000::/1").Equal(v4.Union(v6)))
	require.Equal(t, 32, v4.Difference(cidr.MustParse("0.0.0.0")).NumPrefixes())
	require.Equal(t, 32, v4.Difference(cidr.MustParse("255.255.255.255")).NumPrefixes())
	require.Equal(t, 128, v6.Difference(cidr.MustParse("::")).NumPrefixes())
	require.Equal(t, 128, v6.Difference(cidr.MustParse("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")).NumPrefixes())
	require.Equal(t, 62, v4.Difference(cidr.MustParse("0.0.0.0", "255.255.255.255")).NumPrefixes())
	require.Equal(t, 254, v6.Difference(cidr.MustParse("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")).NumPrefixes())
}

func TestSetString(t *testing.T) {
	var b cidr.Builder
	for i := range 8 {
		b.AddAddr(netip.AddrFrom4([4]byte{10, 0, 0, byte(2 * i)}))
	}
	eight, err := b.Build()
	require.NoError(t, err)
	require.NotContains(t, eight.String(), "more")
	nine := eight.Union(cidr.MustParse("::1"))
	require.True(t, strings.HasSuffix(nine.String(), " and 1 more}"), nine.String())
}

func TestDigestTellsSetsApart(t *testing.T) {
	// The second set's ends are the bytes of the first one's, a byte further on.
	four := cidr.MustParse("6.0.0.0/31", "6.0.0.3-6.0.0.4", "6.0.0.6/31", "6.0.0.9-6.0.0.10")
	one := cidr.MustParse("::600:1:600:3:600:406-::600:706:0:906:0:a06")
	sets := []cidr.Set{
		{}, four, one, four.Union(one), cidr.Everything(cidr.V4), cidr.Everything(cidr.V6),
		cidr.MustParse("0.0.0.0"), cidr.MustParse("::"), cidr.MustParse("0.0.0.0/31"), cidr.MustParse("0.0.0.1"),
	}
	seen := map[[32]byte]int{}
	for i, s := range sets {
		j, ok := seen[s.Digest()]
		require.False(t, ok, "%v and %v", sets[j], s)
		seen[s.Digest()] = i
	}
	require.Equal(t, "0.0.0.1", slices.Collect(cidr.MustParse("0.0.0.1").Ranges())[0].String())
}

func TestDigestIsStable(t *testing.T) {
	// Whoever keeps a digest keeps it over versions of this package: do not change this value.
	require.Equal(t, "a46a9478e616943496b4597942fd4d5228f8be75783da54c3c4fe2f1225c28fc",
		fmt.Sprintf("%x", cidr.MustParse("192.0.2.0/24", "2001:db8::/32").Digest()))
}

// The laws of sets, on sets of both families at once.
func TestSetLaws(t *testing.T) {
	rnd := rand.New(rand.NewPCG(10, 11))
	random := func() cidr.Set {
		s, err := cidr.Of(randomPrefixes(rnd, rnd.IntN(300))...)
		require.NoError(t, err)
		if rnd.IntN(3) == 0 {
			s = s.Complement(cidr.V4).Union(s.Complement(cidr.V6))
		}
		return s
	}
	not := func(s cidr.Set) cidr.Set { return s.Complement(cidr.V4).Union(s.Complement(cidr.V6)) }
	for range 50 {
		a, b, c := random(), random(), random()
		for name, pair := range map[string][2]cidr.Set{
			"union commutes":                {a.Union(b), b.Union(a)},
			"intersection commutes":         {a.Intersection(b), b.Intersection(a)},
			"union associates":              {a.Union(b).Union(c), a.Union(b.Union(c))},
			"union of many":                 {a.Union(b).Union(c), cidr.Union(c, a, b, a)},
			"intersection distributes":      {a.Intersection(b.Union(c)), a.Intersection(b).Union(a.Intersection(c))},
			"De Morgan":                     {not(a.Union(b)), not(a).Intersection(not(b))},
			"difference is intersection":    {a.Difference(b), a.Intersection(not(b))},
			"double complement":             {not(not(a)), a},
			"union with itself":             {a.Union(a), a},
			"intersection with itself":      {a.Intersection(a), a},
			"difference with itself":        {a.Difference(a), cidr.Set{}},
			"families apart":                {a.Only(cidr.V4).Union(a.Only(cidr.V6)), a},
			"difference of families":        {a.Only(cidr.V4).Difference(a.Only(cidr.V6)), a.Only(cidr.V4)},
			"what is left and what is gone": {a.Difference(b).Union(a.Intersection(b)), a},
		} {
			require.True(t, pair[0].Equal(pair[1]), name)
			require.Equal(t, pair[0].Digest(), pair[1].Digest(), name)
			requireNormal(t, pair[0])
		}
		require.Equal(t, !a.Intersection(b).IsEmpty(), a.Overlaps(b))
		sum := new(big.Int).Add(a.Union(b).NumAddrs(), a.Intersection(b).NumAddrs())
		require.Equal(t, sum.String(), new(big.Int).Add(a.NumAddrs(), b.NumAddrs()).String())
	}
}

func TestIteratorsStop(t *testing.T) {
	s := cidr.MustParse("10.0.0.1-10.0.0.6", "10.0.1.0/24", "::1-::6", "2001:db8::/32")
	for stop := 1; stop <= s.NumPrefixes(); stop++ {
		n := 0
		for range s.Prefixes() {
			if n++; n == stop {
				break
			}
		}
		require.Equal(t, stop, n)
		n = 0
		for range s.Ranges() {
			if n++; n == min(stop, s.NumRanges()) {
				break
			}
		}
		require.Equal(t, min(stop, s.NumRanges()), n)
	}
	var b cidr.MapBuilder[int]
	b.SetAll(s, 1)
	m, err := b.Build(cidr.LastWins)
	require.NoError(t, err)
	for stop := 1; stop <= m.NumRanges(); stop++ {
		n := 0
		for range m.All() {
			if n++; n == stop {
				break
			}
		}
		require.Equal(t, stop, n)
	}
}

// Nobody can add the block of IPv4-mapped addresses alone, but it can be what is left.
func TestMappedBlockIsLeft(t *testing.T) {
	s := cidr.Everything(cidr.V6).Difference(cidr.MustParse("::-::fffe:ffff:ffff", "::1:0:0:0-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"))
	require.Equal(t, "{::ffff:0:0/96}", s.String())
	require.Equal(t, 1, s.NumPrefixes())
	var b cidr.Builder
	b.AddSet(s)
	again, err := b.Build()
	require.NoError(t, err)
	require.True(t, again.Equal(s))
}
