package cidr_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

func read(text string, opts ...cidr.ListOption) (cidr.Set, error) {
	return cidr.ReadList(strings.NewReader(text), "list.txt", opts...)
}

func TestReadListTakes(t *testing.T) {
	long := strings.Repeat("x", cidr.MaxLine-len("1.1.1.1 # "))
	tests := []struct {
		name, in string
		want     []string
	}{
		{"one line", "192.0.2.0/24\n", []string{"192.0.2.0/24"}},
		{"no final newline", "192.0.2.0/24", []string{"192.0.2.0/24"}},
		{"no final newline after CR", "192.0.2.0/24\r", []string{"192.0.2.0/24"}},
		{"empty lines and blanks", "\n\n  \t\n\t 192.0.2.0/24 \t\n\n", []string{"192.0.2.0/24"}},
		{"byte order mark", "\ufeff192.0.2.0/24\n192.0.3.0/24\n", []string{"192.0.2.0/23"}},
		{"byte order mark and comment", "\ufeff# list\r\n192.0.2.0/24\r\n", []string{"192.0.2.0/24"}},
		{"comments", "# a\n; b\n1.1.1.1#c\n1.1.1.2;d\n1.1.1.3 \t# e ; f\n#\n;\n", []string{"1.1.1.1/32", "1.1.1.2/31"}},
		{"addresses in comments stay there", "# see 8.8.8.8 for details\n1.1.1.1 # was 9.9.9.9\n", []string{"1.1.1.1/32"}},
		{"anything in comments", "1.1.1.1 # \x01\xff\u2028 2.2.2.2\n", []string{"1.1.1.1/32"}},
		{"comments with slashes", "// a\n1.1.1.0/31 // b\n1.1.1.2\t//c\n1.1.1.3 // 24\n", []string{"1.1.1.0/30"}},
		{"signs in comments", "1.1.1.0 #/24\n1.1.1.1;x\n1.1.1.2## x\n1.1.1.3#\n", []string{"1.1.1.0/30"}},
		{"columns after a tab", "1.1.1.0\t10\n1.1.1.1 \t a b\t1.5\t10:20:30\t02:00:00:00:00:01\n", []string{"1.1.1.0/31"}},
		{"an URL in a column", "1.1.1.1\thttp://1.1.1.9/x\n", []string{"1.1.1.1/32"}},
		{"brackets", "[2001:db8::1]\n[2001:db8:1::]/48\n[::5] - [::6]\n", []string{
			"::5/128", "::6/128", "2001:db8::1/128", "2001:db8:1::/48",
		}},
		{"half blanks around the dash", "1.1.1.0 -1.1.1.1\n1.1.1.2- 1.1.1.3\t7\n", []string{"1.1.1.0/30"}},
		{"ranges", "192.0.2.0-192.0.2.255\n198.51.100.2 - 198.51.100.3\n", []string{"192.0.2.0/24", "198.51.100.2/31"}},
		{"everything", "0.0.0.0/0\n::/0\n", []string{"0.0.0.0/0", "::/0"}},
		{"the longest line", "1.1.1.1 # " + long + "\r\n1.1.1.0\n", []string{"1.1.1.0/31"}},
		{"the longest line at the end", "1.1.1.0\n1.1.1.1 # " + long + "\n", []string{"1.1.1.0/31"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := read(tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, prefixStrings(s))
			for name, r := range map[string]io.Reader{
				"byte by byte":  iotest.OneByteReader(strings.NewReader(tt.in)),
				"data with EOF": iotest.DataErrReader(strings.NewReader(tt.in)),
				"own buffer":    bufio.NewReaderSize(strings.NewReader(tt.in), 1<<17),
			} {
				again, err := cidr.ReadList(r, "list.txt")
				require.NoError(t, err, name)
				require.True(t, again.Equal(s), name)
			}
		})
	}
}

