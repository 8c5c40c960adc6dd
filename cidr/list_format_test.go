package cidr_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/internal/refdata"
	"github.com/stretchr/testify/require"
)

func TestFormatNames(t *testing.T) {
	for f := cidr.FormatPlain; f <= cidr.FormatCSV; f++ {
		got, err := cidr.ParseListFormat(f.String())
		require.NoError(t, err)
		require.Equal(t, f, got)
	}
	_, err := cidr.ParseListFormat("xml")
	require.ErrorIs(t, err, cidr.ErrOption)
	require.ErrorContains(t, err, "plain, dat, p2p, ipset, rir, csv")
	require.Equal(t, "no list format", cidr.ListFormat(77).String())
}

// formatTest is a list in one format: what it holds, and how many rows the format says to leave.
type formatTest struct {
	name, in string
	opts     []cidr.ListOption
	want     []string
	ignored  int
}

func TestFormatsTake(t *testing.T) {
	format := func(f cidr.ListFormat, more ...cidr.ListOption) []cidr.ListOption {
		return append([]cidr.ListOption{cidr.Format(f)}, more...)
	}
	const save = `create a hash:net family inet hashsize 1024 maxelem 65536 counters comment
create b hash:ip family inet6 hashsize 1024 maxelem 65536
create ports hash:ip,port family inet hashsize 1024 maxelem 65536
add a 192.0.2.0/24 packets 0 bytes 0 comment "nomatch in a \\ comment"
add b 2001:db8::1
add a 198.51.100.7 timeout 300 comment ""
add ports 192.0.2.1,tcp:80
`
	tests := []formatTest{
		{"dat", "# c\n001.002.003.004 - 001.002.003.255 , 000 , Some, body - here\n010.0.0.8-10.0.0.9,127,x\n1.1.1.1 - 1.1.1.1 , 128 , allowed\n// x\n", format(cidr.FormatDAT),
			[]string{"1.2.3.4/30", "1.2.3.8/29", "1.2.3.16/28", "1.2.3.32/27", "1.2.3.64/26", "1.2.3.128/25", "10.0.0.8/31"}, 1},
		{"p2p", "# c\r\nA: b - c:d:192.0.2.0-192.0.2.255\r\n:198.51.100.1-198.51.100.1\r\n", format(cidr.FormatP2P), []string{"192.0.2.0/24", "198.51.100.1/32"}, 0},
		{"ipset, one of several", save, format(cidr.FormatIPSet, cidr.IPSetName("a")), []string{"192.0.2.0/24", "198.51.100.7/32"}, 2},
		{"ipset, another", save, format(cidr.FormatIPSet, cidr.IPSetName("b")), []string{"2001:db8::1/128"}, 3},
		{"ipset, ranges", "create a bitmap:ip range 192.0.2.0-192.0.2.255\nadd a 192.0.2.0-192.0.2.127\nadd a 192.0.2.255\n", format(cidr.FormatIPSet), []string{"192.0.2.0/25", "192.0.2.255/32"}, 0},
		{"ipset, exceptions", "create a hash:net family inet\nadd a 10.0.0.0/9 nomatch\nadd a 10.0.0.0/24\nadd a 10.0.0.0/8\nadd a 10.0.0.9 nomatch\nadd a 0.0.0.0/1 nomatch\n", format(cidr.FormatIPSet),
			[]string{"10.0.0.0/29", "10.0.0.8/32", "10.0.0.10/31", "10.0.0.12/30", "10.0.0.16/28", "10.0.0.32/27", "10.0.0.64/26", "10.0.0.128/25", "10.128.0.0/9"}, 0},
		{"rir", "2|x|20260101|5|19830613|20251231|+0000\nx|*|ipv4|*|3|summary\nx|*|ipv6|*|1|summary\nx|*|asn|*|1|summary\n" +
			"x|AU|ipv4|192.0.2.0|768|20100101|allocated\nx||ipv4|198.51.100.0|256||available\nx|EU|ipv4|203.0.113.3|3|20100101|assigned|opaque\nx|ZZ|asn|64496|1|20100101|assigned\nx|AU|ipv6|2001:db8::|33|20100101|allocated|o|e\n",
			format(cidr.FormatRIR), []string{"192.0.2.0/23", "192.0.4.0/24", "203.0.113.3/32", "203.0.113.4/31", "2001:db8::/33"}, 6},
		{"rir, to the last address", "x|AU|ipv4|255.255.255.0|256|20100101|allocated\nx|AU|ipv4|0.0.0.0|1|20100101|allocated\n", format(cidr.FormatRIR), []string{"0.0.0.0/32", "255.255.255.0/24"}, 0},
		{"csv, two columns", "192.0.2.0,192.0.2.9,\"a, \"\"b\"\"\",x\n2001:db8::,2001:db8::f,,\n", format(cidr.FormatCSV, cidr.Columns("1", "2")), []string{"192.0.2.0/29", "192.0.2.8/31", "2001:db8::/124"}, 0},
		{"csv, a name", "Who,\"IP Range\",x\n\"A, B\", 192.0.2.0/24 ,\nC,198.51.100.1-198.51.100.2,\nD,\"2001:db8::1\",\n", format(cidr.FormatCSV, cidr.Columns("ip range")), []string{"192.0.2.0/24", "198.51.100.1/32", "198.51.100.2/32", "2001:db8::1/128"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var report cidr.ListReport
			s, err := read(tt.in, append(tt.opts, cidr.Report(&report))...)
			require.NoError(t, err)
			require.Equal(t, tt.want, prefixStrings(s))
			require.Equal(t, tt.ignored, report.Ignored)
			require.Equal(t, strings.Count(tt.in, "\n"), report.Lines)
			require.Zero(t, report.Bad.Total)
			again, err := cidr.ReadList(iotest.OneByteReader(strings.NewReader(tt.in)), "x", tt.opts...)
			require.NoError(t, err)
			require.True(t, again.Equal(s))
			lenient, err := read(tt.in, append(tt.opts, cidr.Lenient(&report))...)
			require.NoError(t, err)
			require.True(t, lenient.Equal(s))
		})
	}
}

