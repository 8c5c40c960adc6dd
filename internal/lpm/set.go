package lpm

import (
	"fmt"
	"iter"
	"net/netip"

	"github.com/cidrc/cidrc/cidr"
)

// SetLengths returns, for each number of prefix lengths, the fewest prefixes of so few lengths that cover exactly the
// family's part of the set, and the lengths with which that is so; ascending by lengths, strictly descending by
// entries. The last is that of the set's minimal prefixes. Numbers of lengths with which it takes more than 2^61
// entries (2^29 where int has 32 bits) are left out. For an empty set and for no family there are none. As in a Table,
// no prefix has the length 0. It is exact. O(n) for n minimal prefixes, and w^3 for the w distinct lengths that they
// have.
func SetLengths(s cidr.Set, f cidr.Family) []Point {
	// A prefix of the result lies in one minimal prefix, for those are the largest blocks of the set. So each minimal
	// prefix is split on its own, and best into blocks of the next length that is allowed. To allow a length that none of
	// them has does not pay: the next shorter one that they have does with fewer.
	var count [129]int
	for p := range s.Only(f).Prefixes() {
		count[p.Bits()]++
	}
	count[1] += 2 * count[0]
	var lengths []int
	for l := 1; l <= f.Bits(); l++ {
		if count[l] > 0 {
			lengths = append(lengths, l)
		}
	}
	n := len(lengths)
	if n == 0 {
		return nil
	}
	// best[k][j] is the fewest entries for all minimal prefixes of lengths[:j+1] with k+1 lengths, lengths[j] the longest;
	// from[k][j] is the j of the next shorter of the k+1.
	best, from := make([][]int, n), make([][]int, n)
	for k := range n {
		best[k], from[k] = make([]int, n), make([]int, n)
		for j := range n {
			best[k][j] = tooMany
			cost := 0 // of lengths[i+1:j+1] at lengths[j]
			for i := j - 1; ; i-- {
				cost = min(tooMany, cost+expand(count[lengths[i+1]], lengths[i+1], lengths[j]))
				switch {
				case i < 0:
					if k == 0 {
						best[k][j] = cost
					}
				case k > 0:
					if c := cost + best[k-1][i]; c < best[k][j] {
						best[k][j], from[k][j] = c, i
					}
				}
				if i < 0 {
					break
				}
			}
		}
	}
	var out []Point
	for k := range n {
		if best[k][n-1] >= tooMany {
			continue
		}
		p := Point{Entries: best[k][n-1]}
		for i, j := k, n-1; i >= 0; i-- {
			p.Lengths = p.Lengths.With(lengths[j])
			j = from[i][j]
		}
		out = append(out, p)
	}
	return out
}

// ExpandSet returns the fewest prefixes of the given lengths that cover exactly the family's part of the set,
// ascending. It is ErrLengths when a minimal prefix of the set is longer than all of them. Length 0 and lengths out of
// the family's bounds are not used. Few lengths make many prefixes: see SetLengths.
func ExpandSet(s cidr.Set, f cidr.Family, lengths Lengths) (iter.Seq[netip.Prefix], error) {
	next := nextLengths(f, lengths)
	s = s.Only(f)
	for p := range s.Prefixes() {
		if next[p.Bits()] == 0 {
			return nil, fmt.Errorf("%w: %v does not fit into %v", ErrLengths, p, lengths)
		}
	}
	return func(yield func(netip.Prefix) bool) {
		for p := range s.Prefixes() {
			l := next[p.Bits()]
			host := f.Bits() - l
			first := keyOf(p.Addr(), f)
			last := first.fill(f.Bits() - p.Bits())
			for k := first; ; {
				if !yield(netip.PrefixFrom(k.addr(f), l)) {
					return
				}
				end := k.fill(host)
				if end == last {
					break
				}
				k = end.next()
			}
		}
	}, nil
}

// nextLengths gives, for each length, the shortest of the allowed ones that is at least as long, and 0 for none.
func nextLengths(f cidr.Family, allowed Lengths) (next [129]int) {
	at := 0
	for l := f.Bits(); l >= 0; l-- {
		if l > 0 && allowed.Has(l) {
			at = l
		}
		next[l] = at
	}
	return next
}
