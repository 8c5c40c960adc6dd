package lpm

import (
	"context"
	"fmt"

	"github.com/cidrc/cidrc/cidr"
)

// Any, as a class of the map, says that any class will do; as the root, that the algorithm is to choose it.
const Any = -1

// MaxClasses bounds the classes of a map: they are 0 to MaxClasses-1, since sets of them are words of bits.
const MaxClasses = 64

// anyClass is Any in a byte.
const anyClass = 0xff

// checkEvery is how many ranges are worked on between two looks at the context.
const checkEvery = 1 << 14

// tree is the binary trie of a map without the nodes that have only one way to go.
//
// A leaf is the first address of a range. A branch is the smallest block that holds two neighbouring leaves: branch i
// parts leaf i-1 from leaf i, and its halves hold a part of the tree each. From a half down to the leaf or the branch
// that lies in it leads a chain of blocks, each with the next in one half and nothing but one range in the other: no
// leaf lies there, so it is the range before the lowest leaf of the part if it is the lower half and the range of the
// highest leaf if it is the upper one. That is all there is to know about a chain, and why it need not be stored.
//
// A node is a branch, or ^i for leaf i. Blocks are measured by their host bits.
type tree struct {
	family  cidr.Family
	width   int
	keys    []key   // of leaf i: its address; keys[0] is the first of the family
	class   []uint8 // of leaf i
	left    []int32 // of branch i, as right, level, before and after; 0 has none
	right   []int32
	level   []uint8 // host bits of the block
	before  []uint8 // class of the range before the lowest leaf
	after   []uint8 // class of the range of the highest leaf
	order   []int32 // all branches, each after those inside it
	top     int32
	classes uint64 // those of the map, without Any
}

func newTree(ctx context.Context, m cidr.Map[int], f cidr.Family) (*tree, error) {
	t := &tree{family: f, width: f.Bits()}
	if t.width == 0 {
		return nil, ErrFamily
	}
	m = m.Only(f)
	n := m.NumRanges()
	t.keys, t.class = make([]key, 0, n), make([]uint8, 0, n)
	var want key // where the next range has to start
	top := low(t.width)
	covered := false
	for r, c := range m.All() {
		if len(t.keys)%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		first := keyOf(r.First, f)
		if first != want {
			return nil, fmt.Errorf("%w: %v", ErrGap, want.addr(f))
		}
		if c < Any || c >= MaxClasses {
			return nil, fmt.Errorf("%w: %d", ErrClass, c)
		}
		if c != Any {
			t.classes |= 1 << c
		}
		t.keys, t.class = append(t.keys, first), append(t.class, uint8(c))
		last := keyOf(r.Last, f)
		covered = last == top
		want = last.next()
	}
	if !covered {
		return nil, fmt.Errorf("%w: %v", ErrGap, want.addr(f))
	}
	return t, t.grow(ctx)
}

// grow makes the branches. They are a Cartesian tree of the sizes of the smallest blocks around neighbouring leaves:
// the largest within a block is unique, since only one pair of neighbours lies on both sides of its middle.
func (t *tree) grow(ctx context.Context) error {
	n := len(t.keys)
	t.left, t.right = make([]int32, n), make([]int32, n)
	t.level, t.before, t.after = make([]uint8, n), make([]uint8, n), make([]uint8, n)
	t.order = make([]int32, 0, n-1)
	var open [129]int32 // branches without their upper half yet, each inside the one before
	depth := 0
	// closeBelow ends the open branches inside a block of the level, whose last node is given, and returns the topmost.
	closeBelow := func(level uint8, node int32) int32 {
		for depth > 0 && t.level[open[depth-1]] < level {
			depth--
			b := open[depth]
			t.right[b] = node
			t.before[b], _ = t.around(t.left[b])
			_, t.after[b] = t.around(node)
			t.order = append(t.order, b)
			node = b
		}
		return node
	}
	for i := 1; i < n; i++ {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		t.level[i] = uint8(t.keys[i-1].differ(t.keys[i]))
		t.left[i] = closeBelow(t.level[i], ^int32(i-1))
		open[depth] = int32(i)
		depth++
	}
	t.top = closeBelow(0xff, ^int32(n-1))
	return ctx.Err()
}

// around returns the classes of the ranges at both ends of any block that holds the node's leaves and no others.
func (t *tree) around(node int32) (before, after uint8) {
	switch {
	case node > 0:
		return t.before[node], t.after[node]
	case node == ^0:
		return anyClass, t.class[0] // nothing lies before the first address
	default:
		return t.class[^node-1], t.class[^node]
	}
}

// chain describes the way from the block of top host bits down to the node in it: bits bottom to top-1 of the key say
// which half holds the next block. The block at the bottom is the branch, or one that starts with the leaf.
func (t *tree) chain(node int32, top int) (k key, bottom int) {
	if node > 0 {
		return t.keys[node], int(t.level[node])
	}
	k = t.keys[^node]
	return k, min(k.zeros(), top)
}
