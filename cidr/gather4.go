package cidr

import "math/bits"

// gather4 collects spans on their way to normal form. Spans that come in order are put into normal form at once. When one
// does not, the rest wait as they come, and normal sorts them all. They lie in chunks, so that growing copies nothing.
type gather4 struct {
	full     [][]span4
	last     []span4 // the chunk under way
	room     []span4 // once unsorted: the same, at its full length
	at       int     // once unsorted: how many spans last holds
	n        int     // spans in full
	unsorted bool
}

// The first chunk holds few spans, since most sets are small, and each one twice as many as the one before up to a limit.
const (
	firstChunk4 = 16
	lastChunk4  = 1 << 14
)

func (g *gather4) add(s span4) {
	if g.at < len(g.room) {
		g.room[g.at] = s
		g.at++
		return
	}
	g.addSlow(s)
}

func (g *gather4) addSlow(s span4) {
	g.settle()
	if n := len(g.last); n > 0 && !g.unsorted {
		top := &g.last[n-1]
		switch {
		case s.lo.less(top.lo):
			g.unsorted = true
		case !top.hi.less(s.hi):
			return
		case !top.hi.less(s.lo) || top.hi.next() == s.lo:
			top.hi = s.hi
			return
		}
	}
	if len(g.last) == cap(g.last) {
		g.grow(1)
	}
	g.last = append(g.last, s)
	if g.unsorted {
		g.room, g.at = g.last[:cap(g.last)], len(g.last)
	}
}

// settle counts what add has put into the room.
func (g *gather4) settle() {
	if g.room != nil {
		g.last, g.room, g.at = g.room[:g.at], nil, 0
	}
}

func (g *gather4) len() int { return g.n + max(len(g.last), g.at) }

// grow starts a chunk with room for n more spans. The last span moves there, for the next one to be compared with.
func (g *gather4) grow(n int) {
	next := make([]span4, 0, max(n+1, min(2*g.len(), lastChunk4), firstChunk4))
	if k := len(g.last); k > 0 {
		next = append(next, g.last[k-1])
		g.full = append(g.full, g.last[:k-1])
		g.n += k - 1
	}
	g.last = next
}

// reserve makes room for n more spans. It panics if n is negative.
func (g *gather4) reserve(n int) {
	if n < 0 {
		panic("cidr: Grow by less than nothing")
	}
	g.settle()
	if cap(g.last)-len(g.last) < n {
		g.grow(n)
	}
}

// chunks returns what was gathered, in the order of addition.
func (g *gather4) chunks() [][]span4 {
	g.settle()
	return append(g.full, g.last)
}

// normal returns the spans in normal form. O(n) if they came in order. The gatherer is spent.
func (g *gather4) normal() []span4 {
	g.settle()
	switch {
	case !g.unsorted && len(g.full) == 0:
		return shrink4(g.last)
	case !g.unsorted:
		out := make([]span4, 0, g.len())
		for _, c := range g.full {
			out = append(out, c...)
		}
		return append(out, g.last...)
	}
	return shrink4(g.sort())
}

// sort goes from the top bits down. Bits that all spans have in common are skipped. One pass puts the spans into buckets
// by their topmost bits that differ; a bucket then fits into the processor's cache, where it is sorted and appended to
// the result.
func (g *gather4) sort() []span4 {
	const widest = 10
	chunks := g.chunks()
	first := g.last[0].lo
	var diff key4
	for _, c := range chunks {
		for i := range c {
			diff = diff.differ(c[i].lo, first)
		}
	}
	n := g.len()
	top := diff.log2() + 1
	width := min(top, widest, max(bits.Len(uint(n))-3, 1))
	shift, mask := uint(top-width), uint(1)<<width-1

	var ends [1 << widest]int
	for _, c := range chunks {
		for i := range c {
			ends[c[i].lo.digit(shift, mask)]++
		}
	}
	at, largest := 0, 0
	for d := range ends[:mask+1] {
		largest = max(largest, ends[d])
		at, ends[d] = at+ends[d], at
	}
	s := make([]span4, n)
	for _, c := range chunks {
		for i := range c {
			d := c[i].lo.digit(shift, mask)
			s[ends[d]] = c[i]
			ends[d]++
		}
	}
	*g = gather4{}

	scratch := make([]span4, largest)
	out, start := s[:0], 0
	for _, end := range ends[:mask+1] {
		bucket := s[start:end]
		sort4(bucket, scratch[:len(bucket)])
		for _, sp := range bucket {
			out = appendSpan4(out, sp)
		}
		start = end
	}
	return out
}

// small4 is how many spans are sorted one by one.
const small4 = 24

// sort4 sorts spans by their first addresses, with scratch as long as they are.
func sort4(s, scratch []span4) {
	const widest = 8
	if len(s) <= small4 {
		insert4(s, s)
		return
	}
	var diff key4
	sorted := true
	for i := 1; i < len(s); i++ {
		diff = diff.differ(s[i-1].lo, s[i].lo)
		sorted = sorted && !s[i].lo.less(s[i-1].lo)
	}
	if sorted {
		return
	}
	top := diff.log2() + 1
	width := min(top, widest, bits.Len(uint(len(s)))-2)
	shift, mask := uint(top-width), uint(1)<<width-1

	var ends [1 << widest]int
	for i := range s {
		ends[s[i].lo.digit(shift, mask)]++
	}
	at := 0
	for d := range ends[:mask+1] {
		at, ends[d] = at+ends[d], at
	}
	for i := range s {
		d := s[i].lo.digit(shift, mask)
		scratch[ends[d]] = s[i]
		ends[d]++
	}
	start := 0
	for _, end := range ends[:mask+1] {
		switch n := end - start; {
		case n == 1:
			s[start] = scratch[start]
		case n <= small4:
			insert4(s[start:end], scratch[start:end])
		case n > small4:
			copy(s[start:end], scratch[start:end])
			sort4(s[start:end], scratch[start:end])
		}
		start = end
	}
}

// insert4 sorts in into out, which is as long and may be the same.
func insert4(out, in []span4) {
	out = out[:len(in)]
	for i, s := range in {
		j := i
		for ; j > 0 && s.lo.less(out[j-1].lo); j-- {
			out[j] = out[j-1]
		}
		out[j] = s
	}
}
