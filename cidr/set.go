package cidr

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"math/big"
	"net/netip"
	"slices"
	"strings"
)

// Set is an immutable set of addresses of both families. The zero Set is empty. Copies share memory, and any number of
// goroutines may use them at once.
//
// A Set holds 8 bytes for each IPv4 range and 32 for each IPv6 range, and about as much again for an
// index of the ranges once somebody has looked an address up. Make one with a Builder, with Of, with MustParse,
// or with ReadList.
type Set struct {
	_  [0]func() // == would compare where the ranges lie; see Equal
	v4 *ranges4
	v6 *ranges6
}

func newSet(v4 []span4, v6 []span6) Set { return Set{v4: newRanges4(v4), v6: newRanges6(v6)} }

// Of returns the set of the addresses of the prefixes. Prefixes may nest, repeat and stand in any order; an invalid one
// or one with host bits set is an error (see Builder.AddPrefix).
func Of(prefixes ...netip.Prefix) (Set, error) {
	var b Builder
	for _, p := range prefixes {
		b.AddPrefix(p)
	}
	return b.Build()
}

// MustParse returns the set of the entries, each in a form that ParseRange reads, and panics when one is bad. It is for
// constants and tests.
func MustParse(entries ...string) Set {
	var b Builder
	for _, e := range entries {
		r, err := ParseRange(e)
		if err != nil {
			panic(fmt.Sprintf("cidr.MustParse: %q: %v", e, err))
		}
		b.AddRange(r)
	}
	return must(b.Build())
}

// Everything returns the set of all addresses of a family: 0.0.0.0/0 or ::/0. For no family it is empty.
func Everything(f Family) Set {
	switch f {
	case V4:
		return newSet([]span4{{0, 1<<32 - 1}}, nil)
	case V6:
		return newSet(nil, []span6{{key6{}, key6{1<<64 - 1, 1<<64 - 1}}})
	}
	return Set{}
}

// Union returns the addresses that are in any of the sets. O(total ranges · log sets).
func Union(sets ...Set) Set {
	switch len(sets) {
	case 0:
		return Set{}
	case 1:
		return sets[0]
	}
	half := len(sets) / 2
	return Union(sets[:half]...).Union(Union(sets[half:]...))
}

// Only returns the part of the set that is of the family. It costs nothing: s.Only(cidr.V4).NumRanges() is how one asks
// a question about one family.
func (s Set) Only(f Family) Set {
	switch f {
	case V4:
		return Set{v4: s.v4}
	case V6:
		return Set{v6: s.v6}
	}
	return Set{}
}

// Union returns the addresses that are in s or in t. O(n+m).
func (s Set) Union(t Set) Set {
	v4, v6 := s.v4, s.v6
	switch {
	case v4 == nil:
		v4 = t.v4
	case t.v4 != nil:
		v4 = newRanges4(union4(v4.spans, t.v4.spans))
	}
	switch {
	case v6 == nil:
		v6 = t.v6
	case t.v6 != nil:
		v6 = newRanges6(union6(v6.spans, t.v6.spans))
	}
	return Set{v4: v4, v6: v6}
}

// Intersection returns the addresses that are in both s and t. O(n+m).
func (s Set) Intersection(t Set) Set {
	return newSet(intersect4(s.v4.list(), t.v4.list()), intersect6(s.v6.list(), t.v6.list()))
}

// Difference returns the addresses of s that are not in t. O(n+m).
func (s Set) Difference(t Set) Set {
	v4, v6 := s.v4, s.v6
	if v4 != nil && t.v4 != nil {
		v4 = newRanges4(subtract4(v4.spans, t.v4.spans))
	}
	if v6 != nil && t.v6 != nil {
		v6 = newRanges6(subtract6(v6.spans, t.v6.spans))
	}
	return Set{v4: v4, v6: v6}
}

// Diff returns what changes from s to another set: the addresses that are only there, and those that are only in s. O(n+m).
func (s Set) Diff(to Set) (added, removed Set) { return to.Difference(s), s.Difference(to) }

// Complement returns all addresses of the family that are not in s. The other family is left out of the result: the
// complement of a list of IPv4 prefixes says nothing about IPv6. O(n).
func (s Set) Complement(f Family) Set { return Everything(f).Difference(s) }

// Overlaps reports whether s and t have an address in common. O(n+m).
func (s Set) Overlaps(t Set) bool {
	return overlaps4(s.v4.list(), t.v4.list()) || overlaps6(s.v6.list(), t.v6.list())
}

// Equal reports whether s and t hold the same addresses. O(n).
func (s Set) Equal(t Set) bool {
	return (s.v4 == t.v4 || slices.Equal(s.v4.list(), t.v4.list())) &&
		(s.v6 == t.v6 || slices.Equal(s.v6.list(), t.v6.list()))
}

// IsEmpty reports whether the set holds no address.
func (s Set) IsEmpty() bool { return s.v4 == nil && s.v6 == nil }

// Contains reports whether the address is in the set. A zone is ignored, IPv4-mapped is taken as IPv4, and the zero Addr
// is in no set. O(log n), without allocation, but for the first question of a set, which makes its index in O(n).
func (s Set) Contains(a netip.Addr) bool {
	switch {
	case a.Is4() || a.Is4In6():
		if s.v4 == nil {
			return false
		}
		k := toKey4(a)
		span := s.v4.spans[s.v4.find(k)]
		return span.lo <= k && k <= span.hi
	case a.Is6():
		if s.v6 == nil {
			return false
		}
		k := toKey6(a)
		span := &s.v6.spans[s.v6.find(k)]
		return !k.less(span.lo) && !span.hi.less(k)
	}
	return false
}

