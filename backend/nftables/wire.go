package nftables

import (
	"encoding/binary"
	"math"
)

// Numbers of the netlink interface of nf_tables, from include/uapi/linux/netlink.h, linux/netfilter/nfnetlink.h and
// linux/netfilter/nf_tables.h of the kernel. They stand here since golang.org/x/sys/unix has them on Linux only, and
// messages are made and read on every system.
const (
	netlinkHeader = 16 // struct nlmsghdr
	familyHeader  = 4  // struct nfgenmsg
	attrHeader    = 4  // struct nlattr

	netlinkError = 2 // NLMSG_ERROR
	netlinkDone  = 3 // NLMSG_DONE

	flagRequest         = 0x1
	flagAck             = 0x4
	flagDumpInterrupted = 0x10
	flagReplace         = 0x100
	flagExclusive       = 0x200
	flagDump            = 0x300
	flagCreate          = 0x400
	flagAppend          = 0x800

	flagAckCapped   = 0x100 // NLM_F_CAPPED
	flagAckExtended = 0x200 // NLM_F_ACK_TLVS
	ackMessage      = 1     // NLMSGERR_ATTR_MSG
	ackOffset       = 2     // NLMSGERR_ATTR_OFFS

	batchBegin      = 0x10
	batchEnd        = 0x11
	batchGeneration = 1 // NFNL_BATCH_GENID
	subsystem       = 10 << 8

	msgNewTable   = subsystem
	msgGetTable   = subsystem | 1
	msgDelTable   = subsystem | 2
	msgNewChain   = subsystem | 3
	msgGetChain   = subsystem | 4
	msgDelChain   = subsystem | 5
	msgNewRule    = subsystem | 6
	msgGetRule    = subsystem | 7
	msgDelRule    = subsystem | 8
	msgNewSet     = subsystem | 9
	msgGetSet     = subsystem | 10
	msgDelSet     = subsystem | 11
	msgNewElement = subsystem | 12
	msgGetElement = subsystem | 13
	msgDelElement = subsystem | 14
	msgNewGen     = subsystem | 15
	msgGetGen     = subsystem | 16

	attrNested = 0x8000
	attrType   = 0x3fff
	listItem   = 1 // NFTA_LIST_ELEM

	familyNone = 0
	familyInet = 1 // NFPROTO_INET
	familyIPv4 = 2
	familyIPv6 = 10

	tableTitle  = 1
	tableFlags  = 2
	tableHandle = 4

	chainTable    = 1
	chainHandle   = 2
	chainName     = 3
	chainHook     = 4
	chainPolicy   = 5
	chainType     = 7
	hookNumber    = 1
	hookPriority  = 2
	policyDrop    = 0
	policyAccept  = 1
	ruleTable     = 1
	ruleChain     = 2
	ruleHandle    = 3
	ruleExprs     = 4
	rulePosition  = 6
	ruleUserdata  = 7
	userdataNote  = 0 // NFTNL_UDATA_RULE_COMMENT
	setTable      = 1
	setName       = 2
	setFlags      = 3
	setKeyType    = 4
	setKeyLen     = 5
	setDataType   = 6
	setDataLen    = 7
	setDesc       = 9
	setDescSize   = 1
	setID         = 10
	setUserdata   = 13
	setHandle     = 16
	setAnonymous  = 0x1
	setConstant   = 0x2
	setInterval   = 0x4
	setMap        = 0x8
	elemsTable    = 1
	elemsSet      = 2
	elemsList     = 3
	elemsSetID    = 4
	elemKey       = 1
	elemData      = 2
	elemFlags     = 3
	elemUserdata  = 6
	elemEnd       = 1 // NFT_SET_ELEM_INTERVAL_END
	elemCatchAll  = 2
	dataValue     = 1
	dataVerdict   = 2
	verdictCode   = 1
	verdictChain  = 2
	generationID  = 1
	exprName      = 1
	exprData      = 2
	keyIPv4       = 7 // nft's numbers of data types, which the kernel keeps for it: TYPE_IPADDR, ...
	keyIPv6       = 8
	keyICMPType   = 14
	keyICMPv6Type = 29
)

// maxAttr is the longest that an attribute can be: its length has 16 bits, and the next one starts at a multiple of 4.
const maxAttr = math.MaxUint16 &^ 3

// messages are netlink messages in one buffer. Lengths are filled in when an attribute or a message ends.
type messages struct {
	buf   []byte
	start int    // of the message that is being written
	seq   uint32 // of that message; the first has 1
}

