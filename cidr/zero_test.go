package cidr_test

import (
	"math/big"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
	"go4.org/netipx"
)

// invalidRanges are ranges that Check refuses, with the reason.
func invalidRanges() map[cidr.Range]error {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	return map[cidr.Range]error{
		{}:                                                   cidr.ErrInvalid,
		{First: v4}:                                          cidr.ErrInvalid,
		{Last: v6}:                                           cidr.ErrInvalid,
		{First: v4, Last: v6}:                                cidr.ErrMixed,
		{First: v6, Last: v4}:                                cidr.ErrMixed,
		{First: v4.Next(), Last: v4}:                         cidr.ErrReversed,
		{First: v6.Next(), Last: v6}:                         cidr.ErrReversed,
		rangeOf("fe80::1%a", "fe80::2"):                      cidr.ErrZone,
		rangeOf("fe80::1", "fe80::2%a"):                      cidr.ErrZone,
		rangeOf("::1", "::ffff:1.2.3.4"):                     cidr.ErrMapped,
		rangeOf("::ffff:1.2.3.4", "2000::"):                  cidr.ErrMapped,
		rangeOf("::ffff:0:0", "::ffff:ffff:ffff"):            cidr.ErrMapped,
		rangeOf("::ffff:1.2.3.4", "::ffff:1.2.3.3"):          cidr.ErrReversed,
		cidr.RangeOf(netip.MustParsePrefix("::ffff:0:0/96")): cidr.ErrMapped,
	}
}

func TestInvalidRange(t *testing.T) {
	s := cidr.Union(cidr.Everything(cidr.V4), cidr.Everything(cidr.V6))
	for r, want := range invalidRanges() {
		require.ErrorIs(t, r.Check(), want, "%v-%v", r.First, r.Last)
		require.Equal(t, cidr.Family(0), r.Family())
		require.False(t, r.Contains(r.First))
		require.False(t, r.Contains(netip.Addr{}))
		require.Empty(t, slices.Collect(r.Prefixes()))
		require.Zero(t, r.NumPrefixes())
		require.Zero(t, r.NumAddrs().Sign())
		require.Equal(t, "invalid range", r.String())
		require.Equal(t, netipx.IPRange{}, r.IPRange())
		p, ok := r.Prefix()
		require.False(t, ok)
		require.Equal(t, netip.Prefix{}, p)
		require.False(t, s.ContainsRange(r))
		require.False(t, s.OverlapsRange(r))
	}
}

func TestRangeMappedAndZone(t *testing.T) {
	// Inside the mapped block a range is IPv4, whichever way its ends are written.
	for _, r := range []cidr.Range{
		rangeOf("192.0.2.0", "192.0.2.255"),
		rangeOf("::ffff:192.0.2.0", "::ffff:192.0.2.255"),
		rangeOf("::ffff:192.0.2.0", "192.0.2.255"),
		cidr.RangeOf(netip.MustParsePrefix("::ffff:192.0.2.0/120")),
		cidr.RangeOf(netip.MustParsePrefix("::ffff:192.0.2.77/120")), // host bits are ignored
	} {
		require.NoError(t, r.Check())
		require.Equal(t, cidr.V4, r.Family())
		require.Equal(t, "192.0.2.0/24", r.String())
		require.EqualValues(t, 256, r.NumAddrs().Int64())
		require.True(t, r.Contains(netip.MustParseAddr("192.0.2.9")))
		require.True(t, r.Contains(netip.MustParseAddr("::ffff:192.0.2.9")))
		require.False(t, r.Contains(netip.MustParseAddr("::192.0.2.9")))
		require.Equal(t, netipx.MustParseIPRange("192.0.2.0-192.0.2.255"), r.IPRange())
		var b cidr.Builder
		b.AddRange(r)
		s, err := b.Build()
		require.NoError(t, err)
		require.True(t, s.Equal(cidr.MustParse("192.0.2.0/24")))
	}
	one := cidr.Range{First: netip.MustParseAddr("::ffff:1.2.3.4"), Last: netip.MustParseAddr("::ffff:1.2.3.4")}
	require.Equal(t, "1.2.3.4", one.String())

	// An IPv6 range that takes the block in does not hold the IPv4 addresses.
	all := cidr.Everything(cidr.V6)
	require.False(t, all.Contains(netip.MustParseAddr("::ffff:1.2.3.4")))
	require.False(t, cidr.RangeOf(netip.MustParsePrefix("::/0")).Contains(netip.MustParseAddr("::ffff:1.2.3.4")))
	require.True(t, all.Contains(netip.MustParseAddr("::fffe:ffff:ffff")))
	require.False(t, all.ContainsPrefix(netip.MustParsePrefix("::ffff:1.2.3.4/128")))
	require.True(t, cidr.Everything(cidr.V4).ContainsPrefix(netip.MustParsePrefix("::ffff:1.2.3.0/120")))

	// Look-ups ignore the zone.
	link := cidr.MustParse("fe80::/10")
	zoned := netip.MustParseAddr("fe80::1%eth0")
	require.True(t, link.Contains(zoned))
	r, ok := link.Find(zoned)
	require.True(t, ok)
	require.Equal(t, "fe80::/10", r.String())
	require.True(t, r.Contains(zoned))
	require.Equal(t, cidr.V6, cidr.FamilyOf(zoned))
}

