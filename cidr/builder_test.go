package cidr_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
	"go4.org/netipx"
)

func TestBuilderLaterCallWins(t *testing.T) {
	eachTwin(t, 80, func(t *testing.T, w window, rnd *rand.Rand) {
		var (
			b     cidr.Builder
			want  twin
			steps []string
			addrs = w.addrs()
		)
		for range 1 + rnd.IntN(30) {
			i := rnd.IntN(windowSize)
			j := i + rnd.IntN(min(windowSize-i, 1+rnd.IntN(windowSize)))
			r := cidr.Range{First: addrs[i], Last: addrs[j]}
			add := rnd.IntN(5) > 1
			for k := i; k <= j; k++ {
				want[k] = add
			}
			p, isPrefix := r.Prefix()
			steps = append(steps, fmt.Sprintf("add=%v %d-%d", add, i, j))
			switch form := rnd.IntN(3); {
			case i == j && form == 0 && add:
				b.AddAddr(addrs[i])
			case i == j && form == 0:
				b.RemoveAddr(addrs[i])
			case isPrefix && form == 1 && add:
				b.AddPrefix(p)
			case isPrefix && form == 1:
				b.RemovePrefix(p)
			case form == 2 && add:
				b.AddSet(cidr.MustParse(r.String()))
			case form == 2:
				b.RemoveSet(cidr.MustParse(r.String()))
			case add:
				b.AddRange(r)
			default:
				b.RemoveRange(r)
			}
		}
		s, err := b.Build()
		require.NoError(t, err)
		requireTwin(t, w, want, s, "steps: "+strings.Join(steps, "; "))
	})
}

func TestBuilderKeepsFamiliesApart(t *testing.T) {
	var b cidr.Builder
	b.AddPrefix(netip.MustParsePrefix("0.0.0.0/0"))
	b.AddPrefix(netip.MustParsePrefix("2001:db8::/32"))
	b.RemovePrefix(netip.MustParsePrefix("::/0"))
	b.AddPrefix(netip.MustParsePrefix("::/96"))
	b.RemovePrefix(netip.MustParsePrefix("10.0.0.0/8"))
	s, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, "{0.0.0.0-9.255.255.255 11.0.0.0-255.255.255.255 ::/96}", s.String())
	require.True(t, s.Only(cidr.V4).Union(s.Only(cidr.V6)).Equal(s))
	require.True(t, s.Only(0).IsEmpty())
	require.True(t, s.Complement(cidr.V6).Only(cidr.V4).IsEmpty())
	require.True(t, s.Complement(0).IsEmpty())
}

func TestBuilderIsEmptyAfterBuild(t *testing.T) {
	var b cidr.Builder
	b.Grow(4, 4)
	b.AddAddr(netip.MustParseAddr("192.0.2.1"))
	b.RemoveAddr(netip.MustParseAddr("192.0.2.2"))
	first, err := b.Build()
	require.NoError(t, err)
	second, err := b.Build()
	require.NoError(t, err)
	require.True(t, second.IsEmpty())

	b.AddAddr(netip.Addr{})
	_, err = b.Build()
	require.ErrorIs(t, err, cidr.ErrInvalid)
	b.AddAddr(netip.MustParseAddr("192.0.2.9"))
	third, err := b.Build()
	require.NoError(t, err, "an error is reported once")
	require.Equal(t, "{192.0.2.9}", third.String())
	require.Equal(t, "{192.0.2.1}", first.String(), "later use of the builder does not reach into the set")
}

func TestBuilderRemembersFirstError(t *testing.T) {
	prefix := netip.MustParsePrefix
	tooLong := netip.PrefixFrom(netip.MustParseAddr("192.0.2.0"), 33)
	tests := []struct {
		name string
		do   func(*cidr.Builder)
		want error
	}{
		{"zero address", func(b *cidr.Builder) { b.AddAddr(netip.Addr{}) }, cidr.ErrInvalid},
		{"zero prefix", func(b *cidr.Builder) { b.AddPrefix(netip.Prefix{}) }, cidr.ErrInvalid},
		{"zero range", func(b *cidr.Builder) { b.RemoveRange(cidr.Range{}) }, cidr.ErrInvalid},
		{"bad length", func(b *cidr.Builder) { b.AddPrefix(tooLong) }, cidr.ErrInvalid},
		{"zone", func(b *cidr.Builder) { b.AddAddr(netip.MustParseAddr("fe80::1%eth0")) }, cidr.ErrZone},
		{"host bits", func(b *cidr.Builder) { b.AddPrefix(prefix("192.0.2.1/24")) }, cidr.ErrHostBits},
		{"host bits of mapped", func(b *cidr.Builder) { b.RemovePrefix(prefix("::ffff:192.0.2.1/120")) }, cidr.ErrHostBits},
		{"mapped, short", func(b *cidr.Builder) { b.AddPrefix(prefix("::ffff:0:0/95")) }, cidr.ErrMapped},
		{"mapped, whole", func(b *cidr.Builder) { b.AddPrefix(prefix("::ffff:0:0/96")) }, cidr.ErrMapped},
		{"reversed", func(b *cidr.Builder) { b.AddRange(rangeOf("192.0.2.9", "192.0.2.1")) }, cidr.ErrReversed},
		{"mixed", func(b *cidr.Builder) { b.AddRange(rangeOf("192.0.2.9", "2001:db8::1")) }, cidr.ErrMixed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b cidr.Builder
			b.AddPrefix(prefix("::ffff:192.0.2.0/120"))
			tt.do(&b)
			b.AddRange(rangeOf("192.0.2.9", "192.0.2.1"))
			b.AddAddr(netip.Addr{})
			s, err := b.Build()
			require.ErrorIs(t, err, tt.want)
			require.True(t, s.IsEmpty())
		})
	}
}

