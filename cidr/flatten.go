package cidr

import "container/heap"

// Precedence says which of several entries that hold an address decides its value.
type Precedence uint8

const (
	// LastWins: the entry that was added last.
	LastWins Precedence = iota
	// MostSpecific: the entry with the fewest addresses; of several such, the one that was added last.
	MostSpecific
)

// entry is a range with a value, before overlaps are resolved.
type entry[K key[K], V any] struct {
	span[K]
	seq   int // order of addition
	value V
}

// flatten resolves overlaps: it returns disjoint spans, ascending, with the value that wins in each. Neighbours with
// equal values are one span. It sorts entries in place. O(n log n), and O(n) for entries that are sorted and disjoint.
//
// A sweep goes up through the addresses and keeps the entries that hold the current one in a heap, the winner on top:
//
//	entry 2        |-----|
//	entry 1   |---------------|
//	result    |-1-||--2--||-1-|
//
// The winner's value holds until it ends or the next entry starts, whichever comes first.
func flatten[K key[K], V comparable](entries []entry[K, V], how Precedence) ([]span[K], []V) {
	sortUnlessSorted(entries, func(a, b entry[K, V]) int { return compare(a.lo, b.lo) })
	spans := make([]span[K], 0, len(entries))
	values := make([]V, 0, len(entries))
	emit := func(s span[K], v V) {
		if n := len(spans); n > 0 && values[n-1] == v && spans[n-1].hi.next() == s.lo {
			spans[n-1].hi = s.hi
			return
		}
		spans, values = append(spans, s), append(values, v)
	}

	active := &entryHeap[K, V]{how: how}
	for i := 0; i < len(entries) || len(active.entries) > 0; {
		var at K
		if len(active.entries) == 0 {
			// Entries that are alone need no heap: this is all there is to do for disjoint input.
			e := entries[i]
			if i+1 == len(entries) || e.hi.less(entries[i+1].lo) {
				emit(e.span, e.value)
				i++
				continue
			}
			at = e.lo
		} else {
			at = active.at
		}
		for i < len(entries) && entries[i].lo == at {
			heap.Push(active, entries[i])
			i++
		}
		for len(active.entries) > 0 && active.entries[0].hi.less(at) {
			heap.Pop(active)
		}
		if len(active.entries) == 0 {
			continue
		}
		top := active.entries[0]
		end := top.hi
		if i < len(entries) && entries[i].lo.prev().less(end) {
			end = entries[i].lo.prev()
		}
		emit(span[K]{at, end}, top.value)
		if end.isMax() {
			break
		}
		active.at = end.next()
	}
	return shrink(spans), shrink(values)
}

// entryHeap holds the entries that are under way, the winning one first.
type entryHeap[K key[K], V any] struct {
	entries []entry[K, V]
	how     Precedence
	at      K // the address that the sweep has come to
}

func (h *entryHeap[K, V]) Len() int { return len(h.entries) }
func (h *entryHeap[K, V]) Less(i, j int) bool {
	a, b := &h.entries[i], &h.entries[j]
	if h.how == MostSpecific {
		sa, sb := a.hi.minus(a.lo), b.hi.minus(b.lo)
		if sa != sb {
			return sa.less(sb)
		}
	}
	return a.seq > b.seq
}
func (h *entryHeap[K, V]) Swap(i, j int) { h.entries[i], h.entries[j] = h.entries[j], h.entries[i] }
func (h *entryHeap[K, V]) Push(x any)    { h.entries = append(h.entries, x.(entry[K, V])) }
func (h *entryHeap[K, V]) Pop() any {
	n := len(h.entries) - 1
	e := h.entries[n]
	h.entries = h.entries[:n]
	return e
}
