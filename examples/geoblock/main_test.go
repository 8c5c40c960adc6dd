package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/internal/testnet"
)

func TestMain(m *testing.M) { testnet.Main(m) }

// geoblock runs the program and returns its exit code and what it wrote.
func geoblock(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// file writes a file for one test and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// A small database: addresses of documentation space stand in for countries.
const database = `192.0.2.0,192.0.2.255,IT
198.51.100.0,198.51.100.255,DE
203.0.113.0,203.0.113.255,CN
2001:db8:1::,2001:db8:1:ffff:ffff:ffff:ffff:ffff,IT
2001:db8:2::,2001:db8:2:ffff:ffff:ffff:ffff:ffff,CN
`

func TestPayload(t *testing.T) {
	db := file(t, "countries.csv", database)
	for _, backend := range []string{"nftables", "iptables", "iptables-legacy", "iptables-nft"} {
		args := []string{"-db", db, "-allow", "it,eu", "-backend", backend}
		code, first, stderr := geoblock(args...)
		require.Equal(t, exitOK, code, stderr)
		require.Contains(t, first, "192.0.2.0/24")
		require.NotContains(t, stderr, "192.0.2.0/24", "the payload is for standard output")
		_, second, _ := geoblock(args...)
		require.Equal(t, first, second)

		path := filepath.Join(t.TempDir(), "out")
		code, stdout, stderr := geoblock(append(args, "-o", path)...)
		require.Equal(t, exitOK, code, stderr)
		require.Empty(t, stdout)
		written, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, first, string(written))
	}
}

func TestExplain(t *testing.T) {
	code, stdout, stderr := geoblock("-db", file(t, "countries.csv", database), "-block", "CN", "-explain")
	require.Equal(t, exitOK, code)
	require.Contains(t, stderr, "layout:")
	require.Contains(t, stderr, "block CN")
	require.Contains(t, stdout, "table inet cidrc_geoblock")
	require.NotContains(t, stdout, "layout:")
}

func TestEval(t *testing.T) {
	db := file(t, "countries.csv", database)
	keep := file(t, "keep.txt", "# ours\n203.0.113.7\n")
	for _, test := range []struct {
		args    string
		code    int
		verdict string
	}{
		{"-allow IT -eval 192.0.2.1", exitOK, "pass"},
		{"-allow IT -eval ::ffff:192.0.2.1", exitOK, "pass"},
		{"-allow IT -eval 203.0.113.1", exitBlocked, "drop"},
		{"-allow IT -eval 2001:db8:1::1", exitOK, "pass"},
		{"-allow IT -eval 2001:db8:2::1", exitBlocked, "drop"},
		{"-allow IT -eval 8.8.8.8", exitBlocked, "drop"},
		{"-allow IT -unlisted pass -eval 8.8.8.8", exitOK, "pass"},
		{"-allow IT -eval 192.168.0.5", exitOK, "pass"},
		{"-allow IT -local drop -eval 192.168.0.5", exitBlocked, "drop"},
		{"-allow IT -keep 203.0.113.0/29 -eval 203.0.113.7", exitOK, "pass"},
		{"-allow IT -keep 2001:db8::1," + keep + " -eval 203.0.113.7", exitOK, "pass"},
		{"-allow IT -keep 2001:db8::1 -keep " + keep + " -eval 2001:db8::1", exitOK, "pass"},
		{"-allow IT -keep " + keep + " -eval 203.0.113.8", exitBlocked, "drop"},
		{"-allow EU -eval 198.51.100.1", exitOK, "pass"},
		{"-allow Europe -eval 203.0.113.1", exitBlocked, "drop"},
		{"-block CN -eval 203.0.113.1", exitBlocked, "drop"},
		{"-block CN -eval 8.8.8.8", exitOK, "pass"},
		{"-block CN -unlisted drop -eval 8.8.8.8", exitBlocked, "drop"},
		{"-block CN -hook forward -backend iptables -eval 203.0.113.1", exitBlocked, "drop"},
		{"-allow IT -hook input,forward -layout linear -eval 192.0.2.1", exitOK, "pass"},
	} {
		code, stdout, stderr := geoblock(append([]string{"-db", db}, strings.Fields(test.args)...)...)
		require.Equal(t, test.code, code, "%s: %s", test.args, stderr)
		require.Equal(t, test.verdict+"\n", stdout, test.args)
	}
}

