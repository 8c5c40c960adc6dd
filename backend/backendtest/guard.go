package backendtest

import (
	"net/netip"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// Addresses that every policy of the tests of guards blocks.
var (
	foreign4 = netip.MustParseAddr("64.8.8.8")
	foreign6 = netip.MustParseAddr("2a00:1450::8888")
)

// blockForeign drops the foreign addresses and passes all others, local space included.
func blockForeign(hooks ...compile.Point) compile.Policy {
	p := compile.Block("foreign", build("64.0.0.0/3", "2a00::/12"), cidr.Set{})
	p.Owner, p.Hooks = owner, at(hooks...)
	return p
}

// testGuards sends what guards pass, and what looks like it, from blocked addresses, with guards on and off.
func (c Config) testGuards(t *testing.T) {
	target := c.New(Machine{}).Target()
	dhcp4, dhcp6 := testnet.UDP(68).From(67), testnet.UDP(546).From(547)
	type probe struct {
		packet testnet.Packet
		source netip.Addr
		guard  compile.Guard // by which it passes; 0: it does not
	}
	linkAndErrors := []probe{
		{dhcp4, foreign4, compile.GuardDHCP},
		{testnet.UDP(67).From(68), foreign4, 0},
		{testnet.UDP(68), foreign4, 0},
		{testnet.TCP(68).From(67), foreign4, 0},
		{dhcp4, foreign6, 0},
		{dhcp6, foreign6, compile.GuardDHCPv6},
		{testnet.UDP(547).From(546), foreign6, 0},
		{testnet.TCP(546).From(547), foreign6, 0},
		{dhcp6, foreign4, 0},
		{testnet.ICMP(8), foreign4, 0},
		{testnet.ICMPv6(128), foreign6, 0},
		{testnet.ICMPv6(144), foreign6, 0},
		{testnet.UDP(53), foreign4, 0},
		{testnet.UDP(53), foreign6, 0},
	}
	for _, icmp := range []uint8{1, 2, 3, 4, 130, 131, 132, 133, 134, 135, 136, 143} {
		linkAndErrors = append(linkAndErrors, probe{testnet.ICMPv6(icmp), foreign6, compile.GuardICMPv6})
	}
	forwarded := []probe{
		{dhcp4, foreign4, 0}, {dhcp6, foreign6, 0}, {testnet.ICMPv6(128), foreign6, 0}, {testnet.ICMPv6(135), foreign6, 0},
		{testnet.ICMPv6(1), foreign6, compile.GuardICMPv6}, {testnet.ICMPv6(2), foreign6, compile.GuardICMPv6},
		{testnet.ICMPv6(3), foreign6, compile.GuardICMPv6}, {testnet.ICMPv6(4), foreign6, compile.GuardICMPv6},
	}
	for _, layout := range layouts(t, target) {
		t.Run(layout.String(), func(t *testing.T) {
			l := c.newSharedLab(t)
			policy := blockForeign(compile.Input, compile.Forward)
			for _, off := range [][]compile.Guard{nil, compile.Guards()} {
				policy.WithoutGuards = off
				l.apply(t, compiled(t, policy, target, layout))
				for hook, probes := range map[testnet.Hook][]probe{testnet.Input: linkAndErrors, testnet.Forward: forwarded} {
					for _, p := range probes {
						l.net.Check(t, hook, p.packet, []netip.Addr{p.source}, func(netip.Addr) bool { return p.guard != 0 && off == nil })
					}
				}
			}
			policy.WithoutGuards = nil
			l.apply(t, compiled(t, policy, target, layout))
			l.testConversations(t, l.host, false)
			l.testConversations(t, l.net.Inside, false)
			l.testLoopback(t)

			// What keeps replies alive is the guard and nothing else.
			policy.WithoutGuards = []compile.Guard{compile.GuardEstablished}
			l.apply(t, compiled(t, policy, target, layout))
			l.testConversations(t, l.host, true)
		})
	}
	t.Run("loopback only", func(t *testing.T) {
		// Everything is dropped, this machine's own addresses too, and it can still talk to itself.
		l := c.newLab(t)
		p := everything(compile.Input, compile.Output)
		l.apply(t, compiled(t, p, target, compile.Auto))
		l.testLoopback(t)
		p.WithoutGuards = []compile.Guard{compile.GuardLoopback, compile.GuardEstablished}
		l.apply(t, compiled(t, p, target, compile.Auto))
		serve(t, l.host, netip.MustParseAddrPort("127.0.0.1:77"))
		requireTalk(t, false, l.host, netip.AddrPort{}, "udp", netip.MustParseAddrPort("127.0.0.1:77"))
	})
}
