package cidr

import (
	"net/netip"
	"slices"
)

// Builder collects addresses for a Set. The zero Builder is ready. Additions may overlap, repeat and come in any order;
// sorted input is the fastest. When additions and removals contradict each other, the later call wins.
//
// The first bad argument is remembered and reported by Build, so that calls can be written as a list. A Builder is not
// safe for concurrent use.
type Builder struct {
	v4      []span[key4]
	v6      []span[key6]
	changes []change // where additions turn to removals and back; empty while there are only additions
	err     error
}

// change says that from these positions on, entries are removals, or are additions again.
type change struct {
	at4, at6 int
	remove   bool
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Grow makes room for n4 more IPv4 and n6 more IPv6 entries. It panics when one of them is negative.
func (b *Builder) Grow(n4, n6 int) {
	b.v4 = slices.Grow(b.v4, n4)
	b.v6 = slices.Grow(b.v6, n6)
}

func (b *Builder) mode(remove bool) {
	if n := len(b.changes); n == 0 && !remove || n > 0 && b.changes[n-1].remove == remove {
		return
	}
	b.changes = append(b.changes, change{len(b.v4), len(b.v6), remove})
}

// AddAddr adds one address, IPv4-mapped taken as IPv4. The zero Addr is an error (ErrInvalid), and so is a zone
// (ErrZone).
func (b *Builder) AddAddr(a netip.Addr) { b.AddRange(Range{a, a}) }

// RemoveAddr removes one address, as AddAddr adds it and with its errors.
func (b *Builder) RemoveAddr(a netip.Addr) { b.RemoveRange(Range{a, a}) }

// AddPrefix adds the addresses of a prefix. An invalid prefix is an error (ErrInvalid), and so are host bits
// (ErrHostBits; call Masked where they are meant to be ignored) and an IPv4-mapped prefix of 96 bits or fewer
// (ErrMapped).
func (b *Builder) AddPrefix(p netip.Prefix) { b.putPrefix(p, false) }

// RemovePrefix removes the addresses of a prefix, with AddPrefix's errors.
func (b *Builder) RemovePrefix(p netip.Prefix) { b.putPrefix(p, true) }

func (b *Builder) putPrefix(p netip.Prefix, remove bool) {
	r, err := checkPrefix(p)
	if err != nil {
		b.fail(err)
		return
	}
	b.put(r, remove)
}

// AddRange adds an inclusive range. An invalid one is an error; see Range.Check.
func (b *Builder) AddRange(r Range) { b.put(r, false) }

// RemoveRange removes an inclusive range, with AddRange's errors.
func (b *Builder) RemoveRange(r Range) { b.put(r, true) }

func (b *Builder) put(r Range, remove bool) {
	f, s4, s6, err := r.spans()
	if err != nil {
		b.fail(err)
		return
	}
	b.mode(remove)
	if f == V4 {
		b.v4 = append(b.v4, s4)
	} else {
		b.v6 = append(b.v6, s6)
	}
}

// AddSet adds all addresses of a set.
func (b *Builder) AddSet(s Set) {
	b.mode(false)
	b.v4, b.v6 = append(b.v4, s.v4...), append(b.v6, s.v6...)
}

// RemoveSet removes all addresses of a set.
func (b *Builder) RemoveSet(s Set) {
	b.mode(true)
	b.v4, b.v6 = append(b.v4, s.v4...), append(b.v6, s.v6...)
}

// Build returns the set, or the first error of the calls before. The builder is empty and ready again afterwards; the
// set does not share memory with it. O(n log n), and O(n) when the entries came sorted.
func (b *Builder) Build() (Set, error) {
	v4, v6, changes, err := b.v4, b.v6, b.changes, b.err
	*b = Builder{}
	if err != nil {
		return Set{}, err
	}
	if len(changes) == 0 {
		return Set{merge(v4), merge(v6)}, nil
	}
	at4 := make([]int, len(changes))
	at6 := make([]int, len(changes))
	for i, c := range changes {
		at4[i], at6[i] = c.at4, c.at6
	}
	return Set{replay(v4, at4, changes), replay(v6, at6, changes)}, nil
}

// merge turns spans in any order into normal form, and uses their memory unless that would keep far more alive than the
// result needs.
func merge[K key[K]](s []span[K]) []span[K] {
	sortUnlessSorted(s, func(a, b span[K]) int { return compare(a.lo, b.lo) })
	return shrink(normalize(s))
}

// replay plays additions and removals in their order: of the entries that hold an address, the last one decides.
func replay[K key[K]](s []span[K], at []int, changes []change) []span[K] {
	entries := make([]entry[K, bool], len(s))
	add, next := true, 0
	for i, sp := range s {
		for next < len(at) && at[next] <= i {
			add = !changes[next].remove
			next++
		}
		entries[i] = entry[K, bool]{sp, i, add}
	}
	spans, added := flatten(entries, LastWins)
	kept := spans[:0]
	for i, sp := range spans {
		if added[i] {
			kept = append(kept, sp)
		}
	}
	return shrink(normalize(kept))
}