func TestReadListNamesTheBadLine(t *testing.T) {
	cut := strings.Repeat("1", 80)
	tooLong := strings.Repeat("1", cidr.MaxLine+1)
	tests := []struct {
		name, in     string
		line, column int
		text         string
		want         error
	}{
		{"blanks before", "1.1.1.1\n \t 1.1.1.256 # x\n", 2, 4, "1.1.1.256", cidr.ErrOctet},
		{"after CRLF", "1.1.1.1\r\n\r\nbad\r\n", 3, 1, "bad", cidr.ErrName},
		{"last line without newline", "1.1.1.1\n1.1.1.2", 2, 1, "1.1.1.2", cidr.ErrCut},
		{"last comment without newline", "1.1.1.1\n#", 2, 1, "#", cidr.ErrCut},
		{"last blank line without newline", "1.1.1.1\n ", 2, 1, " ", cidr.ErrCut},
		{"UTF-16, the other way", "\xfe\xff\x001\x00.\n\x00", 1, 1, "\xfe\xff\x001\x00.", cidr.ErrSyntax},
		{"NUL in a comment", "1.1.1.1 # \x00\n", 1, 1, "1.1.1.1 # \x00", cidr.ErrSyntax},
		{"first line after a mark", "\ufeffbad", 1, 4, "bad", cidr.ErrName},
		{"a mark in the middle", "1.1.1.1\n\ufeff1.1.1.2\n", 2, 1, "\ufeff1.1.1.2", cidr.ErrSyntax},
		{"two marks", "\ufeff\ufeff1.1.1.2\n", 1, 4, "\ufeff1.1.1.2", cidr.ErrSyntax},
		{"UTF-16", "\xff\xfe1\x00.\x00", 1, 1, "\xff\xfe1\x00.\x00", cidr.ErrSyntax},
		{"carriage returns alone", "1.1.1.1\r1.1.1.2\r", 1, 8, "\r1.1.1.2", cidr.ErrSyntax},
		{"carriage return in a comment", "1.1.1.1 # x\r1.1.1.2\n", 1, 12, "\r1.1.1.2", cidr.ErrSyntax},
		{"carriage return twice", "1.1.1.1\r\r\n", 1, 8, "\r", cidr.ErrSyntax},
		{"NUL", "1.1.1.1\x00\n", 1, 1, "1.1.1.1\x00", cidr.ErrSyntax},
		{"other white space", "1.1.1.1\v\n", 1, 1, "1.1.1.1\v", cidr.ErrSyntax},
		{"no-break space", "\u00a01.1.1.1\n", 1, 1, "\u00a01.1.1.1", cidr.ErrSyntax},
		{"two slashes without a blank", "1.1.1.0//24\n", 1, 1, "1.1.1.0//24", cidr.ErrLength},
		{"a length behind two slashes", "1.1.1.0 //24\n", 1, 1, "1.1.1.0 //24", cidr.ErrSyntax},
		{"a comment that goes on", "1.1.1.0#/24\n", 1, 1, "1.1.1.0#/24", cidr.ErrSyntax},
		{"and with a dash", "1.1.1.0;-1.1.1.9\n", 1, 1, "1.1.1.0;-1.1.1.9", cidr.ErrSyntax},
		{"and with a dot", "1.1.1.0#.1\n", 1, 1, "1.1.1.0#.1", cidr.ErrSyntax},
		{"and with a colon", "2001:db8:;:1\n", 1, 1, "2001:db8:;:1", cidr.ErrSyntax},
		{"an address in a column", "1.1.1.1\tx\t1.1.1.2\n", 1, 1, "1.1.1.1\tx\t1.1.1.2", cidr.ErrSyntax},
		{"a wrong one", "1.1.1.1\t1.1.1.256\n", 1, 1, "1.1.1.1\t1.1.1.256", cidr.ErrSyntax},
		{"a prefix in a column", "1.1.1.1\tx 2001:db8::/32\n", 1, 1, "1.1.1.1\tx 2001:db8::/32", cidr.ErrSyntax},
		{"a range in a column", "1.1.1.1\tx,1.1.1.1-1.1.1.2\n", 1, 1, "1.1.1.1\tx,1.1.1.1-1.1.1.2", cidr.ErrSyntax},
		{"an address with a port in a column", "1.1.1.1\t1.1.1.2:80\n", 1, 1, "1.1.1.1\t1.1.1.2:80", cidr.ErrSyntax},
		{"brackets in a column", "1.1.1.1\t[::1]:80\n", 1, 1, "1.1.1.1\t[::1]:80", cidr.ErrSyntax},
		{"a netmask in a column", "1.1.1.0\t255.255.255.0\n", 1, 1, "1.1.1.0\t255.255.255.0", cidr.ErrSyntax},
		{"a hexadecimal netmask", "1.1.1.0\t0xffffff00\n", 1, 1, "1.1.1.0\t0xffffff00", cidr.ErrSyntax},
		{"a length in a column", "1.1.1.0\t/24\n", 1, 1, "1.1.1.0\t/24", cidr.ErrSyntax},
		{"a dash for an empty column", "1.1.1.0\t-\tx\n", 1, 1, "1.1.1.0\t-\tx", cidr.ErrName},
		{"port", "[2001:db8::1]:80\n", 1, 1, "[2001:db8::1]:80", cidr.ErrSyntax},
		{"IPv4 in brackets", "[1.1.1.1]\n", 1, 1, "[1.1.1.1]", cidr.ErrSyntax},
		{"an open bracket", "[2001:db8::1\n", 1, 1, "[2001:db8::1", cidr.ErrSyntax},
		{"second word", "1.1.1.0/24 foo\n", 1, 1, "1.1.1.0/24 foo", cidr.ErrSyntax},
		{"two entries", "1.1.1.1 1.1.1.2\n", 1, 1, "1.1.1.1 1.1.1.2", cidr.ErrSyntax},
		{"CSV", "1.2.3.0,1.2.3.255,IT\n", 1, 1, "1.2.3.0,1.2.3.255,IT", cidr.ErrSyntax},
		{"HTML", "<!DOCTYPE html>\n1.1.1.1", 1, 1, "<!DOCTYPE html>", cidr.ErrHTML},
		{"JSON", `{"ip": "1.1.1.1"}`, 1, 1, `{"ip": "1.1.1.1"}`, cidr.ErrSyntax},
		{"URL", "http://1.1.1.1/", 1, 1, "http://1.1.1.1/", cidr.ErrSyntax},
		{"negation", "!1.1.1.1", 1, 1, "!1.1.1.1", cidr.ErrSyntax},
		{"mapped block", "::ffff:0:0/96", 1, 1, "::ffff:0:0/96", cidr.ErrMapped},
		{"zone", "fe80::1%eth0", 1, 1, "fe80::1%eth0", cidr.ErrZone},
		{"reversed", "1.1.1.9 - 1.1.1.1", 1, 1, "1.1.1.9 - 1.1.1.1", cidr.ErrReversed},
		{"mixed", "1.1.1.9 - ::1", 1, 1, "1.1.1.9 - ::1", cidr.ErrMixed},
		{"long text is cut", strings.Repeat("a", 81), 1, 1, strings.Repeat("a", 80), cidr.ErrName},
		{"and not inside a rune", strings.Repeat("a", 79) + "é", 1, 1, strings.Repeat("a", 79), cidr.ErrSyntax},
		{"too long", "1.1.1.1\n" + tooLong + "\n", 2, 1, cut, cidr.ErrLineTooLong},
		{"too long at the end", tooLong, 1, 1, cut, cidr.ErrLineTooLong},
		{"far too long", strings.Repeat("1", 1<<18) + "\n1.1.1.1\n", 1, 1, cut, cidr.ErrLineTooLong},
		{"far too long comment", "#" + tooLong, 1, 1, "#" + cut[1:], cidr.ErrLineTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole":        strings.NewReader(tt.in),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.in)),
				"own buffer":   bufio.NewReaderSize(strings.NewReader(tt.in), 1<<17),
			} {
				s, err := cidr.ReadList(r, "list.txt")
				require.True(t, s.IsEmpty())
				require.ErrorIs(t, err, tt.want, name)
				var list *cidr.ListError
				require.ErrorAs(t, err, &list, name)
				require.Equal(t, 1, list.Total, "%s: %v", name, err)
				got := *list.Lines[0]
				require.Equal(t, cidr.LineError{"list.txt", tt.line, tt.column, tt.text, got.Err}, got, name)
				require.Contains(t, err.Error(), fmt.Sprintf("list.txt:%d:%d: ", tt.line, tt.column))
				require.True(t, utf8.ValidString(err.Error()) && !strings.ContainsAny(err.Error(), "\n\r\x00"), "%q", err)
			}
		})
	}
}

