package nftest

import (
	"encoding/binary"
	"maps"
	"slices"
	"syscall"

	"github.com/cidrc/cidrc/backend/nftables"
)

// conn is a connection to a kernel. What it receives is there as soon as something was sent, as from the real one.
type conn struct {
	k       *Kernel
	replies [][]byte // nil: replies were lost
}

func (c *conn) Room(n int) (int, error) {
	c.k.mu.Lock()
	defer c.k.mu.Unlock()
	if c.k.room > 0 {
		return c.k.room, nil
	}
	return n, nil
}

func (c *conn) Close() error { return nil }

func (c *conn) Receive(b []byte) (int, error) {
	if len(c.replies) == 0 {
		return 0, nftables.ErrNoReply
	}
	r := c.replies[0]
	c.replies = c.replies[1:]
	if r == nil {
		return 0, nftables.ErrRepliesLost
	}
	copy(b, r)
	return len(r), nil
}

const (
	eNOENT     = syscall.Errno(2)
	eBUSY      = syscall.Errno(16)
	eEXIST     = syscall.Errno(17)
	eINVAL     = syscall.Errno(22)
	eNFILE     = syscall.Errno(23)
	eRESTART   = syscall.Errno(85)
	eMSGSIZE   = syscall.Errno(90)
	eOPNOTSUPP = syscall.Errno(95)
)

func (c *conn) Send(b []byte) error {
	k := c.k
	k.mu.Lock()
	if k.room > 0 && len(b) > k.room {
		k.mu.Unlock()
		return eMSGSIZE
	}
	list := requests(b)
	if len(list) == 0 {
		k.mu.Unlock()
		return nil
	}
	if list[0].typ != nfnlMsgBatchBegin {
		defer k.mu.Unlock()
		for _, r := range list {
			c.answer(&r)
		}
		return nil
	}
	if len(k.meddle) > 0 {
		f := k.meddle[0]
		k.meddle = k.meddle[1:]
		k.generation++
		k.mu.Unlock()
		f()
		k.mu.Lock()
	}
	defer k.mu.Unlock()
	c.batch(list)
	return nil
}

// fault is an error with the place in the message.
type fault struct {
	errno syscall.Errno
	at    int
}

func (c *conn) ack(r *request, f fault) {
	body := binary.NativeEndian.AppendUint32(nil, uint32(-int32(f.errno)))
	body = append(body, r.header...)
	flags := uint16(nlmFCapped)
	if f.at != 0 {
		flags |= nlmFAckTLVs
		body = add(body, nlmsgErrAttrOffs, binary.NativeEndian.AppendUint32(nil, uint32(f.at)))
	}
	c.replies = append(c.replies, message(nlmsgError, flags, r.seq, body))
}

// batch carries out a transaction.
func (c *conn) batch(list []request) {
	k := c.k
	k.sent++
	var refusal *Refusal
	if len(k.refusals) > 0 {
		r := k.refusals[0]
		refusal, k.refusals = &r, k.refusals[1:]
	}
	var loss Loss
	if len(k.lost) > 0 {
		loss, k.lost = k.lost[0], k.lost[1:]
	}
	earlier := len(c.replies)
	if id := find(list[0].attrs, nfnlBatchGenID); id.data != nil && uint32(id.number()) != k.generation {
		c.ack(&list[0], fault{errno: eRESTART})
		return
	}
	w := &work{tables: maps.Clone(k.tables), fresh: map[string]bool{}, ids: map[uint32]string{}, handle: k.handle}
	failed, done := false, false
	for i := range list[1:] {
		r := &list[1+i]
		if r.typ == nfnlMsgBatchEnd {
			done = true
			break
		}
		var f fault
		if refusal != nil && !refusal.Commit && refusal.matches(r, &f) {
			refusal = nil
		} else {
			f = w.do(r)
		}
		if f.errno != 0 {
			failed = true
		}
		if f.errno != 0 || r.flags&nlmFAck != 0 {
			c.ack(r, f)
		}
	}
	if !failed && refusal != nil && refusal.Commit {
		failed = true
		c.ack(&list[0], fault{errno: refusal.Errno})
	}
	if refusal != nil && !refusal.Commit {
		k.refusals = append([]Refusal{*refusal}, k.refusals...) // it waits
	}
	if loss == Dropped {
		failed = true
	}
	if !failed && done {
		k.tables, k.handle = w.tables, w.handle
		k.generation++
	}
	if loss != 0 {
		c.replies = append(c.replies[:earlier], nil)
	}
}

