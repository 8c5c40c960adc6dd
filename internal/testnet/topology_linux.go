package testnet

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The links' addresses. Two addresses a link, so that there is no broadcast
// address, which the kernel would treat as a special source.
var (
	outsidePort = port("out0", 2, "192.0.2.2/31", "2001:db8::2/127")
	guardPort   = port("in0", 3, "192.0.2.3/31", "2001:db8::3/127")
	innerPort   = port("lan0", 4, "192.0.2.4/31", "2001:db8::4/127")
	lastPort    = port("in0", 5, "192.0.2.5/31", "2001:db8::5/127")
)

func port(device string, number byte, v4, v6 string) Port {
	return Port{
		Device: device,
		MAC:    net.HardwareAddr{0x02, 0, 0, 0, 0, number},
		V4:     netip.MustParsePrefix(v4),
		V6:     netip.MustParsePrefix(v6),
	}
}

// NewPair returns two hosts on one cable, from the device out0 of Outside to in0
// of Inside. They are gone when the test ends. It fails the test on error; call
// [Require] first.
func NewPair(t testing.TB) *Net {
	t.Helper()
	n := &Net{Outside: newTestHost(t, "outside"), Inside: newTestHost(t, "inside")}
	n.Outside.Port, n.Inside.Port = outsidePort, guardPort
	err := join(n.Outside, n.Outside.Port, n.Inside, n.Inside.Port)
	if err == nil {
		err = n.Inside.routeDefault(n.Inside.Port, n.Outside.Port)
	}
	if err != nil {
		t.Fatalf("testnet: %v", err)
	}
	return n
}

// NewLine returns three hosts in a row, of which the middle one routes: out0 of
// Outside to wan0 of Router, lan0 of Router to in0 of Inside. They are gone when
// the test ends. It fails the test on error; call [Require] first.
func NewLine(t testing.TB) *Net {
	t.Helper()
	n := &Net{
		Outside: newTestHost(t, "outside"),
		Router:  newTestHost(t, "router"),
		Inside:  newTestHost(t, "inside"),
	}
	n.Outside.Port, n.Inside.Port = outsidePort, lastPort
	n.Router.Port, n.Router.Inner = guardPort, innerPort
	n.Router.Device = "wan0"
	if err := n.connectLine(); err != nil {
		t.Fatalf("testnet: %v", err)
	}
	return n
}

func (n *Net) connectLine() error {
	if err := join(n.Outside, n.Outside.Port, n.Router, n.Router.Port); err != nil {
		return err
	}
	if err := join(n.Router, n.Router.Inner, n.Inside, n.Inside.Port); err != nil {
		return err
	}
	if err := n.Router.setForwarding(true); err != nil {
		return err
	}
	if err := n.Router.routeDefault(n.Router.Port, n.Outside.Port); err != nil {
		return err
	}
	if err := n.Inside.routeDefault(n.Inside.Port, n.Router.Inner); err != nil {
		return err
	}
	for _, dst := range []netip.Prefix{n.Inside.V4.Masked(), n.Inside.V6.Masked()} {
		if err := n.Outside.route(n.Outside.Port, dst, n.Router.addr(dst.Addr())); err != nil {
			return err
		}
	}
	return nil
}

func newTestHost(t testing.TB, name string) *Host {
	t.Helper()
	h, err := newHost(name)
	if err != nil {
		t.Fatalf("testnet: host %q: %v", name, err)
	}
	t.Cleanup(func() {
		if err := h.close(); err != nil {
			t.Errorf("testnet: host %q: %v", name, err)
		}
	})
	return h
}

// configure sets what must be set before there are devices, and brings up
// loopback.
func (h *Host) configure() error {
	for _, parameter := range [][2]string{
		{"net.ipv6.conf.%s.disable_ipv6", "0"},
		{"net.ipv6.conf.%s.accept_dad", "0"},           // addresses work at once
		{"net.ipv6.conf.%s.router_solicitations", "0"}, // no traffic of its own
		{"net.ipv6.conf.%s.accept_ra", "0"},
		{"net.ipv6.conf.%s.addr_gen_mode", "0"}, // see waitReady
		{"net.ipv4.conf.%s.rp_filter", "0"},
		{"net.ipv4.conf.%s.accept_local", "1"},
		{"net.ipv4.conf.%s.route_localnet", "1"},
		{"net.ipv4.conf.%s.log_martians", "0"},
	} {
		for _, device := range []string{"all", "default"} {
			if err := h.sysctl(fmt.Sprintf(parameter[0], device), parameter[1]); err != nil {
				return err
			}
		}
	}
	return h.withNetlink(func(nl *netlink.Handle) error {
		lo, err := nl.LinkByName("lo")
		if err != nil {
			return err
		}
		return nl.LinkSetUp(lo)
	})
}

// withNetlink calls f with a route netlink connection of the host.
func (h *Host) withNetlink(f func(*netlink.Handle) error) error {
	return h.Do(func() error {
		nl, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return fmt.Errorf("%s: opening netlink: %w", h.Name, err)
		}
		defer nl.Close()
		if err := f(nl); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
		return nil
	})
}