func TestFormatsRefuse(t *testing.T) {
	tests := []struct {
		name   string
		format cidr.ListFormat
		in     string
		want   error
	}{
		{"dat: no level", cidr.FormatDAT, "1.2.3.4 - 1.2.3.5\n", cidr.ErrSyntax},
		{"dat: a level that is none", cidr.FormatDAT, "1.2.3.4 - 1.2.3.5 , x , y\n", cidr.ErrSyntax},
		{"dat: reversed", cidr.FormatDAT, "1.2.3.6 - 1.2.3.5 , 0 , y\n", cidr.ErrReversed},
		{"dat: an octet over 255", cidr.FormatDAT, "1.2.3.256 - 1.2.4.5 , 0 , y\n", cidr.ErrOctet},
		{"dat: IPv6", cidr.FormatDAT, "::1 - ::2 , 0 , y\n", cidr.ErrSyntax},
		{"p2p: a plain range", cidr.FormatP2P, "1.2.3.4-1.2.3.5\n", cidr.ErrSyntax},
		{"p2p: one address", cidr.FormatP2P, "x:1.2.3.4\n", cidr.ErrSyntax},
		{"p2p: leading zeros", cidr.FormatP2P, "x:1.2.3.010-1.2.3.011\n", cidr.ErrLeadingZero},
		{"p2p: IPv6", cidr.FormatP2P, "x:2001:db8::1-2001:db8::2\n", nil},
		{"ipset: no create", cidr.FormatIPSet, "add a 192.0.2.1\n", cidr.ErrSyntax},
		{"ipset: several sets", cidr.FormatIPSet, "create a hash:ip family inet\ncreate b hash:ip family inet\nadd a 192.0.2.1\nadd b 192.0.2.2\n", cidr.ErrOption},
		{"ipset: ports", cidr.FormatIPSet, "create a hash:ip,port family inet\nadd a 192.0.2.1,tcp:80\n", cidr.ErrSyntax},
		{"ipset: both ways", cidr.FormatIPSet, "create a hash:net family inet\nadd a 192.0.2.0/24\nadd a 192.0.2.0/24 nomatch\n", cidr.ErrSyntax},
		{"ipset: an open quote", cidr.FormatIPSet, "create a hash:net family inet\nadd a 192.0.2.0/24 comment \"x\n", cidr.ErrSyntax},
		{"ipset: an unknown word", cidr.FormatIPSet, "create a hash:net family inet\nadd a 192.0.2.0/24 flush\n", cidr.ErrSyntax},
		{"ipset: another command", cidr.FormatIPSet, "create a hash:net family inet\nflush a\n", cidr.ErrSyntax},
		{"rir: too many", cidr.FormatRIR, "x|AU|ipv4|255.255.255.0|257|20100101|allocated\n", cidr.ErrLength},
		{"rir: none", cidr.FormatRIR, "x|AU|ipv4|255.255.255.0|0|20100101|allocated\n", cidr.ErrLength},
		{"rir: more than there are", cidr.FormatRIR, "x|AU|ipv4|0.0.0.0|4294967297|20100101|allocated\n", cidr.ErrLength},
		{"rir: a prefix length that is none", cidr.FormatRIR, "x|AU|ipv6|2001:db8::|129|20100101|allocated\n", cidr.ErrLength},
		{"rir: another status", cidr.FormatRIR, "x|AU|ipv4|192.0.2.0|256|20100101|lost\n", cidr.ErrSyntax},
		{"rir: rows are missing", cidr.FormatRIR, "x|*|ipv4|*|2|summary\nx|AU|ipv4|192.0.2.0|256|20100101|allocated\n", cidr.ErrCut},
		{"rir: a plain list", cidr.FormatRIR, "192.0.2.0/24\n", cidr.ErrSyntax},
	}
	for _, tt := range tests {
		s, err := read(tt.in, cidr.Format(tt.format))
		require.Error(t, err, tt.name)
		require.True(t, s.IsEmpty(), tt.name)
		if tt.want != nil {
			require.ErrorIs(t, err, tt.want, tt.name)
		}
	}
	for _, tt := range []struct {
		in      string
		columns []string
		want    error
	}{
		{"1.2.3.4\n", []string{"2"}, cidr.ErrSyntax},
		{"1.2.3.4,1.2.3.3\n", []string{"1", "2"}, cidr.ErrReversed},
		{"1.2.3.4,::1\n", []string{"1", "2"}, cidr.ErrMixed},
		{"1.2.3.0/24,1.2.4.0\n", []string{"1", "2"}, cidr.ErrSyntax},
		{"a,b\n1.2.3.0/24,x\n", []string{"c"}, cidr.ErrOption},
		{"\"1.2.3.0/24\n", []string{"1"}, cidr.ErrSyntax},
		{"\"1.2.3.0/24\"x,y\n", []string{"1"}, cidr.ErrSyntax},
		{"1.2.3.0/24\n", nil, cidr.ErrOption},
		{"1.2.3.0/24\n", []string{"0"}, cidr.ErrOption},
		{"1.2.3.0/24\n", []string{"1", "2", "3"}, cidr.ErrOption},
	} {
		opts := []cidr.ListOption{cidr.Format(cidr.FormatCSV)}
		if tt.columns != nil {
			opts = append(opts, cidr.Columns(tt.columns...))
		}
		_, err := read(tt.in, opts...)
		require.ErrorIs(t, err, tt.want, "%q %q", tt.in, tt.columns)
	}
}

