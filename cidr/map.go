package cidr

import (
	"iter"
	"net/netip"
	"slices"
)

// Map is an immutable map from addresses of both families to values. The zero Map is empty. Copies share memory, and any
// number of goroutines may use them at once.
//
// A Map holds disjoint ranges, each with one value; two ranges that touch have different values. An address that no range
// holds has no value. Make one with a MapBuilder.
type Map[V comparable] struct {
	v4 table[key4, V]
	v6 table[key6, V]
}

// table is one family of a Map: values[i] is the value of spans[i].
type table[K key[K], V comparable] struct {
	spans  []span[K]
	values []V
}

// Get returns the value of an address, and false when it has none. A zone is ignored, IPv4-mapped is taken as IPv4, and
// the zero Addr has no value. O(log n), without allocation.
func (m Map[V]) Get(a netip.Addr) (V, bool) {
	_, v, ok := m.Find(a)
	return v, ok
}

// Find returns the range of the map that holds the address, with its value, and false when none does. O(log n).
func (m Map[V]) Find(a netip.Addr) (r Range, v V, ok bool) {
	switch FamilyOf(a) {
	case V4:
		if i, ok := find(m.v4.spans, toKey4(a)); ok {
			return m.v4.spans[i].rng(), m.v4.values[i], true
		}
	case V6:
		if i, ok := find(m.v6.spans, toKey6(a)); ok {
			return m.v6.spans[i].rng(), m.v6.values[i], true
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
		for i, s := range m.v4.spans {
			if !yield(s.rng(), m.v4.values[i]) {
				return
			}
		}
		for i, s := range m.v6.spans {
			if !yield(s.rng(), m.v6.values[i]) {
				return
			}
		}
	}
}

// NumRanges counts All. O(1).
func (m Map[V]) NumRanges() int { return len(m.v4.spans) + len(m.v6.spans) }

// Set returns the addresses that have a value. O(n).
func (m Map[V]) Set() Set { return m.Where(func(V) bool { return true }) }

// Where returns the addresses whose value satisfies the condition. O(n).
func (m Map[V]) Where(cond func(V) bool) Set {
	return Set{where(m.v4, cond), where(m.v6, cond)}
}

func where[K key[K], V comparable](t table[K, V], cond func(V) bool) []span[K] {
	var out []span[K]
	for i, s := range t.spans {
		if !cond(t.values[i]) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].hi.next() == s.lo {
			out[n-1].hi = s.hi
			continue
		}
		out = append(out, s)
	}
	return slices.Clip(out)
}

// Equal reports whether both maps give every address the same value or none. O(n).
func (m Map[V]) Equal(o Map[V]) bool {
	return equal(m.v4.spans, o.v4.spans) && slices.Equal(m.v4.values, o.v4.values) &&
		equal(m.v6.spans, o.v6.spans) && slices.Equal(m.v6.values, o.v6.values)
}

// Transform returns the map with each value replaced; an address whose value f turns down has no value in the result.
// Ranges that touch and now have equal values become one. O(n).
func Transform[V, W comparable](m Map[V], f func(V) (W, bool)) Map[W] {
	return Map[W]{transform(m.v4, f), transform(m.v6, f)}
}

func transform[K key[K], V, W comparable](t table[K, V], f func(V) (W, bool)) table[K, W] {
	var out table[K, W]
	for i, s := range t.spans {
		w, ok := f(t.values[i])
		if !ok {
			continue
		}
		out.push(s, w)
	}
	return out
}

// push adds a span above all others.
func (t *table[K, V]) push(s span[K], v V) {
	if n := len(t.spans); n > 0 && t.values[n-1] == v && t.spans[n-1].hi.next() == s.lo {
		t.spans[n-1].hi = s.hi
		return
	}
	t.spans, t.values = append(t.spans, s), append(t.values, v)
}

// MapBuilder collects ranges with values for a Map. The zero MapBuilder is ready. Ranges may overlap and come in any
// order; Build says which one wins. The first bad argument is remembered and reported by Build. A MapBuilder is not safe
// for concurrent use.
type MapBuilder[V comparable] struct {
	v4  []entry[key4, V]
	v6  []entry[key6, V]
	err error
}

// Grow makes room for n4 more IPv4 and n6 more IPv6 ranges. It panics when one of them is negative.
func (b *MapBuilder[V]) Grow(n4, n6 int) {
	b.v4 = slices.Grow(b.v4, n4)
	b.v6 = slices.Grow(b.v6, n6)
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
		b.v4 = append(b.v4, entry[key4, V]{s4, len(b.v4), v})
	default:
		b.v6 = append(b.v6, entry[key6, V]{s6, len(b.v6), v})
	}
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
	for _, sp := range s.v4 {
		b.v4 = append(b.v4, entry[key4, V]{sp, len(b.v4), v})
	}
	for _, sp := range s.v6 {
		b.v6 = append(b.v6, entry[key6, V]{sp, len(b.v6), v})
	}
}

// Build returns the map, or the first error of the calls before. The builder is empty and ready again afterwards. Any
// Precedence but MostSpecific is LastWins. O(n log n), and O(n) when the ranges came sorted and disjoint.
func (b *MapBuilder[V]) Build(how Precedence) (Map[V], error) {
	v4, v6, err := b.v4, b.v6, b.err
	*b = MapBuilder[V]{}
	if err != nil {
		return Map[V]{}, err
	}
	var m Map[V]
	m.v4.spans, m.v4.values = flatten(v4, how)
	m.v6.spans, m.v6.values = flatten(v6, how)
	return m, nil
}
