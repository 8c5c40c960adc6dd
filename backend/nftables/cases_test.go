package nftables_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

func requireOrder(t *testing.T, text string, words ...string) {
	t.Helper()
	at := 0
	for _, word := range words {
		i := strings.Index(text[at:], word)
		require.GreaterOrEqual(t, i, 0, "%q is missing or out of order in\n%s", word, text)
		at += i + len(word)
	}
}

// Who allows one country only still reaches the machine from its own network, and the machine reaches itself.
func TestAllowOnlyKeepsTheNetworkInside(t *testing.T) {
	p := compile.AllowOnly("allow XX", cidr.MustParse("203.0.113.0/24", "2001:db8:1::/48"), cidr.Set{})
	p.Owner = "geo"
	for _, l := range compile.Layouts() {
		prog := compiled(t, p, l)
		var explained strings.Builder
		require.NoError(t, prog.Explain(&explained))
		requireOrder(t, explained.String(), "guard loopback", "guard established", compile.NameLocal, "allow XX", compile.NameDefault)
		requireOrder(t, script(t, prog), `iif "lo" accept`, "ct state established,related accept")

		n := pair(t, prog)
		n.Check(t, testnet.Input, testnet.TCP(22), addrs(
			"203.0.113.5", "192.168.0.5", "10.1.2.3", "172.16.0.1", "172.31.255.255", "169.254.7.7", "2001:db8:1::5", "fe80::5", "fd00::5", "fc00::"),
			func(netip.Addr) bool { return true })
		n.Check(t, testnet.Input, testnet.TCP(22), addrs(
			"198.51.100.5", "203.0.112.255", "203.0.114.0", "172.32.0.0", "11.0.0.0", "100.64.0.1", "192.169.0.0", "2001:db8:2::5", "2600::1", "fe00::1"),
			func(netip.Addr) bool { return false })

		for _, own := range []string{"127.0.0.1:77", "[::1]:77"} {
			listener := n.Inside.Listen(t, "tcp", own)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			c, err := n.Inside.Dial(ctx, "tcp", listener.Addr().String())
			cancel()
			require.NoError(t, err, own)
			c.Close()
		}
	}
}

// The replies to the machine's own requests are passed in the same base chain that drops the peer's requests, and before
// that: an accept in another base chain would not save them.
func TestEstablishedComesFirst(t *testing.T) {
	deny := netip.MustParseAddr("198.51.100.1")
	for _, l := range compile.Layouts() {
		prog := compiled(t, blocking(cidr.MustParse("198.51.100.0/24")), l)
		text := script(t, prog)
		require.Equal(t, 1, strings.Count(text, "type filter hook"))
		// In all layouts the base chain is the last one.
		_, base, _ := strings.Cut(text, "type filter hook")
		drop := "@drop4 drop"
		if l != compile.IntervalSet {
			drop = "goto input-v4"
		}
		requireOrder(t, base, "ct state established,related accept", drop)

		n := pair(t, prog)
		n.Outside.AddAddress(t, deny)
		listener := n.Outside.Listen(t, "tcp", "198.51.100.1:80")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		c, err := n.Inside.Dial(ctx, "tcp", listener.Addr().String())
		cancel()
		require.NoError(t, err, "layout %v: a request to a blocked address", l)
		c.Close()
		n.Check(t, testnet.Input, testnet.TCP(80), []netip.Addr{deny}, func(netip.Addr) bool { return false })
	}
}

// Containers and the machines behind this one are reached through the forward hook: both hooks ask the same set, which is
// written once, and a policy at input alone says that it does not cover them.
func TestForwardHook(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	p := blocking(cidr.MustParse("198.51.100.0/24"))
	p.Hooks = []compile.Hook{{Point: compile.Input}, {Point: compile.Forward}}
	both := script(t, compiled(t, p, compile.IntervalSet))
	require.Equal(t, 1, strings.Count(both, "198.51.100.0/24"))
	require.Equal(t, 2, strings.Count(both, "@drop4 drop"))
	n := testnet.NewLine(t)
	n.Router.Run(t, both, "nft", "-f", "-")
	for _, hook := range []testnet.Hook{testnet.Input, testnet.Forward} {
		n.Check(t, hook, testnet.TCP(80), addrs("198.51.100.5"), func(netip.Addr) bool { return false })
		n.Check(t, hook, testnet.TCP(80), addrs("198.51.101.5"), func(netip.Addr) bool { return true })
	}

	p.Hooks = nil
	prog := compiled(t, p, compile.IntervalSet)
	n.Router.Run(t, script(t, prog), "nft", "-f", "-")
	n.Check(t, testnet.Forward, testnet.TCP(80), addrs("198.51.100.5"), func(netip.Addr) bool { return true })
	var explained strings.Builder
	require.NoError(t, prog.Explain(&explained))
	require.Contains(t, explained.String(), "need the forward hook")
}

// A set that rules use cannot be deleted or made anew with another type by itself. Scripts replace whatever of the
// owner's is there, also what was made by hand, as often as they are loaded.
func TestReplacesSetsInUse(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	h := testnet.NewPair(t).Inside
	h.Run(t, `table inet cidrc_geo {
	set drop4 {
		type ipv6_addr
		flags constant
		elements = { 2001:db8::1 }
	}
	map drop6 {
		type ipv4_addr : verdict
		elements = { 192.0.2.1 : drop }
	}
	chain other {
		ip6 saddr @drop4 drop
	}
	chain input {
		type filter hook input priority -77; policy drop;
		ip saddr vmap @drop6
		jump other
	}
}
`, "nft", "-f", "-")
	text := script(t, compiled(t, blocking(cidr.MustParse("198.51.100.0/24")), compile.IntervalSet))
	h.Run(t, text, "nft", "-f", "-")
	first := h.Ruleset(t)
	require.Equal(t, 1, strings.Count(first, "198.51.100.0/24"))
	require.NotContains(t, first, "192.0.2.1")
	require.NotContains(t, first, "policy drop")
	h.Run(t, text, "nft", "-f", "-")
	require.Equal(t, first, h.Ruleset(t))
}
