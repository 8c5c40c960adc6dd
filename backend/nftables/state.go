package nftables

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// State is what the kernel holds of one owner.
type State struct {
	Owner string
	// Exists: the owner has a table.
	Exists bool
	// Generation is the kernel's count of transactions, of all owners, when the state was read.
	Generation uint32
	// Sets are the sets that have a name, ascending by name.
	Sets []SetState
	// Chains are in the order in which they were made.
	Chains []ChainState

	flags uint64 // of the table
}

// SetState is a named set.
type SetState struct {
	// Name is the set's name in a Program.
	Name string
	// Kernel is the set's name in the kernel, which is another after a large set came in parts.
	Kernel string
	// Family is the family of the set's addresses; zero: it is a set of something else.
	Family cidr.Family
	// Addrs is what the set holds, as far as it was read.
	Addrs cidr.Set

	shape setShape
	stale bool // no rule asks it; see markStale
	split bool // two of its ranges touch
	other bool // it has elements that are no ranges
}

// ChainState is a chain and its rules.
type ChainState struct {
	Name, Kernel string // as in SetState
	// Hook is where a base chain stands, such as "input priority -10 policy accept", and empty for all others.
	Hook  string
	Rules []RuleState

	stale bool // as in SetState
}

// RuleState is a rule as the kernel keeps it.
type RuleState struct {
	// Text lists the expressions of the rule, in the order in which the kernel runs them. Equal rules have equal texts.
	Text    string
	Comment string
	// Counter: the rule counts, and Packets and Bytes are what it has counted.
	Counter        bool
	Packets, Bytes uint64

	handle uint64
	sets   []string // that it uses, by their names in the kernel
	chain  string   // that it goes to, the same
}

// setsByName and chainsByName give what is in use by its names in programs.
func (s *State) setsByName() map[string]*SetState {
	m := make(map[string]*SetState, len(s.Sets))
	for i := range s.Sets {
		if !s.Sets[i].stale {
			m[s.Sets[i].Name] = &s.Sets[i]
		}
	}
	return m
}

func (s *State) chainsByName() map[string]*ChainState {
	m := make(map[string]*ChainState, len(s.Chains))
	for i := range s.Chains {
		if !s.Chains[i].stale {
			m[s.Chains[i].Name] = &s.Chains[i]
		}
	}
	return m
}

// markStale finds what an operation has left that ended before its last transaction: sets that no rule asks, and chains
// to which no base chain leads and that bear the mark of a stage or have the name of another one that is in use. (Once
// elements of maps go to chains, they lead there as well.)
func (s *State) markStale() {
	at := make(map[string]*ChainState, len(s.Chains))
	var reached []*ChainState
	seen := map[*ChainState]bool{}
	for i := range s.Chains {
		c := &s.Chains[i]
		at[c.Kernel] = c
		if c.Hook != "" {
			reached = append(reached, c)
			seen[c] = true
		}
	}
	sets := map[string]bool{}
	for len(reached) > 0 {
		c := reached[len(reached)-1]
		reached = reached[:len(reached)-1]
		for i := range c.Rules {
			if to := at[c.Rules[i].chain]; to != nil && !seen[to] {
				seen[to] = true
				reached = append(reached, to)
			}
		}
	}
	inUse := map[string]bool{}
	for c := range seen {
		inUse[c.Name] = true
	}
	for i := range s.Chains {
		c := &s.Chains[i]
		if c.stale = !seen[c] && (c.Name != c.Kernel || inUse[c.Name]); c.stale {
			continue
		}
		for j := range c.Rules {
			for _, name := range c.Rules[j].sets {
				sets[name] = true
			}
		}
	}
	for i := range s.Sets {
		set := &s.Sets[i]
		set.stale = !sets[set.Kernel]
	}
}

// stageMark comes between the name of an object in a Program and the number of a stage; see stage. Names in programs do
// not have it.
const stageMark = ".."

func logicalName(kernel string) string {
	name, _, _ := strings.Cut(kernel, stageMark)
	return name
}

// hookText describes a base chain.
func hookText(number, priority uint32, policy uint32, typ string) string {
	names := [...]string{"prerouting", "input", "forward", "output", "postrouting"}
	name := fmt.Sprintf("hook %d", number)
	if int(number) < len(names) {
		name = names[number]
	}
	out := fmt.Sprintf("%s priority %d", name, int32(priority))
	switch policy {
	case policyAccept:
		out += " policy accept"
	case policyDrop:
		out += " policy drop"
	default:
		out += fmt.Sprintf(" policy %d", policy)
	}
	if typ != "filter" {
		out += " type " + typ
	}
	return out
}

