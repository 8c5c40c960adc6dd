package cidr_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

func TestSetAlgebraAgainstTwin(t *testing.T) {
	eachTwin(t, 60, func(t *testing.T, w window, rnd *rand.Rand) {
		a, b := randomTwin(rnd), randomTwin(rnd)
		s, u := a.set(t, w, rnd), b.set(t, w, rnd)
		requireTwin(t, w, a, s, "building")

		requireTwin(t, w, a.combine(b, func(x, y bool) bool { return x || y }), s.Union(u), "union")
		both := a.combine(b, func(x, y bool) bool { return x && y })
		requireTwin(t, w, both, s.Intersection(u), "intersection")
		requireTwin(t, w, a.combine(b, func(x, y bool) bool { return x && !y }), s.Difference(u), "difference")
		require.Equal(t, both.count() > 0, s.Overlaps(u))
		require.Equal(t, a == b, s.Equal(u))
		require.Equal(t, a == b, s.Digest() == u.Digest())

		outer := s.Complement(w.family)
		for _, out := range w.outside() {
			require.True(t, outer.Contains(out), "complement holds %v", out)
		}
		requireTwin(t, w, a.combine(b, func(x, _ bool) bool { return !x }), outer.Intersection(w.whole(t)), "complement")
		require.True(t, outer.Complement(w.family).Equal(s), "double complement")
		require.True(t, outer.Union(s).Equal(cidr.Everything(w.family)))
		require.False(t, outer.Overlaps(s))
		requireNormal(t, outer)
	})
}

func TestSetQuestionsAgainstTwin(t *testing.T) {
	eachTwin(t, 8, func(t *testing.T, w window, rnd *rand.Rand) {
		a := randomTwin(rnd)
		s, addrs := a.set(t, w, rnd), w.addrs()
		runs := a.ranges(w)
		for i := 0; i < windowSize; i++ {
			found, ok := s.Find(addrs[i])
			require.Equal(t, a[i], ok)
			if ok {
				at := slices.IndexFunc(runs, func(r cidr.Range) bool { return !addrs[i].Less(r.First) && !r.Last.Less(addrs[i]) })
				require.Equal(t, runs[at], found)
			} else {
				require.Equal(t, cidr.Range{}, found)
			}
			all, any := true, false
			for j := i; j < windowSize; j++ {
				all, any = all && a[j], any || a[j]
				r := cidr.Range{First: addrs[i], Last: addrs[j]}
				if s.ContainsRange(r) != all || s.OverlapsRange(r) != any {
					require.Equal(t, all, s.ContainsRange(r), "contains %v", r)
					require.Equal(t, any, s.OverlapsRange(r), "overlaps %v", r)
				}
				if p, ok := r.Prefix(); ok {
					require.Equal(t, all, s.ContainsPrefix(p), "contains %v", p)
					require.Equal(t, any, s.OverlapsPrefix(p), "overlaps %v", p)
				}
			}
		}
	})
}

func TestRangeAgainstTwin(t *testing.T) {
	for _, w := range windows() {
		t.Run(w.name, func(t *testing.T) {
			addrs := w.addrs()
			for i := 0; i < windowSize; i += 1 + i%3 {
				for j := i; j < windowSize; j += 1 + j%5 {
					var want twin
					for k := i; k <= j; k++ {
						want[k] = true
					}
					r := cidr.Range{First: addrs[i], Last: addrs[j]}
					require.NoError(t, r.Check())
					require.Equal(t, w.family, r.Family())
					prefixes := slices.Collect(r.Prefixes())
					require.Equal(t, len(prefixes), r.NumPrefixes(), "%v", r)
					require.EqualValues(t, j-i+1, r.NumAddrs().Int64())
					if w.aligned() {
						require.Equal(t, want.cover(w), prefixes)
					}
					p, ok := r.Prefix()
					require.Equal(t, len(prefixes) == 1, ok, "%v", r)
					if ok {
						require.Equal(t, prefixes[0], p)
						require.Equal(t, r, cidr.RangeOf(p))
					}
					again, err := cidr.ParseRange(r.String())
					require.NoError(t, err)
					require.Equal(t, r, again)
					for _, k := range []int{0, i - 1, i, j, j + 1, windowSize - 1} {
						if k >= 0 && k < windowSize {
							require.Equal(t, want[k], r.Contains(addrs[k]))
						}
					}
				}
			}
		})
	}
}

// requireNormal checks what every Set promises: its ranges are valid, ascending, and as long as they can be.
func requireNormal(t *testing.T, s cidr.Set) {
	t.Helper()
	var last cidr.Range
	for r := range s.Ranges() {
		require.NoError(t, r.Check())
		if last.First.IsValid() && last.First.Is4() == r.First.Is4() {
			require.True(t, last.Last.Next().Less(r.First), "%v and %v are apart", last, r)
		}
		last = r
	}
}

// Single ranges that are apart, touch, share one address, or nest: what random sets rarely come down to.
func TestOverlapsAtTheEdge(t *testing.T) {
	for _, w := range windows() {
		addrs := w.addrs()
		for _, at := range []int{0, 100, windowSize - 8} {
			var sets []cidr.Set
			var twins []twin
			for i := at; i < at+8; i++ {
				for j := i; j < at+8; j++ {
					var members twin
					for k := i; k <= j; k++ {
						members[k] = true
					}
					sets = append(sets, cidr.MustParse(cidr.Range{First: addrs[i], Last: addrs[j]}.String()))
					twins = append(twins, members)
				}
			}
			for i, s := range sets {
				for j, u := range sets {
					common := twins[i].combine(twins[j], func(x, y bool) bool { return x && y }).count()
					if s.Overlaps(u) != (common > 0) || s.Intersection(u).NumAddrs().Int64() != int64(common) {
						require.Equal(t, common > 0, s.Overlaps(u), "%v and %v", s, u)
						require.EqualValues(t, common, s.Intersection(u).NumAddrs().Int64(), "%v and %v", s, u)
					}
				}
			}
		}
	}
}
