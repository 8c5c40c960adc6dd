package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// files writes lists into a directory of their own and returns their paths.
func files(t *testing.T, texts ...string) []string {
	t.Helper()
	var out []string
	for i, text := range texts {
		path := filepath.Join(t.TempDir(), string(rune('a'+i))+".txt")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		out = append(out, path)
	}
	return out
}

func cidrset(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, bad bytes.Buffer
	code = run(args, strings.NewReader(stdin), &out, &bad)
	return code, out.String(), bad.String()
}

func TestCommands(t *testing.T) {
	f := files(t, "192.0.2.0/25\n192.0.2.128/25\n2001:db8::/32\n", "192.0.2.7\n198.51.100.0/24 # x\n")
	a, b := f[0], f[1]
	for _, tt := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"union", a, b}, "192.0.2.0/24\n198.51.100.0/24\n2001:db8::/32\n", exitOK},
		{[]string{"-6", "union", a, b}, "2001:db8::/32\n", exitOK},
		{[]string{"-ranges", "subtract", a, b}, "192.0.2.0-192.0.2.6\n192.0.2.8-192.0.2.255\n2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff\n", exitOK},
		{[]string{"intersect", a, b}, "192.0.2.7/32\n", exitOK},
		{[]string{"-4", "-ranges", "diff", b, a}, "-198.51.100.0-198.51.100.255\n+192.0.2.0-192.0.2.6\n+192.0.2.8-192.0.2.255\n", exitDiffer},
		{[]string{"diff", a, a}, "", exitOK},
		{[]string{"count", b}, "family\tranges\tprefixes\taddresses\tlist\nIPv4\t2\t2\t257\t" + b + "\n", exitOK},
		{[]string{"why", "192.0.2.7", a, b}, a + ":1: 192.0.2.0/25\n" + b + ":1: 192.0.2.7\n", exitOK},
		{[]string{"why", "203.0.113.1", a, b}, "", exitDiffer},
	} {
		code, out, bad := cidrset("", tt.args...)
		require.Equal(t, tt.want, out, "%q", tt.args)
		require.Equal(t, tt.code, code, "%q", tt.args)
		if len(tt.args) == 0 || tt.args[0] != "why" || tt.code == exitOK {
			require.Empty(t, bad)
		} else {
			require.Contains(t, bad, "no list holds 203.0.113.1")
		}
	}
	code, out, _ := cidrset("192.0.2.0/24\n", "subtract", "-", b)
	require.Equal(t, exitOK, code)
	require.True(t, strings.HasPrefix(out, "192.0.2.0/30\n"))
}

func TestNothingIsWrittenWhenSomethingIsWrong(t *testing.T) {
	f := files(t, "192.0.2.0/25\n", "192.0.2.300\n", "", "192.0.2.1\n192.0.2.2")
	for _, args := range [][]string{
		nil, {"join", f[0]}, {"union"}, {"subtract", f[0]}, {"diff", f[0]}, {"diff", f[0], f[0], f[0]}, {"why"}, {"why", "x", f[0]},
		{"union", f[0], f[1]}, {"union", f[0], f[2]}, {"union", f[3]}, {"union", f[0], "/absent"}, {"union", "-", "-"},
		{"-format", "xml", "union", f[0]}, {"-4", "-6", "union", f[0]}, {"-format", "csv", "union", f[0]}, {"-bogus", "union", f[0]},
		{"union", "-ranges", f[0]}, {"why", "192.0.2.0/24", f[0]}, {"-columns", "1", "union", f[0]}, {"-set", "x", "union", f[0]},
	} {
		code, out, bad := cidrset("192.0.2.1\n", args...)
		require.Equal(t, exitWrong, code, "%q", args)
		require.Empty(t, out, "%q", args)
		require.NotEmpty(t, bad, "%q", args)
	}
	_, _, bad := cidrset("", "union", f[3])
	require.Contains(t, bad, "-allow-cut takes it")
	code, out, bad := cidrset("", "-lenient", "-allow-empty", "-allow-cut", "union", f[0], f[3], f[2])
	require.Equal(t, exitOK, code, bad)
	require.Equal(t, "192.0.2.0/25\n", out)
	code, out, bad = cidrset("192.0.2.1\n999.1.1.1\n", "-lenient", "union", "-")
	require.Equal(t, exitOK, code)
	require.Equal(t, "192.0.2.1/32\n", out)
	require.Contains(t, bad, `skipped: standard input:2:1: "999.1.1.1"`)
}