func TestBuilderOrderDoesNotMatter(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	prefixes := randomPrefixes(rnd, 3000)
	want, err := cidr.Of(prefixes...)
	require.NoError(t, err)
	requireNormal(t, want)
	for range 5 {
		rnd.Shuffle(len(prefixes), func(i, j int) { prefixes[i], prefixes[j] = prefixes[j], prefixes[i] })
		got, err := cidr.Of(append(prefixes, prefixes[:100]...)...)
		require.NoError(t, err)
		require.True(t, got.Equal(want))
		require.Equal(t, want.Digest(), got.Digest())
	}
	again, err := cidr.Of(slices.Collect(want.Prefixes())...)
	require.NoError(t, err)
	require.True(t, again.Equal(want), "the cover of a set is the set")
}

// netipx is a second twin, for large sets.
func TestSetAgainstNetipx(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		p, q := randomPrefixes(rnd, 400), randomPrefixes(rnd, 400)
		s, err := cidr.Of(p...)
		require.NoError(t, err)
		u, err := cidr.Of(q...)
		require.NoError(t, err)
		sx, ux := netipxSet(t, p), netipxSet(t, q)
		requireSameAsNetipx(t, sx, s)
		requireSameAsNetipx(t, netipxOp(t, sx, func(b *netipx.IPSetBuilder) { b.AddSet(ux) }), s.Union(u))
		requireSameAsNetipx(t, netipxOp(t, sx, func(b *netipx.IPSetBuilder) { b.RemoveSet(ux) }), s.Difference(u))
		requireSameAsNetipx(t, netipxOp(t, sx, func(b *netipx.IPSetBuilder) { b.Intersect(ux) }), s.Intersection(u))
		requireSameAsNetipx(t, netipxOp(t, sx, func(b *netipx.IPSetBuilder) { b.Complement() }),
			s.Complement(cidr.V4).Union(s.Complement(cidr.V6)))
		require.Equal(t, sx.Overlaps(ux), s.Overlaps(u))
	}
}

func netipxSet(t testing.TB, prefixes []netip.Prefix) *netipx.IPSet {
	var b netipx.IPSetBuilder
	for _, p := range prefixes {
		b.AddPrefix(p)
	}
	s, err := b.IPSet()
	require.NoError(t, err)
	return s
}

func netipxOp(t *testing.T, s *netipx.IPSet, op func(*netipx.IPSetBuilder)) *netipx.IPSet {
	var b netipx.IPSetBuilder
	b.AddSet(s)
	op(&b)
	out, err := b.IPSet()
	require.NoError(t, err)
	return out
}

func requireSameAsNetipx(t *testing.T, want *netipx.IPSet, got cidr.Set) {
	t.Helper()
	prefixes := slices.Collect(got.Prefixes())
	require.Equal(t, want.Prefixes(), prefixes)
	require.Equal(t, len(prefixes), got.NumPrefixes())
	require.Equal(t, len(want.Ranges()), got.NumRanges())
}

// randomPrefixes gives valid prefixes of both families, long and short, many of which nest or touch.
func randomPrefixes(rnd *rand.Rand, n int) []netip.Prefix {
	out := make([]netip.Prefix, 0, n)
	for len(out) < n {
		var a netip.Addr
		if rnd.IntN(2) == 0 {
			a = netip.AddrFrom4([4]byte{198, byte(18 + rnd.IntN(2)), byte(rnd.IntN(256)), byte(rnd.IntN(256))})
		} else {
			raw := [16]byte{0x20, 0x01, 0x0d, 0xb8}
			for i := 4; i < 16; i++ {
				raw[i] = byte(rnd.IntN(4)) << 6
			}
			a = netip.AddrFrom16(raw)
		}
		p, err := a.Prefix(a.BitLen() - rnd.IntN(a.BitLen()*2/5))
		if err != nil {
			panic(err)
		}
		out = append(out, p)
	}
	return out
}

func rangeOf(first, last string) cidr.Range {
	return cidr.Range{First: netip.MustParseAddr(first), Last: netip.MustParseAddr(last)}
}
