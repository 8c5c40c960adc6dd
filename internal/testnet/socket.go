package testnet

import (
	"context"
	"net"
	"net/netip"
	"testing"
)

// Listen opens a stream listener on the host, as [net.Listen] does, and closes
// it when the test ends. A socket stays in the namespace where it was opened, so
// the listener may be used from anywhere. Listen fails the test on error.
func (h *Host) Listen(t testing.TB, network, address string) net.Listener {
	t.Helper()
	var l net.Listener
	err := h.Do(func() (err error) {
		l, err = new(net.ListenConfig).Listen(context.Background(), network, address)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", h.Name, err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// ListenPacket is [Host.Listen] for packet sockets, as [net.ListenPacket].
func (h *Host) ListenPacket(t testing.TB, network, address string) net.PacketConn {
	t.Helper()
	var c net.PacketConn
	err := h.Do(func() (err error) {
		c, err = new(net.ListenConfig).ListenPacket(context.Background(), network, address)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", h.Name, err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Dial connects from the host to an address and port, over "tcp" or "udp" with
// or without 4 or 6. The caller closes the connection. Names are not resolved:
// the address has to be numeric.
func (h *Host) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return h.dial(ctx, nil, network, address)
}

// DialFrom is [Host.Dial] from one of the host's own addresses, for instance one
// given to it by [Host.AddAddress]. The port is any free one if src has port 0.
func (h *Host) DialFrom(ctx context.Context, src netip.AddrPort, network, address string) (net.Conn, error) {
	var local net.Addr = net.TCPAddrFromAddrPort(src)
	if len(network) >= 3 && network[:3] == "udp" {
		local = net.UDPAddrFromAddrPort(src)
	}
	return h.dial(ctx, local, network, address)
}

func (h *Host) dial(ctx context.Context, local net.Addr, network, address string) (conn net.Conn, err error) {
	// A name would be looked up on other threads, outside the namespace.
	if _, err := netip.ParseAddrPort(address); err != nil {
		return nil, err
	}
	err = h.Do(func() (err error) {
		conn, err = (&net.Dialer{LocalAddr: local}).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}
