package cidr

import "net/netip"

// Builder collects addresses for a Set. The zero Builder is ready. Additions may overlap, repeat and come in any order;
// sorted input is the fastest. When additions and removals contradict each other, the later call wins.
//
// The first bad argument is remembered and reported by Build, so that calls can be written as a list. A Builder is not
// safe for concurrent use.
type Builder struct {
	phase          // the one under way
	phases []phase // those before it
	slow   bool    // removing, or tracing: entries go through put4 and put6
	trace  *Trace
	err    error
}

// phase is a run of additions, or of removals.
type phase struct {
	v4     gather4
	v6     gather6
	remove bool
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Grow makes room for n4 more IPv4 and n6 more IPv6 entries. It panics when one of them is negative.
func (b *Builder) Grow(n4, n6 int) {
	b.v4.reserve(n4)
	b.v6.reserve(n6)
}

// mode makes what follows additions or removals.
func (b *Builder) mode(remove bool) {
	if b.remove == remove {
		return
	}
	b.phases = append(b.phases, b.phase)
	b.phase = phase{remove: remove}
	b.slow = remove || b.trace != nil
}

// AddAddr adds one address, IPv4-mapped taken as IPv4. The zero Addr is an error (ErrInvalid), and so is a zone
// (ErrZone).
func (b *Builder) AddAddr(a netip.Addr) { b.AddRange(Range{a, a}) }

// RemoveAddr removes one address, as AddAddr adds it and with its errors.
func (b *Builder) RemoveAddr(a netip.Addr) { b.RemoveRange(Range{a, a}) }

// AddPrefix adds the addresses of a prefix. An invalid prefix is an error (ErrInvalid), and so are host bits
// (ErrHostBits; call Masked where they are meant to be ignored) and an IPv4-mapped prefix of 96 bits or fewer
// (ErrMapped).
func (b *Builder) AddPrefix(p netip.Prefix) {
	if a, n := p.Addr(), p.Bits(); a.Is4() && n >= 0 && !b.slow {
		if k := toKey4(a); k.blockBits() >= 32-n {
			b.v4.add(span4{k, k.fill(32 - n)})
			return
		}
	}
	b.putPrefix(p, false)
}

// RemovePrefix removes the addresses of a prefix, with AddPrefix's errors.
func (b *Builder) RemovePrefix(p netip.Prefix) { b.putPrefix(p, true) }

func (b *Builder) putPrefix(p netip.Prefix, remove bool) {
	a, n := p.Addr(), p.Bits()
	switch {
	case a.Is4() && n >= 0:
		if k := toKey4(a); k.blockBits() >= 32-n {
			b.put4(span4{k, k.fill(32 - n)}, remove)
			return
		}
	case a.Is6() && n >= 0 && !a.Is4In6():
		if k := toKey6(a); k.blockBits() >= 128-n {
			b.put6(span6{k, k.fill(128 - n)}, remove)
			return
		}
	}
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
	if f == V4 {
		b.put4(s4, remove)
	} else {
		b.put6(s6, remove)
	}
}

func (b *Builder) put4(s span4, remove bool) {
	b.mode(remove)
	if b.trace != nil {
		b.trace.v4.add(s, b.trace.origin(remove))
	}
	b.v4.add(s)
}

func (b *Builder) put6(s span6, remove bool) {
	b.mode(remove)
	if b.trace != nil {
		b.trace.v6.add(s, b.trace.origin(remove))
	}
	b.v6.add(s)
}

// AddSet adds all addresses of a set.
func (b *Builder) AddSet(s Set) { b.putSet(s, false) }

// RemoveSet removes all addresses of a set.
func (b *Builder) RemoveSet(s Set) { b.putSet(s, true) }

func (b *Builder) putSet(s Set, remove bool) {
	for _, sp := range s.v4.list() {
		b.put4(sp, remove)
	}
	for _, sp := range s.v6.list() {
		b.put6(sp, remove)
	}
}

// Build returns the set, or the first error of the calls before. The builder is empty and ready again afterwards; the
// set does not share memory with it. O(n log n), and O(n) when the entries came sorted.
func (b *Builder) Build() (Set, error) {
	phases, err := append(b.phases, b.phase), b.err
	*b = Builder{}
	if err != nil {
		return Set{}, err
	}
	if len(phases) > 8 {
		return replay(phases), nil
	}
	var s Set
	for i := range phases {
		p := &phases[i]
		part := newSet(p.v4.normal(), p.v6.normal())
		if p.remove {
			s = s.Difference(part)
		} else {
			s = s.Union(part)
		}
	}
	return s, nil
}

// replay plays many phases at once, where one after another would go through the growing result each time: of the spans
// that hold an address, the one of the last phase decides.
func replay(phases []phase) Set {
	var m MapBuilder[bool]
	for i := range phases {
		p := &phases[i]
		for _, chunk := range p.v4.chunks() {
			for _, sp := range chunk {
				m.v4.add(sp, !p.remove)
			}
		}
		for _, chunk := range p.v6.chunks() {
			for _, sp := range chunk {
				m.v6.add(sp, !p.remove)
			}
		}
	}
	added := func(v bool) bool { return v }
	return Set{v4: m.v4.table(LastWins).where(added), v6: m.v6.table(LastWins).where(added)}
}
