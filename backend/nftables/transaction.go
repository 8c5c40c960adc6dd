package nftables

import (
	"encoding/binary"
	"fmt"
	"iter"
	"net/netip"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// transaction is a batch of messages, which come into force together or not at all. Everything in it is about one table.
//
// The messages stand in one buffer, which is what the kernel gets. Nothing is kept for each element: an error of the
// kernel names a message by its number and an element by its place in it, and the element is read from the buffer.
type transaction struct {
	messages
	table string
	about []about // of each message, in order
	sets  uint32  // numbers given to sets so far
	// suffix follows the names of the sets and chains that are made, other than base chains; see stage.
	suffix string
	// setNames and chainNames are names in the kernel, by names in the program, of those that have another name than
	// the suffix makes.
	setNames, chainNames map[string]string
	// counters are the values with which rules start.
	counters map[ruleAt]counted
	limit    int // bytes of one attribute; maxAttr
}

// about says what a message does, for errors.
type about struct {
	op    string // "add", "delete"
	kind  string // "table", "chain", "set", "element", "rule"; empty for the batch itself
	name  string // of the table, chain or set; of a rule's chain
	rule  int    // number of the rule in its chain, from 1
	start int    // of the message in the buffer
	list  int    // of the elements in the message; 0: it has none
	count int    // of elements or ranges
}

type ruleAt struct {
	chain string
	rule  int // from 0
}

type counted struct{ packets, bytes uint64 }

// newTransaction starts a batch with room for size bytes. A generation other than 0 is the one that the batch is for: the
// kernel takes it only if nobody has changed anything since.
func newTransaction(table string, generation uint32, size int) *transaction {
	t := &transaction{table: table, limit: maxAttr}
	t.buf = make([]byte, 0, size+256)
	t.open(about{}, batchBegin, 0, familyNone, 10)
	if generation != 0 {
		t.u32(batchGeneration, generation)
	}
	t.end()
	return t
}

// open starts a message.
func (t *transaction) open(a about, typ, flags uint16, family uint8, resource uint16) {
	a.start = len(t.buf)
	t.about = append(t.about, a)
	t.begin(typ, flags, family, resource)
}

// object starts a message about an object of the table, with its first attribute, which is the table in all of them.
func (t *transaction) object(a about, typ, flags uint16) {
	t.open(a, typ, flags, familyInet, 0)
	t.text(1, t.table)
}

// empty reports whether the transaction does nothing.
func (t *transaction) empty() bool { return len(t.about) == 1 }

// commit ends the batch and returns the whole of it. The kernel acknowledges the last message before: only since Linux 6.10
// would it do so for the end of a batch itself.
func (t *transaction) commit() []byte {
	t.demandAck()
	t.open(about{}, batchEnd, 0, familyNone, 10)
	t.end()
	return t.buf
}

// check returns the batch without its end: the kernel checks it as it does every batch, and takes it back.
func (t *transaction) check() []byte {
	t.demandAck()
	return t.buf
}

func (t *transaction) addTable() { t.addTableWith(0) }

func (t *transaction) addTableWith(flags uint32) {
	t.object(about{op: "add", kind: "table", name: t.table}, msgNewTable, 0)
	t.u32(tableFlags, flags)
	t.end()
}

func (t *transaction) deleteTable() {
	t.object(about{op: "delete", kind: "table", name: t.table}, msgDelTable, 0)
	t.end()
}

// replaceTable leaves an empty table, whether or not there was one.
func (t *transaction) replaceTable() {
	t.addTable()
	t.deleteTable()
	t.addTable()
}

// hookNumbers are those of enum nf_inet_hooks in include/uapi/linux/netfilter.h.
var hookNumbers = map[compile.Point]uint32{
	compile.Prerouting: 0, compile.Raw: 0, compile.Input: 1, compile.Forward: 2, compile.Output: 3,
}

// chainName is the name of a chain in the kernel.
func (t *transaction) chainName(c *compile.Chain) string {
	if name, ok := t.chainNames[c.Name]; ok {
		return name
	}
	if c.Hook != nil {
		return c.Name
	}
	return c.Name + t.suffix
}

func (t *transaction) setName(s *compile.Set) string {
	if name, ok := t.setNames[s.Name]; ok {
		return name
	}
	return s.Name + t.suffix
}

func (t *transaction) addChain(c *compile.Chain) error {
	name := t.chainName(c)
	t.object(about{op: "add", kind: "chain", name: name}, msgNewChain, flagCreate)
	t.text(chainName, name)
	if c.Hook != nil {
		number, ok := hookNumbers[c.Hook.Point]
		if !ok {
			return fmt.Errorf("chain %s: %w: hook %v", name, compile.ErrUnsupported, c.Hook.Point)
		}
		t.text(chainType, "filter")
		t.u32(chainPolicy, policyAccept)
		hook := t.nest(chainHook)
		t.u32(hookNumber, number)
		t.u32(hookPriority, uint32(int32(c.Hook.EffectivePriority())))
		t.close(hook)
	}
	t.end()
	return nil
}

func (t *transaction) deleteChain(name string) {
	t.object(about{op: "delete", kind: "chain", name: name}, msgDelChain, 0)
	t.text(chainName, name)
	t.end()
}

// setShape is what the kernel knows of a set besides its name and its elements.
type setShape struct {
	flags, keyType, keyLen uint32
	size                   uint32 // declared; 0: any number
}

func shapeOf(s *compile.Set) setShape {
	if s.Family == cidr.V6 {
		return setShape{flags: setInterval, keyType: keyIPv6, keyLen: 16}
	}
	return setShape{flags: setInterval, keyType: keyIPv4, keyLen: 4}
}

// addSet makes an empty set and returns its number in this transaction.
func (t *transaction) addSet(name string, shape setShape) uint32 {
	t.sets++
	t.object(about{op: "add", kind: "set", name: name}, msgNewSet, flagCreate)
	t.text(setName, name)
	t.u32(setFlags, shape.flags)
	t.u32(setKeyType, shape.keyType)
	t.u32(setKeyLen, shape.keyLen)
	t.u32(setID, t.sets)
	if shape.size != 0 {
		desc := t.nest(setDesc)
		t.u32(setDescSize, shape.size)
		t.close(desc)
	}
	t.bytes(setUserdata, byteOrderNote)
	t.end()
	return t.sets
}

// byteOrderNote is what nft notes for itself about every set of ours: NFTNL_UDATA_SET_KEYBYTEORDER is big-endian.
var byteOrderNote = binary.NativeEndian.AppendUint32([]byte{0, 4}, 2)

// openNote is what nft notes about an interval without end: NFTNL_UDATA_SET_ELEM_FLAGS is SET_ELEM_F_INTERVAL_OPEN.
var openNote = binary.NativeEndian.AppendUint32([]byte{1, 4}, 1)

func (t *transaction) deleteSet(name string) {
	t.object(about{op: "delete", kind: "set", name: name}, msgDelSet, 0)
	t.text(setName, name)
	t.end()
}

// loadSet makes a set of a program and fills it. It is the one place where a compile.Set becomes messages.
// A set of leading bits is made as the set of ranges that it is equal to.
func (t *transaction) loadSet(s *compile.Set) {
	name := t.setName(s)
	id := t.addSet(name, shapeOf(s))
	t.addRanges(name, id, s.Addrs.Only(s.Family).Ranges())
}

// addRanges and deleteRanges write elements of an interval set, ascending if the list is: the kernel takes a set that grows
// at its end much faster than any other.
func (t *transaction) addRanges(set string, id uint32, list iter.Seq[cidr.Range]) {
	w := t.adding(set, id)
	for r := range list {
		w.add(r)
	}
	w.done()
}

// adding returns what writes elements that are added to a set, of the number id if it is made in the same transaction.
func (t *transaction) adding(set string, id uint32) *elementWriter {
	return &elementWriter{t: t, op: "add", typ: msgNewElement, flags: flagCreate, set: set, id: id}
}

func (t *transaction) deleteRanges(set string, list iter.Seq[cidr.Range]) {
	w := elementWriter{t: t, op: "delete", typ: msgDelElement, set: set}
	for r := range list {
		w.add(r)
	}
	w.done()
}

// elementWriter writes elements into messages of which none has an attribute that is too long.
type elementWriter struct {
	t          *transaction
	op         string
	typ, flags uint16
	set        string
	id         uint32
	list       int // of the message that is being written; 0: none is
}

// Bytes of an element: two headers that nest, the header of the value, the value, and one attribute of four bytes if it is
// the end of an interval.
const (
	elementHeaders = 3 * attrHeader
	elementFlags   = attrHeader + 4
)

// room starts a message, or the next one, unless size more bytes fit into this one.
func (w *elementWriter) room(size int) {
	t := w.t
	if w.list != 0 && len(t.buf)-w.list+size <= t.limit {
		return
	}
	w.done()
	t.object(about{op: w.op, kind: "element", name: w.set}, w.typ, w.flags)
	t.text(elemsSet, w.set)
	if w.id != 0 {
		t.u32(elemsSetID, w.id)
	}
	w.list = t.nest(elemsList)
	t.about[len(t.about)-1].list = w.list - t.start
}

// done ends the message that is being written.
func (w *elementWriter) done() {
	if w.list != 0 {
		w.t.close(w.list)
		w.t.end()
		w.list = 0
	}
}

// add writes a range as the kernel keeps it: the first address, and the first one that is not in it any more, marked as an
// end. A range that reaches the last address of its space has no end. Both stand in the same message.
func (w *elementWriter) add(r cidr.Range) {
	var first, end [16]byte
	size := 4
	past := r.Last.Next()
	if r.First.Is4() {
		a := r.First.As4()
		copy(first[:], a[:])
		if past.IsValid() {
			a = past.As4()
			copy(end[:], a[:])
		}
	} else {
		size = 16
		first = r.First.As16()
		if past.IsValid() {
			end = past.As16()
		}
	}
	w.room(2*(elementHeaders+size) + 2*elementFlags)
	t := w.t
	t.about[len(t.about)-1].count++
	if past.IsValid() {
		t.element(first[:size], 0)
		t.element(end[:size], elemEnd)
		return
	}
	if w.typ == msgDelElement {
		t.element(first[:size], 0)
		return
	}
	item := t.nest(listItem)
	t.value(elemKey, first[:size])
	t.bytes(elemUserdata, openNote)
	t.close(item)
}

// element writes an element whose key has a multiple of four bytes.
func (t *transaction) element(key []byte, flags uint32) {
	size := elementHeaders + len(key)
	if flags != 0 {
		size += elementFlags
	}
	b := binary.NativeEndian.AppendUint16(t.buf, uint16(size))
	b = binary.NativeEndian.AppendUint16(b, listItem|attrNested)
	if flags != 0 {
		b = binary.NativeEndian.AppendUint16(b, elementFlags)
		b = binary.NativeEndian.AppendUint16(b, elemFlags)
		b = binary.BigEndian.AppendUint32(b, flags)
	}
	b = binary.NativeEndian.AppendUint16(b, uint16(2*attrHeader+len(key)))
	b = binary.NativeEndian.AppendUint16(b, elemKey|attrNested)
	b = binary.NativeEndian.AppendUint16(b, uint16(attrHeader+len(key)))
	b = binary.NativeEndian.AppendUint16(b, dataValue)
	t.buf = append(b, key...)
}

// value writes an attribute that nests a plain value.
func (t *transaction) value(typ uint16, data []byte) {
	at := t.nest(typ)
	t.bytes(dataValue, data)
	t.close(at)
}

// addProgram writes everything of the program into an empty table: chains first, since elements of maps may go to them.
func (t *transaction) addProgram(p *compile.Program) error {
	for _, c := range p.Chains {
		if err := t.addChain(c); err != nil {
			return err
		}
	}
	for _, s := range p.Sets {
		t.loadSet(s)
	}
	for _, c := range p.Chains {
		for i := range c.Rules {
			if err := t.addRule(c, i, place{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// elementSize is how many bytes of a message one range of a family takes at most.
func elementSize(f cidr.Family) int {
	if f == cidr.V6 {
		return 2*(elementHeaders+16) + elementFlags
	}
	return 2*(elementHeaders+4) + elementFlags
}

// Sizes of messages without elements: estimates to make a buffer that need not grow.
const (
	chainRoom = 128
	ruleRoom  = 384
	setRoom   = 512
)

// roomFor estimates how many bytes the messages of a set take.
func roomFor(s *compile.Set) int {
	n := s.Addrs.Only(s.Family).NumRanges()
	perMessage := maxAttr / elementSize(s.Family)
	return setRoom + n*elementSize(s.Family) + n/perMessage*setRoom
}

func roomForProgram(p *compile.Program) int {
	size := 1024
	for _, s := range p.Sets {
		size += roomFor(s)
	}
	for _, c := range p.Chains {
		size += chainRoom + ruleRoom*len(c.Rules)
	}
	return size
}

// keyAddr returns the address that a key is.
func keyAddr(key []byte) (netip.Addr, bool) {
	if len(key) != 4 && len(key) != 16 {
		return netip.Addr{}, false
	}
	return netip.AddrFromSlice(key)
}
