package iptables

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// set makes a set of prefixes.
func set(t testing.TB, prefixes ...string) cidr.Set {
	t.Helper()
	var b cidr.Builder
	for _, s := range prefixes {
		b.AddPrefix(netip.MustParsePrefix(s))
	}
	s, err := b.Build()
	require.NoError(t, err)
	return s
}

func compiled(t testing.TB, p compile.Policy, v Variant, l compile.Layout) *compile.Program {
	t.Helper()
	prog, err := compile.Compile(t.Context(), p, Target(v), compile.Options{Layout: l})
	require.NoError(t, err)
	return prog
}

// block is a small policy that drops two networks.
func block(t testing.TB) compile.Policy {
	p := compile.Block("Atlantis", set(t, "192.0.2.0/24", "198.51.100.7/32", "2001:db8:1::/48"), cidr.Set{})
	p.Owner = "geo"
	return p
}

// allow is a small policy that passes two networks and drops everything else.
func allow(t testing.TB) compile.Policy {
	p := compile.AllowOnly("office", set(t, "192.0.2.0/24", "203.0.113.0/25", "2001:db8:1::/48"), cidr.Set{})
	p.Owner = "office"
	p.PassLocal = false
	return p
}

func hooks(points ...compile.Point) []compile.Hook {
	var h []compile.Hook
	for _, p := range points {
		h = append(h, compile.Hook{Point: p})
	}
	return h
}

// goldens are programs whose payloads are in testdata.
func goldens(t testing.TB) map[string]*compile.Program {
	programs := map[string]*compile.Program{}

	p := block(t)
	p.PassLocal = false
	p.Origins = []compile.Origin{{Name: "Example\r\nCOMMIT", Date: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
		Licence: "CC BY 4.0", Attribution: "Addresses by Éxample"}}
	programs["block-input-linear"] = compiled(t, p, Legacy, compile.Linear)

	p = allow(t)
	p.Hooks = hooks(compile.Input, compile.Forward)
	programs["allow-input-forward-split"] = compiled(t, p, NFT, compile.ChainSplit)

	p = block(t)
	p.PassLocal = false
	p.Hooks = hooks(compile.Output)
	p.Rules[0].Action = compile.Action{Verdict: compile.Reject}
	programs["reject-output-split"] = compiled(t, p, Default, compile.ChainSplit)

	p = compile.Policy{
		Owner: "abcdefghijkl",
		Hooks: hooks(compile.Forward),
		Rules: []compile.Rule{
			{Name: "ours", Addrs: set(t, "0.0.0.0/0", "2001:db8::/32"), Action: compile.Action{Verdict: compile.Accept}},
			{Name: "old", Addrs: set(t, "::/96", "::102:0/112"), Action: compile.Action{Verdict: compile.Drop, Counter: true}},
		},
		Default: compile.Action{Verdict: compile.Reject},
	}
	programs["accept-forward-linear"] = compiled(t, p, NFT, compile.Linear)
	return programs
}

func TestRenderGolden(t *testing.T) {
	for name, prog := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			b := New(Variant(prog.Target.Variant), nil)
			arts, err := b.Render(prog)
			require.NoError(t, err)
			require.Len(t, arts, 1)
			text, err := arts[0].Text()
			require.NoError(t, err)
			again, err := arts[0].Text()
			require.NoError(t, err)
			require.Equal(t, text, again)
			require.NotContains(t, text, "\r")

			removals, err := b.RenderRemoval(prog)
			require.NoError(t, err)
			gone, err := removals[0].Text()
			require.NoError(t, err)

			for file, got := range map[string]string{name: text, name + "-remove": gone} {
				path := filepath.Join("testdata", file+".iptables")
				if *update {
					require.NoError(t, os.MkdirAll("testdata", 0o755))
					require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
				}
				want, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, string(want), got)
			}
		})
	}
}

func TestArtifact(t *testing.T) {
	prog := compiled(t, block(t), Legacy, compile.Linear)
	arts, err := New(Legacy, nil, WithLockWait(1500*time.Millisecond)).Render(prog)
	require.NoError(t, err)
	require.Equal(t, "geo.iptables", arts[0].Name)
	require.Equal(t, backend.Rules, arts[0].Phase)
	require.Zero(t, arts[0].Family)
	require.Equal(t, [][]string{
		{"iptables-legacy-restore", "-w", "2", "--noflush"},
		{"ip6tables-legacy-restore", "-w", "2", "--noflush"},
	}, arts[0].Loads)

	arts, err = New(Default, nil, WithoutIPv6(), WithLockWait(0)).Render(prog)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"iptables-restore", "-w", "1", "--noflush"}}, arts[0].Loads)
	require.Equal(t, cidr.V4, arts[0].Family)
}