// Whatever is no address by itself makes its line, and only its line, an error.
func TestReadListRefusesWhatParseRefuses(t *testing.T) {
	bad := badPrefixes()
	for in, want := range badAddrs() {
		bad[in] = want
	}
	for in, want := range bad {
		if len(in) > cidr.MaxLine || strings.Contains(in, "\x00") || in == "" || strings.HasSuffix(in, "\r") || in == "[::1]" || in == "1.2.3.0/24 // x" {
			continue // too long, NUL, an empty line, a line end, and what only lists may hold
		}
		s, err := read("192.0.2.1\n" + in + "\n192.0.2.2\n")
		require.True(t, s.IsEmpty(), "%q", in)
		var list *cidr.ListError
		require.ErrorAs(t, err, &list, "%q", in)
		require.Equal(t, 1, list.Total, "%q", in)
		require.Equal(t, 2, list.Lines[0].Line)
		require.ErrorIs(t, err, want, "%q", in)
	}
}

func TestReadListCountsAllBadLines(t *testing.T) {
	var text bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&text, "10.0.%d.%d\n999.0.0.%d\n", i/256, i%256, i)
	}
	s, err := cidr.ReadList(&text, "feed")
	require.True(t, s.IsEmpty())
	var list *cidr.ListError
	require.ErrorAs(t, err, &list)
	require.Equal(t, 10_000, list.Total)
	require.Len(t, list.Lines, cidr.MaxReported)
	require.Len(t, list.Unwrap(), cidr.MaxReported)
	require.Equal(t, 2, list.Lines[0].Line)
	require.Equal(t, 2*cidr.MaxReported, list.Lines[cidr.MaxReported-1].Line)
	require.ErrorContains(t, err, "10000 bad lines")
	require.LessOrEqual(t, strings.Count(err.Error(), "\n"), cidr.MaxReported, "a headline and the lines")
	require.Less(t, len(err.Error()), 200*(cidr.MaxReported+1))
	var line *cidr.LineError
	require.ErrorAs(t, err, &line)
}

