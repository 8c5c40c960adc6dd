//go:build linux

package testnet

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRuleset(t *testing.T) {
	Require(t, NFT)
	n := NewPair(t)
	require.Empty(t, n.Inside.Ruleset(t))
	counted := strings.ReplaceAll(blockDocumentation, " drop", " counter drop")
	n.Inside.Run(t, counted, "nft", "-f", "-")
	before := n.Inside.Ruleset(t)
	require.Equal(t, counted, before)
	n.Probe(t, Input, UDP(53), around())
	require.Equal(t, before, n.Inside.Ruleset(t), "neither counters nor the observer show")
	require.NotContains(t, n.Inside.Run(t, "", "nft", "list", "ruleset"), "packets 0 ", "they did count")

	o, err := newObserver(n.Inside, Input, 10)
	require.NoError(t, err)
	require.Contains(t, n.Inside.Run(t, "", "nft", "list", "ruleset"), observerTable)
	require.Equal(t, before, n.Inside.Ruleset(t))
	require.NoError(t, o.close())
	require.Equal(t, before, n.Inside.Run(t, "", "nft", "-s", "list", "ruleset"), "it is removed")
}

func TestSaved(t *testing.T) {
	for need, variant := range map[Need]string{IPTablesLegacy: "legacy", IPTablesNFT: "nft"} {
		t.Run(variant, func(t *testing.T) {
			Require(t, need)
			n := NewPair(t)
			n.Inside.Run(t, "*filter\n:blocked - [0:0]\n-A INPUT -j blocked\n-A blocked -s 198.51.100.0/24 -j DROP\nCOMMIT\n",
				"iptables-"+variant+"-restore")
			before := n.Inside.Saved(t, "iptables-"+variant+"-save")
			require.Equal(t, "*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\n:blocked -\n"+
				"-A INPUT -j blocked\n-A blocked -s 198.51.100.0/24 -j DROP\nCOMMIT\n", before)
			n.Probe(t, Input, UDP(53), around())
			require.Equal(t, before, n.Inside.Saved(t, "iptables-"+variant+"-save"))
			require.Equal(t, before, n.Inside.Saved(t, "iptables-"+variant+"-save -c"), "without counters")

			n.Inside.Run(t, "", "iptables-"+variant, "-A", "blocked", "-j", "RETURN")
			require.NotEqual(t, before, n.Inside.Saved(t, "iptables-"+variant+"-save"))
		})
	}
}