// Find returns the range of the set that holds the address, and false when none does. O(log n).
func (s Set) Find(a netip.Addr) (Range, bool) {
	switch FamilyOf(a) {
	case V4:
		if sp, ok := s.v4.at(toKey4(a)); ok {
			return sp.rng(), true
		}
	case V6:
		if sp, ok := s.v6.at(toKey6(a)); ok {
			return sp.rng(), true
		}
	}
	return Range{}, false
}

// ContainsRange reports whether every address of the range is in the set; false for an invalid range. O(log n).
func (s Set) ContainsRange(r Range) bool {
	switch f, s4, s6, _ := r.spans(); f {
	case V4:
		sp, ok := s.v4.at(s4.lo)
		return ok && !sp.hi.less(s4.hi)
	case V6:
		sp, ok := s.v6.at(s6.lo)
		return ok && !sp.hi.less(s6.hi)
	}
	return false
}

// ContainsPrefix reports whether every address of the prefix is in the set; false for an invalid prefix. Host bits are
// ignored. O(log n).
func (s Set) ContainsPrefix(p netip.Prefix) bool { return s.ContainsRange(RangeOf(p)) }

// OverlapsRange reports whether any address of the range is in the set; false for an invalid range. O(log n).
func (s Set) OverlapsRange(r Range) bool {
	switch f, s4, s6, _ := r.spans(); f {
	case V4:
		at := s.v4.from(s4.lo)
		return len(at) > 0 && !s4.hi.less(at[0].lo)
	case V6:
		at := s.v6.from(s6.lo)
		return len(at) > 0 && !s6.hi.less(at[0].lo)
	}
	return false
}

// OverlapsPrefix reports whether any address of the prefix is in the set; false for an invalid prefix. Host bits are
// ignored. O(log n).
func (s Set) OverlapsPrefix(p netip.Prefix) bool { return s.OverlapsRange(RangeOf(p)) }

// Ranges gives the maximal ranges of the set, IPv4 before IPv6, each ascending.
func (s Set) Ranges() iter.Seq[Range] {
	return func(yield func(Range) bool) {
		for _, p := range s.v4.list() {
			if !yield(p.rng()) {
				return
			}
		}
		for _, p := range s.v6.list() {
			if !yield(p.rng()) {
				return
			}
		}
	}
}

// Prefixes gives the fewest prefixes that cover the set exactly, IPv4 before IPv6, each ascending.
func (s Set) Prefixes() iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		for _, p := range s.v4.list() {
			if !p.eachPrefix(yield) {
				return
			}
		}
		for _, p := range s.v6.list() {
			if !p.eachPrefix(yield) {
				return
			}
		}
	}
}

// NumRanges counts Ranges. O(1).
func (s Set) NumRanges() int { return len(s.v4.list()) + len(s.v6.list()) }

// NumPrefixes counts Prefixes, without making them. O(ranges).
func (s Set) NumPrefixes() int { return countPrefixes4(s.v4.list()) + countPrefixes6(s.v6.list()) }

// NumAddrs returns how many addresses the set holds. IPv4 and IPv6 addresses are added up; ask Only for one family.
// O(n).
func (s Set) NumAddrs() *big.Int {
	n := countAddrs4(s.v4.list())
	return n.Add(n, countAddrs6(s.v6.list()))
}

// Digest returns a SHA-256 over the ranges: equal sets have equal digests, on every machine and in every version of this
// package. O(n).
func (s Set) Digest() [sha256.Size]byte {
	h := sha256.New()
	var buf [32]byte
	// The counts come first: without them, four IPv4 ranges and one IPv6 range could give the same bytes.
	binary.BigEndian.PutUint64(buf[:], uint64(len(s.v4.list())))
	binary.BigEndian.PutUint64(buf[8:], uint64(len(s.v6.list())))
	h.Write(buf[:16])
	for _, p := range s.v4.list() {
		binary.BigEndian.PutUint32(buf[:], uint32(p.lo))
		binary.BigEndian.PutUint32(buf[4:], uint32(p.hi))
		h.Write(buf[:8])
	}
	for _, p := range s.v6.list() {
		binary.BigEndian.PutUint64(buf[:], p.lo.hi)
		binary.BigEndian.PutUint64(buf[8:], p.lo.lo)
		binary.BigEndian.PutUint64(buf[16:], p.hi.hi)
		binary.BigEndian.PutUint64(buf[24:], p.hi.lo)
		h.Write(buf[:32])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// String lists the ranges, at most eight of them, and says how many more there are. It is for messages; use Prefixes or
// Ranges to write a set out.
func (s Set) String() string {
	const most = 8
	var b strings.Builder
	b.WriteByte('{')
	n := 0
	for r := range s.Ranges() {
		if n == most {
			fmt.Fprintf(&b, " and %d more", s.NumRanges()-most)
			break
		}
		if n > 0 {
			b.WriteByte(' ')
		}
		if r == (Range{mapped.lo.addr(), mapped.hi.addr()}) {
			b.WriteString("::ffff:0:0/96") // which nobody can add, but which can be what is left
		} else {
			b.WriteString(r.String())
		}
		n++
	}
	b.WriteByte('}')
	return b.String()
}