// The kernel's rule for exceptions, the longest prefix decides, asked for each address of a window.
func TestIPSetExceptionsAgainstTwin(t *testing.T) {
	eachTwin(t, 30, func(t *testing.T, w window, rnd *rand.Rand) {
		if !w.aligned() || !w.base.Is4() {
			return
		}
		var text strings.Builder
		text.WriteString("create s hash:net family inet\n")
		var want twin
		longest := [windowSize]int{}
		seen := map[string]bool{}
		for range 1 + rnd.IntN(20) {
			bits := 24 + rnd.IntN(9)
			at := rnd.IntN(windowSize) >> (32 - bits) << (32 - bits)
			p := fmt.Sprintf("%v/%d", w.addr(at), bits)
			if seen[p] {
				continue
			}
			seen[p] = true
			except := rnd.IntN(2) == 0
			fmt.Fprintf(&text, "add s %s%s\n", p, map[bool]string{true: " nomatch"}[except])
			for i := at; i < at+1<<(32-bits); i++ {
				if bits >= longest[i] {
					longest[i], want[i] = bits, !except
				}
			}
		}
		s, err := read(text.String(), cidr.Format(cidr.FormatIPSet), cidr.AllowEmpty())
		require.NoError(t, err)
		requireTwin(t, w, want, s, text.String())
		// A trace gives the same set, and a line for each address that is in it.
		var b cidr.Builder
		trace := b.Trace()
		require.NoError(t, b.AddList(strings.NewReader(text.String()), "s", cidr.Format(cidr.FormatIPSet), cidr.AllowEmpty()))
		traced, err := b.Build()
		require.NoError(t, err)
		require.True(t, traced.Equal(s))
		for i, in := range want {
			c, ok := trace.Why(w.addr(i))
			require.Equal(t, in, ok)
			require.Equal(t, in, c.Line > 1)
		}
	})
}

