//go:build linux

package testnet

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// strangeSources are the first and last addresses of all blocks that any part of
// the kernel might treat in its own way, and of their neighbours.
func strangeSources(n *Net) []netip.Addr {
	var list []netip.Addr
	for _, s := range []string{
		"0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "127.0.0.1/32",
		"169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.0.2.2/31", "192.0.2.4/31",
		"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "224.0.0.0/24", "232.0.0.0/8", "239.0.0.0/8",
		"240.0.0.0/4", "255.255.255.255/32",
		"::/128", "::1/128", "::/96", "::ffff:0.0.0.0/96", "::ffff:127.0.0.1/128", "64:ff9b::/96", "64:ff9b:1::/48",
		"100::/64", "2000::/3", "2001::/23", "2001::/32", "2001:db8::/32", "2001:db8::2/127", "2001:db8::4/127",
		"2002::/16", "3fff::/20", "4000::/3", "5f00::/16", "fc00::/7", "fe00::/9", "fe80::/10", "fec0::/10",
		"ff00::/8", "ff01::1/128", "ff02::1/128", "ff05::/16", "ff0e::/16",
	} {
		p := netip.MustParsePrefix(s)
		first := p.Masked().Addr()
		last := first.AsSlice()
		for i := p.Bits(); i < len(last)*8; i++ {
			last[i/8] |= 0x80 >> (i % 8)
		}
		end, _ := netip.AddrFromSlice(last)
		for _, a := range []netip.Addr{first.Prev(), first, first.Next(), end.Prev(), end, end.Next()} {
			if a.IsValid() {
				list = append(list, a)
			}
		}
	}
	// The hosts' own addresses, those that the kernel made up included.
	for _, h := range []*Host{n.Outside, n.Router, n.Inside} {
		if h != nil {
			list = append(list, h.V4.Addr(), h.V6.Addr(),
				linkLocal(h.Port))
		}
	}
	// Some of everything.
	for i := range 256 {
		list = append(list, netip.AddrFrom4([4]byte{byte(i), 1, 2, 3}), netip.AddrFrom16([16]byte{byte(i), 1, 2, 15: 3}))
	}
	return list
}

// linkLocal is the address that the kernel derives from the hardware address.
func linkLocal(p Port) netip.Addr {
	m := p.MAC
	return netip.AddrFrom16([16]byte{0xfe, 0x80, 8: m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]})
}

func TestDeliverable(t *testing.T) {
	Require(t)
	pair, line := NewPair(t), NewLine(t)
	for _, test := range []struct {
		net  *Net
		hook Hook
	}{
		{pair, Input}, {line, Input}, {line, Forward}, {pair, Prerouting}, {line, Prerouting}, {pair, Ingress},
	} {
		for _, p := range []Packet{UDP(53), TCP(22)} {
			for _, o := range test.net.Probe(t, test.hook, p, strangeSources(test.net)) {
				want := Deliverable(o.Addr, test.hook)
				assert.Equal(t, want, o.Arrived, "%v from %v at %v", p, o.Addr, test.hook)
				assert.Equal(t, want, o.Passed, "%v from %v at %v", p, o.Addr, test.hook)
			}
		}
	}
	require.False(t, Deliverable(netip.Addr{}, Ingress))
}
