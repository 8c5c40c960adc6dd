package lpm

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/cidrc/cidrc/cidr"
)

// Minimal returns a table of the fewest entries that gives every address of the family the class that the map gives it.
// The map has to hold all of them (ErrGap), with classes from 0 to MaxClasses-1, or Any (ErrClass). The root is one of
// the classes, which the map need not use, or Any: then it is the lowest that makes the table smallest. Equal arguments
// give equal tables. A context that ends, ends it with the context's error. O(n) for n ranges, times the length of an
// address where classes alternate.
func Minimal(ctx context.Context, m cidr.Map[int], f cidr.Family, root int) (*Table, error) {
	if root < Any || root >= MaxClasses {
		return nil, fmt.Errorf("%w: root %d", ErrClass, root)
	}
	t, err := newTree(ctx, m, f)
	if err != nil {
		return nil, err
	}
	s := solver{tree: t, all: t.classes}
	if root != Any {
		s.all |= 1 << root
	}
	if s.all == 0 {
		s.all = 1
	}
	if err := s.rise(ctx); err != nil {
		return nil, err
	}
	if root == Any {
		root = bits.TrailingZeros64(s.best)
	}
	entries, err := s.descend(ctx, uint8(root))
	if err != nil {
		return nil, err
	}
	return newTable(f, root, entries), nil
}

// solver finds, for every block, the set of the classes that serve best when they hold where no entry of the block
// matches. One entry more makes up for any other class, so a set and a number say what a block costs, and where two
// halves have a class in common, that serves the whole; otherwise those of both do, at one entry more. The number
// of a block is not needed to place the entries.
type solver struct {
	*tree
	all     uint64      // the set of Any
	halves  [][2]uint64 // of branch i: the sets of its halves
	best    uint64      // the set of the whole family
	entries int         // with a root of that set
}

func join(a, b uint64) uint64 {
	if c := a & b; c != 0 {
		return c
	}
	return a | b
}

func (s *solver) set(class uint8) uint64 {
	if class == anyClass {
		return s.all
	}
	return 1 << class
}

// own returns the set of the block at the bottom of the node's chain.
func (s *solver) own(node int32) uint64 {
	if node > 0 {
		return join(s.halves[node][0], s.halves[node][1])
	}
	return s.set(s.class[^node])
}

// lift returns the set of the block of top host bits that holds the node, and counts the entries that the chain takes.
func (s *solver) lift(node int32, top int) uint64 {
	set := s.own(node)
	k, g := s.chain(node, top)
	before, after := s.around(node)
	if before == after {
		g = max(g, top-2) // a set does not change after it has met the same class twice
	}
	sides := [2]uint64{s.set(after), s.set(before)}
	for ; g < top; g++ {
		side := sides[k.bit(g)]
		if set&side == 0 {
			s.entries++
		}
		set = join(set, side)
	}
	return set
}

func (s *solver) rise(ctx context.Context) error {
	s.halves = make([][2]uint64, len(s.keys))
	for i, b := range s.order {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		half := int(s.level[b]) - 1
		lower, upper := s.lift(s.left[b], half), s.lift(s.right[b], half)
		s.halves[b] = [2]uint64{lower, upper}
		if lower&upper == 0 {
			s.entries++
		}
	}
	s.best = s.lift(s.top, s.width)
	return ctx.Err()
}

// task is what is left to do above the addresses that are done: a node with the host bits of the block around it and
// the class that holds there, or an entry.
type task struct {
	key   key
	node  int32 // 0 for an entry
	host  uint8
	class uint8
}

// descend places the entries, in order. A block gets one only if neither half can do with the class that holds there
// and one class serves both: whenever that does not save an entry, it is left to the halves.
func (s *solver) descend(ctx context.Context, root uint8) ([]entry, error) {
	out := make([]entry, 0, s.entries+2) // with a root that is not the best, up to two more
	put := func(k key, host int, class uint8) {
		out = append(out, entry{key: k, bits: uint8(s.width - host), class: class})
	}
	var sets [129]uint64 // by host bits, of the blocks of a chain
	todo := append(make([]task, 0, 2*129), task{node: s.top, host: uint8(s.width), class: root})
	for n := 0; len(todo) > 0; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		now := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if now.node == 0 {
			put(now.key, int(now.host), now.class)
			continue
		}
		node, class, top := now.node, now.class, int(now.host)
		own := s.own(node)
		k, bottom := s.chain(node, top)
		before, after := s.around(node)
		if before != after || s.set(before)>>class&1 == 0 {
			sides := [2]uint64{s.set(after), s.set(before)}
			sets[bottom] = own
			for g := bottom; g < top; g++ {
				sets[g+1] = join(sets[g], sides[k.bit(g)])
			}
			for g := top; g > bottom; g-- {
				upper := k.bit(g - 1)
				side, next := sides[upper], sets[g-1]
				if both := side & next; both != 0 && (side|next)>>class&1 == 0 && g < s.width {
					class = uint8(bits.TrailingZeros64(both))
					put(k.floor(g), g, class)
				}
				if side>>class&1 != 0 {
					continue
				}
				e := task{key: k.floor(g - 1).flip(g - 1), host: uint8(g - 1), class: uint8(bits.TrailingZeros64(side))}
				if upper == 1 {
					put(e.key, int(e.host), e.class)
				} else {
					todo = append(todo, e)
				}
			}
		}
		if node < 0 {
			switch {
			case own>>class&1 != 0:
			case bottom == s.width:
				c := uint8(bits.TrailingZeros64(own))
				put(key{}, bottom-1, c)
				put(key{}.flip(bottom-1), bottom-1, c)
			default:
				put(k, bottom, uint8(bits.TrailingZeros64(own)))
			}
			continue
		}
		lower, upper := s.halves[node][0], s.halves[node][1]
		if both := lower & upper; both != 0 && (lower|upper)>>class&1 == 0 && bottom < s.width {
			class = uint8(bits.TrailingZeros64(both))
			put(k.floor(bottom), bottom, class)
		}
		todo = append(todo,
			task{node: s.right[node], host: uint8(bottom - 1), class: class},
			task{node: s.left[node], host: uint8(bottom - 1), class: class})
	}
	return out, nil
}