// parseChain reads the attributes of a chain.
func parseChain(b []byte) (c ChainState, table string) {
	var typ string
	var policy uint32
	var hook []byte
	for a := (attrs{rest: b}); a.next(); {
		switch a.typ {
		case chainTable:
			table = str(a.data)
		case chainName:
			c.Kernel = str(a.data)
		case chainHook:
			hook = a.data
		case chainPolicy:
			policy = uint32(number(a.data))
		case chainType:
			typ = str(a.data)
		}
	}
	c.Name = logicalName(c.Kernel)
	if hook != nil {
		c.Hook = hookText(uint32(number(find(hook, hookNumber))), uint32(number(find(hook, hookPriority))), policy, typ)
	}
	return c, table
}

// rawSet is a set as the kernel describes it, without elements.
type rawSet struct {
	table, name string
	id          uint32
	shape       setShape
}

func parseSet(b []byte) (s rawSet) {
	for a := (attrs{rest: b}); a.next(); {
		switch a.typ {
		case setTable:
			s.table = str(a.data)
		case setName:
			s.name = str(a.data)
		case setFlags:
			s.shape.flags = uint32(number(a.data))
		case setKeyType:
			s.shape.keyType = uint32(number(a.data))
		case setKeyLen:
			s.shape.keyLen = uint32(number(a.data))
		case setID:
			s.id = uint32(number(a.data))
		case setDesc:
			s.shape.size = uint32(number(find(a.data, setDescSize)))
		}
	}
	return s
}

// family returns the family of which a set holds addresses, and zero if it is another kind of set.
func (s setShape) family() cidr.Family {
	switch {
	case s.flags&^setConstant != setInterval:
		return 0
	case s.keyLen == 4 && s.keyType == keyIPv4:
		return cidr.V4
	case s.keyLen == 16 && s.keyType == keyIPv6:
		return cidr.V6
	}
	return 0
}

// parseRule reads the attributes of a rule. Sets without a name stand in the text with what they hold, which anonymous
// gives by the name and the number of a look-up.
func parseRule(b []byte, anonymous func(name string, id uint32) (string, bool)) (r RuleState, table, chain string) {
	for a := (attrs{rest: b}); a.next(); {
		switch a.typ {
		case ruleTable:
			table = str(a.data)
		case ruleChain:
			chain = str(a.data)
		case ruleHandle:
			r.handle = number(a.data)
		case ruleUserdata:
			r.Comment = parseComment(a.data)
		case ruleExprs:
			r.expressions(a.data, anonymous)
		}
	}
	return r, table, chain
}

// parseComment finds the comment among nft's notes: a byte for the kind, one for the length, and the value.
func parseComment(b []byte) string {
	for len(b) >= 2 && len(b) >= 2+int(b[1]) {
		if b[0] == userdataNote {
			return str(b[2 : 2+int(b[1])])
		}
		b = b[2+int(b[1]):]
	}
	return ""
}

var (
	metaNames    = map[uint64]string{metaIIF: "iif", metaOIF: "oif", metaIIFName: "iifname", metaOIFName: "oifname", metaNFProto: "nfproto", metaL4Proto: "l4proto"}
	compareNames = [...]string{"==", "!=", "<", "<=", ">", ">="}
	baseNames    = [...]string{"link", "network", "transport", "inner"}
)

func nameOf(names []string, i uint64) string {
	if i < uint64(len(names)) {
		return names[i]
	}
	return fmt.Sprint(i)
}

