package lpm_test

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/internal/lpm"
	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

func minimal(t testing.TB, m cidr.Map[int], f cidr.Family, root int) *lpm.Table {
	t.Helper()
	tab, err := lpm.Minimal(ctx, m, f, root)
	require.NoError(t, err)
	return tab
}

// The twin itself is held against every table of a window of two bits, each looked up prefix by prefix.
func TestTwinAgainstAllTables(t *testing.T) {
	const classes = 3
	blocks := []netip.Prefix{}
	for l := 30; l <= 32; l++ {
		for i := range 1 << (l - 30) {
			blocks = append(blocks, netip.PrefixFrom(netip.AddrFrom4([4]byte{3: byte(i << (32 - l))}), l))
		}
	}
	for root := range classes {
		want := functions{}
		table := make([]int, len(blocks)) // the class of each block's entry, or classes for none
		for {
			n := 0
			text := [4]byte{}
			for i := range text {
				class := root
				for b, p := range blocks { // ascending by length, so the last that matches is the longest
					if table[b] < classes && p.Contains(netip.AddrFrom4([4]byte{3: byte(i)})) {
						class = table[b]
					}
				}
				text[i] = byte('0' + class)
			}
			for _, c := range table {
				if c < classes {
					n++
				}
			}
			if have, ok := want[string(text[:])]; !ok || n < have {
				want[string(text[:])] = n
			}
			j := 0
			for ; j < len(table) && table[j] == classes; j++ {
				table[j] = 0
			}
			if j == len(table) {
				break
			}
			table[j]++
		}
		require.Equal(t, want, tables(2, 0, classes, root, func(int) bool { return true }))
	}
}

// Every map of eight parts, of two and of three classes and any.
func TestMinimalEveryMapOfEight(t *testing.T) {
	for _, classes := range []int{2, 3} {
		var twins [2][]functions // for a window inside the family, and one that is all of it
		for root := range classes {
			twins[0] = append(twins[0], tables(3, 0, classes, root, func(int) bool { return true }))
			twins[1] = append(twins[1], tables(3, 0, classes, root, func(depth int) bool { return depth > 0 }))
		}
		places := windows(3)
		eachMap(8, classes, func(i int, values []int) {
			if testing.Short() && i%7 != 0 {
				return
			}
			w := places[i%len(places)]
			twin := twins[0]
			if w.whole() {
				twin = twins[1]
			}
			root := i / len(places) % classes
			want, ok := twin[root].fewest(values, classes)
			require.True(t, ok)
			m := w.mapOf(t, values, root)
			got := minimal(t, m, w.family(), root)
			if want != got.Len() || got.Root() != root {
				require.Equal(t, want, got.Len(), "%v %v root %d", w.block, values, root)
				require.Equal(t, root, got.Root())
			}
			requireSays(t, m, got, true, w.block, values, root)

			if !w.whole() {
				return
			}
			free := minimal(t, m, w.family(), lpm.Any)
			want, best := len(values)+1, 0
			for root := range classes {
				if n, _ := twin[root].fewest(values, classes); n < want && (slices.Contains(values, root) || root == 0) {
					want, best = n, root
				}
			}
			if want != free.Len() || slices.Max(values) != lpm.Any && slices.Contains(values, best) && best != free.Root() {
				require.Equal(t, want, free.Len(), "%v %v free root", w.block, values)
				require.Equal(t, best, free.Root(), "%v %v free root", w.block, values)
			}
			requireSays(t, m, free, true, w.block, values, "free root")
		})
	}
}

// Every map of sixteen parts to two classes, and random ones with any, at every place.
func TestMinimalMapsOfSixteen(t *testing.T) {
	const classes = 2
	every := func(int) bool { return true }
	below := func(depth int) bool { return depth > 0 }
	inside := []functions{tables(4, 0, classes, 0, every), tables(4, 0, classes, 1, every)}
	whole := []functions{tables(4, 0, classes, 0, below), tables(4, 0, classes, 1, below)}
	places := windows(4)
	rnd := rand.New(rand.NewPCG(1, 2))
	values := make([]int, 16)
	n := 1 << 16
	if testing.Short() {
		n = 1 << 12
	}
	for i := range n {
		for j := range values {
			values[j] = i >> j & 1
			if i%2 == 1 && rnd.IntN(3) == 0 {
				values[j] = lpm.Any
			}
		}
		w := places[rnd.IntN(len(places))]
		root := rnd.IntN(classes)
		twin := inside[root]
		if w.whole() {
			twin = whole[root]
		}
		want, ok := twin.fewest(values, classes)
		require.True(t, ok)
		m := w.mapOf(t, values, root)
		got := minimal(t, m, w.family(), root)
		if want != got.Len() {
			require.Equal(t, want, got.Len(), "%v %v root %d", w.block, values, root)
		}
		requireSays(t, m, got, true, w.block, values, root)
	}
}

