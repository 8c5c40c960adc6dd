package cidr

import (
	"math/big"
	"net/netip"
	"slices"
)

// span4 is an inclusive range of addresses, lo <= hi. Inclusive ends are what lets a span reach the last address of its
// family without overflow.
type span4 struct{ lo, hi key4 }

// holds reports whether lo <= k <= hi, in one comparison: below lo, the difference wraps to more than any span holds.
func (s span4) holds(k key4) bool { return !s.hi.minus(s.lo).less(k.minus(s.lo)) }

// ranges4 is the part of a Set that is of one family: spans in normal form, which means sorted, disjoint and maximal, so
// that between two neighbours there is at least one address that belongs to neither. nil has none. It never changes once
// it is made.
type ranges4 struct{ sorted4 }

func newRanges4(normal []span4) *ranges4 {
	if len(normal) == 0 {
		return nil
	}
	return &ranges4{sorted4{spans: normal}}
}

func (r *ranges4) list() []span4 {
	if r == nil {
		return nil
	}
	return r.spans
}

// at returns the span that holds k. O(log n).
func (r *ranges4) at(k key4) (s span4, ok bool) {
	if r != nil {
		s = r.spans[r.find(k)]
	}
	return s, r != nil && s.holds(k)
}

// from returns the spans that end at k or above. O(log n).
func (r *ranges4) from(k key4) []span4 {
	if r == nil {
		return nil
	}
	i := r.find(k)
	if r.spans[i].hi.less(k) {
		i++
	}
	return r.spans[i:]
}

// meeting returns the spans that have addresses in common with s. O(log n) and their number.
func (r *ranges4) meeting(s span4) []span4 {
	in := r.from(s.lo)
	n := 0
	for n < len(in) && !s.hi.less(in[n].lo) {
		n++
	}
	return in[:n]
}

// appendSpan4 adds a span that starts no lower than the last one of spans in normal form, and keeps them so.
func appendSpan4(out []span4, s span4) []span4 {
	if n := len(out); n > 0 {
		last := &out[n-1]
		switch {
		case !last.hi.less(s.hi):
			// last |----------|
			// s       |-----|
			return out
		case !last.hi.less(s.lo) || last.hi.next() == s.lo:
			// last |------|         or |------|
			// s         |-----|                |-----|
			last.hi = s.hi
			return out
		}
		// last |------|
		// s               |---|
	}
	return append(out, s)
}

// shrink4 gives back memory when s uses less than half of what it holds.
func shrink4(s []span4) []span4 {
	if len(s) < cap(s)/2 {
		return slices.Clip(slices.Clone(s))
	}
	return s
}

func union4(a, b []span4) []span4 {
	out := make([]span4, 0, len(a)+len(b))
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if b[j].lo.less(a[i].lo) {
			out = appendSpan4(out, b[j])
			j++
		} else {
			out = appendSpan4(out, a[i])
			i++
		}
	}
	// What is left of one of them is in normal form: once a span has not touched what is there, none will.
	rest := a[i:]
	if j < len(b) {
		rest = b[j:]
	}
	for len(rest) > 0 {
		n := len(out)
		out = appendSpan4(out, rest[0])
		rest = rest[1:]
		if len(out) > n {
			out = append(out, rest...)
			break
		}
	}
	return shrink4(out)
}

func intersect4(a, b []span4) []span4 {
	out := make([]span4, 0, max(len(a), len(b)))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		lo, hi := a[i].lo, a[i].hi
		if lo.less(b[j].lo) {
			lo = b[j].lo
		}
		if b[j].hi.less(hi) {
			hi = b[j].hi
		}
		if !hi.less(lo) {
			out = append(out, span4{lo, hi})
		}
		if a[i].hi.less(b[j].hi) {
			i++
		} else {
			j++
		}
	}
	return shrink4(out)
}

func subtract4(a, b []span4) []span4 {
	out := make([]span4, 0, max(len(a), len(b)))
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
				out = append(out, span4{lo, b[k].lo.prev()})
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
			out = append(out, span4{lo, s.hi})
		}
	}
	return shrink4(out)
}

func overlaps4(a, b []span4) bool {
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

// head returns the largest aligned block that starts at s.lo and does not reach past s.hi, as the number n of its host
// bits: it holds 2^n addresses.
func (s span4) head() int {
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
func (s span4) eachPrefix(yield func(netip.Prefix) bool) bool {
	for {
		n := s.head()
		if !yield(prefixAt4(s.lo, n)) {
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
func (s span4) prefix() (netip.Prefix, bool) {
	n := s.head()
	if s.lo.fill(n) != s.hi {
		return netip.Prefix{}, false
	}
	return prefixAt4(s.lo, n), true
}

// prefixAt4 returns the prefix with n host bits that starts at k.
func prefixAt4(k key4, n int) netip.Prefix { return netip.PrefixFrom(k.addr(), k.width()-n) }

// numPrefixes counts eachPrefix in constant time. The topmost bit in which the two ends differ splits the span at m:
//
//	lo |------------m------------------| hi
//
// From m downwards the blocks have the sizes that the set bits of m-lo say, from m upwards those of hi-m+1. When both
// parts fill their half, the whole is one block.
func (s span4) numPrefixes() int {
	t := s.lo.xor(s.hi).log2()
	if t < 0 {
		return 1
	}
	var zero key4
	m := s.hi.fill(t).minus(zero.fill(t))
	below, above := m.minus(s.lo), s.hi.minus(m).next()
	if below == above && below.log2() == t {
		return 1
	}
	return below.ones() + above.ones()
}

func countPrefixes4(spans []span4) int {
	n := 0
	for _, s := range spans {
		n += s.numPrefixes()
	}
	return n
}

// countAddrs4 counts the addresses of normal spans. The differences alone add up to less than the size of the family, so
// that only the last step needs a number of any size.
func countAddrs4(spans []span4) *big.Int {
	var sum key4
	for _, s := range spans {
		sum = sum.plus(s.hi.minus(s.lo))
	}
	n := sum.big()
	return n.Add(n, big.NewInt(int64(len(spans))))
}

func (s span4) rng() Range { return Range{s.lo.addr(), s.hi.addr()} }
