package nftables_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// A range up to 255.255.255.255, whose end would be no address any more.
func TestNetlinkRangeToTheLast(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	n := testnet.NewPair(t)
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dialIn(n.Inside.Do)})
	p := blocking(readList(t, "224.0.0.0/3\n192.0.2.0/24\n255.255.255.255\n", "feed"))
	p.Hooks = []compile.Hook{{Point: compile.Prerouting}}
	require.NoError(t, nl.Apply(t.Context(), compiled(t, p, compile.IntervalSet)))
	require.Equal(t, "192.0.2.0/24 224.0.0.0/3", elements(n.Inside.Ruleset(t)))
	set := cidr.MustParse("192.0.2.0/24", "224.0.0.0/3")
	n.Check(t, testnet.Prerouting, testnet.UDP(53), addrs("255.255.255.255", "224.0.0.0", "240.0.0.1", "223.255.255.255", "192.0.2.0", "192.0.3.0"),
		func(a netip.Addr) bool { return !set.Contains(a) })
}

// A list of 3,000, which nft cannot load without privilege over the send buffer: it comes in parts, and the live set is
// never a part.
func TestNetlinkLoadsThreeThousand(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	h := testnet.NewPair(t).Inside
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: crampedDial(dialIn(h.Do), 60_000)})
	var list strings.Builder
	for i := range 3000 {
		a := netip.AddrFrom4([4]byte{11, byte(i * 2 / 256), byte(i * 2), 0})
		list.WriteString(a.String() + "/24\n")
	}
	p := compiled(t, blocking(readList(t, list.String(), "feed")), compile.IntervalSet)
	for range 2 {
		require.NoError(t, nl.Apply(t.Context(), p))
		requireInKernel(t, nl, p, "")
	}
	require.Equal(t, 1, strings.Count(h.Ruleset(t), "flags interval"), "one set is left")
}

// Owners that are words of nft's own or a country's code work, or are refused with their name.
func TestNetlinkOwners(t *testing.T) {
	_, nl := inMemory(nftables.NetlinkOptions{})
	for _, owner := range []string{"de", "ge", "gt", "lt", "mh", "ne", "th", "geo"} {
		p := blocking(cidr.MustParse("192.0.2.0/24"))
		p.Owner = owner
		program, err := compile.Compile(t.Context(), p, nl.Target(), compile.Options{Layout: compile.IntervalSet})
		if err != nil {
			require.ErrorIs(t, err, compile.ErrName)
			require.ErrorContains(t, err, `"`+owner+`"`)
			require.ErrorContains(t, nl.Remove(t.Context(), owner), `"`+owner+`"`)
			continue
		}
		require.NoError(t, nl.Apply(t.Context(), program))
		requireInKernel(t, nl, program, "")
	}
	for _, owner := range []string{"x\nflush", "x\ty", "x\x00y", "x\x1b[2J"} {
		require.ErrorIs(t, nl.Remove(t.Context(), owner), compile.ErrName)
	}
}

// Text of users' stays out of messages: the same batch, whatever it is.
func TestNetlinkUsersTextStaysOut(t *testing.T) {
	batch := func(origin string) []byte {
		k, _ := inMemory(nftables.NetlinkOptions{})
		var b []byte
		nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: func() (nftables.Conn, error) {
			c, err := k.Dial()
			return batchRecorder{c, &b}, err
		}})
		p := blocking(cidr.MustParse("192.0.2.0/24"))
		p.Origins = []compile.Origin{{Name: origin}}
		require.NoError(t, nl.Apply(t.Context(), compiled(t, p, compile.IntervalSet)))
		return b
	}
	want := batch("ok")
	for _, evil := range []string{"a\nadd s 0.0.0.0/1", "a\r\nflush", "\x00"} {
		require.Equal(t, want, batch(evil))
	}
}

// Whatever is in the owner's table is replaced, sets in use among it, by Apply in one transaction and in parts, and by
// Update, as often as they are called.
func TestNetlinkReplacesSetsInUse(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	h := testnet.NewPair(t).Inside
	dial := dialIn(h.Do)
	whole := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dial})
	parts := nftables.NewNetlink(nftables.NetlinkOptions{Dial: crampedDial(dial, 3800)})
	p := compiled(t, blocking(readList(t, "198.51.100.0/24\n", "feed")), compile.IntervalSet)
	for name, do := range map[string]func() error{
		"apply":    func() error { return whole.Apply(t.Context(), p) },
		"in parts": func() error { return parts.Apply(t.Context(), p) },
		"update":   func() error { _, err := whole.Update(t.Context(), nil, p); return err },
		"repair":   func() error { _, err := whole.Repair(t.Context(), p); return err },
	} {
		require.NoError(t, whole.Remove(t.Context(), "geo"))
		h.Run(t, foreign, "nft", "-f", "-")
		for range 2 {
			require.NoError(t, do(), name)
			text := h.Ruleset(t)
			require.Equal(t, "198.51.100.0/24", elements(text), name)
			require.NotContains(t, text, "policy drop")
			require.NotContains(t, text, "chain other")
			requireInKernel(t, whole, p, name)
		}
	}
}

// foreign is what somebody made by hand in the owner's table.
const foreign = `table inet cidrc_geo {
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
		ip saddr { 10.0.0.0/8, 192.0.2.7 } accept
		jump other
	}
}
`

// Messages grow with the elements and with nothing else, and there are few of them.
func TestNetlinkBatchIsLinear(t *testing.T) {
	size := func(n int) (bytes, messages int) {
		k, _ := inMemory(nftables.NetlinkOptions{})
		var b []byte
		nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: func() (nftables.Conn, error) {
			c, err := k.Dial()
			return batchRecorder{c, &b}, err
		}})
		require.NoError(t, nl.Apply(t.Context(), compiled(t, blocking(isolated(cidr.V4, n)), compile.IntervalSet)))
		return len(b), strings.Count(string(b), "\x0c\x0a\x01\x04")
	}
	small, fewer := size(50_000)
	large, more := size(200_000)
	require.InDelta(t, 4, float64(large)/float64(small), 0.05)
	require.Less(t, large, 200_000*41)
	require.Less(t, fewer, 40)
	require.Less(t, more, 140)
}
