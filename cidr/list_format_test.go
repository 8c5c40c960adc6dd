package cidr_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

type formatTest struct {
	name, in string
	want     string // the set
	ignored  int
}

func requireFormat(t *testing.T, tests []formatTest, opts ...cidr.ListOption) {
	t.Helper()
	for _, tt := range tests {
		for _, in := range []string{tt.in, strings.ReplaceAll("\ufeff"+tt.in, "\n", "\r\n")} {
			var r cidr.ListReport
			s, err := read(in, append(opts, cidr.Report(&r))...)
			require.NoError(t, err, tt.name)
			require.Equal(t, tt.want, s.String(), tt.name)
			require.Equal(t, tt.ignored, r.Ignored, tt.name)
			requireNormal(t, s)
		}
	}
}

// requireBadLines reads each text as the one bad line of a list.
func requireBadLines(t *testing.T, good string, bad map[string]error, opts ...cidr.ListOption) {
	t.Helper()
	for in, want := range bad {
		text := good + "\n" + in + "\n" + good + "\n"
		_, err := read(text, opts...)
		var list *cidr.ListError
		require.ErrorAs(t, err, &list, in)
		require.Equal(t, 1, list.Total, "%v", err)
		require.Equal(t, strings.Count(good, "\n")+2, list.Lines[0].Line, "%v", err)
		require.ErrorIs(t, err, want, in)
		var r cidr.ListReport
		s, err := read(text, append(opts, cidr.Lenient(&r))...)
		require.NoError(t, err, in)
		alone, err := read(good+"\n", opts...)
		require.NoError(t, err)
		require.True(t, s.Equal(alone), in)
		require.Equal(t, 1, r.Bad.Total)
	}
}

func TestFormatDAT(t *testing.T) {
	dat := cidr.Format(cidr.FormatDAT)
	requireFormat(t, []formatTest{
		{"as it is written", "001.002.003.004 - 001.002.003.255 , 000 , description\n", "{1.2.3.4-1.2.3.255}", 0},
		{"zeros are decimal", "010.000.000.008 - 010.000.000.011 , 100 , x\n", "{10.0.0.8/30}", 0},
		{"zeros are not needed", "10.0.0.8-10.0.0.11,0,x\n", "{10.0.0.8/30}", 0},
		{"commas and dashes in the description", "1.0.0.0 - 1.0.0.1 , 5 , a, b - c, 9.9.9.9\n", "{1.0.0.0/31}", 0},
		{"no description", "1.0.0.0 - 1.0.0.1 , 127\n", "{1.0.0.0/31}", 0},
		{"levels", "1.0.0.0 - 1.0.0.1 , 127 , x\n2.0.0.0 - 2.0.0.1 , 128 , x\n3.0.0.0 - 3.0.0.1 , 255 , x\n", "{1.0.0.0/31}", 2},
		{"comments", "# a\n// b\n; c\n000.000.000.000 - 255.255.255.255 , 000 , all # of it\n", "{0.0.0.0/0}", 0},
	}, dat)
	requireBadLines(t, "1.0.0.0 - 1.0.0.1 , 000 , x", map[string]error{
		"1.2.3.4":                            cidr.ErrSyntax,
		"1.2.3.4 , 000 , x":                  cidr.ErrSyntax,
		"1.2.3.0/24 , 000 , x":               cidr.ErrSyntax,
		"1.2.3.4 - 1.2.3.9":                  cidr.ErrSyntax,
		"1.2.3.4 - 1.2.3.9 , , x":            cidr.ErrSyntax,
		"1.2.3.4 - 1.2.3.9 , 256 , x":        cidr.ErrSyntax,
		"1.2.3.4 - 1.2.3.9 , 0000 , x":       cidr.ErrSyntax,
		"1.2.3.4 - 1.2.3.9 , -1 , x":         cidr.ErrSyntax,
		"1.2.3.9 - 1.2.3.4 , 000 , x":        cidr.ErrReversed,
		"1.2.3.9 - 1.2.3.4 , 200 , x":        cidr.ErrReversed,
		"1.2.3.4 - 1.2.3.256 , 000 , x":      cidr.ErrOctet,
		"1.2.3.4 - 1.2.3.0010 , 000 , x":     cidr.ErrOctet,
		"1.2.3.4 - 1.2.3 , 000 , x":          cidr.ErrSyntax,
		"1.2.3.4 - 1.2.3.4.5 , 000 , x":      cidr.ErrSyntax,
		"a - b , 000 , x":                    cidr.ErrName,
		"2001:db8:: - 2001:db8::1 , 000 , x": cidr.ErrSyntax,
	}, dat)
	_, err := read("1.0.0.0 - 1.0.0.1 , 200 , x\n", dat)
	require.ErrorIs(t, err, cidr.ErrEmpty, "what is allowed is no entry")
}

