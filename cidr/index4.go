package cidr

import (
	"math/bits"
	"sync/atomic"
)

// sorted4 holds disjoint spans, ascending, and finds them. The index that it needs for many spans is worked out at the
// first question, by whoever asks it, and takes some ten bytes for each span, more where they crowd together.
type sorted4 struct {
	spans []span4
	index atomic.Pointer[index4]
}

// index4 is a search tree whose nodes divide the space of some spans into blocks of equal size, with about one span or
// two in each if they are spread evenly. A block in which many start is divided again, by a node below.
type index4 struct {
	node4
	blocks []block
	below  []node4
}

// node4 is about the spans from first to last. A block holds 2^shift addresses.
type node4 struct {
	base, size  key4 // where the first span starts, and how far behind that the last
	at          uint // where its blocks start
	shift       uint
	first, last uint32
}

// find returns the number of the last span that starts at k or below, and 0 if none does. There are spans. O(log n), and
// O(1) for spans that are spread evenly; O(n) the first time.
func (s *sorted4) find(k key4) int {
	from := 0
	if len(s.spans) > searched {
		x := s.index.Load()
		if x == nil {
			x = newIndex4(s.spans)
			s.index.Store(x)
		}
		d := &x.node4
		for {
			off := k.minus(d.base)
			if !off.less(d.size) {
				if k.less(d.base) {
					return max(int(d.first)-1, 0)
				}
				return int(d.last)
			}
			b := x.blocks[d.at+off.digit(d.shift, ^uint(0))]
			if b.more == 0 {
				return int(b.from)
			}
			if b.more > 0 {
				from = int(b.from)
				break
			}
			d = &x.below[^b.more]
		}
	}
	// The span is one of four; those behind the block start above k in any case. With all of them compared at once, there is
	// no branch for the processor to guess.
	if from+searched <= len(s.spans) {
		four := s.spans[from : from+searched]
		return from - k.notBelow(four[1].lo) - k.notBelow(four[2].lo) - k.notBelow(four[3].lo)
	}
	for from+1 < len(s.spans) && !k.less(s.spans[from+1].lo) {
		from++
	}
	return from
}

func newIndex4(spans []span4) *index4 {
	x := &index4{blocks: make([]block, 0, len(spans))}
	x.node4 = x.divide(spans, 0, len(spans)-1)
	return x
}

// divide makes the node of the spans from first to last and those below it. Each level divides the space by four or more,
// so that there are no more levels than half the bits of an address.
func (x *index4) divide(spans []span4, first, last int) node4 {
	d := node4{
		base: spans[first].lo, size: spans[last].lo.minus(spans[first].lo),
		at: uint(len(x.blocks)), first: uint32(first), last: uint32(last),
	}
	shift := max(d.size.log2()+2-bits.Len(uint(last-first+1)), 0)
	d.shift = uint(shift)
	block0 := func(k key4) uint { return k.digit(d.shift, ^uint(0)) }
	x.blocks = append(x.blocks, make([]block, block0(d.size)+1)...)

	next := uint(0)
	for i := first; i <= last; {
		off := spans[i].lo.minus(d.base)
		in := block0(off)
		for ; next < in; next++ {
			x.blocks[d.at+next] = block{from: uint32(i - 1)}
		}
		from := i
		if off.blockBits() < shift {
			from-- // which may reach into the block
		}
		start := i
		for i <= last && block0(spans[i].lo.minus(d.base)) == in {
			i++
		}
		b := block{uint32(from), int32(i - from - 1)}
		if b.more >= searched {
			n := len(x.below)
			x.below = append(x.below, node4{})
			x.below[n] = x.divide(spans, start, i-1)
			b.more = ^int32(n)
		}
		x.blocks[d.at+in] = b
		next = in + 1
	}
	return d
}
