package nftest

import "encoding/binary"

// Numbers of the interface, by their names in the kernel's headers (linux/netlink.h, linux/netfilter/nfnetlink.h,
// linux/netfilter/nf_tables.h).
const (
	nlmsgError = 2
	nlmsgDone  = 3

	nfnlMsgBatchBegin = 0x10
	nfnlMsgBatchEnd   = 0x11
	nfnlBatchGenID    = 1

	nftMsgNewTable    = 0xa00
	nftMsgGetTable    = 0xa01
	nftMsgDelTable    = 0xa02
	nftMsgNewChain    = 0xa03
	nftMsgGetChain    = 0xa04
	nftMsgDelChain    = 0xa05
	nftMsgNewRule     = 0xa06
	nftMsgGetRule     = 0xa07
	nftMsgDelRule     = 0xa08
	nftMsgNewSet      = 0xa09
	nftMsgGetSet      = 0xa0a
	nftMsgDelSet      = 0xa0b
	nftMsgNewSetElem  = 0xa0c
	nftMsgGetSetElem  = 0xa0d
	nftMsgDelSetElem  = 0xa0e
	nftMsgNewGen      = 0xa0f
	nftMsgGetGen      = 0xa10
	nlmFAck           = 0x4
	nlmFReplace       = 0x100
	nlmFCapped        = 0x100
	nlmFAckTLVs       = 0x200
	nlmFAppend        = 0x800
	nlaNested         = 0x8000
	nftSetAnonymous   = 0x1
	nftSetInterval    = 0x4
	nftElemEnd        = 0x1
	nlmsgHeaderLen    = 16
	nfgenHeaderLen    = 4
	nlmsgErrAttrOffs  = 2
	nftaSetElemKey    = 1
	nftaSetElemFlags  = 3
	nftaListElem      = 1
	nftaExprName      = 1
	nftaExprData      = 2
	nftaDataValue     = 1
	nftaDataVerdict   = 2
	nftaVerdictChain  = 2
	nftaLookupSet     = 1
	nftaImmediateData = 2
)

// attr is an attribute, and where it stands in its message.
type attr struct {
	typ  uint16
	data []byte
	at   int
}

// parse splits attributes; what makes no sense ends the list.
func parse(b []byte, at int) []attr {
	var list []attr
	for len(b) >= 4 {
		n := int(binary.NativeEndian.Uint16(b))
		if n < 4 || n > len(b) {
			break
		}
		list = append(list, attr{binary.NativeEndian.Uint16(b[2:]) & 0x3fff, b[4:n], at})
		n = min((n+3)&^3, len(b))
		b, at = b[n:], at+n
	}
	return list
}

func find(list []attr, typ uint16) attr {
	for _, a := range list {
		if a.typ == typ {
			return a
		}
	}
	return attr{}
}

func (a attr) in() []attr { return parse(a.data, a.at+4) }

func (a attr) text() string {
	if n := len(a.data); n > 0 && a.data[n-1] == 0 {
		return string(a.data[:n-1])
	}
	return string(a.data)
}

func (a attr) number() uint64 {
	var v uint64
	for _, b := range a.data {
		v = v<<8 | uint64(b)
	}
	return v
}

// add writes an attribute.
func add(b []byte, typ uint16, data []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(4+len(data)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = append(b, data...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func addText(b []byte, typ uint16, s string) []byte { return add(b, typ, append([]byte(s), 0)) }

func addU32(b []byte, typ uint16, v uint32) []byte {
	return add(b, typ, binary.BigEndian.AppendUint32(nil, v))
}

func addU64(b []byte, typ uint16, v uint64) []byte {
	return add(b, typ, binary.BigEndian.AppendUint64(nil, v))
}

// message writes a message.
func message(typ, flags uint16, seq uint32, body []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(nlmsgHeaderLen+len(body)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, seq)
	b = binary.NativeEndian.AppendUint32(b, 0)
	return append(b, body...)
}

// reply is the body of a message of nf_tables, of family inet.
func reply(generation uint32, attrs []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{1, 0}, uint16(generation)), attrs...)
}

// request is a message that was sent.
type request struct {
	typ, flags uint16
	seq        uint32
	family     uint8
	header     []byte
	attrs      []attr
}

// requests splits what was sent.
func requests(b []byte) []request {
	var list []request
	for len(b) >= nlmsgHeaderLen+nfgenHeaderLen {
		n := int(binary.NativeEndian.Uint32(b))
		if n < nlmsgHeaderLen+nfgenHeaderLen || n > len(b) {
			break
		}
		list = append(list, request{
			typ: binary.NativeEndian.Uint16(b[4:]), flags: binary.NativeEndian.Uint16(b[6:]), seq: binary.NativeEndian.Uint32(b[8:]),
			family: b[nlmsgHeaderLen], header: b[:nlmsgHeaderLen],
			attrs: parse(b[nlmsgHeaderLen+nfgenHeaderLen:n], nlmsgHeaderLen+nfgenHeaderLen),
		})
		b = b[min((n+3)&^3, len(b)):]
	}
	return list
}
