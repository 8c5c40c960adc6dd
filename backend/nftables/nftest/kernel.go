package nftest

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
)

// Kernel is nf_tables in memory, of one network namespace. It is safe for concurrent use.
type Kernel struct {
	mu         sync.Mutex
	generation uint32
	handle     uint64
	tables     map[string]*table
	room       int
	refusals   []Refusal
	lost       []Loss
	meddle     []func()
	sent       int
}

// Refusal is an error that a transaction meets: the next one, if Commit is set, and the next that has a message to which
// all of the other fields apply. The zero fields apply to anything.
type Refusal struct {
	Errno syscall.Errno // by its number on Linux
	// Set, Chain and Table name the object that a message is about.
	Set, Chain, Table string
	// Addr is in a range that is added to or deleted from a set.
	Addr netip.Addr
	// Commit: all messages are taken, and the transaction as a whole is refused.
	Commit bool
}

// Loss is how replies to a transaction get lost.
type Loss uint8

const (
	// Delivered: they do not.
	Delivered Loss = iota
	// Committed: the transaction is in force, and nobody says so.
	Committed
	// Dropped: the transaction is not in force, and nobody says why.
	Dropped
)

// NewKernel returns a kernel without any rules.
func NewKernel() *Kernel { return &Kernel{generation: 1, tables: map[string]*table{}} }

// Dial is for nftables.NetlinkOptions.
func (k *Kernel) Dial() (nftables.Conn, error) { return &conn{k: k}, nil }

// SendBuffer limits what one Send can carry, from now on; 0: no limit.
func (k *Kernel) SendBuffer(bytes int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.room = bytes
}

// Refuse makes a transaction fail. Several calls are for as many transactions, one after the other.
func (k *Kernel) Refuse(r Refusal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refusals = append(k.refusals, r)
}

// LoseReplies loses the replies to the next transaction. Several calls are for as many transactions.
func (k *Kernel) LoseReplies(l Loss) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost = append(k.lost, l)
}

// Interfere calls f before the next transaction is looked at, and counts as a transaction of somebody else. f may use
// other connections to this kernel.
func (k *Kernel) Interfere(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.meddle = append(k.meddle, f)
}

// Transactions returns how many batches the kernel was sent, those that it only checked and those that failed included.
func (k *Kernel) Transactions() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sent
}

// Tables returns the names of the tables, ascending.
func (k *Kernel) Tables() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.tables))
}

// Sets returns the names of a table's sets, ascending, those without a name of their own left out.
func (k *Kernel) Sets(table string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var names []string
	if t := k.tables[table]; t != nil {
		for name := range t.sets {
			if !strings.HasPrefix(name, "__") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Addrs returns the addresses that a set of ranges holds; none if there is no such set.
func (k *Kernel) Addrs(table, set string) cidr.Set {
	k.mu.Lock()
	defer k.mu.Unlock()
	var b cidr.Builder
	if t := k.tables[table]; t != nil && t.sets[set] != nil {
		for _, in := range t.sets[set].ranges {
			b.AddRange(in.addrs())
		}
	}
	s, _ := b.Build()
	return s
}

// Chains returns how many rules each chain of a table has.
func (k *Kernel) Chains(table string) map[string]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	rules := map[string]int{}
	if t := k.tables[table]; t != nil {
		for _, c := range t.chains {
			rules[c.name] = len(c.rules)
		}
	}
	return rules
}

// DeleteAddrs takes the ranges that hold any of the addresses out of a set, as somebody else would.
func (k *Kernel) DeleteAddrs(table, set string, addrs cidr.Set) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.tables[table]; t != nil && t.sets[set] != nil {
		s := t.sets[set]
		s.ranges = slices.DeleteFunc(slices.Clone(s.ranges), func(in interval) bool { return addrs.OverlapsRange(in.addrs()) })
		k.generation++
	}
}

type table struct {
	name   string
	flags  uint32
	handle uint64
	chains []*chain
	sets   map[string]*set
	order  []string // of sets
	news   int      // sets without a name so far
}

type chain struct {
	name  string
	attrs []byte // as they came
	rules []*rule
}

type rule struct {
	handle uint64
	exprs  []byte
	note   []byte
	sets   []string
	chains []string
}

type set struct {
	name   string
	attrs  []byte // as they came, name and number left out
	flags  uint32
	keyLen int
	keys   map[string]bool // of sets without ranges
	ranges []interval      // ascending
}

// interval is a range of keys; an empty end is the end of the space.
type interval struct{ start, end string }

func (in interval) addrs() cidr.Range {
	first, _ := netip.AddrFromSlice([]byte(in.start))
	last := first
	if in.end != "" {
		past, _ := netip.AddrFromSlice([]byte(in.end))
		last = past.Prev()
	} else {
		for r := range cidr.Everything(cidr.FamilyOf(first)).Ranges() {
			last = r.Last
		}
	}
	return cidr.Range{First: first, Last: last}
}

// overlaps reports whether two intervals have a key in common.
func (in interval) overlaps(other interval) bool {
	return (other.end == "" || in.start < other.end) && (in.end == "" || other.start < in.end)
}

// clone copies what transactions change.
func (t *table) clone() *table {
	c := *t
	c.sets = make(map[string]*set, len(t.sets))
	for name, s := range t.sets {
		copied := *s
		copied.keys = maps.Clone(s.keys)
		// Not copied: add and remove make new slices before they change one.
		copied.ranges = slices.Clip(s.ranges)
		c.sets[name] = &copied
	}
	c.order = slices.Clone(t.order)
	c.chains = nil
	for _, ch := range t.chains {
		copied := *ch
		copied.rules = slices.Clone(ch.rules)
		c.chains = append(c.chains, &copied)
	}
	return &c
}

func (t *table) chain(name string) *chain {
	for _, c := range t.chains {
		if c.name == name {
			return c
		}
	}
	return nil
}

// uses reports whether a rule of the table asks the set or goes to the chain.
func (t *table) uses(set, chain string) bool {
	for _, c := range t.chains {
		for _, r := range c.rules {
			if set != "" && slices.Contains(r.sets, set) || chain != "" && slices.Contains(r.chains, chain) {
				return true
			}
		}
	}
	return false
}