// matches reports whether a message is the one to refuse, and where.
func (r *Refusal) matches(m *request, f *fault) bool {
	f.errno = r.Errno
	table := find(m.attrs, 1).text()
	var set, chain string
	switch m.typ {
	case nftMsgNewSet, nftMsgDelSet, nftMsgNewSetElem, nftMsgDelSetElem:
		set = find(m.attrs, 2).text()
	case nftMsgNewChain, nftMsgDelChain:
		chain = find(m.attrs, 3).text()
	case nftMsgNewRule, nftMsgDelRule:
		chain = find(m.attrs, 2).text()
	}
	if r.Table != "" && r.Table != table || r.Set != "" && r.Set != set || r.Chain != "" && r.Chain != chain {
		f.errno = 0
		return false
	}
	if !r.Addr.IsValid() {
		return true
	}
	if m.typ == nftMsgNewSetElem || m.typ == nftMsgDelSetElem {
		for _, e := range elements(m) {
			if e.addrs().Contains(r.Addr) {
				f.at = e.at
				return true
			}
		}
	}
	f.errno = 0
	return false
}

// element is an interval of a message, and where its first element stands.
type element struct {
	interval
	at int
}

// elements pairs the elements of a message.
func elements(m *request) []element {
	var list []element
	for _, item := range find(m.attrs, 3).in() {
		in := item.in()
		key := string(find(find(in, nftaSetElemKey).in(), nftaDataValue).data)
		if find(in, nftaSetElemFlags).number()&nftElemEnd != 0 {
			if n := len(list); n > 0 {
				list[n-1].end = key
			}
			continue
		}
		list = append(list, element{interval{start: key}, item.at})
	}
	return list
}

// work is a transaction under way.
type work struct {
	tables map[string]*table
	fresh  map[string]bool // tables that may be changed
	ids    map[uint32]string
	handle uint64
}

// table returns a table to change, and nil if there is none.
func (w *work) table(name string) *table {
	t := w.tables[name]
	if t != nil && !w.fresh[name] {
		t = t.clone()
		w.tables[name], w.fresh[name] = t, true
	}
	return t
}

func (w *work) next() uint64 {
	w.handle++
	return w.handle
}

// do carries out one message.
func (w *work) do(r *request) fault {
	name := find(r.attrs, 1)
	if r.family != 1 {
		return fault{errno: eOPNOTSUPP}
	}
	t := w.table(name.text())
	switch {
	case r.typ == nftMsgNewTable:
		if t == nil {
			t = &table{name: name.text(), handle: w.next(), sets: map[string]*set{}}
			w.tables[t.name], w.fresh[t.name] = t, true
		}
		t.flags = uint32(find(r.attrs, 2).number())
		return fault{}
	case t == nil:
		return fault{eNOENT, name.at}
	}
	switch r.typ {
	case nftMsgDelTable:
		delete(w.tables, t.name)
		return fault{}
	case nftMsgNewChain:
		return w.newChain(t, r)
	case nftMsgDelChain:
		c := find(r.attrs, 3)
		i := slices.IndexFunc(t.chains, func(x *chain) bool { return x.name == c.text() })
		if i < 0 {
			return fault{eNOENT, c.at}
		}
		t.chains[i].rules = nil
		if t.uses("", c.text()) {
			return fault{eBUSY, c.at}
		}
		t.chains = slices.Delete(t.chains, i, i+1)
		return fault{}
	case nftMsgNewRule, nftMsgDelRule:
		return w.rule(t, r)
	case nftMsgNewSet:
		return w.newSet(t, r)
	case nftMsgDelSet:
		s := find(r.attrs, 2)
		if t.sets[s.text()] == nil {
			return fault{eNOENT, s.at}
		}
		if t.uses(s.text(), "") {
			return fault{eBUSY, s.at}
		}
		t.drop(s.text())
		return fault{}
	case nftMsgNewSetElem, nftMsgDelSetElem:
		return w.elements(t, r)
	}
	return fault{errno: eOPNOTSUPP}
}

func (t *table) drop(set string) {
	delete(t.sets, set)
	t.order = slices.DeleteFunc(t.order, func(name string) bool { return name == set })
}

func (w *work) newChain(t *table, r *request) fault {
	name := find(r.attrs, 3)
	if n := len(name.text()); n == 0 || n > 255 {
		return fault{eINVAL, name.at}
	}
	if t.chain(name.text()) != nil {
		return fault{}
	}
	c := &chain{name: name.text()}
	c.attrs = addText(c.attrs, 1, t.name)
	c.attrs = addText(c.attrs, 3, c.name)
	for _, a := range r.attrs {
		switch a.typ {
		case 4:
			c.attrs = add(c.attrs, a.typ|nlaNested, a.data)
		case 5, 7:
			c.attrs = add(c.attrs, a.typ, a.data)
		}
	}
	c.attrs = addU64(c.attrs, 2, w.next())
	t.chains = append(t.chains, c)
	return fault{}
}