func TestFormatP2P(t *testing.T) {
	p2p := cidr.Format(cidr.FormatP2P)
	requireFormat(t, []formatTest{
		{"plain", "name:198.51.100.10-198.51.100.11\n", "{198.51.100.10/31}", 0},
		{"colons and dashes in the name", "A-B: x 1.2.3.4-1.2.3.5:198.51.100.0-198.51.100.255\n", "{198.51.100.0/24}", 0},
		{"comment signs in the name", "x # y // z ; :198.51.100.0 - 198.51.100.1\n", "{198.51.100.0/31}", 0},
		{"no name", ":198.51.100.0-198.51.100.1\n", "{198.51.100.0/31}", 0},
		{"a name that is not UTF-8", "caf\xe9:198.51.100.0-198.51.100.1\n", "{198.51.100.0/31}", 0},
		{"comments", "# name:1.1.1.1-1.1.1.2\nx:198.51.100.0-198.51.100.1\n", "{198.51.100.0/31}", 0},
	}, p2p)
	requireBadLines(t, "x:1.0.0.0-1.0.0.1", map[string]error{
		"x":                            cidr.ErrSyntax,
		"1.2.3.4-1.2.3.5":              cidr.ErrSyntax,
		"x:1.2.3.4":                    cidr.ErrSyntax,
		"x:1.2.3.0/24":                 cidr.ErrSyntax,
		"x:1.2.3.4-1.2.3.5 # c":        cidr.ErrSyntax,
		"x:1.2.3.4-1.2.3.5-1.2.3.6":    cidr.ErrSyntax,
		"x:1.2.3.9-1.2.3.4":            cidr.ErrReversed,
		"x:001.2.3.4-1.2.3.9":          cidr.ErrLeadingZero,
		"x:1.2.3.4-1.2.3.256":          cidr.ErrOctet,
		"x:2001:db8::1-2001:db8::2":    cidr.ErrSyntax,
		"x:2001:db8::-2001:db8::":      cidr.ErrSyntax,
		"x:[2001:db8::1]-[2001:db8::]": cidr.ErrSyntax,
	}, p2p)
}