func TestLenientSkipsAndReports(t *testing.T) {
	var report cidr.ListReport
	s, err := read("192.0.2.1\n999.0.0.1\nlocalhost\n192.0.2.1/24\n192.0.2.2\n", cidr.Lenient(&report))
	require.NoError(t, err)
	require.Equal(t, []string{"192.0.2.1/32", "192.0.2.2/32"}, prefixStrings(s))
	require.Equal(t, 5, report.Lines)
	require.Equal(t, 2, report.Entries)
	require.Equal(t, 3, report.Bad.Total)
	require.Equal(t, "list.txt", report.Source)
	for i, want := range []error{cidr.ErrOctet, cidr.ErrName, cidr.ErrHostBits} {
		require.ErrorIs(t, report.Bad.Lines[i], want)
		require.Equal(t, i+2, report.Bad.Lines[i].Line)
	}

	_, err = read("x\ny\n", cidr.Lenient(&report), cidr.AllowEmpty())
	require.ErrorIs(t, err, cidr.ErrName, "all lines are bad")
	require.Equal(t, 2, report.Bad.Total)
	_, err = read("192.0.2.1\n", cidr.Lenient(nil))
	require.ErrorIs(t, err, cidr.ErrOption, "what is skipped must not go unreported")
	_, err = read("<html>\n192.0.2.1\n", cidr.Lenient(&report))
	require.ErrorIs(t, err, cidr.ErrHTML)
	s, err = read("192.0.2.1\n192.0.2.2", cidr.Lenient(&report))
	require.NoError(t, err)
	require.Equal(t, []string{"192.0.2.1/32"}, prefixStrings(s), "the cut line is left out")
	require.ErrorIs(t, report.Bad.Lines[0], cidr.ErrCut)
}

