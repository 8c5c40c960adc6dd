package nftables

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// Numbers of expressions, from include/uapi/linux/netfilter/nf_tables.h and, of connection states,
// linux/netfilter/nf_conntrack_common.h (a state's bit is NF_CT_STATE_BIT).
const (
	register1       = 1
	registerVerdict = 0

	metaRegister = 1
	metaKey      = 2
	metaIIF      = 4
	metaOIF      = 5
	metaIIFName  = 6
	metaOIFName  = 7
	metaNFProto  = 15
	metaL4Proto  = 16

	compareRegister = 1
	compareOp       = 2
	compareData     = 3
	compareEqual    = 0
	compareOther    = 1

	payloadRegister  = 1
	payloadBase      = 2
	payloadOffset    = 3
	payloadLen       = 4
	payloadNetwork   = 1
	payloadTransport = 2

	bitwiseSource      = 1
	bitwiseDestination = 2
	bitwiseLen         = 3
	bitwiseMask        = 4
	bitwiseXor         = 5

	lookupSet      = 1
	lookupRegister = 2
	lookupSetID    = 4
	lookupFlags    = 5
	lookupNot      = 1

	connectionRegister = 1
	connectionKey      = 2
	connectionState    = 0

	counterBytes   = 1
	counterPackets = 2

	immediateRegister = 1
	immediateData     = 2

	rejectType     = 1
	rejectCode     = 2
	rejectICMP     = 0
	rejectICMPX    = 2
	unreachable4   = 3 // ICMP_PORT_UNREACH
	unreachable6   = 4 // ICMPV6_PORT_UNREACH
	unreachableAny = 1 // NFT_REJECT_ICMPX_PORT_UNREACH

	verdictDrop   = 0
	verdictAccept = 1
	verdictJump   = -3
	verdictGoto   = -4
)

var stateBits = map[compile.State]uint32{
	compile.Invalid: 1, compile.Established: 2, compile.Related: 4, compile.New: 8, compile.Untracked: 64,
}

// place says where a rule is to stand. The zero place is the end of its chain.
type place struct {
	before  uint64 // handle of the rule that it comes before
	replace uint64 // handle of the rule that it takes the place of
}

// addRule writes a rule of a program, as nft would make it of the rule's text. It is the one place where a
// compile.ChainRule becomes messages. A set without a name, of ICMP types, is made right before the rule and is filled in
// one message.
func (t *transaction) addRule(c *compile.Chain, i int, at place) error {
	r := &c.Rules[i]
	chain := t.chainName(c)
	fail := func(err error) error { return fmt.Errorf("chain %s rule %d: %w", chain, i+1, err) }
	var types uint32
	if r.Match != nil && len(r.Match.ICMPTypes) > 1 {
		types = t.addTypes(r.Match)
	}
	a := about{op: "add", kind: "rule", name: chain, rule: i + 1}
	switch {
	case at.replace != 0:
		a.op = "replace"
		t.object(a, msgNewRule, flagReplace)
	case at.before != 0:
		t.object(a, msgNewRule, flagCreate)
	default:
		t.object(a, msgNewRule, flagCreate|flagAppend)
	}
	t.text(ruleChain, chain)
	if at.replace != 0 {
		t.u64(ruleHandle, at.replace)
	}
	list := t.nest(ruleExprs)
	w := ruleWriter{messages: &t.messages}
	if r.Family != 0 {
		w.family(r.Family)
	}
	if r.Prefix.IsValid() {
		w.prefix(r.Prefix, c.Side)
	}
	if r.Set != nil {
		w.family(r.Set.Family)
		w.address(r.Set.Family, c.Side, 0)
		w.lookup(t.setName(r.Set), 0, r.Not)
	}
	if r.Match != nil {
		if err := w.match(r.Match, types); err != nil {
			return fail(err)
		}
	}
	if r.Counter {
		w.counter(t.counters[ruleAt{c.Name, i}])
	}
	switch r.Do {
	case compile.DoPass, compile.DoAccept:
		w.verdict(verdictAccept, "")
	case compile.DoDrop:
		w.verdict(verdictDrop, "")
	case compile.DoReject:
		w.reject()
	case compile.DoJump:
		w.verdict(verdictJump, t.chainName(r.Chain))
	case compile.DoGoto:
		w.verdict(verdictGoto, t.chainName(r.Chain))
	default:
		return fail(fmt.Errorf("%w: %v", backend.ErrOtherTarget, r.Do))
	}
	t.close(list)
	if at.before != 0 {
		t.u64(rulePosition, at.before)
	}
	if r.Comment != "" {
		t.bytes(ruleUserdata, append(append([]byte{userdataNote, byte(len(r.Comment) + 1)}, r.Comment...), 0))
	}
	t.end()
	return nil
}