// Bad input is an error that says what to do, with an exit code other than 0, nothing on standard output and no file.
func TestBadInput(t *testing.T) {
	good := file(t, "countries.csv", database)
	dir := t.TempDir()
	for _, test := range []struct {
		name string
		args []string
		says string
	}{
		{"no policy", nil, "-allow"},
		{"allow and block", []string{"-allow", "IT", "-block", "CN"}, "exclude each other"},
		{"empty policy", []string{"-allow", ""}, "missing"},
		{"blank policy", []string{"-allow", " , "}, "missing"},
		{"unknown country", []string{"-allow", "QQ"}, "QQ"},
		{"typo in a group", []string{"-allow", "Europa"}, "did you mean Europe"},
		{"typo among others", []string{"-allow", "IT,Schengn"}, "Schengen"},
		{"newline in a country", []string{"-allow", "IT\nflush ruleset"}, `\n`},
		{"quote in a country", []string{"-block", `C"N`}, `C`},
		{"country without addresses", []string{"-allow", "AQ", "-db", good}, "no address"},
		{"keyword as owner", []string{"-allow", "IT", "-owner", "drop"}, "drop"},
		{"country as owner that is a keyword", []string{"-allow", "IT", "-owner", "ne"}, `"ne"`},
		{"newline in owner", []string{"-allow", "IT", "-owner", "geo\nflush ruleset"}, "owner"},
		{"quote in owner", []string{"-allow", "IT", "-owner", `geo"`}, "owner"},
		{"empty owner", []string{"-allow", "IT", "-owner", ""}, "owner"},
		{"owner that is too long", []string{"-allow", "IT", "-owner", "abcdefghijklm"}, "12"},
		{"bad verdict", []string{"-allow", "IT", "-unlisted", "maybe"}, "none of drop, pass, any"},
		{"bad local", []string{"-allow", "IT", "-local", "any"}, "none of pass, drop"},
		{"bad hook", []string{"-allow", "IT", "-hook", "inptu"}, "inptu"},
		{"hook without state", []string{"-allow", "IT", "-hook", "raw", "-db", good}, "none of input, forward"},
		{"remove with a hook", []string{"-remove", "-hook", "forward"}, "-hook"},
		{"hook twice", []string{"-allow", "IT", "-hook", "input,input", "-db", good}, "twice"},
		{"bad backend", []string{"-allow", "IT", "-backend", "pf"}, "none of nftables"},
		{"bad layout", []string{"-allow", "IT", "-layout", "magic"}, "magic"},
		{"layout that the backend lacks", []string{"-allow", "IT", "-layout", "interval", "-backend", "iptables", "-db", good}, "chain-tree"},
		{"layout that is too long", []string{"-allow", "IT", "-layout", "linear"}, "2000"},
		{"bad address", []string{"-allow", "IT", "-eval", "192.0.2.010"}, "leading zero"},
		{"name as address", []string{"-allow", "IT", "-eval", "localhost"}, "never resolved"},
		{"bad keep list", []string{"-allow", "IT", "-keep", "192.0.2.1/24"}, "host bits"},
		{"no keep list", []string{"-allow", "IT", "-keep", filepath.Join(dir, "none")}, "no file"},
		{"empty keep list", []string{"-allow", "IT", "-keep", file(t, "empty", "# nothing\n")}, "no entries"},
		{"bad line in the keep list", []string{"-allow", "IT", "-keep", file(t, "bad", "192.0.2.1\nlocalhost\n")}, "bad:2:1"},
		{"words left over", []string{"-allow", "IT", "DE"}, "DE"},
		{"unknown option", []string{"-allow", "IT", "-frobnicate"}, "-h"},
		{"remove and apply", []string{"-remove", "-apply"}, "-remove"},
		{"remove and allow", []string{"-remove", "-allow", "IT"}, "-remove"},
		{"eval and apply", []string{"-allow", "IT", "-eval", "192.0.2.1", "-apply"}, "-eval"},
		{"no database", []string{"-allow", "IT", "-db", filepath.Join(dir, "none.csv")}, "none.csv"},
		{"database is a directory", []string{"-allow", "IT", "-db", dir}, dir},
		{"empty database", []string{"-allow", "IT", "-db", file(t, "e.csv", "")}, "e.csv"},
		{"database cut in a line", []string{"-allow", "IT", "-db", file(t, "cut.csv", database[:len(database)-9])}, "cut.csv"},
		{"database cut in gzip", []string{"-allow", "IT", "-db", file(t, "cut.csv.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00")}, "cut.csv.gz"},
		{"database is a web page", []string{"-allow", "IT", "-db", file(t, "page.csv", "<!DOCTYPE html>\n<html></html>\n")}, "page.csv"},
		{"bad row", []string{"-allow", "IT", "-db", file(t, "row.csv", database+"192.0.3.0,192.0.3.256,IT\n")}, "row.csv:6"},
		{"unwritable file", []string{"-allow", "IT", "-db", good, "-o", filepath.Join(dir, "no", "such", "dir")}, "no/such"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			for _, extra := range [][]string{nil, {"-o", out}} {
				if extra != nil && (slices.Contains(test.args, "-o") || slices.Contains(test.args, "-eval") || len(test.args) > 0 && test.args[0] == "-remove") {
					continue
				}
				code, stdout, stderr := geoblock(append(append([]string{}, extra...), test.args...)...)
				require.NotEqual(t, exitOK, code)
				require.Empty(t, stdout)
				require.Contains(t, stderr, test.says)
				require.NotContains(t, stderr, "\nflush ruleset", "input must not be able to add lines")
				left, err := os.ReadDir(filepath.Dir(out))
				require.NoError(t, err)
				require.Empty(t, left, "no file is left, whole or partial")
			}
		})
	}
}