// begin starts a message.
func (m *messages) begin(typ, flags uint16, family uint8, resource uint16) {
	m.start = len(m.buf)
	m.seq++
	m.buf = binary.NativeEndian.AppendUint32(m.buf, 0)
	m.buf = binary.NativeEndian.AppendUint16(m.buf, typ)
	m.buf = binary.NativeEndian.AppendUint16(m.buf, flags|flagRequest)
	m.buf = binary.NativeEndian.AppendUint32(m.buf, m.seq)
	m.buf = binary.NativeEndian.AppendUint32(m.buf, 0)
	m.buf = append(m.buf, family, 0)
	m.buf = binary.BigEndian.AppendUint16(m.buf, resource)
}

// end ends the message.
func (m *messages) end() {
	binary.NativeEndian.PutUint32(m.buf[m.start:], uint32(len(m.buf)-m.start))
}

// demandAck asks for an acknowledgement of the last message.
func (m *messages) demandAck() {
	flags := m.buf[m.start+6:]
	binary.NativeEndian.PutUint16(flags, binary.NativeEndian.Uint16(flags)|flagAck)
}

func (m *messages) header(typ uint16, size int) {
	m.buf = binary.NativeEndian.AppendUint16(m.buf, uint16(attrHeader+size))
	m.buf = binary.NativeEndian.AppendUint16(m.buf, typ)
}

func (m *messages) pad() {
	for len(m.buf)%4 != 0 {
		m.buf = append(m.buf, 0)
	}
}

// bytes adds an attribute.
func (m *messages) bytes(typ uint16, data []byte) {
	m.header(typ, len(data))
	m.buf = append(m.buf, data...)
	m.pad()
}

// text adds an attribute that is a string with a final zero.
func (m *messages) text(typ uint16, s string) {
	m.header(typ, len(s)+1)
	m.buf = append(append(m.buf, s...), 0)
	m.pad()
}

func (m *messages) u32(typ uint16, v uint32) {
	m.header(typ, 4)
	m.buf = binary.BigEndian.AppendUint32(m.buf, v)
}

func (m *messages) u64(typ uint16, v uint64) {
	m.header(typ, 8)
	m.buf = binary.BigEndian.AppendUint64(m.buf, v)
}

// nest starts an attribute that holds others, and returns what close needs.
func (m *messages) nest(typ uint16) int {
	at := len(m.buf)
	m.header(typ|attrNested, 0)
	return at
}

// close ends a nested attribute. Callers see to it that it is not longer than maxAttr.
func (m *messages) close(at int) {
	binary.NativeEndian.PutUint16(m.buf[at:], uint16(len(m.buf)-at))
}

// attrs reads attributes one after the other. Nothing that it is given makes it panic; what makes no sense ends it, with
// bad set.
type attrs struct {
	rest []byte
	typ  uint16
	data []byte
	bad  bool
}

func (a *attrs) next() bool {
	if len(a.rest) < attrHeader {
		a.bad = a.bad || len(a.rest) > 0
		return false
	}
	size := int(binary.NativeEndian.Uint16(a.rest))
	if size < attrHeader || size > len(a.rest) {
		a.bad = true
		return false
	}
	a.typ = binary.NativeEndian.Uint16(a.rest[2:]) & attrType
	a.data = a.rest[attrHeader:size]
	a.rest = a.rest[min(len(a.rest), (size+3)&^3):]
	return true
}

// find returns the first attribute of the type, and nil if there is none.
func find(b []byte, typ uint16) []byte {
	for a := (attrs{rest: b}); a.next(); {
		if a.typ == typ {
			return a.data
		}
	}
	return nil
}

// number returns a number of 4 or 8 bytes, and 0 for anything else.
func number(b []byte) uint64 {
	switch len(b) {
	case 4:
		return uint64(binary.BigEndian.Uint32(b))
	case 8:
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// str returns a string without its final zero.
func str(b []byte) string {
	if n := len(b); n > 0 && b[n-1] == 0 {
		b = b[:n-1]
	}
	return string(b)
}

// message is a netlink message as it is read.
type message struct {
	typ, flags uint16
	seq        uint32
	raw        []byte // all of it
	body       []byte // what follows the netlink header
}

// nextMessage takes the first message off a buffer; false if there is no whole one.
func nextMessage(b []byte) (m message, rest []byte, ok bool) {
	if len(b) < netlinkHeader {
		return m, nil, false
	}
	size := binary.NativeEndian.Uint32(b)
	if size < netlinkHeader || uint64(size) > uint64(len(b)) {
		return m, nil, false
	}
	m.typ = binary.NativeEndian.Uint16(b[4:])
	m.flags = binary.NativeEndian.Uint16(b[6:])
	m.seq = binary.NativeEndian.Uint32(b[8:])
	m.raw = b[:size]
	m.body = b[netlinkHeader:size]
	return m, b[min(len(b), int(size+3)&^3):], true
}

// attrs returns the attributes of a message of nf_tables.
func (m *message) attrs() []byte {
	if len(m.body) < familyHeader {
		return nil
	}
	return m.body[familyHeader:]
}
