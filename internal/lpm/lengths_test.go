package lpm_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/internal/lpm"
	"github.com/stretchr/testify/require"
)

func TestLengths(t *testing.T) {
	s := lpm.LengthsOf(24, 0, 128, 64, 63, 24, -1, 129)
	require.Equal(t, []int{0, 24, 63, 64, 128}, slices.Collect(s.All()))
	require.Equal(t, 5, s.Len())
	require.Equal(t, "/0 /24 /63 /64 /128", s.String())
	require.Equal(t, lpm.LengthsOf(0, 24, 63, 128), s.Without(64).Without(65).Without(-1).Without(129))
	require.Equal(t, s, s.With(-1).With(129))
	require.False(t, s.Has(-1) || s.Has(129) || s.Has(23))
	require.Equal(t, "no lengths", lpm.Lengths{}.String())
	for range s.All() {
		break
	}
}

// subsets gives all sets of the lengths.
func subsets(lengths []int) []lpm.Lengths {
	out := []lpm.Lengths{{}}
	for _, l := range lengths {
		for _, s := range out {
			out = append(out, s.With(l))
		}
	}
	return out
}

// fewestPoints is the slow twin of the searches: every set of lengths, counted one by one.
func fewestPoints(sets []lpm.Lengths, count func(lpm.Lengths) (int, bool)) map[int]int {
	best := map[int]int{}
	for _, s := range sets {
		if n, ok := count(s); ok {
			if have, ok := best[s.Len()]; !ok || n < have {
				best[s.Len()] = n
			}
		}
	}
	return best
}

func requirePareto(t *testing.T, points []lpm.Point) {
	t.Helper()
	for i := 1; i < len(points); i++ {
		require.Less(t, points[i-1].Lengths.Len(), points[i].Lengths.Len())
		require.Greater(t, points[i-1].Entries, points[i].Entries)
	}
}

func TestSetLengthsAgainstAllSubsets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, f := range cidr.Families() {
		for range 60 {
			// Lengths near each other, so that the twin's prefixes stay few.
			base := rnd.IntN(f.Bits() - 8)
			var b cidr.Builder
			for range 1 + rnd.IntN(20) {
				addr := make([]byte, f.Bits()/8)
				for i := range addr {
					addr[i] = byte(rnd.Uint32())
				}
				addr[0] |= 0x80 // not IPv4-mapped
				a, _ := netip.AddrFromSlice(addr)
				b.AddPrefix(netip.PrefixFrom(a, base+rnd.IntN(9)).Masked())
			}
			s, err := b.Build()
			require.NoError(t, err)
			points := lpm.SetLengths(s, f)
			requirePareto(t, points)

			// Only lengths from the shortest to one past the longest can matter.
			var lengths []int
			for p := range s.Prefixes() {
				lengths = append(lengths, p.Bits())
			}
			var near []int
			for l := max(1, slices.Min(lengths)); l <= min(f.Bits(), slices.Max(lengths)+1); l++ {
				near = append(near, l)
			}
			want := fewestPoints(subsets(near), func(l lpm.Lengths) (int, bool) {
				n := 0
				for p := range s.Prefixes() {
					to := -1
					for at := range l.All() {
						if to < 0 && at >= p.Bits() {
							to = at
						}
					}
					if to < 0 {
						return 0, false
					}
					n += 1 << (to - p.Bits())
				}
				return n, true
			})
			for _, p := range points {
				require.Equal(t, want[p.Lengths.Len()], p.Entries, "%v of %v", p.Lengths, s)
			}
			last := points[len(points)-1]
			for k, n := range want {
				require.True(t, n >= last.Entries && (k >= last.Lengths.Len() || n > last.Entries), "%d lengths", k)
			}

			for _, p := range points {
				prefixes, err := lpm.ExpandSet(s, f, p.Lengths)
				require.NoError(t, err)
				all := slices.Collect(prefixes)
				require.Len(t, all, p.Entries)
				require.True(t, slices.IsSortedFunc(all, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) }))
				var used lpm.Lengths
				for _, q := range all {
					used = used.With(q.Bits())
				}
				require.Equal(t, p.Lengths, used)
				back, err := cidr.Of(all...)
				require.NoError(t, err)
				require.True(t, back.Equal(s))
			}
			_, err = lpm.ExpandSet(s, f, lpm.LengthsOf(slices.Max(lengths)-1))
			require.ErrorIs(t, err, lpm.ErrLengths)
		}
	}
}