// A failure leaves the file that was there as it was.
func TestFileSurvivesFailure(t *testing.T) {
	out := file(t, "rules.nft", "the rules of yesterday\n")
	code, _, _ := geoblock("-allow", "IT", "-db", file(t, "e.csv", ""), "-o", out)
	require.Equal(t, exitUsage, code)
	kept, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, "the rules of yesterday\n", string(kept))
}

// A file keeps its permissions, a link stays a link, and - is standard output.
func TestFileStaysWhatItIs(t *testing.T) {
	db := file(t, "countries.csv", database)
	out := file(t, "rules.nft", "old")
	require.NoError(t, os.Chmod(out, 0o600))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(out, link))
	code, _, stderr := geoblock("-db", db, "-allow", "IT", "-o", link)
	require.Equal(t, exitOK, code, stderr)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(out)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	written, err := os.ReadFile(out)
	require.NoError(t, err)

	code, stdout, _ := geoblock("-db", db, "-allow", "IT", "-o", "-")
	require.Equal(t, exitOK, code)
	require.Equal(t, string(written), stdout)
}

// The address from which somebody is logged in is not shut out unless that is meant.
func TestApplyKeepsTheLogin(t *testing.T) {
	t.Setenv("SSH_CONNECTION", "203.0.113.9 50000 192.0.2.1 22")
	code, stdout, stderr := geoblock("-db", file(t, "countries.csv", database), "-allow", "IT", "-apply")
	require.Equal(t, exitUsage, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "-keep 203.0.113.9")
}

func TestHelp(t *testing.T) {
	code, stdout, stderr := geoblock("-h")
	require.Equal(t, exitOK, code)
	require.Empty(t, stderr)
	for _, word := range []string{"-allow", "-block", "-unlisted", "-local", "-keep", "-hook", "-backend", "-db", "-layout", "-explain", "-eval", "-o", "-apply", "-remove", "exit codes", "DB-IP"} {
		require.Contains(t, stdout, word)
	}
}

// Apply, replace and remove on a real kernel, with the small database so that it works without privilege.
func TestApply(t *testing.T) {
	t.Setenv("SSH_CONNECTION", "127.0.0.1 50000 127.0.0.1 22") // whoever runs the tests may be logged in from anywhere
	db := file(t, "countries.csv", database)
	for _, backend := range []struct {
		name, save string
		need       testnet.Need
	}{
		{"nftables", "", testnet.NFT},
		{"netlink", "", testnet.NFT},
		{"iptables-legacy", "iptables-legacy-save", testnet.IPTablesLegacy},
		{"iptables-nft", "iptables-nft-save", testnet.IPTablesNFT},
	} {
		t.Run(backend.name, func(t *testing.T) {
			testnet.Require(t, backend.need, testnet.Conntrack)
			n := testnet.NewPair(t)
			state := func() string {
				if backend.save == "" {
					return n.Inside.Ruleset(t)
				}
				return n.Inside.Saved(t, backend.save)
			}
			in := func(args ...string) {
				t.Helper()
				require.NoError(t, n.Inside.Do(func() error {
					code, stdout, stderr := geoblock(append(args, "-backend", backend.name)...)
					require.Equal(t, exitOK, code, stderr)
					require.Empty(t, stdout)
					return nil
				}))
			}
			if rule := []string{"-A", "INPUT", "-p", "tcp", "--dport", "22", "-j", "ACCEPT"}; backend.save != "" {
				// Somebody else's rule. It also brings the table into being, which nothing takes away again.
				n.Inside.Run(t, "", backend.name, rule...)
				n.Inside.Run(t, "", strings.Replace(backend.name, "ip", "ip6", 1), rule...)
			}
			in("-remove")
			before := state()
			in("-allow", "IT", "-db", db, "-apply")
			first := state()
			require.NotEqual(t, before, first)
			in("-allow", "IT", "-db", db, "-apply")
			require.Equal(t, first, state())
			in("-block", "CN", "-db", db, "-hook", "input,forward", "-layout", "linear", "-apply")
			require.NotEqual(t, first, state())
			in("-remove")
			require.Equal(t, before, state())
		})
	}
}