// join connects two hosts by a cable with the given ends.
func join(a *Host, aPort Port, b *Host, bPort Port) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr = aPort.Device, aPort.MAC
	veth := netlink.NewVeth(attrs)
	veth.PeerName, veth.PeerHardwareAddr = bPort.Device, bPort.MAC
	veth.PeerNamespace = netlink.NsFd(int(b.handle))
	err := a.withNetlink(func(nl *netlink.Handle) error { return nl.LinkAdd(veth) })
	if err != nil {
		return fmt.Errorf("adding a veth pair: %w", err)
	}
	for _, f := range []func(h *Host, own, peer Port) error{(*Host).setUp, (*Host).address} {
		if err := f(a, aPort, bPort); err != nil {
			return err
		}
		if err := f(b, bPort, aPort); err != nil {
			return err
		}
	}
	return nil
}

// setUp brings a device up. It has a carrier once its peer is up, too.
func (h *Host) setUp(own, _ Port) error {
	return h.withNetlink(func(nl *netlink.Handle) error {
		link, err := nl.LinkByName(own.Device)
		if err != nil {
			return err
		}
		return nl.LinkSetUp(link)
	})
}

// waitReady waits until IPv6 has taken notice of the carrier, which it does in
// its own time, and until when it does not send: it then has a link-local
// address.
func waitReady(nl *netlink.Handle, link netlink.Link) error {
	for range 2000 {
		addrs, err := nl.AddrList(link, unix.AF_INET6)
		if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
			return err // an interrupted listing is read again
		}
		for _, a := range addrs {
			if a.Flags&unix.IFA_F_TENTATIVE == 0 {
				return nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("the device %s has no IPv6 address of its own; is IPv6 switched off?", link.Attrs().Name)
}

// address gives a device its addresses and its neighbour.
func (h *Host) address(own, peer Port) error {
	return h.withNetlink(func(nl *netlink.Handle) error {
		link, err := nl.LinkByName(own.Device)
		if err != nil {
			return err
		}
		if err := waitReady(nl, link); err != nil {
			return err
		}
		for _, p := range []netip.Prefix{own.V4, own.V6} {
			if err := addAddress(nl, link, p); err != nil {
				return err
			}
		}
		for _, p := range []netip.Prefix{peer.V4, peer.V6} {
			err := nl.NeighSet(&netlink.Neigh{
				LinkIndex:    link.Attrs().Index,
				Family:       family(p.Addr()),
				State:        netlink.NUD_PERMANENT,
				IP:           p.Addr().AsSlice(),
				HardwareAddr: peer.MAC,
			})
			if err != nil {
				return fmt.Errorf("adding the neighbour %v: %w", p.Addr(), err)
			}
		}
		return nil
	})
}

func (h *Host) routeDefault(from, via Port) error {
	if err := h.route(from, netip.PrefixFrom(netip.IPv4Unspecified(), 0), via.V4.Addr()); err != nil {
		return err
	}
	return h.route(from, netip.PrefixFrom(netip.IPv6Unspecified(), 0), via.V6.Addr())
}

func (h *Host) route(from Port, dst netip.Prefix, via netip.Addr) error {
	return h.withNetlink(func(nl *netlink.Handle) error {
		link, err := nl.LinkByName(from.Device)
		if err != nil {
			return err
		}
		err = nl.RouteAdd(&netlink.Route{
			LinkIndex: link.Attrs().Index,
			Dst:       ipNet(dst),
			Gw:        via.AsSlice(),
		})
		if err != nil {
			return fmt.Errorf("adding the route %v via %v: %w", dst, via, err)
		}
		return nil
	})
}

// AddAddress gives the host one more address, on loopback, so that it can be
// dialled from, listened on and answered. On Outside any address in the world
// works. It fails the test on error.
func (h *Host) AddAddress(t testing.TB, addr netip.Addr) {
	t.Helper()
	p := netip.PrefixFrom(addr, addr.BitLen())
	err := h.withNetlink(func(nl *netlink.Handle) error {
		lo, err := nl.LinkByName("lo")
		if err != nil {
			return err
		}
		return addAddress(nl, lo, p)
	})
	if err != nil {
		t.Fatalf("testnet: %v", err)
	}
}

// addAddress adds an address and waits until packets to it are taken: IPv6 adds
// the route for them a moment later.
func addAddress(nl *netlink.Handle, link netlink.Link, p netip.Prefix) error {
	if err := nl.AddrAdd(link, &netlink.Addr{IPNet: ipNet(p), Flags: unix.IFA_F_NODAD}); err != nil {
		return fmt.Errorf("adding the address %v: %w", p, err)
	}
	for range 2000 {
		routes, err := nl.RouteGet(p.Addr().AsSlice())
		if err == nil && len(routes) > 0 && routes[0].Type == unix.RTN_LOCAL {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("adding the address %v: it has not become local", p)
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func family(a netip.Addr) int {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}
