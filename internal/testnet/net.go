package testnet

import (
	"net"
	"net/netip"
	"sync"
)

// A Net is a few test hosts, joined by cables, that belong to one test.
//
//	NewPair:  Outside ---------- Inside
//	NewLine:  Outside -- Router -- Inside
//
// Outside stands for the Internet: every other host sends to it whatever has no
// nearer destination, so it can answer for any address (see [Host.AddAddress]).
// All hosts know their neighbours' hardware addresses, so that a ruleset sees
// no ARP and no neighbour discovery that a test did not ask for. Reverse path
// filtering is off, and source addresses from which the kernel would not take a
// packet by default are allowed as far as its settings go; see [Deliverable].
type Net struct {
	// Outside is where probes come from.
	Outside *Host
	// Router forwards between the others. It is nil in a pair.
	Router *Host
	// Inside is the host behind.
	Inside *Host

	probing sync.Mutex
}

// Guard returns the host next to Outside, whose ruleset is under test: Inside in
// a pair, Router in a line.
func (n *Net) Guard() *Host {
	if n.Router != nil {
		return n.Router
	}
	return n.Inside
}

// A Host is a network namespace with loopback and one or two Ethernet devices.
type Host struct {
	// Name is "outside", "router" or "inside", for messages.
	Name string
	// Port is the device towards Outside; of Outside, its only one.
	Port
	// Inner is the router's device towards Inside, unused in other hosts.
	Inner Port

	namespace
}

// A Port is an Ethernet device with its addresses.
type Port struct {
	Device string           // name of the device
	MAC    net.HardwareAddr // hardware address
	V4     netip.Prefix     // the device's IPv4 address and its link's prefix
	V6     netip.Prefix     // the device's IPv6 address and its link's prefix
}

// addr returns the port's address of the same family as a.
func (p Port) addr(a netip.Addr) netip.Addr {
	if a.Is4() {
		return p.V4.Addr()
	}
	return p.V6.Addr()
}