func TestListPolicies(t *testing.T) {
	tests := []struct {
		in     string
		option cidr.ListOption
		want   string // of what the option lets pass
		err    error  // without it
	}{
		{"192.0.2.9/24\n", cidr.HostBits(cidr.MaskHostBits), "192.0.2.0/24", cidr.ErrHostBits},
		{"2001:db8:401::/40\n", cidr.HostBits(cidr.MaskHostBits), "2001:db8:400::/40", cidr.ErrHostBits},
		{"192.0.2.010\n", cidr.LeadingZeros(cidr.DecimalLeadingZeros), "192.0.2.10/32", cidr.ErrLeadingZero},
		{"192.0.2.0/024\n", cidr.LeadingZeros(cidr.DecimalLeadingZeros), "192.0.2.0/24", cidr.ErrLeadingZero},
		{"192.000.002.008-192.0.2.09\n", cidr.LeadingZeros(cidr.DecimalLeadingZeros), "192.0.2.8/31", cidr.ErrLeadingZero},
		{"192.0.2.0/255.255.255.0\n", cidr.Netmasks(cidr.TakeNetmasks), "192.0.2.0/24", cidr.ErrMask},
		{"192.0.2.1/255.255.255.255\n", cidr.Netmasks(cidr.TakeNetmasks), "192.0.2.1/32", cidr.ErrMask},
		{"0.0.0.0/0.0.0.0\n", cidr.Netmasks(cidr.TakeNetmasks), "0.0.0.0/0", cidr.ErrMask},
		{"192.0.2.1 somebody 7\n", cidr.MoreText(cidr.IgnoreMoreText), "192.0.2.1/32", cidr.ErrSyntax},
		{"192.0.2.1\n192.0.2.0", cidr.AllowCut(), "192.0.2.0/31", cidr.ErrCut},
	}
	for _, tt := range tests {
		_, err := read(tt.in)
		require.ErrorIs(t, err, tt.err, tt.in)
		s, err := read(tt.in, tt.option)
		require.NoError(t, err, tt.in)
		require.Equal(t, []string{tt.want}, prefixStrings(s), tt.in)
	}
	// What no option lets pass.
	all := []cidr.ListOption{
		cidr.HostBits(cidr.MaskHostBits), cidr.LeadingZeros(cidr.DecimalLeadingZeros), cidr.Netmasks(cidr.TakeNetmasks),
		cidr.MoreText(cidr.IgnoreMoreText), cidr.AllowCut(),
	}
	for in, want := range map[string]error{
		"198.51.100.0/255.0.255.0": cidr.ErrMask, "203.0.113.0/0.0.0.255": cidr.ErrMask, "2001:db8::/255.0.0.0": cidr.ErrMask,
		"192.0.2.0/0.0.0.0": cidr.ErrHostBits, "fe80::1%eth0": cidr.ErrZone, "localhost": cidr.ErrName, "10.1": cidr.ErrSyntax,
		"::ffff:0:0/96": cidr.ErrMapped, "::ffff:0:0/95": cidr.ErrMapped, "192.0.2.256": cidr.ErrOctet, "0192.0.2.1": cidr.ErrLeadingZero,
		"192.0.2.1 192.0.2.2": cidr.ErrSyntax, "192.0.2.0 255.255.255.0": cidr.ErrSyntax, "192.0.2.0/": cidr.ErrLength,
	} {
		_, err := read(in+"\n", all...)
		require.ErrorIs(t, err, want, in)
	}
	var report cidr.ListReport
	s, err := read("::ffff:192.0.2.1\n::ffff:192.0.2.0/121\n192.0.2.9/24\n", cidr.HostBits(cidr.MaskHostBits), cidr.Report(&report))
	require.NoError(t, err)
	require.Equal(t, []string{"192.0.2.0/24"}, prefixStrings(s))
	require.Equal(t, [2]int{2, 1}, [2]int{report.Mapped, report.Masked})
	for _, in := range []string{"::ffff:192.0.2.1\n", "::ffff:192.0.2.0/120\n", "::ffff:192.0.2.1-::ffff:192.0.2.9\n"} {
		_, err = read(in, cidr.MappedAddrs(cidr.RefuseMapped))
		require.ErrorIs(t, err, cidr.ErrMapped, in)
	}
	for _, o := range []cidr.ListOption{
		cidr.HostBits(9), cidr.MappedAddrs(9), cidr.LeadingZeros(9), cidr.Netmasks(9), cidr.MoreText(9), cidr.Format(99), nil,
		cidr.Report(nil), cidr.Columns("1"), cidr.IPSetName("x"), cidr.MaxShrink(cidr.Set{}, 0), cidr.MaxShrink(cidr.Set{}, 1.1),
	} {
		_, err := read("192.0.2.1\n", o)
		require.ErrorIs(t, err, cidr.ErrOption)
	}
}

