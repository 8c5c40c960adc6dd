package testnet

import (
	"fmt"
	"net/netip"
)

// A Hook is a place in the kernel's path of a packet where rulesets sit.
type Hook int

const (
	// Input: packets to the host itself.
	Input Hook = iota
	// Forward: packets that the host routes on. Needs a [NewLine].
	Forward
	// Prerouting: all packets that the host receives, before routing.
	Prerouting
	// Ingress: the netdev hook of the device towards Outside, before everything
	// else. Connection tracking and iptables never see it.
	Ingress
)

// String returns the hook's name as in an nft chain definition.
func (h Hook) String() string {
	switch h {
	case Input:
		return "input"
	case Forward:
		return "forward"
	case Prerouting:
		return "prerouting"
	case Ingress:
		return "ingress"
	}
	return fmt.Sprintf("Hook(%d)", int(h))
}

var (
	multicast4   = netip.MustParsePrefix("224.0.0.0/4")
	broadcast4   = netip.MustParseAddr("255.255.255.255")
	multicast6   = netip.MustParsePrefix("ff00::/8")
	linkLocal6   = netip.MustParsePrefix("fe80::/10")
	loopback6    = netip.IPv6Loopback()
	unspecified4 = netip.IPv4Unspecified()
	unspecified6 = netip.IPv6Unspecified()
)

// Deliverable reports whether a packet with this source address gets as far as
// the hook on a host of this package. Of the others the kernel itself disposes
// earlier, whatever the ruleset; a test that probes the whole address space
// expects them not to arrive.
//
//   - Ingress: all.
//   - Prerouting: all of IPv4; IPv6 without ff00::/8 and ::1.
//   - Input: IPv4 without 0.0.0.0, 224.0.0.0/4 and 255.255.255.255, which
//     routing refuses as source; IPv6 as at prerouting. (The rest of 0.0.0.0/8
//     is refused by kernels before 5.3 only.)
//   - Forward: as at input, and no IPv6 source that must not leave its link:
//     fe80::/10 and ::.
//
// Loopback sources 127.0.0.0/8 do arrive, since the hosts have route_localnet
// set, and so do the host's own addresses (accept_local). An IPv4-mapped IPv6
// address counts as the IPv6 address that it is.
func Deliverable(addr netip.Addr, hook Hook) bool {
	if !addr.IsValid() {
		return false
	}
	if hook == Ingress {
		return true
	}
	if addr.Is4() {
		if hook == Prerouting {
			return true
		}
		return addr != unspecified4 && !multicast4.Contains(addr) && addr != broadcast4
	}
	addr = addr.WithZone("")
	if multicast6.Contains(addr) || addr == loopback6 {
		return false
	}
	return hook != Forward || !linkLocal6.Contains(addr) && addr != unspecified6
}
