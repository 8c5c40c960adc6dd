//go:build linux

package testnet

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// blockDocumentation drops 198.51.100.0/24 and 2001:db8:6::/48 in the input hook.
const blockDocumentation = `table inet fw {
	chain in {
		type filter hook input priority filter; policy accept;
		ip saddr 198.51.100.0/24 drop
		ip6 saddr 2001:db8:6::/48 drop
	}
}
`

// blocked is what blockDocumentation drops.
func blocked(a netip.Addr) bool {
	return netip.MustParsePrefix("198.51.100.0/24").Contains(a) ||
		netip.MustParsePrefix("2001:db8:6::/48").Contains(a)
}

func notBlocked(a netip.Addr) bool { return !blocked(a) }

func addrs(list ...string) []netip.Addr {
	var out []netip.Addr
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

// around returns sources in and around the blocked prefixes.
func around() []netip.Addr {
	list := addrs("198.51.99.255", "198.51.101.0", "8.8.8.8", "223.255.255.255", "240.0.0.1",
		"2001:db8:5:ffff:ffff:ffff:ffff:ffff", "2001:db8:7::", "2a00::1", "fe80::1", "fc00::1",
		"2001:db8:6::", "2001:db8:6:ffff:ffff:ffff:ffff:ffff")
	for a := netip.MustParseAddr("198.51.100.0"); blocked(a); a = a.Next() {
		list = append(list, a)
	}
	return list
}

func TestProbeNFT(t *testing.T) {
	Require(t, NFT)
	n := NewPair(t)
	for _, p := range []Packet{UDP(53), TCP(443)} {
		n.Check(t, Input, p, around(), func(netip.Addr) bool { return true })
	}
	n.Inside.Run(t, blockDocumentation, "nft", "-f", "-")
	for _, p := range []Packet{UDP(53), TCP(443), UDP(546).From(547)} {
		n.Check(t, Input, p, around(), notBlocked)
	}
	n.Check(t, Input, ICMP(8), addrs("198.51.100.1", "198.51.99.1"), notBlocked)
	n.Check(t, Input, ICMPv6(128), addrs("2001:db8:6::1", "2001:db8:7::1"), notBlocked)
}

func TestProbeIPTables(t *testing.T) {
	for need, variant := range map[Need]string{IPTablesLegacy: "legacy", IPTablesNFT: "nft"} {
		t.Run(variant, func(t *testing.T) {
			Require(t, need, Conntrack)
			n := NewLine(t)
			rules := "*filter\n-A INPUT -m conntrack ! --ctstate NEW -j ACCEPT\n-A INPUT -s %[1]s -j DROP\n" +
				"-A FORWARD -p udp -s %[1]s -j REJECT\nCOMMIT\n"
			n.Router.Run(t, fmt.Sprintf(rules, "198.51.100.0/24"), "iptables-"+variant+"-restore")
			n.Router.Run(t, fmt.Sprintf(rules, "2001:db8:6::/48"), "ip6tables-"+variant+"-restore")
			for range 2 { // The second time, no connection is left of the first.
				n.Check(t, Input, UDP(53), around(), notBlocked)
				n.Check(t, Input, TCP(22), around(), notBlocked)
				n.Check(t, Forward, UDP(53), around(), notBlocked)
				n.Check(t, Forward, TCP(22), around(), func(netip.Addr) bool { return true })
			}
		})
	}
}

func TestProbeHooks(t *testing.T) {
	Require(t, NFT)
	for _, test := range []struct {
		hook  Hook
		chain string
	}{
		{Input, "table inet fw { chain c { type filter hook input priority -300\n %s } \n }"},
		{Forward, "table inet fw { chain c { type filter hook forward priority 300\n %s } \n }"},
		{Prerouting, "table inet fw { chain c { type filter hook prerouting priority raw\n %s } \n }"},
		{Ingress, "table netdev fw { chain c { type filter hook ingress device wan0 priority 0\n %s } \n }"},
	} {
		n := NewLine(t)
		rules := "ip saddr 198.51.100.0/24 drop\nip6 saddr 2001:db8:6::/48 drop\n"
		n.Router.Run(t, fmt.Sprintf(test.chain, rules), "nft", "-f", "-")
		t.Run(test.hook.String(), func(t *testing.T) {
			n.Check(t, test.hook, UDP(53), around(), notBlocked)
		})
	}
}

// A packet that an earlier hook drops has not arrived at the later one.
func TestProbeEarlierHook(t *testing.T) {
	Require(t, NFT)
	n := NewPair(t)
	n.Inside.Run(t, strings.Replace(blockDocumentation, "input", "prerouting", 1), "nft", "-f", "-")
	for _, o := range n.Probe(t, Input, UDP(53), around()) {
		require.Equal(t, notBlocked(o.Addr), o.Arrived, o)
		require.Equal(t, notBlocked(o.Addr), o.Passed, o)
	}
}

// Guards look at more than the source.
func TestProbeShapes(t *testing.T) {
	Require(t, NFT, Conntrack)
	n := NewPair(t)
	n.Inside.Run(t, `table inet fw {
		chain in {
			type filter hook input priority filter; policy drop
			udp sport 67 udp dport 68 accept
			udp sport 547 udp dport 546 ip6 saddr fe80::/10 accept
			icmpv6 type { nd-neighbor-solicit, packet-too-big } accept
			tcp dport 22 tcp flags == syn ct state new accept
			udp dport 123 ct state new accept
			udp dport 5353 ip daddr 224.0.0.251 accept
			icmp type echo-request accept
		}
	}
	`, "nft", "-f", "-")
	v4, v6, link := "9.9.9.9", "2a00::9", "fe80::9"
	for _, test := range []struct {
		packet Packet
		from   string
		passes bool
	}{
		{UDP(68).From(67), v4, true},
		{UDP(68).From(66), v4, false},
		{UDP(68).From(67).To(netip.MustParseAddr("255.255.255.255")), v4, true},
		{UDP(546).From(547), link, true},
		{UDP(546).From(547), v6, false},
		{UDP(546), link, false},
		{ICMPv6(135), v6, true},
		{ICMPv6(135), link, true},
		{ICMPv6(136), v6, false},
		{ICMPv6(2), v6, true},
		{ICMPv6(128), v6, false},
		{TCP(22), v4, true},
		{TCP(22), v6, true},
		{TCP(23), v4, false},
		{UDP(22), v4, false},
		{UDP(123), v4, true},
		{UDP(123), v6, true},
		{UDP(5353), v4, false},
		{ICMP(8), v4, true},
		{ICMP(13), v4, false},
	} {
		o := n.Probe(t, Input, test.packet, addrs(test.from))
		require.Equal(t, []Outcome{{Addr: netip.MustParseAddr(test.from), Arrived: true, Passed: test.passes}},
			o, test.packet)
	}
}

// Each single wrong verdict is seen.
func TestWrongVerdictsAreNoticed(t *testing.T) {
	Require(t, NFT)
	n := NewPair(t)
	// One address too many, one too few.
	n.Inside.Run(t, strings.NewReplacer("198.51.100.0/24", "198.51.100.0-198.51.100.254",
		"2001:db8:6::/48", "{ 2001:db8:6::/48, 2a00::1 }").Replace(blockDocumentation), "nft", "-f", "-")
	require.Equal(t, []Outcome{
		{Addr: netip.MustParseAddr("2a00::1"), Arrived: true, Passed: false},
		{Addr: netip.MustParseAddr("198.51.100.255"), Arrived: true, Passed: true},
	}, Wrong(n.Probe(t, Input, UDP(53), around()), notBlocked))

	r := record(t, func(t testing.TB) { n.Check(t, Input, UDP(53), around(), notBlocked) })
	require.Len(t, r.errors, 1)
	require.Equal(t, `udp 40000 -> 53 at input: 2 of 268 verdicts are wrong:
  2a00::1 dropped, but should have passed
  198.51.100.255 passed, but should have been dropped`, r.errors[0])

	require.Len(t, Wrong([]Outcome{{Addr: netip.MustParseAddr("::2")}}, blocked), 1, "not arrived is wrong")
}

// Packets that get lost between the hosts are sent again.
func TestProbeLossyCable(t *testing.T) {
	Require(t, NFT)
	n := NewPair(t)
	n.Inside.Run(t, blockDocumentation, "nft", "-f", "-")
	n.Inside.Run(t, `table netdev loss {
		chain c {
			type filter hook ingress device in0 priority 0
			meta protocol { ip, ip6 } numgen inc mod 10 == 0 counter drop
		}
	}
	`, "nft", "-f", "-")
	n.Check(t, Input, UDP(53), around(), notBlocked)
	require.NotContains(t, n.Inside.Run(t, "", "nft", "list", "table", "netdev", "loss"), "packets 0")
}

func TestProbeSourcesRepeat(t *testing.T) {
	Require(t, NFT)
	n := NewPair(t)
	n.Inside.Run(t, blockDocumentation, "nft", "-f", "-")
	list := addrs("198.51.100.7", "8.8.8.8", "198.51.100.7", "2a00::1")
	outcomes := n.Probe(t, Input, UDP(53), list)
	for i, o := range outcomes {
		require.Equal(t, Outcome{Addr: list[i], Arrived: true, Passed: notBlocked(list[i])}, o)
	}
	require.Empty(t, n.Probe(t, Input, UDP(53), nil))
}

func TestProbeRefuses(t *testing.T) {
	Require(t)
	n := NewPair(t)
	for want, f := range map[string]func(testing.TB){
		"use NewLine":             func(t testing.TB) { n.Probe(t, Forward, UDP(1), addrs("8.8.8.8")) },
		"no such hook":            func(t testing.TB) { n.Probe(t, Hook(9), UDP(1), addrs("8.8.8.8")) },
		"a probe needs a packet":  func(t testing.TB) { n.Probe(t, Input, Packet{}, addrs("8.8.8.8")) },
		"not a valid address":     func(t testing.TB) { n.Probe(t, Input, UDP(1), []netip.Addr{{}}) },
		"has a zone":              func(t testing.TB) { n.Probe(t, Input, UDP(1), addrs("fe80::1%eth0")) },
		"cannot come from":        func(t testing.TB) { n.Probe(t, Input, ICMPv6(1), addrs("8.8.8.8")) },
		"cannot come from 2a00::": func(t testing.TB) { n.Probe(t, Input, ICMP(1), addrs("2a00::")) },
		"of two families": func(t testing.TB) {
			n.Probe(t, Input, UDP(1).To(netip.MustParseAddr("::2")), addrs("8.8.8.8"))
		},
	} {
		require.Contains(t, record(t, f).failed, want)
	}
}

func TestProbeManySources(t *testing.T) {
	Require(t, NFT)
	n := NewPair(t)
	n.Inside.Run(t, blockDocumentation, "nft", "-f", "-")
	r := rand.New(rand.NewPCG(1, 2))
	var v4, v6 []netip.Addr
	for len(v4) < 20_000 {
		a := netip.AddrFrom4([4]byte{198, 51, byte(100 + r.IntN(2)), byte(r.Uint32())})
		if r.IntN(20) > 0 {
			a = netip.AddrFrom4([4]byte{byte(1 + r.IntN(223)), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
		}
		v4 = append(v4, a)
		b := netip.MustParseAddr("2001:db8:6::").As16()
		b[5] += byte(r.IntN(2))
		b[15], b[14], b[7] = byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())
		v6 = append(v6, netip.AddrFrom16(b))
	}
	for name, list := range map[string][]netip.Addr{"v4": v4, "v6": v6} {
		start := time.Now()
		n.Check(t, Input, UDP(53), list, notBlocked)
		t.Logf("%d sources of %s: %v", len(list), name, time.Since(start).Round(time.Millisecond))
	}
}
