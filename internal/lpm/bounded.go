package lpm

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/cidrc/cidrc/cidr"
)

// MinimalWith is Minimal with entries of the given prefix lengths only, for maps of two classes: those of the map and
// the root are at most two, or it is ErrClass. It is exact: no table of these lengths has fewer entries. It is
// ErrLengths when none says what the map says, or none of less than 2^61 entries (2^29 where int has 32 bits). Length 0
// and lengths out of the family's bounds are not used. Few lengths make many entries: see TableLengths.
func MinimalWith(ctx context.Context, m cidr.Map[int], f cidr.Family, root int, lengths Lengths) (*Table, error) {
	s, err := newBounded(ctx, m, f, root)
	if err != nil {
		return nil, err
	}
	n, err := s.count(ctx, lengths)
	if err != nil {
		return nil, err
	}
	if n >= tooMany {
		return nil, fmt.Errorf("%w: %v", ErrLengths, lengths)
	}
	entries, err := s.descend(ctx)
	if err != nil {
		return nil, err
	}
	return newTable(f, int(s.names[s.root]), entries), nil
}

// TableLengths returns tables' trade-offs between prefix lengths and entries for a map of two classes: for each number
// of lengths, lengths and the fewest entries with them, as MinimalWith makes them; ascending by lengths, strictly
// descending by entries, without those of more than most entries. The last has as few entries as Minimal. The other
// arguments are MinimalWith's; a free root is the one that Minimal chooses.
//
// The entries are exact for the lengths, but the lengths are searched for greedily: from those of the minimal table,
// the one that costs least to do without is dropped, and so on. Where the best lengths for a set without exceptions
// (that of the class that is not the root, see SetLengths) do better, they are taken. So no point is worse than such a
// set's, but other lengths may be better still. O(n·w^2) for n prefixes and w lengths.
func TableLengths(ctx context.Context, m cidr.Map[int], f cidr.Family, root, most int) ([]Point, error) {
	minimal, err := Minimal(ctx, m, f, root)
	if err != nil {
		return nil, err
	}
	s, err := newBounded(ctx, m, f, minimal.Root())
	if err != nil {
		return nil, err
	}
	most = min(most, tooMany-1)
	best := make([]Point, f.Bits()+1) // by number of lengths
	for i := range best {
		best[i].Entries = tooMany
	}
	found := func(l Lengths, n int) {
		if p := &best[l.Len()]; n < p.Entries {
			*p = Point{l, n}
		}
	}
	found(minimal.Lengths(), minimal.Len())
	for at := minimal.Lengths(); at.Len() > 0; {
		counts, err := s.countWithout(ctx, at)
		if err != nil {
			return nil, err
		}
		drop, fewest := 0, tooMany
		for l := range at.All() {
			if n := counts[l]; n < fewest {
				drop, fewest = l, n
			}
		}
		if fewest > most {
			break
		}
		at = at.Without(drop)
		found(at, fewest)
	}
	plain := m.Where(func(c int) bool { return c != Any && c != minimal.Root() })
	for _, p := range SetLengths(plain, f) {
		if p.Entries <= most {
			n, err := s.count(ctx, p.Lengths)
			if err != nil {
				return nil, err
			}
			found(p.Lengths, n)
		}
	}
	var out []Point
	for _, p := range best {
		if p.Entries <= most && (len(out) == 0 || p.Entries < out[len(out)-1].Entries) {
			out = append(out, p)
		}
	}
	return out, nil
}

// bounded counts entries where not all lengths are allowed. A block then costs each class its own number, since one
// entry no longer makes up for the wrong one. The two classes are numbered 0 and 1; 2 is any.
type bounded struct {
	*tree
	names  [2]uint8
	number [256]uint8
	root   uint8 // a number; count chooses it when it is free
	free   bool
	halves [][2]pair // of branch i: what its halves cost
	// Of the lengths last counted with, by host bits:
	allowed [129]bool
	next    [129]int // the largest allowed block that is not larger
	cover   [129]int // how many of those a block takes
}

// pair is what a block costs where class 0 holds around it and where class 1 does.
type pair [2]int

func newBounded(ctx context.Context, m cidr.Map[int], f cidr.Family, root int) (*bounded, error) {
	if root < Any || root >= MaxClasses {
		return nil, fmt.Errorf("%w: root %d", ErrClass, root)
	}
	t, err := newTree(ctx, m, f)
	if err != nil {
		return nil, err
	}
	classes := t.classes
	if root != Any {
		classes |= 1 << root
	}
	if n := bits.OnesCount64(classes); n > 2 {
		return nil, fmt.Errorf("%w: there are %d of them, not two", ErrClass, n)
	}
	s := &bounded{tree: t, free: root == Any, halves: make([][2]pair, len(t.keys))}
	s.number[anyClass] = 2
	for i := uint8(0); classes != 0; i++ {
		c := uint8(bits.TrailingZeros64(classes))
		classes &^= 1 << c
		s.names[i], s.number[c] = c, i
	}
	if !s.free {
		s.root = s.number[root]
	}
	return s, nil
}

