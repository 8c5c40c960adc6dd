package acceptance

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/internal/testnet"
)

// leastPackets is how many packets of a family have to be judged for a program to count as tried.
const leastPackets = 20_000

// Kinds of sources.
const (
	endOfSpace     = "end of the space"
	localInside    = "in local space"
	localEdge      = "end of local space"
	localBeside    = "beside local space"
	chosenEdge     = "end of a chosen range"
	chosenInside   = "in a chosen range"
	otherEdge      = "end of another range"
	otherInside    = "in another range"
	unlistedEdge   = "end of unlisted space"
	unlistedInside = "in unlisted space"
	rowEdge        = "end of a row"
	rowInside      = "in a row"
	anywhere       = "anywhere"
)

// source is an address to try, and why.
type source struct {
	addr netip.Addr
	kind string
}

// sampler collects sources of one family, each once.
type sampler struct {
	family cidr.Family
	rng    *rand.Rand
	known  map[netip.Addr]bool
	list   []source
}

// add takes the addresses in that exist, are of the family and can be on the wire: IPv4-mapped addresses cannot.
func (s *sampler) add(kind string, addrs ...netip.Addr) {
	for _, a := range addrs {
		if !a.IsValid() || a.Is4In6() || familyOf(a) != s.family || s.known[a] {
			continue
		}
		s.known[a] = true
		s.list = append(s.list, source{a, kind})
	}
}

// addRange takes in the ends of a range, the addresses beside them, and one inside.
func (s *sampler) addRange(edge, beside, inside string, first, last netip.Addr) {
	s.add(edge, first, last)
	s.add(beside, first.Prev(), last.Next())
	s.add(inside, s.between(first, last))
}

// between returns a random address of the range.
func (s *sampler) between(first, last netip.Addr) netip.Addr {
	from := new(big.Int).SetBytes(first.AsSlice())
	size := new(big.Int).SetBytes(last.AsSlice())
	size.Sub(size, from).Add(size, big.NewInt(1))
	var random [24]byte // 8 bytes more than needed, so that the remainder is as good as uniform
	for i := 0; i < len(random); i += 8 {
		binary.BigEndian.PutUint64(random[i:], s.rng.Uint64())
	}
	n := new(big.Int).SetBytes(random[:])
	n.Mod(n, size).Add(n, from)
	a, _ := netip.AddrFromSlice(n.FillBytes(make([]byte, first.BitLen()/8)))
	return a
}

// space returns the first and the last address of the family.
func space(f cidr.Family) (first, last netip.Addr) {
	if f == cidr.V4 {
		return netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("255.255.255.255")
	}
	return netip.MustParseAddr("::"), netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
}

// stretch is a range of addresses that are alike to the policy: as long as it can be.
type stretch struct {
	first, last netip.Addr
	what        int // unlisted, chosen or other
}

const (
	unlisted = iota
	chosen
	other
)

// stretches cuts the space where the policy's list, the other rows and unlisted space begin and end.
func (p policy) stretches(db *database, f cidr.Family) []stretch {
	var list []stretch
	grow := func(first, last netip.Addr, what int) {
		if n := len(list); n > 0 && list[n-1].what == what {
			list[n-1].last = last
			return
		}
		list = append(list, stretch{first, last, what})
	}
	next, end := space(f)
	for _, r := range db.rows[f] {
		if next.Less(r.first) {
			grow(next, r.first.Prev(), unlisted)
		}
		what := other
		if containsCode(p.codes, r.country) {
			what = chosen
		}
		grow(r.first, r.last, what)
		next = r.last.Next()
	}
	if next.IsValid() {
		grow(next, end, unlisted)
	}
	return list
}

// sources returns the addresses that a program for the policy is tried with: of all kinds, and enough that
// leastPackets of them arrive at the hook. The same each time.
func (p policy) sources(t testing.TB, db *database, f cidr.Family, hook testnet.Hook) []source {
	s := &sampler{family: f, rng: rand.New(rand.NewPCG(2026, uint64(f))), known: map[netip.Addr]bool{}}
	first, last := space(f)
	s.add(endOfSpace, first, first.Next(), last.Prev(), last)
	for _, local := range localSpace {
		if familyOf(local.Addr()) != f {
			continue
		}
		a, z := local.Addr(), lastOf(local)
		for range 20 {
			s.addRange(localEdge, localBeside, localInside, a, z)
		}
	}
	var by [3][]stretch
	for _, x := range p.stretches(db, f) {
		by[x.what] = append(by[x.what], x)
	}
	kinds := [3][2]string{unlisted: {unlistedEdge, unlistedInside}, chosen: {chosenEdge, chosenInside}, other: {otherEdge, otherInside}}
	for what, list := range by {
		require.NotEmpty(t, list)
		s.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		by[what] = list[:min(len(list), 1350)]
		for _, x := range by[what] {
			s.add(kinds[what][0], x.first, x.last)
		}
	}
	for what, list := range by {
		for _, x := range list {
			// What is beside one stretch is the end of another, of whichever kind.
			s.add(rowEdge, x.first.Prev(), x.last.Next())
			s.add(kinds[what][1], s.between(x.first, x.last))
		}
	}
	rows := db.rows[f]
	for range 1000 {
		r := rows[s.rng.IntN(len(rows))]
		s.addRange(rowEdge, rowEdge, rowInside, r.first, r.last)
	}
	for range 1500 {
		s.add(anywhere, s.between(first, last))
	}
	if f == cidr.V6 { // where almost all that is listed lies
		for range 500 {
			s.add(anywhere, s.between(netip.MustParseAddr("2000::"), netip.MustParseAddr("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")))
		}
	}
	arriving := 0
	for _, x := range s.list {
		if testnet.Deliverable(x.addr, hook) {
			arriving++
		}
	}
	for arriving < leastPackets+100 {
		r := rows[s.rng.IntN(len(rows))]
		before := len(s.list)
		s.add(rowInside, s.between(r.first, r.last))
		for _, x := range s.list[before:] {
			if testnet.Deliverable(x.addr, hook) {
				arriving++
			}
		}
	}
	return s.list
}

// lastOf returns the last address of a prefix.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