func TestFormatRIR(t *testing.T) {
	rir := cidr.Format(cidr.FormatRIR)
	requireFormat(t, []formatTest{
		{"counts that are no power of two", "x|DE|ipv4|198.18.0.0|73728|19920922|assigned\n", "{198.18.0.0-198.19.31.255}", 0},
		{"a start that is not aligned", "x|DE|ipv4|198.18.1.0|512|19920922|allocated|A-1\n", "{198.18.1.0-198.18.2.255}", 0},
		{"one address", "x|DE|ipv4|255.255.255.255|1||assigned\n", "{255.255.255.255}", 0},
		{"all of it", "x|DE|ipv4|0.0.0.0|4294967296||assigned\n", "{0.0.0.0/0}", 0},
		{"IPv6 has lengths", "x|DE|ipv6|2001:db8::|32||assigned\n", "{2001:db8::/32}", 0},
		{"rows that are not taken", "2|x|1|3|1|2|+0\nx|*|asn|*|1|summary\nx|*|ipv4|*|2|summary\nx|DE|asn|64496|1||assigned\n" +
			"x||ipv4|10.0.0.0|256||available\nx|DE|ipv4|11.0.0.0|256||assigned\nx||ipv6|2001:db8::|32||reserved|\n", "{11.0.0.0/24}", 6},
		{"two files", "2|x|1|1|1|2|+0\nx|*|ipv4|*|1|summary\nx|DE|ipv4|11.0.0.0|256||assigned\n" +
			"2|y|1|1|1|2|+0\ny|*|ipv4|*|1|summary\ny|DE|ipv4|11.0.1.0|256||assigned\n", "{11.0.0.0/23}", 4},
	}, rir)
	requireBadLines(t, "x|DE|ipv4|11.0.0.0|256||assigned", map[string]error{
		"x":                                                 cidr.ErrSyntax,
		"11.0.0.0/24":                                       cidr.ErrSyntax,
		"x|DE|ipv4|11.0.0.0|256|":                           cidr.ErrSyntax,
		"x|DE|ipv5|11.0.0.0|256||assigned":                  cidr.ErrSyntax,
		"x|DE|ipv4|11.0.0.0|256||legacy":                    cidr.ErrSyntax,
		"x|DE|ipv4|11.0.0.0|0||assigned":                    cidr.ErrSyntax,
		"x|DE|ipv4|11.0.0.0|-1||assigned":                   cidr.ErrSyntax,
		"x|DE|ipv4|11.0.0.0|||assigned":                     cidr.ErrSyntax,
		"x|DE|ipv4|11.0.0.0|0256||assigned":                 cidr.ErrSyntax,
		"x|DE|ipv4|255.255.255.0|257||assigned":             cidr.ErrSyntax,
		"x|DE|ipv4|0.0.0.1|4294967296||assigned":            cidr.ErrSyntax,
		"x|DE|ipv4|11.0.0.0|18446744073709551616||assigned": cidr.ErrSyntax,
		"x|DE|ipv4|11.0.0.0|9999999999||assigned":           cidr.ErrSyntax,
		"x|DE|ipv4|2001:db8::|256||assigned":                cidr.ErrSyntax,
		"x|DE|ipv4|11.0.0.256|256||assigned":                cidr.ErrOctet,
		"x|DE|ipv6|11.0.0.0|24||assigned":                   cidr.ErrSyntax,
		"x|DE|ipv6|2001:db8::|129||assigned":                cidr.ErrLength,
		"x|DE|ipv6|2001:db8::1|32||assigned":                cidr.ErrHostBits,
		"x|*|ipv4|*|many|summary":                           cidr.ErrSyntax,
	}, rir)
	var r cidr.ListReport
	for in, want := range map[string]string{
		"x|*|ipv4|*|2|summary\nx|DE|ipv4|11.0.0.0|256||assigned\n": "2 rows of ipv4, there are 1",
		"x|*|ipv4|*|0|summary\nx|DE|ipv4|11.0.0.0|256||assigned\n": "0 rows of ipv4, there are 1",
		"x|*|ipv6|*|1|summary\nx|DE|ipv4|11.0.0.0|256||assigned\n": "1 rows of ipv6, there are 0",
	} {
		for _, opts := range [][]cidr.ListOption{{rir}, {rir, cidr.Lenient(&r), cidr.AllowCut(), cidr.AllowEmpty()}} {
			_, err := read(in, opts...)
			require.ErrorIs(t, err, cidr.ErrCut)
			require.ErrorContains(t, err, want)
		}
	}
	// A bad row is a row.
	s, err := read("x|*|ipv4|*|2|summary\nx|DE|ipv4|11.0.0.0|256||assigned\nx|DE|ipv4|bad|256||assigned\n", rir, cidr.Lenient(&r))
	require.NoError(t, err)
	require.Equal(t, "{11.0.0.0/24}", s.String())
}

