package compile

import (
	"fmt"
	"slices"
	"strings"
)

// Guard is something that a policy passes before it looks at any address. All guards are on unless Policy.WithoutGuards
// names them.
type Guard uint8

const (
	// GuardLoopback passes what comes in from or goes out to the loopback interface.
	GuardLoopback Guard = iota + 1
	// GuardEstablished passes packets of established connections and what is related to them: the replies to this
	// machine's own requests above all, wherever the peer may be.
	GuardEstablished
	// GuardICMPv6 passes the ICMPv6 without which IPv6 does not work (RFC 4890, sections 4.3.1 and 4.4.1): errors,
	// neighbour and router discovery, multicast listener discovery. Of those, only errors are ever forwarded. Echo
	// requests are not among them: addresses decide about those.
	GuardICMPv6
	// GuardDHCP passes DHCP replies to this machine, and its requests at output.
	GuardDHCP
	// GuardDHCPv6 passes DHCPv6 replies to this machine, and its requests at output.
	GuardDHCPv6
	// GuardKeep passes the addresses of Policy.Keep, the never-block set.
	GuardKeep
)

var guardNames = [...]string{"none", "loopback", "established", "icmpv6", "dhcp", "dhcpv6", "keep"}

// Guards lists all guards in the order in which they stand.
func Guards() []Guard {
	return []Guard{GuardLoopback, GuardEstablished, GuardICMPv6, GuardDHCP, GuardDHCPv6, GuardKeep}
}

// String returns the guard's name, by which it can be turned off.
func (g Guard) String() string {
	if int(g) < len(guardNames) {
		return guardNames[g]
	}
	return "unknown guard"
}

// ParseGuard reads what String writes, in any case.
func ParseGuard(s string) (Guard, error) {
	for i, name := range guardNames {
		if i > 0 && strings.EqualFold(s, name) {
			return Guard(i), nil
		}
	}
	return 0, &NameError{Kind: "guard", Name: s, Why: "it is one of " + strings.Join(guardNames[1:], ", ")}
}

// ICMPv6 types that IPv6 needs (RFC 4443, RFC 4861, RFC 2710, RFC 3810, RFC 4890).
var (
	icmpv6Errors = []uint8{
		1, // destination unreachable
		2, // packet too big
		3, // time exceeded
		4, // parameter problem
	}
	icmpv6Link = []uint8{
		130, // multicast listener query
		131, // multicast listener report
		132, // multicast listener done
		133, // router solicitation
		134, // router advertisement
		135, // neighbour solicitation
		136, // neighbour advertisement
		143, // version 2 multicast listener report
	}
)

// matches returns what the guard lets through at the hook: a packet passes if any of the matches holds. None means that
// there is nothing to guard there, or, for GuardKeep, that addresses decide.
func (g Guard) matches(p Point) []Match {
	in := p == Input || p == Prerouting || p == Raw || p == Ingress
	udp := func(from, to uint16) Match { return Match{Protocol: UDP, SourcePort: from, DestinationPort: to} }
	switch g {
	case GuardLoopback:
		switch {
		case in:
			return []Match{{In: "lo"}}
		case p == Output:
			return []Match{{Out: "lo"}}
		}
	case GuardEstablished:
		return []Match{{States: StateSet(Established, Related)}}
	case GuardICMPv6:
		types := icmpv6Errors
		if p != Forward {
			types = slices.Concat(icmpv6Errors, icmpv6Link)
		}
		return []Match{{Family: 6, Protocol: ICMPv6, ICMPTypes: types}}
	case GuardDHCP:
		m := udp(67, 68)
		if p == Output {
			m = udp(68, 67)
		}
		m.Family = 4
		if in || p == Output {
			return []Match{m}
		}
	case GuardDHCPv6:
		m := udp(547, 546)
		if p == Output {
			m = udp(546, 547)
		}
		m.Family = 6
		if in || p == Output {
			return []Match{m}
		}
	}
	return nil
}

// checkAt says why the guard cannot work at the hook, if so.
func (g Guard) checkAt(h Hook) error {
	if g != GuardEstablished {
		return nil
	}
	if ok, why := h.seesState(); !ok {
		return &PolicyError{Where: "hook " + h.String(), Err: fmt.Errorf(
			"guard %v: %w: %s, so replies to this machine's own requests would be dropped; use input or prerouting after connection tracking, or turn the guard off by its name (%q) if the policy can do without",
			g, ErrGuardHook, why, g.String())}
	}
	return nil
}