func (w *work) newSet(t *table, r *request) fault {
	name := find(r.attrs, 2).text()
	s := &set{flags: uint32(find(r.attrs, 3).number()), keyLen: int(find(r.attrs, 5).number()), keys: map[string]bool{}}
	if name == "__set%d" {
		// As long as what it stands for, so that it can be written over it.
		const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
		for {
			name = "__set" + string(digits[t.news/len(digits)%len(digits)]) + string(digits[t.news%len(digits)])
			t.news++
			if t.sets[name] == nil {
				break
			}
		}
	}
	if t.sets[name] != nil {
		return fault{eEXIST, find(r.attrs, 2).at}
	}
	s.name = name
	s.attrs = addText(s.attrs, 1, t.name)
	s.attrs = addText(s.attrs, 2, name)
	for _, a := range r.attrs {
		switch a.typ {
		case 3, 4, 5, 6, 7, 13:
			s.attrs = add(s.attrs, a.typ, a.data)
		case 9:
			s.attrs = add(s.attrs, a.typ|nlaNested, a.data)
		}
	}
	w.ids[uint32(find(r.attrs, 10).number())] = name
	t.sets[name] = s
	t.order = append(t.order, name)
	return fault{}
}

// elements adds or deletes elements of a set.
func (w *work) elements(t *table, r *request) fault {
	name := find(r.attrs, 2)
	s := t.sets[name.text()]
	if id := find(r.attrs, 4); s == nil && id.data != nil {
		s = t.sets[w.ids[uint32(id.number())]]
	}
	if s == nil {
		return fault{eNOENT, name.at}
	}
	limit := 0
	if desc := find(parse(s.attrs, 0), 9); desc.data != nil {
		limit = int(find(desc.in(), 1).number())
	}
	for _, e := range elements(r) {
		if len(e.start) != s.keyLen {
			return fault{eINVAL, e.at}
		}
		if s.flags&nftSetInterval == 0 {
			if r.typ == nftMsgNewSetElem && limit > 0 && len(s.keys) == limit {
				return fault{eNFILE, e.at}
			}
			if r.typ == nftMsgDelSetElem {
				delete(s.keys, e.start)
			} else {
				s.keys[e.start] = true
			}
			continue
		}
		i, found := slices.BinarySearchFunc(s.ranges, e.interval, func(a, b interval) int {
			switch {
			case a.start < b.start:
				return -1
			case a.start > b.start:
				return 1
			}
			return 0
		})
		same := found && s.ranges[i] == e.interval
		switch {
		case r.typ == nftMsgDelSetElem && !same:
			return fault{eNOENT, e.at}
		case r.typ == nftMsgDelSetElem:
			s.ranges = slices.Concat(s.ranges[:i], s.ranges[i+1:])
		case same:
		case found, i > 0 && s.ranges[i-1].overlaps(e.interval), i < len(s.ranges) && s.ranges[i].overlaps(e.interval):
			return fault{eEXIST, e.at}
		case i == len(s.ranges):
			s.ranges = append(s.ranges, e.interval)
		default:
			s.ranges = slices.Concat(s.ranges[:i], []interval{e.interval}, s.ranges[i:])
		}
	}
	return fault{}
}