func TestSetLengthsEdges(t *testing.T) {
	require.Empty(t, lpm.SetLengths(cidr.Set{}, cidr.V4))
	require.Empty(t, lpm.SetLengths(cidr.MustParse("10.0.0.0/8"), cidr.V6))
	require.Empty(t, lpm.SetLengths(cidr.MustParse("10.0.0.0/8"), 0))
	for _, f := range cidr.Families() {
		points := lpm.SetLengths(cidr.Everything(f), f)
		require.Equal(t, []lpm.Point{{Lengths: lpm.LengthsOf(1), Entries: 2}}, points)
		halves, err := lpm.ExpandSet(cidr.Everything(f), f, lpm.LengthsOf(0, 1))
		require.NoError(t, err)
		require.Len(t, slices.Collect(halves), 2)
	}
	// One length would take 2^96 entries and more.
	points := lpm.SetLengths(cidr.MustParse("2000::/32", "3000::1"), cidr.V6)
	require.Equal(t, []lpm.Point{{Lengths: lpm.LengthsOf(32, 128), Entries: 2}}, points)
	// Both ends of a family.
	ends := cidr.MustParse("0.0.0.0", "255.255.255.254-255.255.255.255")
	points = lpm.SetLengths(ends, cidr.V4)
	require.Equal(t, []lpm.Point{{lpm.LengthsOf(32), 3}, {lpm.LengthsOf(31, 32), 2}}, points)
	prefixes, err := lpm.ExpandSet(ends, cidr.V4, lpm.LengthsOf(32))
	require.NoError(t, err)
	require.Equal(t, "[0.0.0.0/32 255.255.255.254/32 255.255.255.255/32]", fmt.Sprint(slices.Collect(prefixes)))
	for range prefixes {
		break
	}
}

// Random maps of sixteen parts with every set of lengths in the window, against all tables.
func TestMinimalWithMapsOfSixteen(t *testing.T) {
	const classes, size = 2, 4
	rnd := rand.New(rand.NewPCG(9, 10))
	values := make([]int, 1<<size)
	places := windows(size)
	rounds := 100
	if testing.Short() {
		rounds = 5
	}
	for set := range 1 << (size + 1) {
		for root := range classes {
			inside := tables(size, 0, classes, root, func(d int) bool { return set>>d&1 == 1 })
			whole := tables(size, 0, classes, root, func(d int) bool { return d > 0 && set>>d&1 == 1 })
			for i := range rounds {
				for j := range values {
					values[j] = rnd.IntN(classes)
					if i%2 == 1 && rnd.IntN(3) == 0 {
						values[j] = lpm.Any
					}
					if i%5 == 0 && j%2 == 1 {
						values[j] = values[j-1] // so that some need no length of the parts
					}
				}
				w := places[rnd.IntN(len(places))]
				twin := inside
				if w.whole() {
					twin = whole
				}
				var lengths lpm.Lengths
				for d := range size + 1 {
					if set>>d&1 == 1 {
						lengths = lengths.With(w.block.Bits() + d)
					}
				}
				want, ok := twin.fewest(values, classes)
				m := w.mapOf(t, values, root)
				got, err := lpm.MinimalWith(ctx, m, w.family(), root, lengths)
				if !ok {
					require.ErrorIs(t, err, lpm.ErrLengths, "%v %v %v", w.block, values, lengths)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, want, got.Len(), "%v %v %v root %d", w.block, values, lengths, root)
				require.Equal(t, root, got.Root())
				for l := range got.Lengths().All() {
					require.True(t, lengths.Has(l))
				}
				requireSays(t, m, got, true, w.block, values, lengths, root)
			}
		}
	}
}

// With all lengths, it is the other algorithm's result.
func TestMinimalWithAllLengths(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for _, f := range cidr.Families() {
		var all lpm.Lengths
		for l := range f.Bits() + 1 {
			all = all.With(l)
		}
		for i := range 200 {
			m := randomMap(t, f, 1+rnd.IntN(60), 1+i%2, rnd)
			root := rnd.IntN(3) - 1
			if i%2 == 0 {
				root = []int{lpm.Any, 0, 63}[i%3] // one class, and perhaps a root that the map does not use
			}
			if i%2 == 1 && root == 2 {
				root = 0
			}
			want := minimal(t, m, f, root)
			got, err := lpm.MinimalWith(ctx, m, f, root, all)
			require.NoError(t, err)
			require.Equal(t, want.Len(), got.Len())
			require.Equal(t, want.Root(), got.Root())
			requireSays(t, m, got, true, f, i)
			own, err := lpm.MinimalWith(ctx, m, f, root, want.Lengths())
			require.NoError(t, err)
			require.Equal(t, want.Len(), own.Len())
		}
	}
}

