package cidr

import "slices"

// table4 is the part of a Map that is of one family: disjoint spans, ascending, values[i] the value of spans[i]. Spans
// that touch have different values. nil has none. It never changes once it is made.
type table4[V comparable] struct {
	sorted4
	values []V
}

func newTable4[V comparable](spans []span4, values []V) *table4[V] {
	if len(spans) == 0 {
		return nil
	}
	return &table4[V]{sorted4{spans: shrink4(spans)}, shrink(values)}
}

// all returns the spans and their values.
func (t *table4[V]) all() ([]span4, []V) {
	if t == nil {
		return nil, nil
	}
	return t.spans, t.values
}

// at returns the span that holds k, and its value. O(log n).
func (t *table4[V]) at(k key4) (s span4, v V, ok bool) {
	if t == nil {
		return s, v, false
	}
	i := t.find(k)
	if !t.spans[i].holds(k) {
		return s, v, false
	}
	return t.spans[i], t.values[i], true
}

func (t *table4[V]) where(cond func(V) bool) *ranges4 {
	spans, values := t.all()
	var out []span4
	for i, v := range values {
		if cond(v) {
			out = appendSpan4(out, spans[i])
		}
	}
	return newRanges4(slices.Clip(out))
}

func (t *table4[V]) equal(o *table4[V]) bool {
	spans, values := t.all()
	spans2, values2 := o.all()
	return slices.Equal(spans, spans2) && slices.Equal(values, values2)
}

// less returns what t says of addresses of which o says something else or nothing.
func (t *table4[V]) less(o *table4[V]) *table4[V] {
	spans, values := t.all()
	others, theirs := o.all()
	var out run4[V]
	j := 0
	for i, s := range spans {
		for j < len(others) && others[j].hi.less(s.lo) {
			j++
		}
		done := false
		// others[k] may reach over several spans, so j stays where it is until the next one.
		for k := j; k < len(others) && !s.hi.less(others[k].lo); k++ {
			if theirs[k] != values[i] {
				continue
			}
			if s.lo.less(others[k].lo) {
				out.push(span4{s.lo, others[k].lo.prev()}, values[i])
			}
			if done = !others[k].hi.less(s.hi); done {
				break
			}
			s.lo = others[k].hi.next()
		}
		if !done {
			out.push(s, values[i])
		}
	}
	return newTable4(out.spans, out.values)
}

func transform4[V, W comparable](t *table4[V], f func(V) (W, bool)) *table4[W] {
	spans, values := t.all()
	out := run4[W]{}
	for i, v := range values {
		if w, ok := f(v); ok {
			out.push(spans[i], w)
		}
	}
	return newTable4(out.spans, out.values)
}

// run4 is a table in the making.
type run4[V comparable] struct {
	spans  []span4
	values []V
}

func (r *run4[V]) reserve(n int) {
	r.spans, r.values = slices.Grow(r.spans, n), slices.Grow(r.values, n)
}

// push adds a span above all others.
func (r *run4[V]) push(s span4, v V) {
	if n := len(r.spans); n > 0 && r.values[n-1] == v && r.spans[n-1].hi.next() == s.lo {
		r.spans[n-1].hi = s.hi
		return
	}
	r.spans, r.values = append(r.spans, s), append(r.values, v)
}

// entry4 is a span with a value, before overlaps are resolved.
type entry4[V any] struct {
	span4
	seq   int // order of addition
	value V
}

// entries4 collects entries in the order of addition. As long as they come in order and disjoint, they are a run already.
type entries4[V comparable] struct {
	run4[V]
	rest []entry4[V] // from the first that is not above those before it
}

func (e *entries4[V]) len() int { return len(e.spans) + len(e.rest) }

func (e *entries4[V]) add(s span4, v V) {
	if n := len(e.spans); len(e.rest) > 0 || n > 0 && !e.spans[n-1].hi.less(s.lo) {
		e.rest = append(e.rest, entry4[V]{s, e.len(), v})
		return
	}
	// Entries that touch stay apart even if their values are equal: together they would be less specific.
	e.spans, e.values = append(e.spans, s), append(e.values, v)
}

