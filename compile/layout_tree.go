package compile

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/internal/lpm"
)

// chainTree is a decision tree of chains over the minimal table of the actions. It needs no sets.
//
// A chain decides about the packets of one block. Each of its rules takes a smaller block out: to a verdict if the block
// has only one, and to a chain of its own if not. What is taken out is about half of the traffic that is left, wherever in
// the block it lies, so that a rule is worth one bit: a packet that a share p of the traffic is like meets about log2(1/p)
// rules, which no tree of such rules can beat by much, and hot blocks are found first. Once few entries of the table are
// left, they are listed, those within others first.
//
// The published chain split has the same means and takes 16 or 256 blocks of equal size, hot or cold, in the order of
// their addresses.
type chainTree struct{ ctx context.Context }

func (*chainTree) chain(hook string, f cidr.Family) string { return familyChain(hook, f) }

// leafEntries is how many entries are listed in a chain rather than divided. A packet meets three rules more than with 5,
// and there are half as many chains, which is what loading takes long for.
const leafEntries = 12

func (l *chainTree) lookUp(b *programBuilder, hook string, c *Chain, f *familyPlan) error {
	root := f.preferred
	if root < 0 {
		root = lpm.Any
	}
	table, err := lpm.Minimal(l.ctx, f.classes, f.family, root)
	if err != nil {
		return err
	}
	t := newTrie(table, f.shares)
	depth := 1 << 30
	if limit := b.Target.Limits.JumpDepth; limit > 0 {
		depth = limit - 1 // the base chain goes to c
		if !b.Target.Features.TypeLists {
			depth-- // or to the chain of ICMP types, which goes there
		}
	}
	g := treeGrower{b: b, f: f, hook: hook, trie: t}
	return g.fill(c, 0, depth)
}

// trie is the binary trie of a table: its entries and the smallest blocks that hold two of them, each node above those
// inside it. Node 0 is the whole family.
type trie struct {
	nodes []trieNode
}

type trieNode struct {
	key    blockKey
	parent int32
	child  [2]int32 // 0: none
	class  int16    // of the entry that the node is; noEntry if it is none
	cover  int16    // the class in the block where no entry inside says otherwise
	taken  bool     // by a rule
	count  int32    // entries in the block that no rule has taken yet, the node's own among them
	weight float64  // of the traffic to the block that no rule has taken yet
}

const noEntry = -1

// blockKey is a block as a number: the address, at the top of 128 bits in either family, and the length.
type blockKey struct {
	hi, lo uint64
	bits   int
}

func keyOfBlock(p netip.Prefix) blockKey {
	hi, lo := addrWords(p.Addr())
	return blockKey{hi, lo, p.Bits()}
}

// prefix returns the block as a prefix.
func (k blockKey) prefix(f cidr.Family) netip.Prefix {
	return netip.PrefixFrom(addrOfWords(k.hi, k.lo, f), k.bits)
}

// holds reports whether o is k or inside it.
func (k blockKey) holds(o blockKey) bool { return o.bits >= k.bits && k.common(o) >= k.bits }

// common counts the leading bits that both addresses have in common.
func (k blockKey) common(o blockKey) int { return commonBits(k.hi^o.hi, k.lo^o.lo) }

// half says in which half of k the smaller block o lies.
func (k blockKey) half(o blockKey) int {
	if k.bits < 64 {
		return int(o.hi >> (63 - k.bits) & 1)
	}
	return int(o.lo >> (127 - k.bits) & 1)
}

// cut returns the block of the given length that holds k.
func (k blockKey) cut(bits int) blockKey {
	if bits <= 64 {
		return blockKey{k.hi &^ (1<<(64-bits) - 1), 0, bits}
	}
	return blockKey{k.hi, k.lo &^ (1<<(128-bits) - 1), bits}
}

func newTrie(t *lpm.Table, traffic *shares) *trie {
	out := &trie{nodes: make([]trieNode, 1, 2*t.Len()+1)}
	out.nodes[0] = trieNode{parent: -1, class: noEntry, cover: int16(t.Root())}
	// Entries come by address, shorter ones first, so that each hangs on the way down to the one before it.
	last := int32(0)
	for p, class := range t.All() {
		k := keyOfBlock(p)
		at := last
		for !out.nodes[at].key.holds(k) {
			at = out.nodes[at].parent
		}
		last = out.hang(at, k, int16(class))
	}
	for i := range out.nodes {
		n := &out.nodes[i]
		n.weight = traffic.of(n.key)
		if n.class != noEntry {
			n.cover = n.class
			n.count = 1
		}
	}
	out.settle()
	return out
}

// hang puts an entry below node at, which holds it.
func (t *trie) hang(at int32, k blockKey, class int16) int32 {
	half := t.nodes[at].key.half(k)
	below := t.nodes[at].child[half]
	n := int32(len(t.nodes))
	if below == 0 {
		t.nodes = append(t.nodes, trieNode{key: k, parent: at, class: class})
		t.nodes[at].child[half] = n
		return n
	}
	// Both are in this half, and neither holds the other: the smallest block around them gets a node.
	other := t.nodes[below].key
	fork := k.cut(min(k.common(other), k.bits, other.bits))
	t.nodes = append(t.nodes, trieNode{key: fork, parent: at, class: noEntry}, trieNode{key: k, parent: n, class: class})
	t.nodes[at].child[half] = n
	t.nodes[n].child[fork.half(other)] = below
	t.nodes[n].child[fork.half(k)] = n + 1
	t.nodes[below].parent = n
	return n + 1
}