// A set may end beside the mapped block or be cut there by algebra; its ranges still make it again.
func TestSetBesideMappedBlock(t *testing.T) {
	below, above := cidr.MustParse("::-::fffe:ffff:ffff"), cidr.MustParse("::1:0:0:0-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
	for _, s := range []cidr.Set{below, above, below.Complement(cidr.V6), above.Complement(cidr.V6)} {
		var b cidr.Builder
		for r := range s.Ranges() {
			b.AddRange(r)
		}
		again, err := b.Build()
		require.NoError(t, err)
		require.True(t, again.Equal(s))
		require.True(t, s.Only(cidr.V4).IsEmpty())
		require.True(t, s.Complement(cidr.V6).Complement(cidr.V6).Equal(s))
	}
}

func TestZeroSet(t *testing.T) {
	var s, o cidr.Set
	require.True(t, s.IsEmpty())
	require.True(t, s.Equal(o))
	require.Equal(t, s.Digest(), o.Digest())
	require.False(t, s.Overlaps(o))
	require.Equal(t, "{}", s.String())
	require.Zero(t, s.NumRanges())
	require.Zero(t, s.NumPrefixes())
	require.Zero(t, s.NumAddrs().Sign())
	require.Empty(t, slices.Collect(s.Ranges()))
	require.Empty(t, slices.Collect(s.Prefixes()))
	require.Empty(t, s.IPNets())
	require.True(t, s.Union(o).IsEmpty())
	require.True(t, s.Intersection(o).IsEmpty())
	require.True(t, s.Difference(o).IsEmpty())
	require.True(t, cidr.Union().IsEmpty())
	all := cidr.MustParse("0.0.0.0/0", "::/0")
	require.True(t, all.Union(s).Equal(all) && s.Union(all).Equal(all))
	require.True(t, all.Difference(s).Equal(all) && s.Difference(all).IsEmpty())
	require.True(t, all.Intersection(s).IsEmpty() && s.Intersection(all).IsEmpty())
	require.True(t, s.Complement(cidr.V4).Equal(all.Only(cidr.V4)))
	x, err := s.IPSet()
	require.NoError(t, err)
	require.Empty(t, x.Ranges())
	for _, set := range []cidr.Set{s, all} {
		require.False(t, set.Contains(netip.Addr{}))
		_, ok := set.Find(netip.Addr{})
		require.False(t, ok)
		for _, p := range []netip.Prefix{{}, netip.PrefixFrom(netip.MustParseAddr("1.2.3.4"), 99)} {
			require.False(t, set.ContainsPrefix(p))
			require.False(t, set.OverlapsPrefix(p))
			require.Equal(t, cidr.Range{}, cidr.RangeOf(p))
		}
	}
	built, err := new(cidr.Builder).Build()
	require.NoError(t, err)
	require.True(t, built.Equal(s))
	of, err := cidr.Of()
	require.NoError(t, err)
	require.True(t, of.IsEmpty())
	require.True(t, cidr.MustParse().IsEmpty())
	require.True(t, cidr.Everything(0).IsEmpty())
}

func TestZeroMap(t *testing.T) {
	var m cidr.Map[string]
	built, err := new(cidr.MapBuilder[string]).Build(cidr.MostSpecific)
	require.NoError(t, err)
	for _, m := range []cidr.Map[string]{m, built, cidr.Transform(m, func(s string) (string, bool) { return s, true })} {
		require.True(t, m.Equal(built) && built.Equal(m))
		require.Zero(t, m.NumRanges())
		require.True(t, m.Set().IsEmpty())
		require.True(t, m.Where(func(string) bool { return true }).IsEmpty())
		require.Zero(t, m.Only(cidr.V4).NumRanges()+m.Only(0).NumRanges())
		for range m.All() {
			t.Fatal("a zero map has no ranges")
		}
		for _, a := range []netip.Addr{{}, netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("::")} {
			v, ok := m.Get(a)
			require.False(t, ok)
			require.Empty(t, v)
			r, _, ok := m.Find(a)
			require.False(t, ok)
			require.Equal(t, cidr.Range{}, r)
		}
	}
}

func TestZeroInterop(t *testing.T) {
	require.ErrorIs(t, cidr.RangeFromIPRange(netipx.IPRange{}).Check(), cidr.ErrInvalid)
	s, err := cidr.FromIPSet(nil)
	require.NoError(t, err)
	require.True(t, s.IsEmpty())
	s, err = cidr.FromIPSet(&netipx.IPSet{})
	require.NoError(t, err)
	require.True(t, s.IsEmpty())
	s, err = cidr.FromIPNets()
	require.NoError(t, err)
	require.True(t, s.IsEmpty())
	for _, n := range []*net.IPNet{nil, {}, {IP: net.IPv4zero}, {Mask: net.CIDRMask(0, 32)}} {
		_, err := cidr.FromIPNets(n)
		require.Error(t, err)
	}
}

func TestFamily(t *testing.T) {
	require.Equal(t, [2]cidr.Family{cidr.V4, cidr.V6}, cidr.Families())
	for f, want := range map[cidr.Family]string{
		cidr.V4: "IPv4 32", cidr.V6: "IPv6 128", 0: "no family 0", 5: "no family 0",
	} {
		require.Equal(t, want, f.String()+" "+big.NewInt(int64(f.Bits())).String())
	}
	require.Equal(t, cidr.Family(0), cidr.FamilyOf(netip.Addr{}))
	require.Equal(t, cidr.V4, cidr.FamilyOf(netip.MustParseAddr("::ffff:1.2.3.4")))
	require.Equal(t, cidr.V6, cidr.FamilyOf(netip.MustParseAddr("::1.2.3.4")))
}