func TestReadListEmpty(t *testing.T) {
	for _, in := range []string{"", "\n", "# nothing\n;\n\r\n", "\ufeff", "   "} {
		s, err := read(in)
		require.ErrorIs(t, err, cidr.ErrEmpty, "%q", in)
		require.ErrorContains(t, err, "list.txt")
		require.True(t, s.IsEmpty())
		s, err = read(in, cidr.AllowEmpty())
		require.NoError(t, err, "%q", in)
		require.True(t, s.IsEmpty())
	}
	_, err := read("bad\n", cidr.AllowEmpty())
	require.ErrorIs(t, err, cidr.ErrName)
	require.NotErrorIs(t, err, cidr.ErrEmpty)
}

func TestReadListReaderError(t *testing.T) {
	broken := errors.New("connection reset")
	for _, text := range []string{"", "192.0.2.1", "192.0.2.1\nbad\n192.0", strings.Repeat("1", 1<<16)} {
		s, err := cidr.ReadList(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), "feed")
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "feed: line ")
		require.True(t, s.IsEmpty(), "half a list is no list")
	}
}

// What other tools made of these lists, and what they mean.
func TestReadListPeers(t *testing.T) {
	const last = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
	first4, last4 := "0.0.0.0/32", "255.255.255.255/32"
	tests := []struct {
		fault, in string
		want      []string
	}{
		{"the last address and the first became everything", "255.255.255.255\n0.0.0.0", []string{first4, last4}},
		{"the same in the other order", "0.0.0.0\n255.255.255.255", []string{first4, last4}},
		{"two blocks of unusable space became all between them", "240.0.0.0/4\n0.0.0.0/8", []string{"0.0.0.0/8", "240.0.0.0/4"}},
		{"the last IPv6 address and the first", last + "\n::", []string{"::/128", last + "/128"}},
		{"the last IPv4 address and the first IPv6 address", "255.255.255.255\n::", []string{last4, "::/128"}},
		{"an IPv6 prefix became an IPv4 address", "2001:db8::/32", []string{"2001:db8::/32"}},
		{"the first line was lost to a byte order mark", "\ufeff1.2.3.0/24\n", []string{"1.2.3.0/24"}},
		{"blanks around a dash gave two hosts", "1.2.3.0 - 1.2.3.9", []string{"1.2.3.0/29", "1.2.3.8/31"}},
		{"everything was dropped as out of range", "0.0.0.0/0\n1.2.3.4", []string{"0.0.0.0/0"}},
		{"an IPv6 default swallowed IPv4", "::/0\n10.0.0.0/8", []string{"10.0.0.0/8", "::/0"}},
		{"an IPv6 subnet swallowed IPv4", "::/64\n10.0.0.0/8", []string{"10.0.0.0/8", "::/64"}},
		{"low IPv6 halves panicked", "64:ff9b::/97\n64:ff9b::8000:0/97", []string{"64:ff9b::/96"}},
		{"lower still", "::/128\n::1", []string{"::/127"}},
		{"a mapped prefix stayed apart from its IPv4 twin", "::ffff:1.2.3.0/120\n1.2.3.0/24", []string{"1.2.3.0/24"}},
		{"a comment after the entry cost it its length", "1.2.3.0/24 // x", []string{"1.2.3.0/24"}},
		{"addresses in comments were added", "# see 8.8.8.8 for details\n1.1.1.1 # was 9.9.9.9", []string{"1.1.1.1/32"}},
		{"hosts without a length were dropped", "1.2.3.4\n2001:db8::1", []string{"1.2.3.4/32", "2001:db8::1/128"}},
		{"a comment line was no comment", "# hi\n1.2.3.4", []string{"1.2.3.4/32"}},
		{"neighbours that are no siblings became a parent", "127.157.0.0/16\n127.158.0.0/17", []string{
			"127.157.0.0/16", "127.158.0.0/17",
		}},
	}
	for _, tt := range tests {
		s, err := read(tt.in + "\n")
		require.NoError(t, err, tt.fault)
		require.Equal(t, tt.want, prefixStrings(s), tt.fault)
	}
	refused := []struct {
		fault, in string
		want      error
	}{
		{"a wildcard mask became everything", "1.2.3.0/0.0.0.255", cidr.ErrMask},
		{"what follows the entry was dropped, and its length too", "1.2.3.0/24 foo", cidr.ErrSyntax},
		{"a row of a table became its first address", "1.2.3.0,1.2.3.255,IT", cidr.ErrSyntax},
		{"octal", "010.0.0.1", cidr.ErrLeadingZero},
		{"a short form", "10.1", cidr.ErrSyntax},
		{"a bare number", "16909060", cidr.ErrSyntax},
		{"a reversed range was swapped", "1.2.3.9-1.2.3.4", cidr.ErrReversed},
		{"host bits were kept", "1.2.3.4/24", cidr.ErrHostBits},
		{"a mapped prefix lost its length", "::ffff:1.2.3.0/95", cidr.ErrMapped},
	}
	for _, tt := range refused {
		_, err := read(tt.in)
		require.ErrorIs(t, err, tt.want, tt.fault)
	}
}