func (s *bounded) allow(lengths Lengths) {
	next := -1
	for g := range s.width + 1 {
		s.allowed[g] = g < s.width && lengths.Has(s.width-g)
		if s.allowed[g] {
			next = g
		}
		s.next[g], s.cover[g] = next, tooMany
		if next >= 0 {
			s.cover[g] = expand(1, next, g)
		}
	}
}

// count returns how many entries of the lengths it takes, tooMany if there is no such table.
func (s *bounded) count(ctx context.Context, lengths Lengths) (int, error) {
	s.allow(lengths)
	for i, b := range s.order {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		half := int(s.level[b]) - 1
		s.halves[b] = [2]pair{s.lift(s.left[b], half, nil), s.lift(s.right[b], half, nil)}
	}
	cost := s.lift(s.top, s.width, nil)
	if s.free {
		s.root = 0
		if cost[1] < cost[0] {
			s.root = 1
		}
	}
	return cost[s.root], ctx.Err()
}

func add(a, b pair) pair { return pair{min(tooMany, a[0]+b[0]), min(tooMany, a[1]+b[1])} }

// uniform is what a block of one range costs.
func (s *bounded) uniform(class uint8, host int) (p pair) {
	if class < 2 {
		p[1-class] = s.cover[host]
	}
	return p
}

// enter turns what the halves of a block cost together into what it costs itself, where an entry may stand for it.
func (s *bounded) enter(p pair, host int) pair {
	if s.allowed[host] {
		return pair{min(p[0], p[1]+1), min(p[1], p[0]+1)}
	}
	return p
}

// lift returns what the block of top host bits costs that holds the node. If chain is not nil, what each block of the
// chain costs goes there, by host bits.
func (s *bounded) lift(node int32, top int, chain *[129]pair) pair {
	k, g := s.chain(node, top)
	before, after := s.around(node)
	var p pair
	if node > 0 {
		p = s.enter(add(s.halves[node][0], s.halves[node][1]), g)
	} else {
		p = s.uniform(s.number[after], g)
	}
	sides := [2]uint8{s.number[after], s.number[before]}
	for ; g < top; g++ {
		if chain != nil {
			chain[g] = p
		}
		p = s.enter(add(p, s.uniform(sides[k.bit(g)], g)), g+1)
	}
	return p
}

// descend places the entries that were counted, in order. A block gets one only if that saves some.
func (s *bounded) descend(ctx context.Context) ([]entry, error) {
	var out []entry
	put := func(k key, host int, class uint8) {
		out = append(out, entry{key: k, bits: uint8(s.width - host), class: s.names[class]})
	}
	// change returns the class that is to hold in the halves of a block, and places the entry for it.
	change := func(k key, host int, class uint8, halves pair) uint8 {
		if s.allowed[host] && halves[1-class]+1 < halves[class] {
			class = 1 - class
			put(k.floor(host), host, class)
		}
		return class
	}
	fill := func(k key, host int, class uint8) error {
		next := s.next[host]
		for n := s.cover[host]; n > 0; n-- {
			if len(out)%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			put(k, next, class)
			k = k.fill(next).next()
		}
		return nil
	}
	var costs [129]pair
	todo := append(make([]task, 0, 2*129), task{node: s.top, host: uint8(s.width), class: s.root})
	for n := 0; len(todo) > 0; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		now := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if now.node == 0 {
			if err := fill(now.key, int(now.host), now.class); err != nil {
				return nil, err
			}
			continue
		}
		node, class, top := now.node, now.class, int(now.host)
		k, bottom := s.chain(node, top)
		before, after := s.around(node)
		sides := [2]uint8{s.number[after], s.number[before]}
		s.lift(node, top, &costs)
		for g := top - 1; g >= bottom; g-- {
			upper := k.bit(g)
			side := sides[upper]
			class = change(k, g+1, class, add(costs[g], s.uniform(side, g)))
			if side == 2 || side == class {
				continue
			}
			first := k.floor(g).flip(g)
			if upper == 0 {
				todo = append(todo, task{key: first, host: uint8(g), class: side})
			} else if err := fill(first, g, side); err != nil {
				return nil, err
			}
		}
		if node < 0 {
			if own := s.number[after]; own != 2 && own != class {
				if err := fill(k, bottom, own); err != nil {
					return nil, err
				}
			}
			continue
		}
		class = change(k, bottom, class, add(s.halves[node][0], s.halves[node][1]))
		todo = append(todo,
			task{node: s.right[node], host: uint8(bottom - 1), class: class},
			task{node: s.left[node], host: uint8(bottom - 1), class: class})
	}
	return out, nil
}
