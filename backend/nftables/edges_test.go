package nftables_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// Ranges that reach the ends of the spaces are exact in every layout. Sources that no host takes a packet from at input
// are asked at prerouting, where all of IPv4 arrives.
func TestEndsOfTheSpaces(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	probes := addrs("0.0.0.0", "0.0.0.1", "9.255.255.255", "127.255.255.255", "128.0.0.0", "192.0.2.8", "192.0.2.9", "192.0.2.77", "192.0.3.0",
		"223.255.255.255", "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.254", "255.255.255.255",
		"::", "::2", "7fff:ffff::1", "8000::", "2001:db8::8", "2001:db8::9", "2001:db8:77::1", "fdff::1", "fe00::", "fec0::1", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
	n := testnet.NewPair(t)
	for name, set := range map[string]cidr.Set{
		"to the last of IPv4":     rangeOf(t, "192.0.2.9", "255.255.255.255"),
		"the last of IPv4":        cidr.MustParse("255.255.255.255"),
		"all but the last":        rangeOf(t, "0.0.0.0", "255.255.255.254"),
		"an end that is a prefix": cidr.MustParse("224.0.0.0/3", "192.0.2.0/24", "255.255.255.255"),
		"to the last of IPv6":     rangeOf(t, "2001:db8::9", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
		"from the first of both":  rangeOf(t, "0.0.0.0", "192.0.2.8").Union(rangeOf(t, "::", "2001:db8::8")),
		"all of IPv4":             cidr.MustParse("0.0.0.0/0"),
		"all of IPv6":             cidr.MustParse("::/0"),
		"both":                    cidr.MustParse("0.0.0.0/0", "::/0"),
	} {
		for _, l := range compile.Layouts() {
			for _, verdict := range []compile.Verdict{compile.Drop, compile.Pass} {
				p := blocking(set)
				p.Hooks = []compile.Hook{{Point: compile.Input}, {Point: compile.Prerouting}}
				p.Rules[0].Action.Verdict = verdict
				if verdict == compile.Pass {
					p.Default.Verdict = compile.Drop
				}
				n.Inside.Run(t, script(t, compiled(t, p, l)), "nft", "-f", "-")
				want := func(a netip.Addr) bool { return set.Contains(a) == (verdict == compile.Pass) }
				n.Check(t, testnet.Prerouting, testnet.UDP(53), probes, want)
				require.False(t, t.Failed(), "%s, layout %v, %v:\n%s", name, l, verdict, script(t, compiled(t, p, l)))
			}
		}
	}
}

func rangeOf(t *testing.T, first, last string) cidr.Set {
	t.Helper()
	var b cidr.Builder
	b.AddRange(cidr.Range{First: netip.MustParseAddr(first), Last: netip.MustParseAddr(last)})
	s, err := b.Build()
	require.NoError(t, err)
	return s
}

func readList(t *testing.T, text, source string) cidr.Set {
	t.Helper()
	s, err := cidr.ReadList(strings.NewReader(text), source)
	require.NoError(t, err)
	return s
}

// elements returns what stands between the braces of a script's sets, and of nothing else.
func elements(s string) string {
	var list []string
	for _, part := range strings.Split(s, "elements = { ")[1:] {
		part, _, _ = strings.Cut(part, " }")
		list = append(list, strings.Fields(strings.ReplaceAll(part, ",", " "))...)
	}
	return strings.Join(list, " ")
}

// Lists as people have them: the sets of the script hold exactly what is meant, nft takes them without merging anything
// by itself, and packets agree.
func TestListsOfPeople(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	n := testnet.NewPair(t)
	for _, test := range []struct {
		name       string
		set        cidr.Set
		want       string
		drop, pass []string
	}{
		{"nested and repeated prefixes",
			readList(t, "203.0.113.0/24\n198.51.100.0/23\n198.51.101.0/24\n203.0.113.7\n203.0.113.0/24\n192.0.2.128/25\n192.0.2.0/25\n", "feed"),
			"192.0.2.0/24 198.51.100.0/23 203.0.113.0/24",
			[]string{"192.0.2.9", "198.51.101.255", "203.0.113.7"}, []string{"192.0.3.0", "203.0.112.255"}},
		{"two countries in one",
			readList(t, "198.51.100.0/25\n203.0.113.0/26\n2001:db8:a::/48\n", "aa").Union(readList(t, "198.51.100.128/25\n203.0.113.0/24\n2001:db8:b::/48\n", "bb")),
			"198.51.100.0/24 203.0.113.0/24 2001:db8:a::/47",
			[]string{"198.51.100.200", "203.0.113.255", "2001:db8:b:ffff::1"}, []string{"198.51.101.0", "2001:db8:9::1", "2001:db8:c::"}},
		{"line ends of Windows",
			readList(t, "# made on Windows\r\n192.0.2.0/24\r\n\r\n2001:db8::/48\r\n198.51.100.8\r\n", "feed"),
			"192.0.2.0/24 198.51.100.8 2001:db8::/48",
			[]string{"192.0.2.0", "198.51.100.8", "2001:db8::9"}, []string{"198.51.100.9"}},
		{"both families in one list",
			readList(t, "192.0.2.5\n2001:db8::5\n198.51.100.0/24\n2001:db8:1::/48\n1000::\n", "feed"),
			"192.0.2.5 198.51.100.0/24 1000:: 2001:db8::5 2001:db8:1::/48",
			[]string{"192.0.2.5", "1000::", "2001:db8:1::7"}, []string{"192.0.2.6", "1000::1", "2001:db8::6"}},
		{"IPv4 as a daemon on both families logs it",
			readList(t, "::ffff:203.0.113.7\n::ffff:cb00:7108\n203.0.113.9\n", "feed"),
			"203.0.113.7-203.0.113.9",
			[]string{"203.0.113.7", "203.0.113.8", "203.0.113.9"}, []string{"203.0.113.6", "203.0.113.10"}},
		{"a range to the last address",
			readList(t, "224.0.0.0/3\n192.0.2.0/24\n255.255.255.255\n", "feed"),
			"192.0.2.0/24 224.0.0.0/3",
			[]string{"240.0.0.1", "255.255.255.254", "192.0.2.9"}, []string{"223.255.255.255"}},
		{"all but one host",
			readList(t, "198.51.100.0/24\n", "feed").Difference(readList(t, "198.51.100.77\n", "mine")),
			"198.51.100.0-198.51.100.76 198.51.100.78-198.51.100.255",
			[]string{"198.51.100.76", "198.51.100.78", "198.51.100.0", "198.51.100.255"}, []string{"198.51.100.77", "198.51.101.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := script(t, compiled(t, blocking(test.set), compile.IntervalSet))
			require.Equal(t, test.want, elements(text))
			require.NotContains(t, text, "auto-merge")
			require.NotContains(t, text, "\r")
			for _, l := range compile.Layouts() {
				n.Inside.Run(t, script(t, compiled(t, blocking(test.set), l)), "nft", "-f", "-")
				n.Check(t, testnet.Input, testnet.TCP(22), addrs(test.drop...), func(netip.Addr) bool { return false })
				n.Check(t, testnet.Input, testnet.TCP(22), addrs(test.pass...), func(netip.Addr) bool { return true })
			}
		})
	}
	a, b := readList(t, "198.51.100.0/25\n203.0.113.0/26\n", "aa"), readList(t, "198.51.100.128/25\n203.0.113.0/24\n", "bb")
	require.Equal(t, script(t, compiled(t, blocking(a.Union(b)), compile.IntervalSet)), script(t, compiled(t, blocking(b.Union(a)), compile.IntervalSet)),
		"the order of the lists does not matter")
}
