package testnet

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
)

// A Packet is the shape of a probe: everything but its source address. The
// constructors are [UDP], [TCP], [ICMP] and [ICMPv6]; From and To vary what they
// give.
type Packet struct {
	protocol         uint8
	srcPort, dstPort uint16
	icmpType         uint8
	to               netip.Addr
}

// IP protocol numbers.
const (
	protocolICMP   = 1
	protocolTCP    = 6
	protocolUDP    = 17
	protocolICMPv6 = 58
)

// defaultSourcePort is the source port of probes that do not set one.
const defaultSourcePort = 40000

// UDP is a datagram of eight bytes to the port.
func UDP(port uint16) Packet {
	return Packet{protocol: protocolUDP, srcPort: defaultSourcePort, dstPort: port}
}

// TCP is a SYN to the port.
func TCP(port uint16) Packet {
	return Packet{protocol: protocolTCP, srcPort: defaultSourcePort, dstPort: port}
}

// ICMP is an ICMP message of the type, code 0, for IPv4 sources only.
func ICMP(icmpType uint8) Packet { return Packet{protocol: protocolICMP, icmpType: icmpType} }

// ICMPv6 is an ICMPv6 message of the type, code 0, for IPv6 sources only. Its
// body is empty but for a target address, so that a rule may match on the type
// and nothing else. Neighbour discovery has a hop limit of 255. The connection
// state of most types is not "new": the kernel does not track neighbour
// discovery and multicast listener messages, and errors that belong to no
// connection are "invalid".
func ICMPv6(icmpType uint8) Packet { return Packet{protocol: protocolICMPv6, icmpType: icmpType} }

// From returns the packet with another source port, which is 40000 otherwise.
// ICMP has none and ignores it.
func (p Packet) From(port uint16) Packet {
	p.srcPort = port
	return p
}

// To returns the packet with a destination address other than that of the host
// that the hook belongs to. Only sources of its family can be probed then.
func (p Packet) To(addr netip.Addr) Packet {
	p.to = addr
	return p
}

// String describes the packet for messages, as "udp 40000 -> 53".
func (p Packet) String() string {
	var s string
	switch p.protocol {
	case protocolICMP:
		s = fmt.Sprintf("icmp type %d", p.icmpType)
	case protocolICMPv6:
		s = fmt.Sprintf("icmpv6 type %d", p.icmpType)
	case protocolTCP:
		s = fmt.Sprintf("tcp syn %d -> %d", p.srcPort, p.dstPort)
	case protocolUDP:
		s = fmt.Sprintf("udp %d -> %d", p.srcPort, p.dstPort)
	default:
		return "no packet"
	}
	if p.to.IsValid() {
		s += " to " + p.to.String()
	}
	return s
}

// check says why the packet cannot be sent from src to dst, if so.
func (p Packet) check(src, dst netip.Addr) error {
	switch {
	case p.protocol == 0:
		return fmt.Errorf("a probe needs a packet: UDP, TCP, ICMP or ICMPv6")
	case !src.IsValid():
		return fmt.Errorf("a source of the probe is not a valid address")
	case src.Zone() != "":
		return fmt.Errorf("the source %v has a zone, which no packet carries", src)
	case src.Is4() != dst.Is4():
		return fmt.Errorf("the source %v and the destination %v are of two families", src, dst)
	case p.protocol == protocolICMP && !src.Is4(), p.protocol == protocolICMPv6 && src.Is4():
		return fmt.Errorf("%v cannot come from %v", p, src)
	}
	return nil
}

// Ethernet types.
const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
)

// appendFrame appends the whole Ethernet frame to b. All checksums are right:
// with a wrong one connection tracking calls the packet invalid.
func (p Packet) appendFrame(b []byte, to, from net.HardwareAddr, src, dst netip.Addr) []byte {
	b = append(b, to...)
	b = append(b, from...)
	payload := p.payload(src, dst)
	if src.Is4() {
		b = binary.BigEndian.AppendUint16(b, etherIPv4)
		start := len(b)
		b = append(b, 0x45, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(20+len(payload)))
		b = append(b, 0, 0, 0x40, 0, 64, p.protocol, 0, 0)
		b = append(b, src.AsSlice()...)
		b = append(b, dst.AsSlice()...)
		binary.BigEndian.PutUint16(b[start+10:], checksum(b[start:]))
	} else {
		hopLimit := byte(64)
		if p.protocol == protocolICMPv6 && p.icmpType >= 133 && p.icmpType <= 137 {
			hopLimit = 255
		}
		b = binary.BigEndian.AppendUint16(b, etherIPv6)
		b = append(b, 0x60, 0, 0, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(len(payload)))
		b = append(b, p.protocol, hopLimit)
		b = append(b, src.AsSlice()...)
		b = append(b, dst.AsSlice()...)
	}
	return append(b, payload...)
}

// payload returns the transport header and data.
func (p Packet) payload(src, dst netip.Addr) []byte {
	var b []byte
	checksumAt := 2
	switch p.protocol {
	case protocolUDP:
		b = binary.BigEndian.AppendUint16(b, p.srcPort)
		b = binary.BigEndian.AppendUint16(b, p.dstPort)
		b = append(b, 0, 16, 0, 0)
		b = append(b, "testnet\n"...)
		checksumAt = 6
	case protocolTCP:
		b = binary.BigEndian.AppendUint16(b, p.srcPort)
		b = binary.BigEndian.AppendUint16(b, p.dstPort)
		b = append(b, 0, 0, 0, 1, 0, 0, 0, 0) // sequence number, acknowledgement
		b = append(b, 5<<4, 0x02)             // header of 5 words, SYN
		b = append(b, 0xfa, 0xf0, 0, 0, 0, 0) // window, checksum, urgent pointer
		checksumAt = 16
	case protocolICMP:
		b = append(b, p.icmpType, 0, 0, 0, 0, 1, 0, 1)
		binary.BigEndian.PutUint16(b[2:], checksum(b))
		return b
	case protocolICMPv6:
		b = append(b, p.icmpType, 0, 0, 0, 0, 0, 0, 0)
		b = append(b, dst.AsSlice()...)
	}

	// The pseudo-header is the same sum in both families.
	pseudo := append(src.AsSlice(), dst.AsSlice()...)
	pseudo = append(pseudo, 0, p.protocol)
	pseudo = binary.BigEndian.AppendUint16(pseudo, uint16(len(b)))
	sum := checksum(append(pseudo, b...))
	if sum == 0 && p.protocol == protocolUDP {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(b[checksumAt:], sum)
	return b
}

// checksum is the Internet checksum of RFC 1071.
func checksum(b []byte) uint16 {
	var sum uint32
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
