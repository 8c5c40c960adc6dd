package cidr

import (
	"math/big"
	"net/netip"
	"sort"
)

// span is an inclusive range of addresses, lo <= hi. Inclusive ends are what lets a span reach the last address of its
// family without overflow.
type span[K key[K]] struct{ lo, hi K }

// The functions below work on "normal" slices of spans: sorted, disjoint and maximal, which means that between two
// neighbours there is at least one address that belongs to neither. All are linear in their input, and none changes it.

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
	return normalize(merged)
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
		// b[k] may reach over several spans of a, so j stays where it is.
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
			j = k
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

func equal[K key[K]](a, b []span[K]) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// find returns the index of the span that holds k. O(log n).
func find[K key[K]](s []span[K], k K) (int, bool) {
	i := sort.Search(len(s), func(i int) bool { return !s[i].hi.less(k) })
	return i, i < len(s) && !k.less(s[i].lo)
}

// eachPrefix gives the fewest prefixes that cover the span exactly, ascending, until yield says no.
//
// The largest block that starts at lo is bounded twice: by lo's alignment and by the addresses left. Taking the smaller
// of the two each time is minimal, since no aligned block can hold both lo and an address before it.
func (s span[K]) eachPrefix(yield func(first K, bits int) bool) bool {
	lo, width := s.lo, s.lo.width()
	for {
		n := lo.blockBits()
		if n > width {
			n = width // lo is zero
		}
		left := s.hi.minus(lo) // addresses left, less one
		if m := left.next().log2(); !left.isMax() && m < n {
			n = m
		}
		if !yield(lo, width-n) {
			return false
		}
		last := lo.fill(n)
		if !last.less(s.hi) {
			return true
		}
		lo = last.next()
	}
}

func countPrefixes[K key[K]](spans []span[K]) int {
	n := 0
	for _, s := range spans {
		s.eachPrefix(func(K, int) bool { n++; return true })
	}
	return n
}

func countAddrs[K key[K]](spans []span[K]) *big.Int {
	n := new(big.Int)
	for _, s := range spans {
		n.Add(n, s.hi.minus(s.lo).big())
	}
	return n.Add(n, big.NewInt(int64(len(spans))))
}

func (s span[K]) rng() Range { return Range{s.lo.addr(), s.hi.addr()} }

func prefixAt[K key[K]](k K, bits int) netip.Prefix { return netip.PrefixFrom(k.addr(), bits) }