func TestGzip(t *testing.T) {
	var data bytes.Buffer
	z := gzip.NewWriter(&data)
	fmt.Fprint(z, "192.0.2.0/25\n192.0.2.128/25\n")
	require.NoError(t, z.Close())
	s, err := cidr.ReadList(bytes.NewReader(data.Bytes()), "list.gz")
	require.NoError(t, err)
	require.Equal(t, []string{"192.0.2.0/24"}, prefixStrings(s))
	for n := 3; n < data.Len(); n++ {
		_, err := cidr.ReadList(bytes.NewReader(data.Bytes()[:n]), "list.gz", cidr.AllowCut(), cidr.AllowEmpty())
		require.ErrorIs(t, err, cidr.ErrCut, "%d bytes", n)
	}
}

func TestAddAndRemoveList(t *testing.T) {
	var b cidr.Builder
	trace := b.Trace()
	require.NoError(t, b.AddList(strings.NewReader("198.51.100.0/24\n# x\n2001:db8::/32\n"), "deny.txt"))
	require.NoError(t, b.RemoveList(strings.NewReader("198.51.100.77\n"), "except.txt"))
	s, err := b.Build()
	require.NoError(t, err)
	require.EqualValues(t, 255, s.Only(cidr.V4).NumAddrs().Int64())
	for addr, want := range map[string]string{
		"198.51.100.76": "deny.txt:1: 198.51.100.0/24", "2001:db8::5": "deny.txt:3: 2001:db8::/32",
		"198.51.100.77": "except.txt:1: 198.51.100.77 removed",
	} {
		a, err := cidr.ParseAddr(addr)
		require.NoError(t, err)
		c, ok := trace.Why(a)
		require.True(t, ok)
		require.Equal(t, want, c.String())
	}

	// Half a list never becomes a set.
	require.Error(t, b.AddList(strings.NewReader("192.0.2.1\nbad\n"), "x"))
	require.NoError(t, b.AddList(strings.NewReader("192.0.2.2\n"), "y"))
	s, err = b.Build()
	require.ErrorIs(t, err, cidr.ErrName)
	require.True(t, s.IsEmpty())
}

func TestCaseNamedRanges(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "cases", "p2p-name-ranges", "input.p2p"))
	require.NoError(t, err)
	s, err := read(string(text), cidr.Format(cidr.FormatP2P))
	require.NoError(t, err)
	require.Equal(t, coverOf(t, "p2p-name-ranges"), prefixStrings(s))
	_, err = read(string(text))
	var list *cidr.ListError
	require.ErrorAs(t, err, &list, "as a plain list")
	require.Equal(t, 3, list.Total)
	for i, l := range list.Lines {
		require.Equal(t, i+2, l.Line)
	}
}

func TestCaseNetmasks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "cases", "dotted-netmask", "input.txt"))
	require.NoError(t, err)
	var list *cidr.ListError
	_, err = read(string(text))
	require.ErrorAs(t, err, &list)
	require.Equal(t, 3, list.Total)
	var report cidr.ListReport
	s, err := read(string(text), cidr.Netmasks(cidr.TakeNetmasks), cidr.Lenient(&report))
	require.NoError(t, err)
	require.Equal(t, []string{"192.0.2.0/24"}, prefixStrings(s))
	require.Equal(t, 2, report.Bad.Total)
}

