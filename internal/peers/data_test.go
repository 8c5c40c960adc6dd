package peers

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/geo/dbip"
)

func countries(tb testing.TB) cidr.Map[geo.Country] {
	tb.Helper()
	m, err := dbip.Load()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// block returns the addresses of all listed countries but those of the selection, and allow those of the selection.
func block(tb testing.TB, allowed string, f cidr.Family) (block, allow cidr.Set) {
	tb.Helper()
	sel, err := geo.ParseSelection(allowed)
	if err != nil {
		tb.Fatal(err)
	}
	m := countries(tb).Only(f)
	allow = m.Where(sel.Contains)
	return m.Set().Difference(allow), allow
}

// prefixes returns n prefixes of the countries other than Italy: those of the database row by row, and then the halves of
// the shortest ones, so that there are always enough. They are shuffled, the same way each time.
func prefixes(tb testing.TB, f cidr.Family, n int) []netip.Prefix {
	tb.Helper()
	italy, err := geo.ParseCountry("IT")
	if err != nil {
		tb.Fatal(err)
	}
	var out []netip.Prefix
	for r, c := range countries(tb).Only(f).All() {
		if c != italy {
			out = slices.AppendSeq(out, r.Prefixes())
		}
	}
	rnd := rand.New(rand.NewPCG(1, uint64(f)))
	shuffle := func() { rnd.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] }) }
	shuffle()
	for i := 0; len(out) < n; i++ {
		p := out[i]
		if p.Bits() == p.Addr().BitLen() {
			continue
		}
		low := netip.PrefixFrom(p.Addr(), p.Bits()+1)
		high := netip.PrefixFrom(cidr.RangeOf(low).Last.Next(), p.Bits()+1)
		out[i] = low
		out = append(out, high)
	}
	shuffle()
	return out[:n]
}

// addrs returns addresses to look up: uniform over the family (in IPv6, over what a row could hold: 2000::/3), or by row,
// which is a random range of the database and then a random address in it.
func addrs(tb testing.TB, f cidr.Family, byRow bool, n int) []netip.Addr {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(2, uint64(f)))
	var rows []cidr.Range
	if byRow {
		for r := range countries(tb).Only(f).All() {
			rows = append(rows, r)
		}
	}
	out := make([]netip.Addr, n)
	for i := range out {
		var b [16]byte
		for j := range b {
			b[j] = byte(rnd.Uint32())
		}
		b[0] = 0x20 | b[0]&0x1f
		a := netip.AddrFrom16(b)
		if f == cidr.V4 {
			a = netip.AddrFrom4([4]byte(b[1:5]))
		}
		if byRow {
			a = within(rows[rnd.IntN(len(rows))], a)
		}
		out[i] = a
	}
	return out
}

// within returns a, with the bits above those in which the range's ends differ taken from the range, if that lies in it,
// and the first address of the range if not.
func within(r cidr.Range, a netip.Addr) netip.Addr {
	lo, hi, out := r.First.AsSlice(), r.Last.AsSlice(), a.AsSlice()
	for i := range out {
		if lo[i] == hi[i] {
			out[i] = lo[i]
			continue
		}
		mask := byte(0xff)
		for mask>>1 >= lo[i]^hi[i] {
			mask >>= 1
		}
		out[i] = lo[i]&^mask | out[i]&mask
		break
	}
	if got, _ := netip.AddrFromSlice(out); r.Contains(got) {
		return got
	}
	return r.First
}