// settle counts the entries inside each node and hands covers down.
func (t *trie) settle() {
	// A fork is made after what hangs on it, so the order of the numbers is no help; a walk is.
	var walk func(i int32)
	walk = func(i int32) {
		for _, c := range t.nodes[i].child {
			if c == 0 {
				continue
			}
			if t.nodes[c].class == noEntry {
				t.nodes[c].cover = t.nodes[i].cover
			}
			walk(c)
			t.nodes[i].count += t.nodes[c].count
		}
	}
	walk(0)
}

// take removes a node and all inside it from the blocks around it, up to but not including those around root.
func (t *trie) take(i, root int32) {
	n := &t.nodes[i]
	n.taken = true
	for at := i; at != root; {
		at = t.nodes[at].parent
		t.nodes[at].count -= n.count
		t.nodes[at].weight -= n.weight
	}
}

// heavier returns the child with more traffic left, and 0 if no child is left.
func (t *trie) heavier(i int32) int32 {
	a, b := t.nodes[i].child[0], t.nodes[i].child[1]
	switch {
	case a != 0 && t.nodes[a].taken:
		a = 0
	}
	if b != 0 && t.nodes[b].taken {
		b = 0
	}
	if a == 0 || b != 0 && t.nodes[b].weight > t.nodes[a].weight {
		return b
	}
	return a
}

// treeGrower writes the chains of one hook and family.
type treeGrower struct {
	b    *programBuilder
	f    *familyPlan
	hook string
	trie *trie
	made int
}

// fill writes the rules of the chain that decides about the block of node root. Chains may be depth deep below it.
func (g *treeGrower) fill(c *Chain, root int32, depth int) error {
	t := g.trie
	if n := &t.nodes[root]; n.class != noEntry {
		n.count-- // it is what holds at the end of the chain
	}
	for t.nodes[root].count > leafEntries && depth > 0 {
		at := g.pick(root, depth)
		n := &t.nodes[at]
		rule := ChainRule{Prefix: n.key.prefix(g.f.family)}
		if n.count == 1 && n.class != noEntry {
			g.verdict(&rule, n.class)
		} else {
			count, weight := n.count, n.weight
			below, err := g.newChain(c, n.key)
			if err != nil {
				return err
			}
			if err := g.fill(below, at, depth-1); err != nil {
				return err
			}
			g.b.finish(below)
			rule.Do, rule.Chain = DoGoto, below
			n = &t.nodes[at]
			n.count, n.weight = count, weight
		}
		t.take(at, root)
		c.Rules = append(c.Rules, rule)
	}
	g.list(c, root)
	g.f.rest(c, g.f.actions[t.nodes[root].cover])
	return nil
}

// pick chooses the block to take out of root's: the one that divides what is left of the traffic most evenly.
func (g *treeGrower) pick(root int32, depth int) int32 {
	t := g.trie
	half := t.nodes[root].weight / 2
	most := int32(1 << 30) // entries that the levels below have room for
	if depth < 20 {
		most = leafEntries << (depth - 1)
	}
	at := t.heavier(root)
	for t.nodes[at].weight > half || t.nodes[at].count > most {
		next := t.heavier(at)
		if next == 0 {
			return at
		}
		if w := t.nodes[next].weight; t.nodes[at].count <= most && half-w > t.nodes[at].weight-half {
			return at
		}
		at = next
	}
	return at
}

// list writes the entries of root's block that no rule has taken: one inside another before it, and otherwise those with
// more traffic first.
func (g *treeGrower) list(c *Chain, root int32) {
	t := g.trie
	var left []int32
	var walk func(i int32)
	walk = func(i int32) {
		for _, child := range t.nodes[i].child {
			if child == 0 || t.nodes[child].taken {
				continue
			}
			if t.nodes[child].class != noEntry {
				left = append(left, child)
			}
			walk(child)
		}
	}
	walk(root)
	for len(left) > 0 {
		best := -1
		for i, n := range left {
			inner := slices.ContainsFunc(left, func(o int32) bool { return o != n && t.nodes[n].key.holds(t.nodes[o].key) })
			if !inner && (best < 0 || t.nodes[n].weight > t.nodes[left[best]].weight) {
				best = i
			}
		}
		n := left[best]
		rule := ChainRule{Prefix: t.nodes[n].key.prefix(g.f.family)}
		g.verdict(&rule, t.nodes[n].class)
		c.Rules = append(c.Rules, rule)
		t.take(n, root)
		left = slices.Delete(left, best, best+1)
	}
}

func (g *treeGrower) verdict(r *ChainRule, class int16) {
	a := g.f.actions[class]
	r.Do, r.Counter = doOf(a.Verdict), a.Counter
}

// newChain names a chain by its block where there is room for that, so that it keeps its name when others change.
func (g *treeGrower) newChain(above *Chain, k blockKey) (*Chain, error) {
	g.made++
	// Sorted by name, a chain comes after those that go to it: backend/iptables has a use for that.
	name := fmt.Sprintf("%sx%s%04s", g.hook, familyDigit(g.f.family), strconv.FormatInt(int64(g.made), 36))
	if g.b.Target.Features.Namespaced {
		raw := k.prefix(g.f.family).Addr().AsSlice()
		name = fmt.Sprintf("%s-v%s-%s-%d", g.hook, familyDigit(g.f.family), hex.EncodeToString(raw[:(k.bits+7)/8]), k.bits)
	}
	return g.b.newChain(name, g.f.family, above.Side)
}
