package cidr

import (
	"iter"
	"math/big"
	"net/netip"
)

// Map is an immutable map from addresses of both families to values. The zero Map is empty. Copies share memory, and any
// number of goroutines may use them at once.
//
// A Map holds disjoint ranges, each with one value; two ranges that touch have different values. An address that no range
// holds has no value. Make one with a MapBuilder.
type Map[V comparable] struct {
	_  [0]func() // == would compare where the ranges lie; see Equal
	v4 *table4[V]
	v6 *table6[V]
}

// Get returns the value of an address, and false when it has none. A zone is ignored, IPv4-mapped is taken as IPv4, and
// the zero Addr has no value. O(log n), without allocation, but for the first question of a map, which makes its index in
// O(n).
func (m Map[V]) Get(a netip.Addr) (V, bool) {
	_, v, ok := m.Find(a)
	return v, ok
}

// Find returns the range of the map that holds the address, with its value, and false when none does. O(log n).
func (m Map[V]) Find(a netip.Addr) (r Range, v V, ok bool) {
	switch FamilyOf(a) {
	case V4:
		if s, v, ok := m.v4.at(toKey4(a)); ok {
			return s.rng(), v, true
		}
	case V6:
		if s, v, ok := m.v6.at(toKey6(a)); ok {
			return s.rng(), v, true
		}
	}
	return Range{}, v, false
}

// Only returns the part of the map that is of the family. It costs nothing.
func (m Map[V]) Only(f Family) Map[V] {
	switch f {
	case V4:
		return Map[V]{v4: m.v4}
	case V6:
		return Map[V]{v6: m.v6}
	}
	return Map[V]{}
}

// All gives the ranges with their values, IPv4 before IPv6, each ascending.
func (m Map[V]) All() iter.Seq2[Range, V] {
	return func(yield func(Range, V) bool) {
		spans4, values4 := m.v4.all()
		for i, s := range spans4 {
			if !yield(s.rng(), values4[i]) {
				return
			}
		}
		spans6, values6 := m.v6.all()
		for i, s := range spans6 {
			if !yield(s.rng(), values6[i]) {
				return
			}
		}
	}
}

// NumAddrs returns how many addresses have a value, those of both families added up. O(n).
func (m Map[V]) NumAddrs() *big.Int {
	v4, _ := m.v4.all()
	v6, _ := m.v6.all()
	n := countAddrs4(v4)
	return n.Add(n, countAddrs6(v6))
}

// NumRanges counts All. O(1).
func (m Map[V]) NumRanges() int {
	v4, _ := m.v4.all()
	v6, _ := m.v6.all()
	return len(v4) + len(v6)
}

// Set returns the addresses that have a value. O(n).
func (m Map[V]) Set() Set { return m.Where(func(V) bool { return true }) }

// Where returns the addresses whose value satisfies the condition. O(n).
func (m Map[V]) Where(cond func(V) bool) Set { return Set{v4: m.v4.where(cond), v6: m.v6.where(cond)} }

// Equal reports whether both maps give every address the same value or none. O(n).
func (m Map[V]) Equal(o Map[V]) bool { return m.v4.equal(o.v4) && m.v6.equal(o.v6) }

// Diff returns what changes from m to another map. Added holds the addresses that have another value there than in m, or
// have none in m, with the new value; removed holds those that have another value in m, or have none there, with the old
// one. An address whose value changes is in both. O(n+m).
func (m Map[V]) Diff(to Map[V]) (added, removed Map[V]) {
	return Map[V]{v4: to.v4.less(m.v4), v6: to.v6.less(m.v6)}, Map[V]{v4: m.v4.less(to.v4), v6: m.v6.less(to.v6)}
}

// Transform returns the map with each value replaced; an address whose value f turns down has no value in the result.
// Ranges that touch and now have equal values become one. O(n).
func Transform[V, W comparable](m Map[V], f func(V) (W, bool)) Map[W] {
	return Map[W]{v4: transform4(m.v4, f), v6: transform6(m.v6, f)}
}

// MapBuilder collects ranges with values for a Map. The zero MapBuilder is ready. Ranges may overlap and come in any
// order; Build says which one wins. The first bad argument is remembered and reported by Build. A MapBuilder is not safe
// for concurrent use.
type MapBuilder[V comparable] struct {
	v4    entries4[V]
	v6    entries6[V]
	trace *Trace
	err   error
}

// Grow makes room for n4 more IPv4 and n6 more IPv6 ranges. It panics when one of them is negative.
func (b *MapBuilder[V]) Grow(n4, n6 int) {
	b.v4.reserve(n4)
	b.v6.reserve(n6)
}

func (b *MapBuilder[V]) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// SetRange gives the addresses of a range a value. An invalid range is an error; see Range.Check.
func (b *MapBuilder[V]) SetRange(r Range, v V) {
	switch f, s4, s6, err := r.spans(); {
	case err != nil:
		b.fail(err)
	case f == V4:
		b.set4(s4, v)
	default:
		b.set6(s6, v)
	}
}

func (b *MapBuilder[V]) set4(s span4, v V) {
	if b.trace != nil {
		b.trace.v4.add(s, b.trace.at)
	}
	b.v4.add(s, v)
}

func (b *MapBuilder[V]) set6(s span6, v V) {
	if b.trace != nil {
		b.trace.v6.add(s, b.trace.at)
	}
	b.v6.add(s, v)
}

// SetPrefix gives the addresses of a prefix a value, with Builder.AddPrefix's errors.
func (b *MapBuilder[V]) SetPrefix(p netip.Prefix, v V) {
	r, err := checkPrefix(p)
	if err != nil {
		b.fail(err)
		return
	}
	b.SetRange(r, v)
}

// SetAll gives all addresses of a set a value.
func (b *MapBuilder[V]) SetAll(s Set, v V) {
	for _, sp := range s.v4.list() {
		b.set4(sp, v)
	}
	for _, sp := range s.v6.list() {
		b.set6(sp, v)
	}
}

// Build returns the map, or the first error of the calls before. The builder is empty and ready again afterwards. Any
// Precedence but MostSpecific is LastWins. O(n log n), and O(n) when the ranges came sorted and disjoint.
func (b *MapBuilder[V]) Build(how Precedence) (Map[V], error) {
	v4, v6, trace, err := b.v4, b.v6, b.trace, b.err
	*b = MapBuilder[V]{}
	if err != nil {
		return Map[V]{}, err
	}
	if trace != nil {
		trace.how = how
	}
	return Map[V]{v4: v4.table(how), v6: v6.table(how)}, nil
}
