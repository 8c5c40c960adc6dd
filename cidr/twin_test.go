package cidr_test

import (
	"math/big"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

// The slow twin of a Set is a bool for each address of a small window. The windows lie where mistakes live: at both ends
// of both families, across a carry between the halves of an IPv6 address, and in the middle.
const windowSize = 256

type window struct {
	name   string
	family cidr.Family
	base   netip.Addr
}

func windows() []window {
	at := func(name, base string) window {
		a := netip.MustParseAddr(base)
		return window{name, cidr.FamilyOf(a), a}
	}
	return []window{
		at("bottom of IPv4", "0.0.0.0"),
		at("middle of IPv4", "127.255.255.128"),
		at("top of IPv4", "255.255.255.0"),
		at("bottom of IPv6", "::"),
		at("carry of IPv6", "2001:db8:0:0:ffff:ffff:ffff:ff80"),
		at("top of IPv6", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ff00"),
	}
}

// addr returns the address at a place of the window. It steps with netip, so as to owe nothing to the code under test.
func (w window) addr(i int) netip.Addr {
	a := w.base
	for range i {
		a = a.Next()
	}
	return a
}

// addrs returns all addresses of the window.
func (w window) addrs() []netip.Addr {
	out := []netip.Addr{w.base}
	for len(out) < windowSize {
		out = append(out, out[len(out)-1].Next())
	}
	return out
}

func (w window) aligned() bool {
	p, err := w.base.Prefix(w.base.BitLen() - 8)
	return err == nil && p.Addr() == w.base
}

type twin [windowSize]bool

// randomTwin has runs of members and others, of lengths from one to a third of the window.
func randomTwin(rnd *rand.Rand) twin {
	var t twin
	in := rnd.IntN(2) == 0
	longest := 1 + rnd.IntN(windowSize/3)
	for i := 0; i < len(t); in = !in {
		for n := 1 + rnd.IntN(longest); n > 0 && i < len(t); n-- {
			t[i] = in
			i++
		}
	}
	return t
}

// set builds the Set one address at a time, shuffled.
func (t twin) set(tb testing.TB, w window, rnd *rand.Rand) cidr.Set {
	tb.Helper()
	var members []netip.Addr
	for i, a := range w.addrs() {
		if t[i] {
			members = append(members, a)
		}
	}
	rnd.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	var b cidr.Builder
	for _, a := range members {
		b.AddAddr(a)
	}
	s, err := b.Build()
	require.NoError(tb, err)
	return s
}

func (t twin) combine(u twin, f func(a, b bool) bool) twin {
	var out twin
	for i := range out {
		out[i] = f(t[i], u[i])
	}
	return out
}

func (t twin) count() int {
	n := 0
	for _, in := range t {
		if in {
			n++
		}
	}
	return n
}

// ranges are the maximal runs.
func (t twin) ranges(w window) []cidr.Range {
	addrs := w.addrs()
	var out []cidr.Range
	for i, in := range t {
		switch {
		case in && i > 0 && t[i-1]:
			out[len(out)-1].Last = addrs[i]
		case in:
			out = append(out, cidr.Range{First: addrs[i], Last: addrs[i]})
		}
	}
	return out
}

// cover is the fewest prefixes: a block that is full is one, an empty one is none, and any other is its two halves. It
// needs an aligned window.
func (t twin) cover(w window) []netip.Prefix {
	addrs := w.addrs()
	var blocks func(lo, n int) []netip.Prefix
	blocks = func(lo, n int) []netip.Prefix {
		in := 0
		for _, member := range t[lo : lo+n] {
			if member {
				in++
			}
		}
		switch in {
		case 0:
			return nil
		case n:
			bits := w.base.BitLen()
			for ; n > 1; n /= 2 {
				bits--
			}
			return []netip.Prefix{netip.PrefixFrom(addrs[lo], bits)}
		}
		return append(blocks(lo, n/2), blocks(lo+n/2, n/2)...)
	}
	return blocks(0, windowSize)
}

// requireTwin holds a set that lies inside the window against its twin, through every way of looking at a set.
func requireTwin(tb testing.TB, w window, want twin, got cidr.Set, context string, args ...any) {
	tb.Helper()
	msg := append([]any{context + " (" + w.name + ")"}, args...)
	for i, a := range w.addrs() {
		if got.Contains(a) != want[i] {
			require.Equal(tb, want[i], got.Contains(a), append([]any{context + ", address " + a.String()}, args...)...)
		}
	}
	ranges := slices.Collect(got.Ranges())
	require.Equal(tb, want.ranges(w), ranges, msg...)
	require.Equal(tb, len(ranges), got.NumRanges(), msg...)
	require.Equal(tb, big.NewInt(int64(want.count())).String(), got.NumAddrs().String(), msg...)
	require.Equal(tb, want.count() == 0, got.IsEmpty(), msg...)
	prefixes := slices.Collect(got.Prefixes())
	require.Equal(tb, len(prefixes), got.NumPrefixes(), msg...)
	if w.aligned() {
		require.Equal(tb, want.cover(w), prefixes, msg...)
	}
}

// whole is the window as a set.
func (w window) whole(tb testing.TB) cidr.Set {
	tb.Helper()
	var b cidr.Builder
	b.AddRange(cidr.Range{First: w.base, Last: w.addr(windowSize - 1)})
	s, err := b.Build()
	require.NoError(tb, err)
	return s
}

// outside are the addresses next to the window, where there are any.
func (w window) outside() []netip.Addr {
	var out []netip.Addr
	for _, a := range []netip.Addr{w.base.Prev(), w.addr(windowSize - 1).Next()} {
		if a.IsValid() {
			out = append(out, a)
		}
	}
	return out
}

// eachTwin runs a test in every window with its own reproducible random source.
func eachTwin(t *testing.T, rounds int, f func(t *testing.T, w window, rnd *rand.Rand)) {
	t.Helper()
	for _, w := range windows() {
		t.Run(w.name, func(t *testing.T) {
			for i := range rounds {
				f(t, w, rand.New(rand.NewPCG(uint64(i), 7)))
			}
		})
	}
}