func TestMinimalByHand(t *testing.T) {
	type values = []struct {
		entry string
		class int
	}
	tests := []struct {
		name   string
		family cidr.Family
		root   int
		values values
		want   values
	}{
		{"all is the root", cidr.V4, 3, values{{"0.0.0.0/0", 3}}, nil},
		{"none is the root: no entry of length 0", cidr.V4, 0, values{{"0.0.0.0/0", 1}},
			values{{"0.0.0.0/1", 1}, {"128.0.0.0/1", 1}}},
		{"the same in IPv6", cidr.V6, 0, values{{"::/0", 1}}, values{{"::/1", 1}, {"8000::/1", 1}}},
		{"anything goes", cidr.V6, 5, values{{"::/0", lpm.Any}}, nil},
		{"both ends", cidr.V4, 0, values{{"0.0.0.0/0", 0}, {"0.0.0.0", 1}, {"255.255.255.255", 63}},
			values{{"0.0.0.0/32", 1}, {"255.255.255.255/32", 63}}},
		{"both ends of IPv6", cidr.V6, 0,
			values{{"::/0", 0}, {"::", 1}, {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 2}},
			values{{"::/128", 1}, {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", 2}}},
		{"an exception", cidr.V4, 0, values{{"0.0.0.0/0", 0}, {"192.0.2.0/24", 1}, {"192.0.2.77", 0}},
			values{{"192.0.2.0/24", 1}, {"192.0.2.77/32", 0}}},
		{"the exception that is any costs nothing", cidr.V4, 0,
			values{{"0.0.0.0/0", 0}, {"192.0.2.0/24", 1}, {"192.0.2.77", lpm.Any}}, values{{"192.0.2.0/24", 1}}},
		{"entries reach no further into any than they must", cidr.V4, 0,
			values{{"0.0.0.0/0", lpm.Any}, {"192.0.2.0/24", 1}}, values{{"192.0.2.0/24", 1}}},
		{"but join across it where that saves one", cidr.V4, 0,
			values{{"0.0.0.0/0", lpm.Any}, {"192.0.2.0/26", 1}, {"192.0.2.128/26", 1}}, values{{"192.0.2.0/24", 1}}},
		{"IPv4-mapped space alone", cidr.V6, 0,
			values{{"::/0", 1}, {"::-::fffe:ffff:ffff", 0}, {"::1:0:0:0-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 0}},
			values{{"::ffff:0.0.0.0/96", 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b cidr.MapBuilder[int]
			for _, v := range tt.values {
				r, err := cidr.ParseRange(v.entry)
				require.NoError(t, err)
				b.SetRange(r, v.class)
			}
			m, err := b.Build(cidr.LastWins)
			require.NoError(t, err)
			got := minimal(t, m, tt.family, tt.root)
			var entries values
			for p, c := range got.All() {
				entries = append(entries, values{{p.String(), c}}...)
			}
			require.Equal(t, tt.want, entries)
			requireSays(t, m, got, true)
			if len(entries) < 2 || entries[0].class == entries[1].class || tt.root == entries[1].class { // two classes
				var all lpm.Lengths
				for l := range tt.family.Bits() {
					all = all.With(l + 1)
				}
				bounded, err := lpm.MinimalWith(ctx, m, tt.family, tt.root, all)
				require.NoError(t, err)
				var same values
				for p, c := range bounded.All() {
					same = append(same, values{{p.String(), c}}...)
				}
				require.Equal(t, tt.want, same)
			}
		})
	}
}

func TestMinimalErrors(t *testing.T) {
	gap := func(entries ...string) cidr.Map[int] {
		var b cidr.MapBuilder[int]
		b.SetAll(cidr.MustParse(entries...), 1)
		m, err := b.Build(cidr.LastWins)
		require.NoError(t, err)
		return m
	}
	class := func(c int) cidr.Map[int] {
		return cidr.Transform(gap("0.0.0.0/0"), func(int) (int, bool) { return c, true })
	}
	tests := []struct {
		name   string
		m      cidr.Map[int]
		family cidr.Family
		root   int
		want   error
		says   string
	}{
		{"no family", gap("0.0.0.0/0"), 0, 0, lpm.ErrFamily, ""},
		{"empty map", cidr.Map[int]{}, cidr.V4, 0, lpm.ErrGap, "0.0.0.0"},
		{"the other family", gap("0.0.0.0/0"), cidr.V6, 0, lpm.ErrGap, "::"},
		{"first address", gap("0.0.0.1-255.255.255.255"), cidr.V4, 0, lpm.ErrGap, "0.0.0.0"},
		{"last address", gap("0.0.0.0-255.255.255.254"), cidr.V4, 0, lpm.ErrGap, "255.255.255.255"},
		{"last half", gap("::/1"), cidr.V6, 0, lpm.ErrGap, "8000::"},
		{"between", gap("::/1", "8000::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), cidr.V6, 0, lpm.ErrGap, "8000::"},
		{"class too high", class(64), cidr.V4, 0, lpm.ErrClass, "64"},
		{"class too low", class(-2), cidr.V4, 0, lpm.ErrClass, "-2"},
		{"root too high", class(0), cidr.V4, 64, lpm.ErrClass, "64"},
		{"root too low", class(0), cidr.V4, -2, lpm.ErrClass, "-2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := lpm.Minimal(ctx, tt.m, tt.family, tt.root)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.says)
			_, err = lpm.MinimalWith(ctx, tt.m, tt.family, tt.root, lpm.LengthsOf(32))
			require.ErrorIs(t, err, tt.want)
			_, err = lpm.TableLengths(ctx, tt.m, tt.family, tt.root, 10)
			require.ErrorIs(t, err, tt.want)
		})
	}
}

// randomMap covers the family with n random prefixes of random classes; about a fifth of them are any.
func randomMap(t testing.TB, f cidr.Family, n, classes int, rnd *rand.Rand) cidr.Map[int] {
	t.Helper()
	var b cidr.MapBuilder[int]
	b.SetAll(cidr.Everything(f), rnd.IntN(classes))
	for range n {
		addr := make([]byte, f.Bits()/8)
		for i := range addr {
			addr[i] = byte(rnd.Uint32())
			if rnd.IntN(4) == 0 {
				addr[i] = 0xff * byte(rnd.IntN(2)) // crowds and ends
			}
		}
		a, _ := netip.AddrFromSlice(addr)
		if a.Is4In6() {
			continue
		}
		class := rnd.IntN(classes)
		if rnd.IntN(5) == 0 {
			class = lpm.Any
		}
		b.SetPrefix(netip.PrefixFrom(a, 1+rnd.IntN(f.Bits())).Masked(), class)
	}
	m, err := b.Build(cidr.MostSpecific)
	require.NoError(t, err)
	return m
}

func TestMinimalRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, f := range cidr.Families() {
		for i := range 300 {
			classes := []int{1, 2, 3, 7, 64}[i%5]
			m := randomMap(t, f, 1+rnd.IntN(80), classes, rnd)
			root := rnd.IntN(classes+1) - 1
			got := minimal(t, m, f, root)
			requireSays(t, m, got, true, f, i)
			require.Equal(t, got, minimal(t, m, f, root), "not the same twice")
			if root == lpm.Any {
				for c := range classes {
					require.LessOrEqual(t, got.Len(), minimal(t, m, f, c).Len())
				}
			}
			// A table of the table's own map is no smaller.
			var b cidr.MapBuilder[int]
			b.SetAll(cidr.Everything(f), got.Root())
			for p, c := range got.All() {
				r := cidr.RangeOf(p)
				if r.Check() != nil {
					continue
				}
				b.SetRange(r, c)
			}
			own, err := b.Build(cidr.MostSpecific)
			require.NoError(t, err)
			require.LessOrEqual(t, got.Len(), minimal(t, own, f, got.Root()).Len())
		}
	}
}

func TestCancelled(t *testing.T) {
	m := randomMap(t, cidr.V4, 10, 2, rand.New(rand.NewPCG(1, 1)))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := lpm.Minimal(ended, m, cidr.V4, 0)
	require.ErrorIs(t, err, context.Canceled)
	_, err = lpm.MinimalWith(ended, m, cidr.V4, 0, lpm.LengthsOf(32))
	require.ErrorIs(t, err, context.Canceled)
	_, err = lpm.TableLengths(ended, m, cidr.V4, 0, 1000)
	require.ErrorIs(t, err, context.Canceled)
}

func TestWithin(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, f := range cidr.Families() {
		for range 60 {
			m := randomMap(t, f, 60, 3, rnd)
			tab := minimal(t, m, f, 0)
			all := []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{}), 0)}
			if f == cidr.V6 {
				all[0] = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
			}
			for p := range tab.All() {
				for _, l := range []int{0, 1, p.Bits() - 1, p.Bits(), p.Bits() + 1, f.Bits()} {
					if l <= f.Bits() {
						all = append(all, netip.PrefixFrom(p.Addr(), l)) // host bits and all
					}
				}
			}
			for _, block := range all {
				var want []lpm.Entry
				class, longest := tab.Root(), -1
				for p, c := range tab.All() {
					if p.Bits() >= block.Bits() && block.Contains(p.Addr()) {
						want = append(want, lpm.Entry{Prefix: p, Class: c})
					}
					if p.Bits() < block.Bits() && p.Contains(block.Masked().Addr()) && p.Bits() > longest {
						class, longest = c, p.Bits()
					}
				}
				from, to, got := tab.Within(block)
				require.Equal(t, class, got, block)
				var entries []lpm.Entry
				for p, c := range tab.Between(from, to) {
					entries = append(entries, lpm.Entry{Prefix: p, Class: c})
				}
				require.Equal(t, want, entries, block)
			}
			histogram := make([]int, f.Bits()+1)
			var lengths lpm.Lengths
			for i := range tab.Len() {
				e := tab.At(i)
				histogram[e.Prefix.Bits()]++
				lengths = lengths.With(e.Prefix.Bits())
				parent := -1
				for j := range i {
					if p := tab.At(j).Prefix; p.Contains(e.Prefix.Addr()) && p.Bits() < e.Prefix.Bits() {
						parent = j // the last is the longest
					}
				}
				require.Equal(t, parent, tab.Parent(i))
			}
			require.Equal(t, histogram, tab.Histogram())
			require.Equal(t, lengths, tab.Lengths())
		}
	}
}

func TestTableEdges(t *testing.T) {
	m := windows(3)[0].mapOf(t, []int{1, 1, 0, 0, 0, 0, 0, 1}, 0)
	tab := minimal(t, m, cidr.V4, 0)
	require.Equal(t, cidr.V4, tab.Family())
	require.Equal(t, lpm.Entry{Prefix: netip.MustParsePrefix("0.0.0.0/31"), Class: 1}, tab.At(0))
	for _, i := range []int{-1, 2} {
		require.Equal(t, lpm.Entry{}, tab.At(i))
		require.Equal(t, -1, tab.Parent(i))
	}
	require.Equal(t, 1, tab.Lookup(netip.MustParseAddr("::ffff:0.0.0.7")))
	require.Equal(t, lpm.Any, tab.Lookup(netip.MustParseAddr("::7")))
	require.Equal(t, lpm.Any, tab.Lookup(netip.Addr{}))
	tooLong := netip.PrefixFrom(netip.MustParseAddr("0.0.0.1"), 33)
	for _, p := range []netip.Prefix{{}, netip.MustParsePrefix("::/0"), tooLong} {
		from, to, class := tab.Within(p)
		require.Equal(t, []int{0, 0, lpm.Any}, []int{from, to, class})
	}
	n := 0
	for range tab.Between(-5, 100) {
		n++
	}
	require.Equal(t, 2, n)
	for range tab.All() {
		break
	}
	var zero lpm.Table
	require.Equal(t, lpm.Any, zero.Lookup(netip.MustParseAddr("0.0.0.1")))
	require.Zero(t, zero.Len())
	from, to, class := zero.Within(netip.MustParsePrefix("0.0.0.0/0"))
	require.Equal(t, []int{0, 0, lpm.Any}, []int{from, to, class})
}
