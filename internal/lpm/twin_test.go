package lpm_test

import (
	"fmt"
	"math"
	"net/netip"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/internal/lpm"
	"github.com/stretchr/testify/require"
)

// window is a block of 2^bits parts of the same size, in which maps are given part by part.
type window struct {
	block netip.Prefix
	bits  int
}

func (w window) family() cidr.Family { return cidr.FamilyOf(w.block.Addr()) }

// whole reports whether the window is the whole family, which no entry may be.
func (w window) whole() bool { return w.block.Bits() == 0 }

// parts returns the parts of the window, ascending.
func (w window) parts() []netip.Prefix {
	out := []netip.Prefix{w.block}
	for range w.bits {
		var halves []netip.Prefix
		for _, p := range out {
			b := p.Addr().AsSlice()
			upper := append([]byte(nil), b...)
			upper[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
			u, _ := netip.AddrFromSlice(upper)
			halves = append(halves, netip.PrefixFrom(p.Addr(), p.Bits()+1), netip.PrefixFrom(u, p.Bits()+1))
		}
		out = halves
	}
	return out
}

// mapOf returns the map with the values in the parts of the window and the value around outside.
func (w window) mapOf(t *testing.T, values []int, around int) cidr.Map[int] {
	t.Helper()
	var b cidr.MapBuilder[int]
	b.SetAll(cidr.Everything(w.family()), around)
	for i, p := range w.parts() {
		b.SetPrefix(p, values[i])
	}
	m, err := b.Build(cidr.LastWins)
	require.NoError(t, err)
	return m
}

// windows are at both ends of both families, around the middle of one, and the whole of each.
func windows(bits int) []window {
	at := func(addr string) window {
		a := netip.MustParseAddr(addr)
		return window{netip.PrefixFrom(a, a.BitLen()-bits).Masked(), bits}
	}
	return []window{
		at("0.0.0.0"), at("255.255.255.255"), at("128.0.0.0"),
		at("::"), at("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), at("7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
		{netip.MustParsePrefix("0.0.0.0/0"), bits}, {netip.MustParsePrefix("::/0"), bits},
		{netip.MustParsePrefix("2001:db8:0:fff0::/60"), bits},
	}
}

// functions is the slow twin of the algorithms: what tables of a window can say, and the fewest entries to say it. It
// knows nothing of sets or costs of blocks: it puts every table of one half beside every table of the other, with each
// entry above them or with none. A key is the values of the parts as text, one byte each.
type functions map[string]int

// tables lists the tables of a window of the given bits, where the class holds around it and entries may stand at the
// depths that allowed says, depth 0 being the window itself.
func tables(bits, depth, classes, class int, allowed func(depth int) bool) functions {
	out := functions{}
	keep := func(f string, n int) {
		if have, ok := out[f]; !ok || n < have {
			out[f] = n
		}
	}
	below := func(class, extra int) {
		if depth == bits {
			keep(string(rune('0'+class)), extra)
			return
		}
		half := tables(bits, depth+1, classes, class, allowed)
		for l, nl := range half {
			for r, nr := range half {
				keep(l+r, nl+nr+extra)
			}
		}
	}
	below(class, 0)
	if allowed(depth) {
		for c := range classes {
			below(c, 1)
		}
	}
	return out
}

// fewest returns the fewest entries of a table that says what the values say, where lpm.Any is anything, and false when
// there is none.
func (f functions) fewest(values []int, classes int) (int, bool) {
	best := math.MaxInt
	text := make([]byte, len(values))
	var try func(i int)
	try = func(i int) {
		if i == len(values) {
			if n, ok := f[string(text)]; ok {
				best = min(best, n)
			}
			return
		}
		for c := range classes {
			if values[i] == c || values[i] == lpm.Any {
				text[i] = byte('0' + c)
				try(i + 1)
			}
		}
	}
	try(0)
	return best, best < math.MaxInt
}

// eachMap gives all maps of n parts to the classes and lpm.Any. The slice is used again.
func eachMap(n, classes int, yield func(i int, values []int)) {
	values := make([]int, n)
	for j := range values {
		values[j] = lpm.Any
	}
	for i := 0; ; i++ {
		yield(i, values)
		j := 0
		for ; j < n && values[j] == classes-1; j++ {
			values[j] = lpm.Any
		}
		if j == n {
			return
		}
		values[j]++
	}
}

// slowLookup is the class of the longest entry that holds the address.
func slowLookup(t *lpm.Table, a netip.Addr) int {
	class, longest := t.Root(), -1
	for p, c := range t.All() {
		if p.Contains(a) && p.Bits() > longest {
			class, longest = c, p.Bits()
		}
	}
	return class
}

// requireSays checks at both ends of every range of the map, and one address either side, that the table says what the
// map says, and that the table is well-formed.
func requireSays(t *testing.T, m cidr.Map[int], tab *lpm.Table, slow bool, context ...any) {
	t.Helper()
	check := func(a netip.Addr) {
		want, ok := m.Get(a)
		if !ok {
			return // past an end of the family, or IPv4-mapped
		}
		got := tab.Lookup(a)
		if want != lpm.Any && want != got {
			require.Equal(t, want, got, "%v: %s", a, fmt.Sprint(context...))
		}
		if slow {
			if s := slowLookup(tab, a); s != got {
				require.Equal(t, s, got, "look-up of %v: %s", a, fmt.Sprint(context...))
			}
		}
	}
	for r := range m.Only(tab.Family()).All() {
		for _, a := range []netip.Addr{r.First, r.Last} {
			check(a)
			if p := a.Prev(); p.IsValid() {
				check(p)
			}
			if n := a.Next(); n.IsValid() {
				check(n)
			}
		}
	}
	var last netip.Prefix
	for p := range tab.All() {
		if p.Bits() == 0 || p != p.Masked() {
			require.Fail(t, "bad entry", "%v: %s", p, fmt.Sprint(context...))
		}
		if last.IsValid() && (p.Addr().Less(last.Addr()) || p.Addr() == last.Addr() && p.Bits() <= last.Bits()) {
			require.Fail(t, "order", "%v after %v: %s", p, last, fmt.Sprint(context...))
		}
		last = p
	}
}
