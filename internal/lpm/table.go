package lpm

import (
	"iter"
	"net/netip"
	"sort"

	"github.com/cidrc/cidrc/cidr"
)

// Entry is a prefix of a table with the class of the addresses for which it is the longest that matches.
type Entry struct {
	Prefix netip.Prefix
	Class  int
}

// Table is an immutable longest-prefix-match table of one family. Its entries are sorted by address, a shorter prefix
// before the longer ones that start with it, and have a number each, from 0; so the entries inside a block are a run of
// numbers. 24 bytes an entry. The zero Table has no family and no entries.
type Table struct {
	family  cidr.Family
	root    int
	entries []entry
}

type entry struct {
	key    key
	parent int32 // the longest entry around this one, -1 for none
	bits   uint8 // prefix length
	class  uint8
}

// newTable takes entries in order and finds their parents.
func newTable(f cidr.Family, root int, entries []entry) *Table {
	t := &Table{family: f, root: root, entries: entries}
	at := int32(-1)
	for i := range entries {
		e := &entries[i]
		for at >= 0 && !t.holds(at, e.key) {
			at = entries[at].parent
		}
		e.parent = at
		at = int32(i)
	}
	return t
}

func (t *Table) holds(i int32, k key) bool {
	e := &t.entries[i]
	return e.key == k.floor(t.family.Bits()-int(e.bits))
}

// Family returns the family of the table.
func (t *Table) Family() cidr.Family { return t.family }

// Root returns the class of the addresses that no entry matches.
func (t *Table) Root() int { return t.root }

// Len counts the entries.
func (t *Table) Len() int { return len(t.entries) }

// At returns entry i, and the zero Entry when there is none.
func (t *Table) At(i int) Entry {
	if i < 0 || i >= len(t.entries) {
		return Entry{}
	}
	e := &t.entries[i]
	return Entry{netip.PrefixFrom(e.key.addr(t.family), int(e.bits)), int(e.class)}
}

// Parent returns the number of the longest entry that holds all of entry i and is not i, and -1 when there is none.
func (t *Table) Parent(i int) int {
	if i < 0 || i >= len(t.entries) {
		return -1
	}
	return int(t.entries[i].parent)
}

// All gives the entries in order.
func (t *Table) All() iter.Seq2[netip.Prefix, int] { return t.Between(0, len(t.entries)) }

// Between gives the entries numbered from up to but not including to, in order; numbers of no entry are left out.
func (t *Table) Between(from, to int) iter.Seq2[netip.Prefix, int] {
	return func(yield func(netip.Prefix, int) bool) {
		for i := max(from, 0); i < min(to, len(t.entries)); i++ {
			if e := t.At(i); !yield(e.Prefix, e.Class) {
				return
			}
		}
	}
}

// Lookup returns the class of the longest entry that holds the address, or the root. A zone is ignored, IPv4-mapped is
// taken as IPv4, and an address of another family has the class Any. O(log n), without allocation.
func (t *Table) Lookup(a netip.Addr) int {
	if f := cidr.FamilyOf(a); f == 0 || f != t.family {
		return Any
	}
	k := keyOf(a, t.family)
	i := sort.Search(len(t.entries), func(i int) bool { return k.less(t.entries[i].key) })
	return t.classAround(int32(i-1), k)
}

// classAround returns the class of the longest of entry i and those around it that holds the address. When entry i is
// not above the address and the next one is, all entries that hold the address are among these.
func (t *Table) classAround(i int32, k key) int {
	for ; i >= 0; i = t.entries[i].parent {
		if t.holds(i, k) {
			return int(t.entries[i].class)
		}
	}
	return t.root
}

// Within returns the numbers of the entries that lie in a block, from up to but not including to, and the class that
// holds in the block around them: that of the longest entry that holds the block and more, or the root. An entry that
// is the block itself is the first inside. Host bits of the block are ignored. For a block of another family, and for
// an invalid one, it returns 0, 0, Any. O(log n), without allocation.
//
// A table of the entries in the block, with that class as its root, says about the block what t says.
func (t *Table) Within(block netip.Prefix) (from, to, class int) {
	if !block.IsValid() || block.Addr().BitLen() != t.family.Bits() {
		return 0, 0, Any
	}
	host := t.family.Bits() - block.Bits()
	first := keyOf(block.Addr(), t.family).floor(host)
	last, bits := first.fill(host), uint8(block.Bits())
	from = sort.Search(len(t.entries), func(i int) bool {
		e := &t.entries[i]
		return first.less(e.key) || first == e.key && e.bits >= bits
	})
	to = from + sort.Search(len(t.entries)-from, func(i int) bool { return last.less(t.entries[from+i].key) })
	return from, to, t.classAround(int32(from-1), first)
}

// Histogram counts the entries by their length: element l is those of length l, and there is one for each length of the
// family.
func (t *Table) Histogram() []int {
	out := make([]int, t.family.Bits()+1)
	for i := range t.entries {
		out[t.entries[i].bits]++
	}
	return out
}

// Lengths returns the lengths of the entries.
func (t *Table) Lengths() Lengths {
	var l Lengths
	for i := range t.entries {
		l = l.With(int(t.entries[i].bits))
	}
	return l
}