func TestFormatCSV(t *testing.T) {
	csv := cidr.Format(cidr.FormatCSV)
	requireFormat(t, []formatTest{
		{"the first", "192.0.2.0/24,x\n198.51.100.1\n", "{192.0.2.0/24 198.51.100.1}", 0},
		{"quotes", "\"192.0.2.0/24\",\"a, \"\"b\"\"\"\n \"198.51.100.1\" , x\n", "{192.0.2.0/24 198.51.100.1}", 0},
		{"comments and blank lines", "# c,d\n\n192.0.2.0 - 192.0.2.1,9.9.9.9\n", "{192.0.2.0/31}", 0},
	}, csv, cidr.Columns("1"))
	requireFormat(t, []formatTest{
		{"two columns", "x,192.0.2.0,192.0.2.9\n\"a,b\",2001:db8::,\"2001:db8::1\",z\n", "{192.0.2.0-192.0.2.9 2001:db8::/127}", 0},
	}, csv, cidr.Columns("2", "3"))
	requireFormat(t, []formatTest{
		{"names", "who, last ,\"first\"\nx,192.0.2.9,192.0.2.0\n", "{192.0.2.0-192.0.2.9}", 0},
		{"other columns", "first,last,first name\n192.0.2.0,192.0.2.9,x\n", "{192.0.2.0-192.0.2.9}", 0},
	}, csv, cidr.Columns("first", "last"))
	requireFormat(t, []formatTest{
		{"a name and a number", "first,last\n192.0.2.0,192.0.2.9\n", "{192.0.2.0-192.0.2.9}", 0},
	}, csv, cidr.Columns("first", "2"))

	requireBadLines(t, "x,192.0.2.0/24", map[string]error{
		"x":                       cidr.ErrSyntax,
		"x,":                      cidr.ErrSyntax,
		"x,y":                     cidr.ErrName,
		"x,\"192.0.2.0/24":        cidr.ErrSyntax,
		"x,\"192.0.2.0/24\"y":     cidr.ErrSyntax,
		"x\"y\",192.0.2.0/24":     cidr.ErrSyntax,
		"x,192.0.2.1/24":          cidr.ErrHostBits,
		"x,\"192.0.2.0\"\"/24\"":  cidr.ErrSyntax,
		"x,192.0.2.0 192.0.2.1":   cidr.ErrSyntax,
		"x,192.0.2.1-9":           cidr.ErrSyntax,
		"x;192.0.2.0/24":          cidr.ErrSyntax,
		"x,\"192.0.2.0,192.0.2\"": cidr.ErrSyntax,
	}, csv, cidr.Columns("2"))
	requireBadLines(t, "192.0.2.0,192.0.2.9", map[string]error{
		"192.0.2.9,192.0.2.0":    cidr.ErrReversed,
		"192.0.2.0/24,192.0.2.9": cidr.ErrSyntax,
		"192.0.2.0,::":           cidr.ErrMixed,
		"192.0.2.0":              cidr.ErrSyntax,
		"192.0.2.0,":             cidr.ErrSyntax,
	}, csv, cidr.Columns("1", "2"))
	_, err := read("x,y,192.0.2.999\n", csv, cidr.Columns("3"))
	require.ErrorContains(t, err, "list.txt:1:5: \"192.0.2.999\"")
	_, err = read("192.0.2.1,192.0.2.999\n", csv, cidr.Columns("1", "2"))
	require.ErrorContains(t, err, "list.txt:1:11: \"192.0.2.999\"")

	// A wrong header makes every row wrong, so nothing is lenient about it.
	var r cidr.ListReport
	for in, want := range map[string]string{
		"a,b\n192.0.2.1,x\n":     `there is no column "net", the header has ["a" "b"]`,
		"net,net\n192.0.2.1,x\n": `two columns "net"`,
		"net,\"b\n192.0.2.1,x\n": "header cannot be read",
	} {
		_, err := read(in, csv, cidr.Columns("net"), cidr.Lenient(&r))
		require.ErrorIs(t, err, cidr.ErrOption, in)
		require.ErrorContains(t, err, want)
	}
}

