package cidr

import (
	"math/big"
	"net/netip"
	"slices"
	"sort"
)

// span is an inclusive range of addresses, lo <= hi. Inclusive ends are what lets a span reach the last address of its
// family without overflow.
type span[K key[K]] struct{ lo, hi K }

// The functions below work on "normal" slices of spans: sorted, disjoint and maximal, which means that between two
// neighbours there is at least one address that belongs to neither. All are linear in their input unless they say
// otherwise, and only normalize changes it.

func compare[K key[K]](a, b K) int {
	switch {
	case a.less(b):
		return -1
	case b.less(a):
		return 1
	}
	return 0
}

// sortUnlessSorted leaves what is in order alone, as the entries of most sources are: O(n) instead of O(n log n).
func sortUnlessSorted[E any](s []E, compare func(a, b E) int) {
	if !slices.IsSortedFunc(s, compare) {
		slices.SortFunc(s, compare)
	}
}

// normalize turns spans sorted by lo into normal form, in place.
func normalize[K key[K]](s []span[K]) []span[K] {
	if len(s) == 0 {
		return nil
	}
	out := s[:1]
	for _, in := range s[1:] {
		last := &out[len(out)-1]
		switch {
		case last.hi.isMax():
			// last |--------->|
			// in      |--->
			return out
		case last.hi.next().less(in.lo):
			// last |------|
			// in              |---|
			out = append(out, in)
		case last.hi.less(in.hi):
			// last |------|         or |------|
			// in        |-----|                |-----|
			last.hi = in.hi
		default:
			// last |----------|
			// in      |-----|
		}
	}
	return out
}

// shrink gives back memory when s uses less than half of what it holds.
func shrink[E any](s []E) []E {
	if len(s) < cap(s)/2 {
		return slices.Clip(slices.Clone(s))
	}
	return s
}

func union[K key[K]](a, b []span[K]) []span[K] {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	merged := make([]span[K], 0, len(a)+len(b))
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		if j == len(b) || i < len(a) && !b[j].lo.less(a[i].lo) {
			merged = append(merged, a[i])
			i++
		} else {
			merged = append(merged, b[j])
			j++
		}
	}
	return shrink(normalize(merged))
}

func intersect[K key[K]](a, b []span[K]) []span[K] {
	var out []span[K]
	for i, j := 0, 0; i < len(a) && j < len(b); {
		lo, hi := a[i].lo, a[i].hi
		if lo.less(b[j].lo) {
			lo = b[j].lo
		}
		if b[j].hi.less(hi) {
			hi = b[j].hi
		}
		if !hi.less(lo) {
			out = append(out, span[K]{lo, hi})
		}
		if a[i].hi.less(b[j].hi) {
			i++
		} else {
			j++
		}
	}
	return out
}

func subtract[K key[K]](a, b []span[K]) []span[K] {
	if len(a) == 0 || len(b) == 0 {
		return a
	}
	var out []span[K]
	j := 0
	for _, s := range a {
		for j < len(b) && b[j].hi.less(s.lo) {
			j++
		}
		lo, covered := s.lo, false
		// b[k] may reach over several spans of a, so j stays where it is until the next one.
		for k := j; k < len(b) && !s.hi.less(b[k].lo); k++ {
			if lo.less(b[k].lo) {
				// s    |----------------|
				// b[k]      |-----|
				out = append(out, span[K]{lo, b[k].lo.prev()})
			}
			if !b[k].hi.less(s.hi) {
				// s    |--------|
				// b[k]      |-----|
				covered = true
				break
			}
			lo = b[k].hi.next()
		}
		if !covered {
			out = append(out, span[K]{lo, s.hi})
		}
	}
	return out
}

func overlaps[K key[K]](a, b []span[K]) bool {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].hi.less(b[j].lo):
			i++
		case b[j].hi.less(a[i].lo):
			j++
		default:
			return true
		}
	}
	return false
}

func equal[K key[K]](a, b []span[K]) bool { return slices.Equal(a, b) }

// find returns the index of the span that holds k. O(log n).
func find[K key[K]](s []span[K], k K) (int, bool) {
	i := sort.Search(len(s), func(i int) bool { return !s[i].hi.less(k) })
	return i, i < len(s) && !k.less(s[i].lo)
}

// head returns the largest aligned block that starts at s.lo and does not reach past s.hi, as the number n of its host
// bits: it holds 2^n addresses.
func (s span[K]) head() int {
	n := min(s.lo.blockBits(), s.lo.width()) // lo may be zero, which is aligned to anything
	left := s.hi.minus(s.lo)                 // addresses left, less one
	if left.isMax() {
		return n
	}
	return min(n, left.next().log2())
}

// eachPrefix gives the fewest prefixes that cover the span exactly, ascending, until yield says no.
//
// The largest block that starts at lo is bounded twice: by lo's alignment and by the addresses left. Taking the smaller
// of the two each time is minimal, since no aligned block can hold both lo and an address before it.
func (s span[K]) eachPrefix(yield func(first K, bits int) bool) bool {
	for {
		n := s.head()
		if !yield(s.lo, s.lo.width()-n) {
			return false
		}
		last := s.lo.fill(n)
		if !last.less(s.hi) {
			return true
		}
		s.lo = last.next()
	}
}

// prefix returns the prefix that is exactly the span, if there is one.
func (s span[K]) prefix() (netip.Prefix, bool) {
	n := s.head()
	if s.lo.fill(n) != s.hi {
		return netip.Prefix{}, false
	}
	return prefixAt(s.lo, s.lo.width()-n), true
}

// numPrefixes counts eachPrefix in constant time. The topmost bit in which the two ends differ splits the span at m:
//
//	lo |------------m------------------| hi
//
// From m downwards the blocks have the sizes that the set bits of m-lo say, from m upwards those of hi-m+1. When both
// parts fill their half, the whole is one block.
func (s span[K]) numPrefixes() int {
	t := s.lo.xor(s.hi).log2()
	if t < 0 {
		return 1
	}
	var zero K
	m := s.hi.fill(t).minus(zero.fill(t))
	below, above := m.minus(s.lo), s.hi.minus(m).next()
	if below == above && below.log2() == t {
		return 1
	}
	return below.ones() + above.ones()
}

func countPrefixes[K key[K]](spans []span[K]) int {
	n := 0
	for _, s := range spans {
		n += s.numPrefixes()
	}
	return n
}

// countAddrs counts the addresses of normal spans. The differences alone add up to less than the size of the family, so
// that only the last step needs a number of any size.
func countAddrs[K key[K]](spans []span[K]) *big.Int {
	var sum K
	for _, s := range spans {
		sum = sum.plus(s.hi.minus(s.lo))
	}
	n := sum.big()
	return n.Add(n, big.NewInt(int64(len(spans))))
}

func (s span[K]) rng() Range { return Range{s.lo.addr(), s.hi.addr()} }

func prefixAt[K key[K]](k K, bits int) netip.Prefix { return netip.PrefixFrom(k.addr(), bits) }
