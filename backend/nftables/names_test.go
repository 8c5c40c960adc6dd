package nftables_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// Every word of two letters that can be an owner, every country's code among them, gives a script that nft takes, and so
// do longer words that mean something to nft once the name of the table has been made of them.
func TestOwnersLoad(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	var owners []string
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			owners = append(owners, string([]rune{a, b}))
		}
	}
	h := testnet.NewPair(t).Inside
	refused, layouts := 0, compile.Layouts()
	policy := blocking(cidr.MustParse("192.0.2.0/24", "2001:db8::/32"))
	// The kernel takes 1024 base chains at one hook, and without privilege a transaction has to be small.
	for part := range slices.Chunk(append(owners, "a", "z9", "accept_", "inet_x", "geo_", "a23456789012", "flush1", "ge_"), 50) {
		var all strings.Builder
		for i, owner := range part {
			if err := compile.CheckOwner(owner); err != nil {
				require.ErrorContains(t, err, `"`+owner+`"`)
				refused++
				continue
			}
			policy.Owner = owner
			all.WriteString(script(t, compiled(t, policy, layouts[i%len(layouts)])))
		}
		h.Run(t, all.String(), "nft", "-c", "-f", "-")
	}
	require.Empty(t, h.Ruleset(t), "nothing was loaded")
	require.Less(t, refused, 30, "words of nft's own")
	for _, country := range []string{"de", "be", "in", "is", "no", "id", "at", "to", "us"} {
		require.NoError(t, compile.CheckOwner(country))
	}
}

// Text of the user's stays inside comments, and nothing else changes for it.
func TestUsersTextStaysInComments(t *testing.T) {
	clean := blocking(cidr.MustParse("192.0.2.0/24"))
	clean.Origins = []compile.Origin{{Name: "x"}}
	want := script(t, compiled(t, clean, compile.IntervalSet))
	for _, evil := range []string{
		"a\nflush ruleset", "a\r\nflush ruleset", "a\rflush ruleset", "a\\\nflush ruleset", "a\x00", "a\x1b[2J", `a"; flush ruleset; "`, `\`,
		`a\"`, "\u2028flush ruleset", "\u0085flush ruleset", "\xff\nflush ruleset", "include \"/etc/passwd\"", strings.Repeat("\n", 1000),
		"a\vflush ruleset", "a\fflush ruleset", "\\",
	} {
		p := clean
		p.Origins = []compile.Origin{{Name: evil, Licence: evil, Attribution: evil}, {Name: evil}}
		got := script(t, compiled(t, p, compile.IntervalSet))
		require.Equal(t, withoutComments(want), withoutComments(got), "%q", evil)
		require.Equal(t, 3, strings.Count("\n"+got, "\n#"), "%q: a line for the policy and one for each origin", evil)
		require.Regexp(t, regexp.MustCompile(`^[\n\t -~]*$`), got, "%q", evil)

		p = clean
		p.Rules = []compile.Rule{p.Rules[0]}
		p.Rules[0].Name = evil
		_, err := compile.Decide(p)
		if err == nil {
			require.Equal(t, want, script(t, compiled(t, p, compile.IntervalSet)), "the name of a rule is no part of a script")
		}
		p = clean
		p.Owner = evil
		_, err = compile.Decide(p)
		require.ErrorIs(t, err, compile.ErrName)
		p = clean
		p.Hooks = []compile.Hook{{Point: compile.Input, Device: evil}}
		_, err = compile.Decide(p)
		require.Error(t, err)
	}
}

func withoutComments(s string) string {
	return regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(s, "")
}