func TestFormatIPSet(t *testing.T) {
	ipset := cidr.Format(cidr.FormatIPSet)
	const net4 = "create a hash:net family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x1b2c\n"
	const ip4 = "create a hash:ip family inet hashsize 64 maxelem 10 timeout 60 counters comment skbinfo\n"
	requireFormat(t, []formatTest{
		{"hash:ip", ip4 + "add a 192.0.2.1 timeout 5\nadd a 192.0.2.2 packets 1 bytes 2 comment \"x # nomatch y\"\n", "{192.0.2.1-192.0.2.2}", 0},
		{"hash:net", net4 + "add a 192.0.2.0/24\nadd a 198.51.100.7\n", "{192.0.2.0/24 198.51.100.7}", 0},
		{"hash:net for IPv6", "create a hash:net family inet6 hashsize 64\nadd a 2001:db8::/32\nadd a ::1\n", "{::1 2001:db8::/32}", 0},
		{"bitmap:ip", "create a bitmap:ip range 192.0.2.0-192.0.2.255\nadd a 192.0.2.4-192.0.2.7\nadd a 192.0.2.9\n", "{192.0.2.4/30 192.0.2.9}", 0},
		{"netmask", "create a hash:ip netmask 24\nadd a 192.0.2.0\nadd a 198.51.100.0\n", "{192.0.2.0/24 198.51.100.0/24}", 0},
		{"netmask of a bitmap", "create a bitmap:ip range 10.0.0.0/8 netmask 16\nadd a 10.1.0.0-10.2.0.0\n", "{10.1.0.0-10.2.255.255}", 0},
		{"short commands", "-N a hash:ip\n-A a 192.0.2.1\nCOMMIT\n", "{192.0.2.1}", 0},
		{"two sets, one with entries", net4 + "create b hash:net\nadd b 192.0.2.1\n", "{192.0.2.1}", 0},
		{"an exception", net4 + "add a 192.0.2.0/24\nadd a 192.0.2.128/25 nomatch\n", "{192.0.2.0/25}", 0},
		{"an exception first", net4 + "add a 192.0.2.128/25 timeout 0 nomatch comment \"x\"\nadd a 192.0.2.0/24\n", "{192.0.2.0/25}", 0},
		{"a match within an exception", net4 + "add a 192.0.2.129\nadd a 192.0.2.128/25 nomatch\nadd a 192.0.2.0/24\n",
			"{192.0.2.0/25 192.0.2.129}", 0},
		{"an exception from nothing", net4 + "add a 192.0.2.0/24 nomatch\nadd a 10.0.0.0/8\n", "{10.0.0.0/8}", 0},
		{"a wider exception says less", net4 + "add a 10.0.0.0/8 nomatch\nadd a 10.1.0.0/16\n", "{10.1.0.0/16}", 0},
		{"an exception that is a range", net4 + "add a 10.0.0.1-10.0.0.2 nomatch\nadd a 10.0.0.0/30\n", "{10.0.0.0 10.0.0.3}", 0},
	}, ipset)
	requireFormat(t, []formatTest{
		{"the set that is named", net4 + "create b hash:ip,port\nadd b 1.1.1.1,tcp:80\nadd a 192.0.2.1\n", "{192.0.2.1}", 1},
		{"the later of two", "create b hash:net\nadd b 1.1.1.1\n" + net4 + "add a 192.0.2.1\n", "{192.0.2.1}", 1},
	}, ipset, cidr.IPSetName("a"))

	for in, want := range map[string]error{
		"add b 192.0.2.1":                      cidr.ErrSyntax,
		"add a":                                cidr.ErrSyntax,
		"del a 192.0.2.1":                      cidr.ErrSyntax,
		"flush a":                              cidr.ErrSyntax,
		"add a 192.0.2.1 nomatch nonsense":     cidr.ErrSyntax,
		"add a 192.0.2.1 timeout":              cidr.ErrSyntax,
		"add a 192.0.2.1 comment \"x":          cidr.ErrSyntax,
		"add a 192.0.2.1 comment \"x\"y":       cidr.ErrSyntax,
		"add a 192.0.2.1,tcp:80":               cidr.ErrSyntax,
		"add a 2001:db8::1":                    cidr.ErrSyntax,
		"add a 192.0.2.1/24":                   cidr.ErrHostBits,
		"add a 192.0.2.010":                    cidr.ErrLeadingZero,
		"add a localhost":                      cidr.ErrName,
		"create a hash:net":                    cidr.ErrSyntax,
		"create c hash:ip,port":                cidr.ErrSyntax,
		"create c hash:net,iface":              cidr.ErrSyntax,
		"create c list:set size 8":             cidr.ErrSyntax,
		"create c hash:ip family inet5":        cidr.ErrSyntax,
		"create c hash:ip bitmask 255.0.0.255": cidr.ErrSyntax,
		"create c hash:ip netmask 33":          cidr.ErrLength,
		"create c hash:ip family":              cidr.ErrSyntax,
	} {
		text := net4 + "add a 192.0.2.7\n" + in + "\nadd a 192.0.2.8\n"
		_, err := read(text, ipset)
		require.ErrorIs(t, err, want, in)
		require.ErrorContains(t, err, "list.txt:3:1: ", in)
		var r cidr.ListReport
		s, err := read(text, ipset, cidr.Lenient(&r))
		require.NoError(t, err, in)
		require.Equal(t, "{192.0.2.7-192.0.2.8}", s.String(), in)
		require.Equal(t, 1, r.Bad.Total, in)
	}
	for in, want := range map[string]string{
		ip4 + "add a 192.0.2.1 nomatch\n":                                       "nomatch is for hash:net",
		"create a hash:ip netmask 24\nadd a 192.0.2.1\n":                        "HostBits",
		net4 + "add a 10.0.0.0/8\nadd a 11.0.0.0/8\nadd a 10.0.0.0/8 nomatch\n": "line 4: ",
		"create a hash:net family inet6\nadd a ::1-::2\n":                       "no IPv6 range",
		net4 + "create b hash:ip\nadd a 192.0.2.1\nadd b 192.0.2.2\n":           `which of "a", "b" is meant`,
		"create a hash:ip,port,net\nadd a 192.0.2.1,80,10.0.0.0/8\n":            `"hash:ip,port,net"`,
	} {
		_, err := read(in, ipset)
		require.ErrorContains(t, err, want, in)
	}
	_, err := read(net4+"add a 192.0.2.1\n", ipset, cidr.IPSetName("b"))
	require.ErrorIs(t, err, cidr.ErrOption)
	require.ErrorContains(t, err, `there is no set "b", the file has "a"`)
	_, err = read(net4, ipset)
	require.ErrorIs(t, err, cidr.ErrEmpty)
	s, err := read("create a hash:ip netmask 24\nadd a 192.0.2.1\n", ipset, cidr.HostBits(cidr.MaskHostBits))
	require.NoError(t, err)
	require.Equal(t, "{192.0.2.0/24}", s.String())

	// Exceptions of a list are its own: they neither take away what others added, nor add to what is taken away.
	const excepted = net4 + "add a 10.0.0.0/8\nadd a 10.0.0.0/9 nomatch\n"
	b := new(cidr.Builder)
	b.AddSet(cidr.MustParse("10.0.0.1", "10.200.0.1"))
	require.NoError(t, b.AddList(strings.NewReader(excepted), "x", ipset, cidr.MaxShrink(cidr.MustParse("10.128.0.0/9"), 0.1)))
	s, err = b.Build()
	require.NoError(t, err)
	require.Equal(t, "{10.0.0.1 10.128.0.0/9}", s.String())
	b.AddSet(cidr.MustParse("10.0.0.1", "10.200.0.1"))
	require.NoError(t, b.RemoveList(strings.NewReader(excepted), "x", ipset))
	s, err = b.Build()
	require.NoError(t, err)
	require.Equal(t, "{10.0.0.1}", s.String())
	// IPv6 may be cut beside the mapped block, which is never cut itself.
	beside := "create a hash:net family inet6\nadd a ::/0\nadd a ::fffe:0:0/96 nomatch\n"
	s, err = read(beside, ipset)
	require.NoError(t, err)
	require.True(t, s.Equal(cidr.Everything(cidr.V6).Difference(cidr.MustParse("::fffe:0:0/96"))))
	_, err = read(beside+"add a ::1:0:0:0/80 nomatch\n", ipset)
	require.ErrorIs(t, err, cidr.ErrMapped)
}

