package cidr_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

func TestTraceSaysWhichLineAndWhichException(t *testing.T) {
	var b cidr.Builder
	trace := b.Trace()
	require.Same(t, trace, b.Trace())
	b.From("feed.txt", 1)
	b.AddPrefix(netip.MustParsePrefix("198.51.100.0/24"))
	b.From("feed.txt", 9)
	b.AddPrefix(netip.MustParsePrefix("2001:db8::/32"))
	b.From("feed.txt", 12)
	b.AddPrefix(netip.MustParsePrefix("198.51.100.64/26"))
	b.From("except.txt", 3)
	b.RemoveAddr(netip.MustParseAddr("198.51.100.77"))
	b.From("more", 0)
	b.AddSet(cidr.MustParse("192.0.2.1"))
	s, err := b.Build()
	require.NoError(t, err)

	why := func(addr string) string {
		c, ok := trace.Why(netip.MustParseAddr(addr))
		require.Equal(t, ok && !c.Removed, s.Contains(netip.MustParseAddr(addr)), addr)
		if !ok {
			return ""
		}
		return c.String()
	}
	require.Equal(t, "feed.txt:1: 198.51.100.0/24", why("198.51.100.1"))
	require.Equal(t, "feed.txt:12: 198.51.100.64/26", why("198.51.100.76"))
	require.Equal(t, "except.txt:3: 198.51.100.77 removed", why("198.51.100.77"))
	require.Equal(t, "feed.txt:9: 2001:db8::/32", why("2001:db8::1%eth0"))
	require.Equal(t, "more: 192.0.2.1", why("::ffff:192.0.2.1"))
	require.Equal(t, "", why("198.51.101.0"))

	var all []string
	for c := range trace.Causes(netip.MustParseAddr("198.51.100.77")) {
		all = append(all, c.String())
	}
	require.Equal(t, []string{
		"feed.txt:1: 198.51.100.0/24", "feed.txt:12: 198.51.100.64/26", "except.txt:3: 198.51.100.77 removed",
	}, all)
	require.Empty(t, slices.Collect(trace.Causes(netip.Addr{})))
	for c := range trace.Causes(netip.MustParseAddr("198.51.100.77")) {
		require.Equal(t, 1, c.Line)
		break
	}
}

func TestTraceOfMapFollowsPrecedence(t *testing.T) {
	for how, want := range map[cidr.Precedence]string{
		cidr.LastWins: "wide.csv:2: 192.0.2.0/24", cidr.MostSpecific: "narrow.csv:7: 192.0.2.8/29",
	} {
		var b cidr.MapBuilder[string]
		trace := b.Trace()
		b.From("narrow.csv", 7)
		b.SetPrefix(netip.MustParsePrefix("192.0.2.8/29"), "narrow")
		b.From("wide.csv", 2)
		b.SetPrefix(netip.MustParsePrefix("192.0.2.0/24"), "wide")
		m, err := b.Build(how)
		require.NoError(t, err)
		addr := netip.MustParseAddr("192.0.2.9")
		v, _ := m.Get(addr)
		c, ok := trace.Why(addr)
		require.True(t, ok)
		require.Equal(t, want, c.String())
		require.Equal(t, v+".csv", c.Source)
		_, ok = trace.Why(netip.MustParseAddr("192.0.3.0"))
		require.False(t, ok)
	}
}

func TestWithoutTraceFromDoesNothing(t *testing.T) {
	var b cidr.Builder
	b.From("x", 1)
	b.AddAddr(netip.MustParseAddr("192.0.2.1"))
	s, err := b.Build()
	require.NoError(t, err)
	require.True(t, s.Equal(cidr.MustParse("192.0.2.1")))
}

// A scan over all entries is the twin of the groups that are skipped; the set says what the deciding entry must be.
func TestTraceAgainstScan(t *testing.T) {
	for _, sorted := range []bool{false, true} {
		for _, f := range cidr.Families() {
			rnd := rand.New(rand.NewPCG(3, uint64(f)))
			in := benchPrefixes(f, 5000)
			if sorted {
				slices.SortFunc(in, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
			}
			// Wide entries among them, so that groups reach far.
			for i := range in {
				if rnd.IntN(100) == 0 {
					in[i] = netip.PrefixFrom(in[i].Addr(), in[i].Bits()-12).Masked()
				}
			}
			var b cidr.Builder
			trace := b.Trace()
			removed := make([]bool, len(in))
			for i, p := range in {
				b.From(fmt.Sprint("source ", i/1000), i)
				if removed[i] = rnd.IntN(3) == 0; removed[i] {
					b.RemovePrefix(p)
				} else {
					b.AddPrefix(p)
				}
			}
			s, err := b.Build()
			require.NoError(t, err)
			for range 2000 {
				r := cidr.RangeOf(in[rnd.IntN(len(in))])
				a := r.First
				if rnd.IntN(2) == 0 {
					a = r.Last.Next()
				}
				var want []cidr.Cause
				for i, p := range in {
					if p.Contains(a) {
						want = append(want, cidr.Cause{fmt.Sprint("source ", i/1000), i, cidr.RangeOf(p), removed[i]})
					}
				}
				got := slices.Collect(trace.Causes(a))
				require.Equal(t, want, got)
				c, ok := trace.Why(a)
				require.Equal(t, len(want) > 0, ok)
				require.Equal(t, s.Contains(a), ok && !c.Removed)
			}
		}
	}
}