func TestCasesLenient(t *testing.T) {
	for name, bad := range map[string][]int{
		"octet-over-255": {3, 6}, "host-name": {2, 3}, "leading-zero": {2, 3, 4}, "semicolon-comment": nil, "crlf": nil,
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "cases", name, "input.txt"))
		require.NoError(t, err)
		var report cidr.ListReport
		s, err := read(string(text), cidr.Lenient(&report))
		require.NoError(t, err, name)
		require.Equal(t, len(bad), report.Bad.Total, name)
		for i, l := range report.Bad.Lines {
			require.Equal(t, bad[i], l.Line, name)
		}
		if name != "leading-zero" {
			require.Equal(t, coverOf(t, name), prefixStrings(s), name)
		}
	}
	text, err := os.ReadFile(filepath.Join("testdata", "cases", "host-bits", "input.txt"))
	require.NoError(t, err)
	var report cidr.ListReport
	s, err := read(string(text), cidr.HostBits(cidr.MaskHostBits), cidr.Report(&report))
	require.NoError(t, err)
	require.Equal(t, coverOf(t, "host-bits"), prefixStrings(s))
	require.Equal(t, 1, report.Masked)
}

// Real lists, each in its format, give the counts that another program found for them.
func TestRealLists(t *testing.T) {
	for _, tt := range []struct {
		file     string
		opts     []cidr.ListOption
		entries  int
		prefixes int // fewest that cover it; 0: not known
	}{
		{"ipsum.txt", nil, 120_430, 95_644},
		{"x4bnet-datacenter-ipv4.txt", nil, 42_566, 0},
		{"x4bnet-datacenter-ipv6.txt", nil, 8_752, 0},
		{"x4bnet-vpn-ipv4.txt", nil, 10_862, 0},
		{"zhanhb-chnroute.txt", nil, 4_741, 3_155},
		{"gaoyifan-china46.txt", nil, 4_604 + 1_641, 0},
		{"client9-datacenters.csv", []cidr.ListOption{cidr.Format(cidr.FormatCSV), cidr.Columns("1", "2")}, 3_429, 0},
		{"brakmic-sinkholes.csv", []cidr.ListOption{cidr.Format(cidr.FormatCSV), cidr.Columns("IP Range")}, 169, 0}, // and a header
		{"delegated-ripencc-2014.txt.gz", []cidr.ListOption{cidr.Format(cidr.FormatRIR)}, 49_932 + 9_333, 0},
	} {
		t.Run(tt.file, func(t *testing.T) {
			f, err := os.Open(refdata.File(t, filepath.Join("lists", tt.file)))
			require.NoError(t, err)
			defer f.Close()
			var report cidr.ListReport
			s, err := cidr.ReadList(f, tt.file, append(tt.opts, cidr.Lenient(&report))...)
			require.NoError(t, err)
			for _, bad := range report.Bad.Lines {
				t.Log(bad)
			}
			t.Logf("%d lines, %d entries, %d ignored, %d bad; %d ranges, %d prefixes", report.Lines, report.Entries, report.Ignored,
				report.Bad.Total, s.NumRanges(), s.NumPrefixes())
			require.Equal(t, tt.entries, report.Entries+report.Bad.Total)
			if tt.prefixes > 0 {
				require.Equal(t, tt.prefixes, s.NumPrefixes())
			}
			requireNormal(t, s)
		})
	}
}

func TestRealListsPerCountry(t *testing.T) {
	f, err := os.Open(refdata.File(t, filepath.Join("lists", "ipverse-rir-ip-txt.tar.gz")))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	lists := 0
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if !strings.HasSuffix(h.Name, ".txt") {
			continue
		}
		lists++
		// Some countries have no networks of a family; the list then holds its header alone.
		var report cidr.ListReport
		s, err := cidr.ReadList(in, h.Name, cidr.AllowEmpty(), cidr.Report(&report))
		require.NoError(t, err)
		require.Equal(t, report.Entries, s.NumPrefixes(), "%s says that it is aggregated", h.Name)
	}
	require.Greater(t, lists, 400)
}
