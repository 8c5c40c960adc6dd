package peers

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/cidrc/cidrc/cidr"
	"github.com/gaissmai/bart"
	"go4.org/netipx"
)

const million = 1_000_000

// europe is the continent with the countries that lie on it in part.
const europe = "continent:EU"

// sideBySide runs both in turn and reports the median of each, with the ratio.
func sideBySide(b *testing.B, per int, ours, peer func()) {
	b.Helper()
	var a, c []time.Duration
	for b.Loop() {
		start := time.Now()
		ours()
		mid := time.Now()
		peer()
		a, c = append(a, mid.Sub(start)), append(c, time.Since(mid))
	}
	slices.Sort(a)
	slices.Sort(c)
	mine, theirs := float64(a[len(a)/2].Nanoseconds()), float64(c[len(c)/2].Nanoseconds())
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(mine/float64(per), "ours-ns")
	b.ReportMetric(theirs/float64(per), "peer-ns")
	b.ReportMetric(theirs/mine, "times")
}

func eachFamily(b *testing.B, f func(*testing.B, cidr.Family)) {
	for _, family := range cidr.Families() {
		b.Run(family.String(), func(b *testing.B) { f(b, family) })
	}
}

func ours(in []netip.Prefix) cidr.Set {
	var b cidr.Builder
	for _, p := range in {
		b.AddPrefix(p)
	}
	s, err := b.Build()
	if err != nil {
		panic(err)
	}
	return s
}

func withNetipx(in []netip.Prefix) *netipx.IPSet {
	var b netipx.IPSetBuilder
	for _, p := range in {
		b.AddPrefix(p)
	}
	s, err := b.IPSet()
	if err != nil {
		panic(err)
	}
	return s
}

func withBart(in []netip.Prefix) *bart.Lite {
	t := new(bart.Lite)
	for _, p := range in {
		t.Insert(p)
	}
	t.Aggregate()
	return t
}

func requireSame(tb testing.TB, s cidr.Set, x *netipx.IPSet, t *bart.Lite) {
	tb.Helper()
	want := slices.Collect(s.Prefixes())
	if x != nil && !slices.Equal(want, x.Prefixes()) {
		tb.Fatal("netipx gives another set")
	}
	if t != nil && !slices.Equal(want, slices.Collect(t.AllSorted())) {
		tb.Fatal("bart gives another set")
	}
}

// The same answers, as a test of its own that needs no benchmark run.
func TestSameAnswers(t *testing.T) {
	for _, f := range cidr.Families() {
		in := prefixes(t, f, 50_000)
		s, x, l := ours(in), withNetipx(in), withBart(in)
		requireSame(t, s, x, l)
		for _, byRow := range []bool{false, true} {
			hits := 0
			for _, a := range addrs(t, f, byRow, 20_000) {
				if s.Contains(a) != x.Contains(a) || s.Contains(a) != l.Contains(a) {
					t.Fatalf("%v: ours %v, netipx %v, bart %v", a, s.Contains(a), x.Contains(a), l.Contains(a))
				}
				if s.Contains(a) {
					hits++
				}
			}
			if hits == 0 || hits == 20_000 {
				t.Fatalf("%v, by row %v: %d hits tell nothing", f, byRow, hits)
			}
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		shuffled := prefixes(b, f, million)
		sorted := slices.SortedFunc(slices.Values(shuffled), netipx.ComparePrefix)
		requireSame(b, ours(shuffled), withNetipx(shuffled), withBart(shuffled))
		requireSame(b, ours(sorted), withNetipx(shuffled), nil)
		for _, in := range []struct {
			name     string
			prefixes []netip.Prefix
		}{{"shuffled", shuffled}, {"sorted", sorted}} {
			b.Run(in.name+"/netipx", func(b *testing.B) {
				sideBySide(b, million, func() { ours(in.prefixes) }, func() { withNetipx(in.prefixes) })
			})
			b.Run(in.name+"/bart", func(b *testing.B) {
				sideBySide(b, million, func() { ours(in.prefixes) }, func() { withBart(in.prefixes) })
			})
		}
		b.Run("shuffled/sorted", func(b *testing.B) {
			sideBySide(b, million, func() { ours(sorted) }, func() { ours(shuffled) })
		})
	})
}