func TestMinimalWithErrors(t *testing.T) {
	m := windows(3)[3].mapOf(t, []int{0, 1, 2, 0, 0, 0, 0, 0}, 0)
	_, err := lpm.MinimalWith(ctx, m, cidr.V6, 0, lpm.LengthsOf(128))
	require.ErrorIs(t, err, lpm.ErrClass)
	m = windows(3)[3].mapOf(t, []int{0, 1, 1, 0, 0, 0, 0, 0}, 0)
	_, err = lpm.MinimalWith(ctx, m, cidr.V6, 2, lpm.LengthsOf(128))
	require.ErrorIs(t, err, lpm.ErrClass)
	_, err = lpm.MinimalWith(ctx, m, cidr.V6, 1, lpm.LengthsOf(128))
	require.ErrorIs(t, err, lpm.ErrLengths, "2^128 entries")
	_, err = lpm.MinimalWith(ctx, m, cidr.V6, 0, lpm.Lengths{})
	require.ErrorIs(t, err, lpm.ErrLengths)
	free, err := lpm.MinimalWith(ctx, m, cidr.V6, lpm.Any, lpm.LengthsOf(128))
	require.NoError(t, err)
	require.Equal(t, 0, free.Root())
	require.Equal(t, 2, free.Len())
}

// The search for lengths never beats all sets of lengths, ends at the minimal table, and is no worse than a plain set.
func TestTableLengths(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 14))
	const size = 5
	values := make([]int, 1<<size)
	optimal, points := 0, 0
	for range 60 {
		for j := range values {
			values[j] = rnd.IntN(3) - 1
		}
		w := windows(size)[rnd.IntN(6)]
		var lengths []int
		for d := range size + 1 {
			lengths = append(lengths, w.block.Bits()+d)
		}
		m := w.mapOf(t, values, 0)
		want := fewestPoints(subsets(lengths), func(l lpm.Lengths) (int, bool) {
			tab, err := lpm.MinimalWith(ctx, m, w.family(), 0, l)
			if err != nil {
				return 0, false
			}
			return tab.Len(), true
		})
		got, err := lpm.TableLengths(ctx, m, w.family(), 0, 1000)
		require.NoError(t, err)
		requirePareto(t, got)
		at := map[int]int{}
		for _, p := range got {
			points++
			k := p.Lengths.Len()
			at[k] = p.Entries
			require.LessOrEqual(t, want[k], p.Entries)
			if want[k] == p.Entries {
				optimal++
			}
			tab, err := lpm.MinimalWith(ctx, m, w.family(), 0, p.Lengths)
			require.NoError(t, err)
			require.Equal(t, p.Entries, tab.Len())
		}
		require.Equal(t, minimal(t, m, w.family(), 0).Len(), got[len(got)-1].Entries)
		plain := m.Where(func(c int) bool { return c == 1 })
		for _, p := range lpm.SetLengths(plain, w.family()) {
			better := false
			for _, q := range got {
				better = better || q.Lengths.Len() <= p.Lengths.Len() && q.Entries <= p.Entries
			}
			require.True(t, better, "%v %d", p.Lengths, p.Entries)
		}
		few, err := lpm.TableLengths(ctx, m, w.family(), 0, got[len(got)-1].Entries)
		require.NoError(t, err)
		require.Equal(t, got[len(got)-1:], few)
		none, err := lpm.TableLengths(ctx, m, w.family(), 0, got[len(got)-1].Entries-1)
		require.NoError(t, err)
		require.Empty(t, none)
	}
	t.Logf("%d of %d points are the best there are", optimal, points)
	require.Greater(t, optimal*10, points*8, "the search has lost its way")

	empty, err := lpm.TableLengths(ctx, windows(3)[0].mapOf(t, make([]int, 8), 0), cidr.V4, 0, 0)
	require.NoError(t, err)
	require.Equal(t, []lpm.Point{{}}, empty)
}