// expressions writes the text of a rule.
func (r *RuleState) expressions(list []byte, anonymous func(string, uint32) (string, bool)) {
	var parts []string
	for a := (attrs{rest: list}); a.next(); {
		name, data := str(find(a.data, exprName)), find(a.data, exprData)
		get := func(typ uint16) uint64 { return number(find(data, typ)) }
		val := func(typ uint16) string { return hex.EncodeToString(find(find(data, typ), dataValue)) }
		var s string
		switch name {
		case "meta":
			key := get(metaKey)
			s = metaNames[key]
			if s == "" {
				s = fmt.Sprint(key)
			}
			s = "meta " + s + reg(get(metaRegister))
		case "cmp":
			s = fmt.Sprintf("%s 0x%s%s", nameOf(compareNames[:], get(compareOp)), val(compareData), reg(get(compareRegister)))
		case "payload":
			s = fmt.Sprintf("%s header %d bytes at %d%s", nameOf(baseNames[:], get(payloadBase)), get(payloadLen), get(payloadOffset), reg(get(payloadRegister)))
		case "bitwise":
			s = fmt.Sprintf("& 0x%s ^ 0x%s%s", val(bitwiseMask), val(bitwiseXor), reg(get(bitwiseSource)))
			if d := get(bitwiseDestination); d != get(bitwiseSource) {
				s += fmt.Sprintf(" to %d", d)
			}
			if op := get(6); op != 0 { // NFTA_BITWISE_OP
				s += fmt.Sprintf(" operation %d", op)
			}
		case "lookup":
			set := str(find(data, lookupSet))
			r.sets = append(r.sets, set)
			text := "@" + logicalName(set)
			if strings.HasPrefix(set, "__") {
				if held, ok := anonymous(set, uint32(get(lookupSetID))); ok {
					text = held
				}
			}
			s = "in " + text + reg(get(lookupRegister))
			if get(lookupFlags) == lookupNot {
				s = "not " + s
			}
			if to := find(data, 3); to != nil { // NFTA_LOOKUP_DREG
				s += fmt.Sprintf(" to %d", number(to))
			}
		case "ct":
			s = fmt.Sprintf("ct %d%s", get(connectionKey), reg(get(connectionRegister)))
			if get(connectionKey) == connectionState {
				s = "ct state" + reg(get(connectionRegister))
			}
		case "counter":
			s = "counter"
			r.Counter, r.Packets, r.Bytes = true, get(counterPackets), get(counterBytes)
		case "immediate":
			held := find(data, immediateData)
			if verdict := find(held, dataVerdict); verdict != nil {
				r.chain = str(find(verdict, verdictChain))
				s = verdictText(int32(number(find(verdict, verdictCode))), r.chain)
			} else {
				s = fmt.Sprintf("set 0x%x%s", find(held, dataValue), reg(get(immediateRegister)))
			}
		case "reject":
			s = fmt.Sprintf("reject type %d code %x", get(rejectType), find(data, rejectCode))
		default:
			s = fmt.Sprintf("%q 0x%x", name, data)
		}
		parts = append(parts, s)
	}
	r.Text = strings.Join(parts, "; ")
}

// reg names a register if it is not the usual one. The kernel lists register 1 by the number of its first four bytes, 8,
// if so it was asked.
func reg(n uint64) string {
	if n == register1 || n == 8 {
		return ""
	}
	return fmt.Sprintf(" in register %d", n)
}

func verdictText(code int32, chain string) string {
	switch code {
	case verdictAccept:
		return "accept"
	case verdictDrop:
		return "drop"
	case verdictJump:
		return "jump " + logicalName(chain)
	case verdictGoto:
		return "goto " + logicalName(chain)
	}
	return strings.TrimSpace(fmt.Sprintf("verdict %d %s", code, logicalName(chain)))
}

// point is an element of an interval set of keys K: a first address, or with end the address after a last one.
type points[K any] struct{ starts, ends []K }

// elements collects the elements of a set from as many messages as they come in.
type elements struct {
	shape setShape
	v4    points[uint32]
	v6    points[netip.Addr]
	keys  [][]byte // of other sets
	other bool     // there are elements with more than a key
}

// add reads the list of elements in a message.
func (e *elements) add(list []byte) {
	f := e.shape.family()
	for a := (attrs{rest: list}); a.next(); {
		var key []byte
		var flags uint64
		for in := (attrs{rest: a.data}); in.next(); {
			switch in.typ {
			case elemKey:
				key = find(in.data, dataValue)
			case elemFlags:
				flags = number(in.data)
			case elemUserdata:
			default:
				e.other = true // a value, a timeout, an expression
			}
		}
		switch {
		case flags&^elemEnd != 0 || len(key) != int(e.shape.keyLen) || len(key) == 0:
			e.other = true
		case f == cidr.V4:
			k := binary.BigEndian.Uint32(key)
			if flags == elemEnd {
				e.v4.ends = append(e.v4.ends, k)
			} else {
				e.v4.starts = append(e.v4.starts, k)
			}
		case f == cidr.V6:
			k := netip.AddrFrom16([16]byte(key))
			if flags == elemEnd {
				e.v6.ends = append(e.v6.ends, k)
			} else {
				e.v6.starts = append(e.v6.starts, k)
			}
		default:
			e.keys = append(e.keys, slices.Clone(key))
		}
	}
}

// text lists the keys of a set that is no set of addresses, ascending.
func (e *elements) text() string {
	list := make([]string, len(e.keys))
	for i, k := range e.keys {
		list[i] = "0x" + hex.EncodeToString(k)
	}
	slices.Sort(list)
	return "{ " + strings.Join(list, ", ") + " }"
}