func TestOtherTarget(t *testing.T) {
	prog := compiled(t, block(t), Legacy, compile.Linear)
	b := New(NFT, &fake{t: t})
	_, err := b.Render(prog)
	require.ErrorIs(t, err, backend.ErrOtherTarget)
	require.EqualError(t, err, "iptables-nft: render geo: the program was compiled for another target: iptables-legacy")
	require.ErrorIs(t, b.Apply(t.Context(), prog), backend.ErrOtherTarget)
	require.Panics(t, func() { New("fast", nil) })

	for _, h := range []compile.Point{compile.Prerouting, compile.Raw} {
		p := block(t)
		p.Hooks = hooks(h)
		p.WithoutGuards = []compile.Guard{compile.GuardEstablished}
		_, err := compile.Compile(t.Context(), p, Target(NFT), compile.Options{})
		require.ErrorIs(t, err, compile.ErrUnsupported)
		require.ErrorContains(t, err, h.String())
	}
}

// An owner of the greatest length still has names that iptables takes, in the longest chain there is.
func TestLongestChainName(t *testing.T) {
	longest := ""
	for _, c := range goldens(t)["accept-forward-linear"].Chains {
		if len(c.Name) > len(longest) {
			longest = c.Name
		}
	}
	require.Equal(t, "cidrc-abcdefghijkl-fwd-icmp6", longest)
	require.Len(t, longest, Target(NFT).Limits.ChainName)
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"abc-1_2":         "abc-1_2",
		"":                `""`,
		"guard: dhcp":     `"guard: dhcp"`,
		`a "b" \ 'c'`:     `"a \"b\" \\ \'c\'"`,
		"cidrc, the rule": `"cidrc, the rule"`,
	} {
		require.Equal(t, want, quote(s))
	}
}

func TestAppendPrefix(t *testing.T) {
	for s, want := range map[string]string{
		"192.0.2.1/32":        "192.0.2.1/32",
		"::/96":               "::/96",
		"::1/128":             "::1/128",
		"::ffff/128":          "::ffff/128",
		"::1:0/112":           "::0.1.0.0/112",
		"::ffff:0.0.0.0/96":   "::ffff:0.0.0.0/96",
		"::1:0:0/96":          "::1:0:0/96",
		"2001:db8:0:0:1::/80": "2001:db8:0:0:1::/80",
		"0:0:0:1::/64":        "0:0:0:1::/64",
	} {
		require.Equal(t, want, string(appendPrefix(nil, netip.MustParsePrefix(s))))
	}
}

// In no program for a target where Pass returns does a rule that passes stand where a jump leads: it would only end the
// chain that was jumped to.
func TestPassIsNeverJumpedTo(t *testing.T) {
	verdicts := []compile.Verdict{compile.Pass, compile.Drop, compile.Reject, compile.Accept, compile.Any}
	a, b := set(t, "10.0.0.0/8", "192.0.2.0/24", "198.51.100.7/32", "2001:db8:1::/48", "2a00::/12"),
		set(t, "192.0.0.0/16", "203.0.113.0/24", "2001:db8::/32")
	n := 0
	for _, forA := range verdicts {
		for _, forB := range verdicts {
			for _, rest := range verdicts {
				p := compile.Policy{
					Owner: "geo", Hooks: hooks(compile.Input, compile.Forward, compile.Output), PassLocal: n%2 == 0,
					Rules: []compile.Rule{
						{Name: "a", Addrs: a, Action: compile.Action{Verdict: forA}},
						{Name: "b", Addrs: b, Action: compile.Action{Verdict: forB}},
					},
					Default: compile.Action{Verdict: rest},
				}
				for _, l := range compile.Layouts() {
					prog, err := compile.Compile(t.Context(), p, Target(NFT), compile.Options{Layout: l})
					if err != nil {
						continue
					}
					n++
					for _, c := range prog.Chains {
						if c.Hook != nil {
							requireNoPassBelowJump(t, c, false, map[*compile.Chain]bool{})
						}
					}
				}
			}
		}
	}
	require.Greater(t, n, 200)
}

func requireNoPassBelowJump(t *testing.T, c *compile.Chain, jumped bool, done map[*compile.Chain]bool) {
	if seen, ok := done[c]; ok && (seen || !jumped) {
		return
	}
	done[c] = jumped
	for _, r := range c.Rules {
		switch r.Do {
		case compile.DoPass:
			require.False(t, jumped, c.Name)
		case compile.DoJump:
			requireNoPassBelowJump(t, r.Chain, true, done)
		case compile.DoGoto:
			requireNoPassBelowJump(t, r.Chain, jumped, done)
		}
	}
}
