package backend_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
)

func TestAppendRange(t *testing.T) {
	for _, test := range []struct{ first, last, want string }{
		{"192.0.2.1", "192.0.2.1", "192.0.2.1"},
		{"192.0.2.0", "192.0.2.255", "192.0.2.0/24"},
		{"192.0.2.1", "192.0.2.255", "192.0.2.1-192.0.2.255"},
		{"192.0.2.0", "192.0.3.0", "192.0.2.0-192.0.3.0"},
		{"0.0.0.0", "255.255.255.255", "0.0.0.0/0"},
		{"255.255.255.255", "255.255.255.255", "255.255.255.255"},
		{"192.0.2.9", "255.255.255.255", "192.0.2.9-255.255.255.255"},
		{"224.0.0.0", "255.255.255.255", "224.0.0.0/3"},
		{"::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::/0"},
		{"2001:db8::", "2001:db8::", "2001:db8::"},
		{"2001:db8::", "2001:db8::1", "2001:db8::/127"},
		{"2001:db8::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	} {
		r := cidr.Range{First: netip.MustParseAddr(test.first), Last: netip.MustParseAddr(test.last)}
		require.Equal(t, "x "+test.want, string(backend.AppendRange([]byte("x "), r)))
	}
}

func TestAppendPrefix(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.0/24": "192.0.2.0/24", "192.0.2.1/32": "192.0.2.1", "0.0.0.0/0": "0.0.0.0/0",
		"2001:db8::/32": "2001:db8::/32", "2001:db8::1/128": "2001:db8::1", "::/0": "::/0",
	} {
		require.Equal(t, "x "+want, string(backend.AppendPrefix([]byte("x "), netip.MustParsePrefix(in))))
	}
}

// Whatever comes in, one line of printable ASCII goes out.
func TestCommentText(t *testing.T) {
	require.Equal(t, "DB-IP Lite of 2026-01-01, CC BY 4.0", backend.CommentText("DB-IP Lite of 2026-01-01, CC BY 4.0"))
	require.Equal(t, "a flush ruleset", backend.CommentText("a\nflush ruleset"))
	require.Equal(t, "Gr  e", backend.CommentText("Grüße"), "one blank for each character")
	require.Len(t, backend.CommentText(strings.Repeat("ü\n", 1000)), 200)
	for r := range rune(0x3000) {
		got := backend.CommentText("a" + string(r) + "b")
		require.Len(t, got, 3, "%U", r)
		require.True(t, got[1] >= ' ' && got[1] <= '~', "%U gives %q", r, got)
	}
}

func FuzzCommentText(f *testing.F) {
	for _, s := range []string{"", "a\nb", "\r\x00\x7f", "\u2028\u0085", "\xff\xfe", strings.Repeat("é", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := backend.CommentText(s)
		require.LessOrEqual(t, len(got), 200)
		for i := range len(got) {
			require.True(t, got[i] >= ' ' && got[i] <= '~', "%q", got)
		}
	})
}

func TestToolVersion(t *testing.T) {
	for text, want := range map[string]string{
		"nftables v1.0.6 (Lester Gooch #5)\n": "1.0.6",
		"iptables v1.8.9 (nf_tables)\n":       "1.8.9",
		"iptables-restore v1.4.21\n":          "1.4.21",
		"v2":                                  "2",
		"version v.1.":                        "1",
		"no version here":                     "",
		"v":                                   "",
		"":                                    "",
	} {
		require.Equal(t, want, backend.ToolVersion(text), text)
	}
}