// addrs returns what an interval set holds, and whether two of its ranges touch, which a cidr.Set does not tell apart.
func (e *elements) addrs() (s cidr.Set, split bool, err error) {
	var b cidr.Builder
	if e.shape.family() == cidr.V4 {
		addr := func(k uint32) netip.Addr {
			return netip.AddrFrom4([4]byte{byte(k >> 24), byte(k >> 16), byte(k >> 8), byte(k)})
		}
		split = e.v4.sweep(func(a, b uint32) int {
			switch {
			case a < b:
				return -1
			case a > b:
				return 1
			}
			return 0
		}, func(first, past uint32, open bool) {
			last := addr(past - 1)
			if open {
				last = addr(1<<32 - 1)
			}
			b.AddRange(cidr.Range{First: addr(first), Last: last})
		}, 0)
	} else {
		top := netip.AddrFrom16([16]byte(slices.Repeat([]byte{0xff}, 16)))
		split = e.v6.sweep(netip.Addr.Compare, func(first, past netip.Addr, open bool) {
			last := past.Prev()
			if open {
				last = top
			}
			b.AddRange(cidr.Range{First: first, Last: last})
		}, netip.IPv6Unspecified())
	}
	s, err = b.Build()
	return s, split, err
}

// sweep gives the ranges that the kernel finds addresses in. A first address without an end reaches to the next element,
// or to the end of the space; an end without a first address means nothing, such as the one that nft puts at address 0.
func (p *points[K]) sweep(compare func(a, b K) int, found func(first, past K, open bool), zero K) (split bool) {
	ascending(p.starts, compare)
	ascending(p.ends, compare)
	ends := p.ends
	for len(ends) > 0 && compare(ends[0], zero) == 0 {
		ends = ends[1:]
	}
	for i, first := range p.starts {
		for len(ends) > 0 && compare(ends[0], first) <= 0 {
			split = split || i > 0 && compare(ends[0], first) == 0
			ends = ends[1:]
		}
		next := i+1 < len(p.starts)
		switch {
		case len(ends) > 0 && (!next || compare(ends[0], p.starts[i+1]) <= 0):
			split = split || next && compare(ends[0], p.starts[i+1]) == 0
			found(first, ends[0], false)
			ends = ends[1:]
		case next:
			if compare(first, p.starts[i+1]) == 0 {
				continue
			}
			split = true
			found(first, p.starts[i+1], false)
		default:
			found(first, zero, true)
		}
	}
	return split
}

// ascending sorts a list that, as the kernel gives it, is in order already or in the opposite one.
func ascending[K any](list []K, compare func(a, b K) int) {
	if len(list) > 1 && compare(list[0], list[1]) > 0 {
		slices.Reverse(list)
	}
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
}

// wanted returns the state that a program makes, without the elements of its sets. It reads the messages that would be
// sent, so that texts are compared with texts that were made in the same way.
func wanted(p *compile.Program) (*State, error) {
	t := newTransaction(tableName(p.Owner), 0, 4096)
	for _, c := range p.Chains {
		if err := t.addChain(c); err != nil {
			return nil, err
		}
		for i := range c.Rules {
			if err := t.addRule(c, i, place{}); err != nil {
				return nil, err
			}
		}
	}
	s := &State{Owner: p.Owner, Exists: true}
	at := map[string]int{}
	held := map[uint32]*elements{}
	rest := t.buf
	for {
		m, after, ok := nextMessage(rest)
		if !ok {
			break
		}
		rest = after
		switch m.typ {
		case msgNewChain:
			c, _ := parseChain(m.attrs())
			at[c.Kernel] = len(s.Chains)
			s.Chains = append(s.Chains, c)
		case msgNewSet:
			set := parseSet(m.attrs())
			held[set.id] = &elements{shape: set.shape}
		case msgNewElement:
			held[uint32(number(find(m.attrs(), elemsSetID)))].add(find(m.attrs(), elemsList))
		case msgNewRule:
			r, _, chain := parseRule(m.attrs(), func(_ string, id uint32) (string, bool) {
				e, ok := held[id]
				if !ok {
					return "", false
				}
				return e.text(), true
			})
			c := &s.Chains[at[chain]]
			c.Rules = append(c.Rules, r)
		}
	}
	for _, set := range p.Sets {
		s.Sets = append(s.Sets, SetState{Name: set.Name, Kernel: set.Name, Family: set.Family, shape: shapeOf(set)})
	}
	sortSets(s.Sets)
	return s, nil
}

func sortSets(list []SetState) {
	slices.SortFunc(list, func(a, b SetState) int { return strings.Compare(a.Kernel, b.Kernel) })
}
