package compile

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/cidrc/cidrc/cidr"
)

// Protocol is an IP protocol number. The zero Protocol in a match means any.
type Protocol uint8

// Protocols that matches and packets name. Any other number can be used as well.
const (
	ICMP   Protocol = 1
	TCP    Protocol = 6
	UDP    Protocol = 17
	ICMPv6 Protocol = 58
	SCTP   Protocol = 132
)

// String returns the name of the protocol, or its number.
func (p Protocol) String() string {
	switch p {
	case ICMP:
		return "icmp"
	case TCP:
		return "tcp"
	case UDP:
		return "udp"
	case ICMPv6:
		return "icmpv6"
	case SCTP:
		return "sctp"
	}
	return fmt.Sprintf("protocol %d", uint8(p))
}

// State is the state of the connection that a packet belongs to, as connection tracking sees it.
type State uint8

const (
	// New: the first packet of a connection. It is the zero State.
	New State = iota
	// Established: a packet of a connection that has seen packets in both directions.
	Established
	// Related: the first packet of a connection, or an error, that belongs to another connection.
	Related
	// Invalid: a packet that belongs to no connection and can start none.
	Invalid
	// Untracked: a packet that connection tracking was told to leave alone, or that it has not seen yet.
	Untracked
)

var stateNames = [...]string{"new", "established", "related", "invalid", "untracked"}

// String returns the name of the state in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown state"
}

// States is a set of States. The zero States in a match means any.
type States uint8

// StateSet returns the set of the states.
func StateSet(states ...State) States {
	var set States
	for _, s := range states {
		set |= 1 << s
	}
	return set
}

// Has reports whether the set holds the state.
func (s States) Has(state State) bool { return s>>state&1 == 1 }

// String lists the states, separated by commas.
func (s States) String() string {
	var names []string
	for state := New; state <= Untracked; state++ {
		if s.Has(state) {
			names = append(names, state.String())
		}
	}
	return strings.Join(names, ",")
}

// Packet is a packet as Eval looks at it. Fields that do not matter to a policy can be left zero.
type Packet struct {
	// Hook is where the packet is met. Zero is the first hook of the policy.
	Hook                Point
	Source, Destination netip.Addr
	Protocol            Protocol
	// Ports, in host byte order, of protocols that have them.
	SourcePort, DestinationPort uint16
	ICMPType                    uint8
	// In and Out are the interfaces, by name.
	In, Out string
	State   State
}

// addrs returns the packet's two ends, IPv4-mapped taken as IPv4, after checking that they can stand in one packet. One
// of them may be left out.
func (p Packet) addrs() (src, dst netip.Addr, f cidr.Family, err error) {
	src, dst = p.Source.WithZone("").Unmap(), p.Destination.WithZone("").Unmap()
	fs, fd := cidr.FamilyOf(src), cidr.FamilyOf(dst)
	switch {
	case fs == 0 && fd == 0:
		return src, dst, 0, fmt.Errorf("%w: it has no address", ErrPacket)
	case fs != 0 && fd != 0 && fs != fd:
		return src, dst, 0, fmt.Errorf("%w: its source is %v and its destination %v", ErrPacket, fs, fd)
	}
	return src, dst, max(fs, fd), nil
}

// end returns the end of the packet that the side means.
func end(s Side, src, dst netip.Addr) netip.Addr {
	if s == Destination {
		return dst
	}
	return src
}

// Match is a condition on everything about a packet but its remote address. Zero fields match anything.
type Match struct {
	Family                      cidr.Family
	In, Out                     string
	States                      States
	Protocol                    Protocol
	SourcePort, DestinationPort uint16
	ICMPTypes                   []uint8 // any of them
}

func (m *Match) holds(p *Packet, f cidr.Family) bool {
	if m.Family != 0 && m.Family != f ||
		m.In != "" && m.In != p.In ||
		m.Out != "" && m.Out != p.Out ||
		m.States != 0 && !m.States.Has(p.State) ||
		m.Protocol != 0 && m.Protocol != p.Protocol ||
		m.SourcePort != 0 && m.SourcePort != p.SourcePort ||
		m.DestinationPort != 0 && m.DestinationPort != p.DestinationPort {
		return false
	}
	if len(m.ICMPTypes) == 0 {
		return true
	}
	for _, t := range m.ICMPTypes {
		if t == p.ICMPType {
			return true
		}
	}
	return false
}

// Ruling is what Eval says about a packet.
type Ruling struct {
	Verdict Verdict
	// Rule names what decided. From a Decision it is a rule of the policy, "guard " and the guard's name, NameKeep,
	// NameLocal or NameDefault; from a Program it is the chain and the number of the rule in it, from 1, with the set if
	// one was asked.
	Rule string
	// Rules counts the rules of a Program that the packet met, the deciding one included; Probes how many sets were
	// asked. Both are 0 from a Decision.
	Rules, Probes int
}