func (t *transaction) deleteRule(chain string, number int, handle uint64) {
	t.object(about{op: "delete", kind: "rule", name: chain, rule: number}, msgDelRule, 0)
	t.text(ruleChain, chain)
	t.u64(ruleHandle, handle)
	t.end()
}

// deleteRules deletes all rules of a chain.
func (t *transaction) deleteRules(chain string) {
	t.object(about{op: "delete", kind: "rule", name: chain}, msgDelRule, 0)
	t.text(ruleChain, chain)
	t.end()
}

// newSetName is the name from which the kernel makes one for a set without a name.
const newSetName = "__set%d"

// addTypes makes a set without a name of the ICMP types that a match asks for.
func (t *transaction) addTypes(m *compile.Match) uint32 {
	shape := setShape{flags: setAnonymous | setConstant, keyType: keyICMPType, keyLen: 1, size: uint32(len(m.ICMPTypes))}
	if m.Protocol == compile.ICMPv6 {
		shape.keyType = keyICMPv6Type
	}
	id := t.addSet(newSetName, shape)
	t.object(about{op: "add", kind: "element", name: newSetName}, msgNewElement, flagCreate)
	t.text(elemsSet, newSetName)
	t.u32(elemsSetID, id)
	list := t.nest(elemsList)
	for _, typ := range m.ICMPTypes {
		item := t.nest(listItem)
		t.value(elemKey, []byte{typ})
		t.close(item)
	}
	t.close(list)
	t.end()
	return id
}

// ruleWriter writes the expressions of one rule.
type ruleWriter struct {
	*messages
	known cidr.Family // that packets are compared with already
}

// expr writes an expression with the attributes that fill writes.
func (w *ruleWriter) expr(name string, fill func()) {
	item := w.nest(listItem)
	w.text(exprName, name)
	data := w.nest(exprData)
	fill()
	w.close(data)
	w.close(item)
}

func (w *ruleWriter) value(typ uint16, data []byte) {
	at := w.nest(typ)
	w.bytes(dataValue, data)
	w.close(at)
}

func (w *ruleWriter) meta(key uint32) {
	w.expr("meta", func() {
		w.u32(metaKey, key)
		w.u32(metaRegister, register1)
	})
}

func (w *ruleWriter) compare(op uint32, data []byte) {
	w.expr("cmp", func() {
		w.u32(compareRegister, register1)
		w.u32(compareOp, op)
		w.value(compareData, data)
	})
}

func (w *ruleWriter) payload(base, offset, size uint32) {
	w.expr("payload", func() {
		w.u32(payloadRegister, register1)
		w.u32(payloadBase, base)
		w.u32(payloadOffset, offset)
		w.u32(payloadLen, size)
	})
}

func (w *ruleWriter) mask(mask []byte) {
	w.expr("bitwise", func() {
		w.u32(bitwiseSource, register1)
		w.u32(bitwiseDestination, register1)
		w.u32(bitwiseLen, uint32(len(mask)))
		w.value(bitwiseMask, mask)
		w.value(bitwiseXor, make([]byte, len(mask)))
	})
}

func (w *ruleWriter) lookup(set string, id uint32, not bool) {
	w.expr("lookup", func() {
		w.u32(lookupRegister, register1)
		if not {
			w.u32(lookupFlags, lookupNot)
		}
		w.text(lookupSet, set)
		w.u32(lookupSetID, id)
	})
}

func (w *ruleWriter) counter(c counted) {
	w.expr("counter", func() {
		w.u64(counterBytes, c.bytes)
		w.u64(counterPackets, c.packets)
	})
}

func (w *ruleWriter) verdict(code int32, chain string) {
	w.expr("immediate", func() {
		w.u32(immediateRegister, registerVerdict)
		data := w.nest(immediateData)
		verdict := w.nest(dataVerdict)
		w.u32(verdictCode, uint32(code))
		if chain != "" {
			w.text(verdictChain, chain)
		}
		w.close(verdict)
		w.close(data)
	})
}

// reject answers as nft does by default: port unreachable, of the rule's family if it has one.
func (w *ruleWriter) reject() {
	typ, code := uint32(rejectICMPX), byte(unreachableAny)
	switch w.known {
	case cidr.V4:
		typ, code = rejectICMP, unreachable4
	case cidr.V6:
		typ, code = rejectICMP, unreachable6
	}
	w.expr("reject", func() {
		w.u32(rejectType, typ)
		w.bytes(rejectCode, []byte{code})
	})
}