func (w *work) rule(t *table, r *request) fault {
	name := find(r.attrs, 2)
	c := t.chain(name.text())
	if c == nil {
		return fault{eNOENT, name.at}
	}
	handle := find(r.attrs, 3)
	at := func(a attr) int {
		return slices.IndexFunc(c.rules, func(x *rule) bool { return x.handle == a.number() })
	}
	if r.typ == nftMsgDelRule {
		if handle.data == nil {
			for _, x := range c.rules {
				t.forget(x)
			}
			c.rules = nil
			return fault{}
		}
		i := at(handle)
		if i < 0 {
			return fault{eNOENT, handle.at}
		}
		t.forget(c.rules[i])
		c.rules = slices.Delete(c.rules, i, i+1)
		return fault{}
	}
	x := &rule{handle: w.next(), exprs: slices.Clone(find(r.attrs, 4).data), note: find(r.attrs, 7).data}
	for _, item := range parse(x.exprs, 0) {
		in := item.in()
		data := find(in, nftaExprData).in()
		switch find(in, nftaExprName).text() {
		case "lookup":
			set := find(data, nftaLookupSet)
			name := set.text()
			if name == "__set%d" {
				name = w.ids[uint32(find(data, 4).number())]
				copy(set.data, name)
			}
			if t.sets[name] == nil {
				return fault{eNOENT, find(r.attrs, 4).at}
			}
			x.sets = append(x.sets, name)
		case "immediate":
			to := find(find(find(data, nftaImmediateData).in(), nftaDataVerdict).in(), nftaVerdictChain)
			if to.data != nil {
				if t.chain(to.text()) == nil {
					return fault{eNOENT, find(r.attrs, 4).at}
				}
				x.chains = append(x.chains, to.text())
			}
		case "meta", "cmp", "payload", "bitwise", "ct", "counter", "reject":
		default:
			return fault{eNOENT, find(in, nftaExprName).at + find(r.attrs, 4).at + 4}
		}
	}
	position := find(r.attrs, 6)
	switch {
	case r.flags&nlmFReplace != 0:
		i := at(handle)
		if i < 0 {
			return fault{eNOENT, handle.at}
		}
		t.forget(c.rules[i])
		c.rules[i] = x
	case position.data != nil:
		i := at(position)
		if i < 0 {
			return fault{eNOENT, position.at}
		}
		c.rules = slices.Insert(c.rules, i, x)
	case r.flags&nlmFAppend != 0:
		c.rules = append(c.rules, x)
	default:
		c.rules = slices.Insert(c.rules, 0, x)
	}
	return fault{}
}

// forget deletes the sets that exist for a rule only.
func (t *table) forget(r *rule) {
	for _, name := range r.sets {
		if s := t.sets[name]; s != nil && s.flags&nftSetAnonymous != 0 {
			t.drop(name)
		}
	}
}

// answer answers a question.
func (c *conn) answer(r *request) {
	k := c.k
	t := k.tables[find(r.attrs, 1).text()]
	say := func(typ uint16, attrs []byte) {
		c.replies = append(c.replies, message(typ, 0, r.seq, reply(k.generation, attrs)))
	}
	done := func() { c.replies = append(c.replies, message(nlmsgDone, 0, r.seq, make([]byte, 4))) }
	switch r.typ {
	case nftMsgGetGen:
		say(nftMsgNewGen, addU32(nil, 1, k.generation))
	case nftMsgGetTable:
		if t == nil {
			c.ack(r, fault{eNOENT, find(r.attrs, 1).at})
			return
		}
		say(nftMsgNewTable, addU64(addU32(addText(nil, 1, t.name), 2, t.flags), 4, t.handle))
	case nftMsgGetChain:
		for _, name := range slices.Sorted(maps.Keys(k.tables)) {
			for _, ch := range k.tables[name].chains {
				say(nftMsgNewChain, ch.attrs)
			}
		}
		done()
	case nftMsgGetSet:
		if t != nil {
			for _, name := range t.order {
				say(nftMsgNewSet, t.sets[name].attrs)
			}
		}
		done()
	case nftMsgGetRule:
		if t != nil {
			for _, ch := range t.chains {
				for _, x := range ch.rules {
					b := addU64(addText(addText(nil, 1, t.name), 2, ch.name), 3, x.handle)
					b = add(b, 4|nlaNested, x.exprs)
					if x.note != nil {
						b = add(b, 7, x.note)
					}
					say(nftMsgNewRule, b)
				}
			}
		}
		done()
	case nftMsgGetSetElem:
		name := find(r.attrs, 2)
		if t == nil || t.sets[name.text()] == nil {
			c.ack(r, fault{eNOENT, name.at})
			return
		}
		s := t.sets[name.text()]
		var list []byte
		part := func() {
			if len(list) > 0 {
				say(nftMsgNewSetElem, add(addText(addText(nil, 1, t.name), 2, s.name), 3|nlaNested, list))
				list = nil
			}
		}
		one := func(key string, flags uint32) {
			if len(list) > 30000 {
				part()
			}
			e := add(nil, nftaSetElemKey|nlaNested, add(nil, nftaDataValue, []byte(key)))
			if flags != 0 {
				e = addU32(e, nftaSetElemFlags, flags)
			}
			list = add(list, nftaListElem|nlaNested, e)
		}
		for _, key := range slices.Sorted(maps.Keys(s.keys)) {
			one(key, 0)
		}
		// The kernel begins with the last one.
		for _, in := range slices.Backward(s.ranges) {
			if in.end != "" {
				one(in.end, nftElemEnd)
			}
			one(in.start, 0)
		}
		part()
		done()
	default:
		c.ack(r, fault{errno: eOPNOTSUPP})
	}
}
