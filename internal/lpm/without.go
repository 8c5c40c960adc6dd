package lpm

import (
	"context"
	"slices"
)

// countWithout returns what count does for the lengths without each one of them, by the length that is missing. It is
// one pass over the tree for all of them, and as much less as there are blocks below the missing length: there, leaving
// it out makes no difference.
func (s *bounded) countWithout(ctx context.Context, lengths Lengths) (counts [129]int, err error) {
	// Column 0 is of all lengths, column i of those without missing[i], and at blocks of g host bits only the first
	// active[g] columns differ.
	missing := []int{0}
	for l := range lengths.All() {
		if l > 0 && l <= s.width {
			missing = append(missing, l)
		}
	}
	slices.Reverse(missing[1:])
	w := without{bounded: s, columns: len(missing)}
	for i, l := range missing {
		s.allow(lengths.Without(l))
		for g := range s.width + 1 {
			w.cover[g] = append(w.cover[g], s.cover[g])
			if i == 0 || s.width-l <= g {
				w.active[g]++
			}
		}
	}
	// A part of the tree is complete when the next begins, so the parts that wait for their other half are a stack, no
	// deeper than an address is long.
	for i, b := range s.order {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return counts, ctx.Err()
		}
		half := int(s.level[b]) - 1
		left, right := s.left[b], s.right[b]
		top := len(w.rows)
		switch {
		case left > 0 && right > 0:
			w.lift(top-2, left, half)
			w.lift(top-1, right, half)
		case left > 0:
			w.lift(top-1, left, half)
			w.leaf(right, half)
		case right > 0:
			w.lift(top-1, right, half)
			w.leaf(left, half)
		default:
			w.leaf(left, half)
			w.leaf(right, half)
		}
		w.join(half)
	}
	if s.top < 0 {
		w.leaf(s.top, s.width)
	} else {
		w.lift(0, s.top, s.width)
	}
	for i, l := range missing[1:] {
		counts[l] = w.rows[0][s.root][i+1]
	}
	return counts, ctx.Err()
}

// without is the state of countWithout.
type without struct {
	*bounded
	columns int
	active  [129]int
	cover   [129][]int
	rows    [][2][]int // what the waiting parts cost: by class around them, by column
	spare   [][2][]int
}

func (w *without) push() [2][]int {
	var row [2][]int
	if n := len(w.spare); n > 0 {
		row = w.spare[n-1]
		w.spare = w.spare[:n-1]
	} else {
		row = [2][]int{make([]int, w.columns), make([]int, w.columns)}
	}
	w.rows = append(w.rows, row)
	return row
}

// leaf adds a row for the block of top host bits that holds the leaf.
func (w *without) leaf(node int32, top int) {
	_, g := w.chain(node, top)
	row := w.push()
	n := w.active[g]
	clear(row[0][:n])
	clear(row[1][:n])
	if class := w.number[w.class[^node]]; class < 2 {
		copy(row[1-class], w.cover[g][:n])
	}
	w.lift(len(w.rows)-1, node, top)
}

// lift takes a row from the bottom of the node's chain to the block of top host bits.
func (w *without) lift(i int, node int32, top int) {
	row := w.rows[i]
	k, g := w.chain(node, top)
	before, after := w.around(node)
	sides := [2]uint8{w.number[after], w.number[before]}
	for ; g < top; g++ {
		if side := sides[k.bit(g)]; side < 2 {
			n := w.active[g]
			costs, cover := row[1-side][:n], w.cover[g][:n]
			for j, c := range cover {
				costs[j] = min(tooMany, costs[j]+c)
			}
		}
		w.enter(row, g+1)
	}
}

// join makes the last two rows, of the halves of a block, one.
func (w *without) join(half int) {
	n := len(w.rows)
	a, b := w.rows[n-2], w.rows[n-1]
	for class := range a {
		costs := a[class][:w.active[half]]
		for j, c := range b[class][:w.active[half]] {
			costs[j] = min(tooMany, costs[j]+c)
		}
	}
	w.rows, w.spare = w.rows[:n-1], append(w.spare, b)
	w.enter(a, half+1)
}

// enter is bounded.enter for a row that holds what the halves of the block cost. Where all lengths have the block's,
// the column without it begins, and is the only one in which no entry may stand for the block.
func (w *without) enter(row [2][]int, host int) {
	n := w.active[host-1]
	if w.active[host] == n {
		return
	}
	x, y := row[0][:n+1], row[1][:n+1]
	x[n], y[n] = x[0], y[0]
	for j := range n {
		a, b := x[j], y[j]
		x[j], y[j] = min(a, b+1), min(b, a+1)
	}
}