// family compares the packet's family, once a rule.
func (w *ruleWriter) family(f cidr.Family) {
	if w.known == f {
		return
	}
	w.known = f
	w.meta(metaNFProto)
	number := byte(familyIPv4)
	if f == cidr.V6 {
		number = familyIPv6
	}
	w.compare(compareEqual, []byte{number})
}

// address loads the first size bytes of an address of the packet; 0: all of it.
func (w *ruleWriter) address(f cidr.Family, side compile.Side, size uint32) {
	offset, whole := uint32(12), uint32(4) // saddr in struct iphdr
	if f == cidr.V6 {
		offset, whole = 8, 16 // saddr in struct ipv6hdr
	}
	if side == compile.Destination {
		offset += whole
	}
	if size == 0 {
		size = whole
	}
	w.payload(payloadNetwork, offset, size)
}

// prefix compares an address of the packet: as many bytes as the prefix has if it ends with a byte, and all of them under
// a mask if not. The prefix of no bits is the family alone.
func (w *ruleWriter) prefix(p netip.Prefix, side compile.Side) {
	f := cidr.FamilyOf(p.Addr())
	w.family(f)
	bits := p.Bits()
	if bits == 0 {
		return
	}
	data := p.Addr().AsSlice()
	if bits%8 == 0 {
		w.address(f, side, uint32(bits/8))
		w.compare(compareEqual, data[:bits/8])
		return
	}
	mask := make([]byte, len(data))
	for i := range bits {
		mask[i/8] |= 0x80 >> (i % 8)
	}
	w.address(f, side, 0)
	w.mask(mask)
	w.compare(compareEqual, data)
}

func (w *ruleWriter) match(m *compile.Match, types uint32) error {
	if m.Family != 0 {
		w.family(m.Family)
	}
	w.device(m.In, metaIIF, metaIIFName)
	w.device(m.Out, metaOIF, metaOIFName)
	if m.States != 0 {
		var bits uint32
		for state, bit := range stateBits {
			if m.States.Has(state) {
				bits |= bit
			}
		}
		w.expr("ct", func() {
			w.u32(connectionKey, connectionState)
			w.u32(connectionRegister, register1)
		})
		w.mask(binary.NativeEndian.AppendUint32(nil, bits))
		w.compare(compareOther, make([]byte, 4))
	}
	if m.Protocol == 0 {
		if len(m.ICMPTypes) > 0 || m.SourcePort != 0 || m.DestinationPort != 0 {
			return fmt.Errorf("%w: ports or types without a protocol", compile.ErrUnsupported)
		}
		return nil
	}
	if len(m.ICMPTypes) > 0 {
		if m.Protocol == compile.ICMPv6 {
			w.family(cidr.V6)
		} else {
			w.family(cidr.V4)
		}
	}
	w.meta(metaL4Proto)
	w.compare(compareEqual, []byte{byte(m.Protocol)})
	source := binary.BigEndian.AppendUint16(nil, m.SourcePort)
	destination := binary.BigEndian.AppendUint16(nil, m.DestinationPort)
	switch {
	case len(m.ICMPTypes) > 0:
		w.payload(payloadTransport, 0, 1)
		if len(m.ICMPTypes) == 1 {
			w.compare(compareEqual, m.ICMPTypes)
		} else {
			w.lookup(newSetName, types, false)
		}
	case m.SourcePort != 0 && m.DestinationPort != 0:
		w.payload(payloadTransport, 0, 4)
		w.compare(compareEqual, append(source, destination...))
	case m.SourcePort != 0:
		w.payload(payloadTransport, 0, 2)
		w.compare(compareEqual, source)
	case m.DestinationPort != 0:
		w.payload(payloadTransport, 2, 2)
		w.compare(compareEqual, destination)
	}
	return nil
}

// loopbackIndex is LOOPBACK_IFINDEX in the kernel's include/linux/netdevice.h.
const loopbackIndex = 1

// device compares an interface: the loopback interface by its index, others by name, as appendInterface says.
func (w *ruleWriter) device(name string, index, byName uint32) {
	switch name {
	case "":
	case "lo":
		w.meta(index)
		w.compare(compareEqual, binary.NativeEndian.AppendUint32(nil, loopbackIndex))
	default:
		w.meta(byName)
		var padded [16]byte // IFNAMSIZ
		copy(padded[:15], name)
		w.compare(compareEqual, padded[:])
	}
}