// BenchmarkGrowth reports the time and the memory that a prefix takes, for more and more of them.
func BenchmarkGrowth(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		all := prefixes(b, f, 2*million)
		for _, n := range []int{10_000, 30_000, 100_000, 300_000, million, 2 * million} {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					ours(all[:n])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/prefix")
			})
		}
	})
}

func BenchmarkContains(b *testing.B) {
	const n = 100_000
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		s, _ := block(b, europe, f)
		in := slices.Collect(s.Prefixes())
		x, t := withNetipx(in), withBart(in)
		requireSame(b, s, x, t)
		for _, kind := range []string{"uniform", "by-row"} {
			list := addrs(b, f, kind == "by-row", n)
			hits := 0
			count := func(contains func(netip.Addr) bool) func() {
				return func() {
					for _, a := range list {
						if contains(a) {
							hits++
						}
					}
				}
			}
			b.Run(kind+"/bart", func(b *testing.B) { sideBySide(b, n, count(s.Contains), count(t.Contains)) })
			b.Run(kind+"/netipx", func(b *testing.B) { sideBySide(b, n, count(s.Contains), count(x.Contains)) })
		}
	})
}

// BenchmarkOverlaps asks two sets that have no address in common but lie in each other's gaps, the worst case. netipx
// compares each range with each and is left out: a single run takes it most of a minute.
func BenchmarkOverlaps(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		s, t := block(b, europe, f)
		sb, tb := withBart(slices.Collect(s.Prefixes())), withBart(slices.Collect(t.Prefixes()))
		if s.Overlaps(t) || sb.Overlaps(tb) || !s.Overlaps(s) {
			b.Fatal("overlaps")
		}
		b.Run("bart", func(b *testing.B) {
			sideBySide(b, 1, func() { s.Overlaps(t) }, func() { sb.Overlaps(tb) })
		})
	})
}

// BenchmarkAlgebra works on the block lists of two policies.
func BenchmarkAlgebra(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		s, _ := block(b, europe, f)
		t, _ := block(b, "IT", f)
		// A netipx.IPSet is worked on through a builder; it is made from ranges, so that both start with the same.
		xs, err := s.IPSet()
		if err != nil {
			b.Fatal(err)
		}
		xt, err := t.IPSet()
		if err != nil {
			b.Fatal(err)
		}
		peer := func(change func(*netipx.IPSetBuilder)) func() *netipx.IPSet {
			return func() *netipx.IPSet {
				var build netipx.IPSetBuilder
				build.AddSet(xs)
				change(&build)
				out, err := build.IPSet()
				if err != nil {
					b.Fatal(err)
				}
				return out
			}
		}
		for _, op := range []struct {
			name string
			ours func() cidr.Set
			peer func() *netipx.IPSet
		}{
			{"union", func() cidr.Set { return s.Union(t) }, peer(func(x *netipx.IPSetBuilder) { x.AddSet(xt) })},
			{"intersection", func() cidr.Set { return s.Intersection(t) }, peer(func(x *netipx.IPSetBuilder) { x.Intersect(xt) })},
			{"difference", func() cidr.Set { return t.Difference(s) }, func() *netipx.IPSet {
				var build netipx.IPSetBuilder
				build.AddSet(xt)
				build.RemoveSet(xs)
				out, err := build.IPSet()
				if err != nil {
					b.Fatal(err)
				}
				return out
			}},
		} {
			requireSame(b, op.ours(), op.peer(), nil)
			b.Run(op.name+"/netipx", func(b *testing.B) {
				sideBySide(b, 1, func() { op.ours() }, func() { op.peer() })
			})
		}
		b.Run("equal", func(b *testing.B) {
			sideBySide(b, 1, func() { s.Equal(s) }, func() { xs.Equal(xs) })
		})
	})
}