// table resolves overlaps. O(n log n), and O(n) for entries that came sorted and disjoint.
func (e *entries4[V]) table(how Precedence) *table4[V] {
	if len(e.rest) == 0 {
		out := run4[V]{e.spans[:0], e.values[:0]}
		for i, s := range e.spans {
			out.push(s, e.values[i])
		}
		return newTable4(out.spans, out.values)
	}
	all := make([]entry4[V], 0, e.len())
	for i, s := range e.spans {
		all = append(all, entry4[V]{s, i, e.values[i]})
	}
	out := flatten4(append(all, e.rest...), how)
	return newTable4(out.spans, out.values)
}

// flatten4 resolves overlaps: it returns disjoint spans, ascending, with the value that wins in each. It sorts entries in
// place. O(n log n).
//
// A sweep goes up through the addresses and keeps the entries that hold the current one in a heap, the winner on top:
//
//	entry 2        |-----|
//	entry 1   |---------------|
//	result    |-1-||--2--||-1-|
//
// The winner's value holds until it ends or the next entry starts, whichever comes first.
func flatten4[V comparable](entries []entry4[V], how Precedence) run4[V] {
	sortUnlessSorted(entries, func(a, b entry4[V]) int {
		switch {
		case a.lo.less(b.lo):
			return -1
		case b.lo.less(a.lo):
			return 1
		}
		return 0
	})
	var out run4[V]
	out.reserve(len(entries))
	under := heap4[V]{how: how}
	var at key4 // where the sweep has come to
	for i := 0; i < len(entries) || len(under.entries) > 0; {
		if len(under.entries) == 0 {
			// Entries that are alone need no heap: this is all there is to do for disjoint input.
			e := &entries[i]
			if i+1 == len(entries) || e.hi.less(entries[i+1].lo) {
				out.push(e.span4, e.value)
				i++
				continue
			}
			at = e.lo
		}
		for i < len(entries) && entries[i].lo == at {
			under.push(entries[i])
			i++
		}
		for len(under.entries) > 0 && under.entries[0].hi.less(at) {
			under.pop()
		}
		if len(under.entries) == 0 {
			continue
		}
		top := &under.entries[0]
		end := top.hi
		if i < len(entries) && entries[i].lo.prev().less(end) {
			end = entries[i].lo.prev()
		}
		out.push(span4{at, end}, top.value)
		if end.isMax() {
			break
		}
		at = end.next()
	}
	return out
}

// heap4 holds the entries that are under way, the winning one first, as a binary heap. An entry that has ended stays
// until it comes to the top.
type heap4[V any] struct {
	entries []entry4[V]
	how     Precedence
}

// wins reports whether a takes precedence over b.
func (h *heap4[V]) wins(a, b *entry4[V]) bool {
	if h.how == MostSpecific {
		if sa, sb := a.hi.minus(a.lo), b.hi.minus(b.lo); sa != sb {
			return sa.less(sb)
		}
	}
	return a.seq > b.seq
}

func (h *heap4[V]) push(e entry4[V]) {
	h.entries = append(h.entries, e)
	i := len(h.entries) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !h.wins(&h.entries[i], &h.entries[up]) {
			return
		}
		h.entries[i], h.entries[up] = h.entries[up], h.entries[i]
		i = up
	}
}

func (h *heap4[V]) pop() {
	n := len(h.entries) - 1
	h.entries[0] = h.entries[n]
	h.entries = h.entries[:n]
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < n && h.wins(&h.entries[down+1], &h.entries[down]) {
			down++
		}
		if down >= n || !h.wins(&h.entries[down], &h.entries[i]) {
			return
		}
		h.entries[i], h.entries[down] = h.entries[down], h.entries[i]
		i = down
	}
}
