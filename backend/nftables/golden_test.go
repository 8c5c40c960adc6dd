package nftables_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenPrograms are programs of every layout and hook, and of everything that a rule can say.
func goldenPrograms(t *testing.T) map[string]*compile.Program {
	some := cidr.MustParse("192.0.2.0/24", "198.51.100.7", "198.51.100.9", "2001:db8::/32")
	block := blocking(some)
	block.Origins = []compile.Origin{{Name: "a feed", Licence: "CC0"}}

	allow := compile.AllowOnly("allowed", some, cidr.Set{})
	allow.Owner, allow.PassLocal = "geo", false
	allow.Hooks = []compile.Hook{{Point: compile.Forward}}

	priority := -42
	hooks := blocking(cidr.MustParse("192.0.2.0/24"))
	hooks.Hooks = []compile.Hook{
		{Point: compile.Input, Priority: &priority}, {Point: compile.Forward}, {Point: compile.Output},
		{Point: compile.Prerouting}, {Point: compile.Raw},
	}
	hooks.WithoutGuards = []compile.Guard{compile.GuardEstablished}

	actions := compile.Policy{
		Owner: "geo",
		Keep:  cidr.MustParse("192.0.2.1"),
		Rules: []compile.Rule{
			{Name: "rejected", Addrs: cidr.MustParse("192.0.2.0/25"), Action: compile.Action{Verdict: compile.Reject}},
			{Name: "counted", Addrs: cidr.MustParse("192.0.2.128/26", "2001:db8:1::/48"), Action: compile.Action{Verdict: compile.Drop, Counter: true}},
			{Name: "accepted", Addrs: cidr.MustParse("198.51.100.0/24", "2001:db8:2::/48"), Action: compile.Action{Verdict: compile.Accept}},
			{Name: "passed", Addrs: cidr.MustParse("203.0.113.0/24"), Action: compile.Action{Verdict: compile.Pass, Counter: true}},
		},
		Default: compile.Action{Verdict: compile.Drop},
	}
	everything := blocking(cidr.Everything(cidr.V4).Union(cidr.Everything(cidr.V6)))
	return map[string]*compile.Program{
		"block-linear":        compiled(t, block, compile.Linear),
		"block-interval":      compiled(t, block, compile.IntervalSet),
		"block-split":         compiled(t, block, compile.ChainSplit),
		"allow-linear":        compiled(t, allow, compile.Linear),
		"allow-interval":      compiled(t, allow, compile.IntervalSet),
		"allow-split":         compiled(t, allow, compile.ChainSplit),
		"hooks-interval":      compiled(t, hooks, compile.IntervalSet),
		"actions-interval":    compiled(t, actions, compile.IntervalSet),
		"actions-linear":      compiled(t, actions, compile.Linear),
		"everything-interval": compiled(t, everything, compile.IntervalSet),
		"everything-linear":   compiled(t, everything, compile.Linear),
	}
}

func TestGolden(t *testing.T) {
	for name, p := range goldenPrograms(t) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".golden")
			got := script(t, p)
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// Each golden script loads where there is no table of the owner's, over itself and over every other.
func TestGoldenLoads(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	h := testnet.NewPair(t).Inside
	for name, p := range goldenPrograms(t) {
		text := script(t, p)
		h.Run(t, text, "nft", "-f", "-")
		first := h.Ruleset(t)
		h.Run(t, text, "nft", "-f", "-")
		require.Equal(t, first, h.Ruleset(t), name)
		h.Run(t, "", "nft", "flush", "ruleset")
		h.Run(t, text, "nft", "-f", "-")
		require.Equal(t, first, h.Ruleset(t), name)
	}
}