// The kernel looks for the longest prefix first, one length after the other. That is the twin.
func TestFormatIPSetTwin(t *testing.T) {
	eachTwin(t, 40, func(t *testing.T, w window, rnd *rand.Rand) {
		entries := map[netip.Prefix]bool{}
		var text strings.Builder
		family := map[cidr.Family]string{cidr.V4: "inet", cidr.V6: "inet6"}[w.family]
		fmt.Fprintf(&text, "create a hash:net family %s\n", family)
		for range 1 + rnd.IntN(30) {
			p, err := w.addr(rnd.IntN(windowSize)).Prefix(w.base.BitLen() - rnd.IntN(8))
			require.NoError(t, err)
			if _, twice := entries[p]; twice {
				continue
			}
			entries[p] = rnd.IntN(2) == 0
			fmt.Fprintf(&text, "add a %v%s\n", p, map[bool]string{false: " nomatch"}[entries[p]])
		}
		s, err := read(text.String(), cidr.Format(cidr.FormatIPSet), cidr.AllowEmpty())
		require.NoError(t, err, text.String())
		for _, a := range w.addrs() {
			want := false
			for bits := w.base.BitLen(); bits >= 0; bits-- {
				p, err := a.Prefix(bits)
				require.NoError(t, err)
				if match, found := entries[p]; found {
					want = match
					break
				}
			}
			require.Equal(t, want, s.Contains(a), "%v in\n%s", a, &text)
		}
	})
}
