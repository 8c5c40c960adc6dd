//go:build linux

package testnet

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An observation that is not complete is an error, never a verdict.
func TestObserverNoticesItsOwnLosses(t *testing.T) {
	Require(t, NFT)
	n := NewPair(t)
	in, err := newInjector(n)
	require.NoError(t, err)
	defer in.close()

	o, err := newObserver(n.Inside, Input, 3)
	require.NoError(t, err)
	require.NoError(t, in.inject(UDP(53), n.Inside, addrs("8.8.8.1", "8.8.8.2", "8.8.8.3")))
	for _, s := range []side{early, late} {
		seen, err := o.read(s)
		require.NoError(t, err)
		require.Len(t, seen, 3)
	}
	// The sets have room for one more.
	require.NoError(t, in.inject(UDP(53), n.Inside, addrs("8.8.8.4", "8.8.8.5", "8.8.8.6")))
	for _, s := range []side{early, late} {
		_, err = o.read(s)
		require.ErrorContains(t, err, "could not record 2 probes")
	}
	require.NoError(t, o.close())

	// An element that is not there although its packet was counted.
	o, err = newObserver(n.Inside, Input, 3)
	require.NoError(t, err)
	require.NoError(t, in.inject(UDP(53), n.Inside, addrs("8.8.8.1", "8.8.8.2")))
	n.Inside.Run(t, "", "nft", "delete", "element", "inet", observerTable, "passed4", "{ 8.8.8.1 }")
	_, err = o.read(late)
	require.ErrorContains(t, err, "hold 1 sources where 2 packets were counted")

	n.Inside.Run(t, "", "nft", "flush", "ruleset")
	_, err = o.read(late)
	require.ErrorContains(t, err, "did something flush the ruleset?")
	require.Error(t, o.close())
}

// Only probes count, and other packets are left alone.
func TestObserverSeesProbesOnly(t *testing.T) {
	Require(t, NFT)
	n := NewPair(t)
	o, err := newObserver(n.Inside, Input, 10)
	require.NoError(t, err)
	converse(t, n)
	seen, err := o.read(early)
	require.NoError(t, err)
	require.Empty(t, seen)
	require.NoError(t, o.close())
}

// Probes leave no connections behind.
func TestProbesAreForgotten(t *testing.T) {
	Require(t, NFT, Conntrack)
	n := NewLine(t)
	n.Router.Run(t, strings.ReplaceAll(blockDocumentation, "accept;", "accept; ct state != new drop;"), "nft", "-f", "-")
	for _, p := range []Packet{UDP(53), TCP(443)} {
		for _, hook := range []Hook{Prerouting, Input, Forward} {
			n.Check(t, hook, p, around(), func(a netip.Addr) bool { return hook != Input || notBlocked(a) })
			require.Equal(t, "0", strings.TrimSpace(
				n.Router.Run(t, "", "cat", "/proc/sys/net/netfilter/nf_conntrack_count")))
		}
	}
}
