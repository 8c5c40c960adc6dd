package cidr_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

func TestListPolicies(t *testing.T) {
	mask, zeros := cidr.HostBits(cidr.MaskHostBits), cidr.LeadingZeros(cidr.DecimalLeadingZeros)
	nets, more := cidr.Netmasks(cidr.TakeNetmasks), cidr.MoreText(cidr.IgnoreMoreText)
	unmapped := cidr.MappedAddrs(cidr.RefuseMapped)
	tests := []struct {
		in   string
		opts []cidr.ListOption
		want string // the set, or empty for an error
		err  error
	}{
		{"192.0.2.9/24", []cidr.ListOption{mask}, "{192.0.2.0/24}", nil},
		{"255.255.255.255/1", []cidr.ListOption{mask}, "{128.0.0.0/1}", nil},
		{"2001:db8::1/32", []cidr.ListOption{mask}, "{2001:db8::/32}", nil},
		{"ffff::1/0", []cidr.ListOption{mask}, "{::/0}", nil},
		{"::ffff:192.0.2.9/120", []cidr.ListOption{mask}, "{192.0.2.0/24}", nil},
		{"::ffff:192.0.2.9/96", []cidr.ListOption{mask}, "", cidr.ErrMapped},
		{"::ffff:192.0.2.0/90", []cidr.ListOption{mask}, "", cidr.ErrMapped},
		{"192.0.2.9/33", []cidr.ListOption{mask}, "", cidr.ErrLength},

		{"192.0.2.010", []cidr.ListOption{zeros}, "{192.0.2.10}", nil},
		{"000.0000.00.0", []cidr.ListOption{zeros}, "{0.0.0.0}", nil},
		{"010.000.000.000/08", []cidr.ListOption{zeros}, "{10.0.0.0/8}", nil},
		{"2001:0db8::/032", []cidr.ListOption{zeros}, "{2001:db8::/32}", nil},
		{"010.0.0.08 - 010.0.0.09", []cidr.ListOption{zeros}, "{10.0.0.8/31}", nil},
		{"::ffff:192.000.002.001", []cidr.ListOption{zeros}, "{192.0.2.1}", nil},
		{"192.0.2.0256", []cidr.ListOption{zeros}, "", cidr.ErrOctet},
		{"192.0.2.0/033", []cidr.ListOption{zeros}, "", cidr.ErrLength},
		{"010.1", []cidr.ListOption{zeros}, "", cidr.ErrSyntax},
		{"0x10.1.1.1", []cidr.ListOption{zeros}, "", cidr.ErrSyntax},

		{"192.0.2.0/255.255.255.0", []cidr.ListOption{nets}, "{192.0.2.0/24}", nil},
		{"192.0.2.1/255.255.255.255", []cidr.ListOption{nets}, "{192.0.2.1}", nil},
		{"128.0.0.0/128.0.0.0", []cidr.ListOption{nets}, "{128.0.0.0/1}", nil},
		{"0.0.0.0/0.0.0.0", []cidr.ListOption{nets}, "{0.0.0.0/0}", nil},
		{"192.0.2.0/0.0.0.0", []cidr.ListOption{nets}, "", cidr.ErrHostBits},
		{"192.0.2.0/0.0.0.0", []cidr.ListOption{nets, mask}, "", cidr.ErrHostBits},
		{"192.0.2.9/255.255.255.0", []cidr.ListOption{nets}, "", cidr.ErrHostBits},
		{"192.0.2.9/255.255.255.0", []cidr.ListOption{nets, mask}, "{192.0.2.0/24}", nil},
		{"192.0.2.0/0.0.0.255", []cidr.ListOption{nets, mask}, "", cidr.ErrMask},
		{"192.0.2.0/255.0.255.0", []cidr.ListOption{nets, mask}, "", cidr.ErrMask},
		{"192.0.2.0/255.255.255.256", []cidr.ListOption{nets}, "", cidr.ErrMask},
		{"192.0.2.0/24.0", []cidr.ListOption{nets}, "", cidr.ErrMask},
		{"192.0.2.0/255.255.255.000", []cidr.ListOption{nets}, "", cidr.ErrMask},
		{"192.0.2.0/255.255.255.000", []cidr.ListOption{nets, zeros}, "{192.0.2.0/24}", nil},
		{"2001:db8::/255.255.255.0", []cidr.ListOption{nets}, "", cidr.ErrMask},

		{"::ffff:192.0.2.1", []cidr.ListOption{unmapped}, "", cidr.ErrMapped},
		{"::ffff:192.0.2.0/120", []cidr.ListOption{unmapped}, "", cidr.ErrMapped},
		{"192.0.2.1-::ffff:192.0.2.2", []cidr.ListOption{unmapped}, "", cidr.ErrMapped},
		{"::/0", []cidr.ListOption{unmapped}, "{::/0}", nil},

		{"192.0.2.1 seen twice", []cidr.ListOption{more}, "{192.0.2.1}", nil},
		{"192.0.2.1 - 192.0.2.2 seen 1.5 times", []cidr.ListOption{more}, "{192.0.2.1-192.0.2.2}", nil},
		{"192.0.2.1 and 192.0.2.2", []cidr.ListOption{more}, "", cidr.ErrSyntax},
		{"192.0.2.0 255.255.255.0", []cidr.ListOption{more}, "", cidr.ErrSyntax},
		{"192.0.2.0 /24", []cidr.ListOption{more}, "", cidr.ErrSyntax},
		{"192.0.2.0/ 24", []cidr.ListOption{more}, "", cidr.ErrLength},
		{"192.0.2.0 2001:db8::", []cidr.ListOption{more}, "", cidr.ErrSyntax},
		{"192.0.2.0 -x", []cidr.ListOption{more}, "", cidr.ErrName},
	}
	for _, tt := range tests {
		s, err := read(tt.in+"\n", tt.opts...)
		if tt.err != nil {
			require.ErrorIs(t, err, tt.err, tt.in)
			continue
		}
		require.NoError(t, err, tt.in)
		require.Equal(t, tt.want, s.String(), tt.in)
		if _, err := read(tt.in + "\n"); tt.in != "::/0" {
			require.Error(t, err, "%s without the option", tt.in)
		}
	}
}

// What a message says to do must help.
func TestListErrorsNameTheOption(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1/24":            "HostBits(MaskHostBits)",
		"192.0.2.010":             "LeadingZeros(DecimalLeadingZeros)",
		"192.0.2.0/024":           "LeadingZeros(DecimalLeadingZeros)",
		"192.0.2.0/255.255.255.0": "Netmasks(TakeNetmasks)",
		"192.0.2.0/0.0.0.255":     "wildcard",
		"192.0.2.0/255.0.255.0":   "holes",
		"192.0.2.0 x":             "MoreText(IgnoreMoreText)",
		"192.0.2.0\t192.0.2.9":    "Format",
		"192.0.2.0:80":            "port",
		"192.0.2.0\n192.0.2.1":    "AllowCut",
		"\xff\xfe1\x00":           "UTF-8",
		"":                        "empty list",
	} {
		_, err := read(in)
		require.ErrorContains(t, err, want, "%q", in)
	}
}

func TestListOptionsThatAreWrong(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, o := range map[string]cidr.ListOption{
		"nil":                       nil,
		"lenient without a report":  cidr.Lenient(nil),
		"report into nothing":       cidr.Report(nil),
		"no such format":            cidr.Format(99),
		"CSV without columns":       cidr.Format(cidr.FormatCSV),
		"columns without CSV":       cidr.Columns("1"),
		"no column":                 cidr.Columns(),
		"three columns":             cidr.Columns("1", "2", "3"),
		"set of another format":     cidr.IPSetName("a"),
		"no such policy":            cidr.HostBits(2),
		"no such mapped policy":     cidr.MappedAddrs(2),
		"no such zeros policy":      cidr.LeadingZeros(2),
		"no such netmask policy":    cidr.Netmasks(2),
		"no such policy for more":   cidr.MoreText(2),
		"share of nothing":          cidr.MaxShrink(cidr.Set{}, 0),
		"share over 1":              cidr.MaxShrink(cidr.Set{}, 1.1),
		"share that is not a share": cidr.MaxShrink(cidr.Set{}, math.NaN()),
		"no age":                    cidr.MaxAge(0, now, now),
		"no time":                   cidr.MaxAge(time.Hour, now, time.Time{}),
	} {
		_, err := read("192.0.2.1\n", o)
		require.ErrorIs(t, err, cidr.ErrOption, name)
		require.ErrorContains(t, err, "list.txt: ")
	}
	_, err := read("192.0.2.1\n", cidr.Format(cidr.FormatCSV), cidr.Columns("0"))
	require.ErrorIs(t, err, cidr.ErrOption)
}

func TestListFormatNames(t *testing.T) {
	for f := cidr.FormatPlain; f <= cidr.FormatCSV; f++ {
		again, err := cidr.ParseListFormat(f.String())
		require.NoError(t, err)
		require.Equal(t, f, again)
	}
	for _, name := range []string{"", "Plain", "no list format", "json"} {
		_, err := cidr.ParseListFormat(name)
		require.ErrorIs(t, err, cidr.ErrOption)
		require.ErrorContains(t, err, "plain, dat, p2p, ipset, rir, csv")
	}
	require.Equal(t, "no list format", cidr.ListFormat(6).String())
}

func TestListLenient(t *testing.T) {
	var r cidr.ListReport
	s, err := read("# updated 2026-01-02\n192.0.2.1\nbad\n\n::ffff:192.0.2.2\n192.0.2.3\n1.2.3", cidr.Lenient(&r))
	require.NoError(t, err)
	require.Equal(t, "{192.0.2.1-192.0.2.3}", s.String())
	require.Equal(t, 2, r.Bad.Total)
	require.ErrorIs(t, r.Bad.Lines[0], cidr.ErrName)
	require.ErrorIs(t, r.Bad.Lines[1], cidr.ErrCut)
	require.Equal(t, 7, r.Bad.Lines[1].Line)
	r.Bad.Lines = nil
	require.Equal(t, cidr.ListReport{
		Source: "list.txt", Lines: 7, Entries: 3, Mapped: 1, Bad: cidr.ListError{Source: "list.txt", Total: 2},
		Date: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
	}, r)

	// Nothing good is not an empty list.
	_, err = read("bad\n# c\n", cidr.Lenient(&r), cidr.AllowEmpty())
	var list *cidr.ListError
	require.ErrorAs(t, err, &list)
	require.ErrorIs(t, err, cidr.ErrName)
	require.Equal(t, 1, r.Bad.Total)
	s, err = read("# c\n", cidr.Lenient(&r), cidr.AllowEmpty())
	require.NoError(t, err)
	require.True(t, s.IsEmpty())
	_, err = read("# c\n", cidr.Lenient(&r))
	require.ErrorIs(t, err, cidr.ErrEmpty)

	// What is no list at all is no list of bad lines.
	for in, want := range map[string]error{
		"\n <html>\n192.0.2.1\n": cidr.ErrHTML, "\xff\xfe1\n192.0.2.1\n": cidr.ErrSyntax,
	} {
		_, err = read(in, cidr.Lenient(&r), cidr.AllowEmpty())
		require.ErrorIs(t, err, want, "%q", in)
		require.Zero(t, r.Entries)
	}
	// Two reports are both filled in, and in strict mode too.
	var other cidr.ListReport
	_, err = read("192.0.2.1\nbad\n", cidr.Report(&r), cidr.Report(&other))
	require.ErrorIs(t, err, cidr.ErrName)
	require.Equal(t, 1, r.Bad.Total)
	require.Equal(t, r, other)
}

func TestListCut(t *testing.T) {
	const cut = "10.0.0.0/8\n192.0.2.0/2"
	_, err := read(cut)
	require.ErrorIs(t, err, cidr.ErrCut)
	require.ErrorContains(t, err, "list.txt:2:1: ")
	s, err := read("10.0.0.0/8\n192.0.2.0/24", cidr.AllowCut())
	require.NoError(t, err)
	require.Equal(t, "{10.0.0.0/8 192.0.2.0/24}", s.String())
	_, err = read(cut, cidr.AllowCut())
	require.ErrorIs(t, err, cidr.ErrHostBits)
	_, err = cidr.ReadList(bytes.NewReader(pack(t, cut)), "list.gz")
	require.ErrorIs(t, err, cidr.ErrCut)
}

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestListGzip(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "10.%d.%d.0/24\n", i/256, i%256)
	}
	want, err := read(text.String())
	require.NoError(t, err)
	packed := pack(t, text.String())
	got, err := cidr.ReadList(bytes.NewReader(packed), "list")
	require.NoError(t, err)
	require.True(t, got.Equal(want))
	var r cidr.ListReport
	for _, n := range []int{2, 5, 12, len(packed) / 2, len(packed) - 1} {
		_, err := cidr.ReadList(bytes.NewReader(packed[:n]), "list", cidr.Lenient(&r), cidr.AllowCut(), cidr.AllowEmpty())
		require.ErrorIs(t, err, cidr.ErrCut, n)
	}
	packed[len(packed)-6] ^= 1
	_, err = cidr.ReadList(bytes.NewReader(packed), "list")
	require.ErrorIs(t, err, gzip.ErrChecksum)
}

func TestListMaxAge(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	old, fresh := now.AddDate(0, 0, -40), now.AddDate(0, 0, -2)
	const month = 30 * 24 * time.Hour
	for _, tt := range []struct {
		header string
		date   time.Time
		want   error
	}{
		{"", fresh, nil},
		{"", old, cidr.ErrStale},
		{"", time.Time{}, cidr.ErrStale},
		{"# updated 2026-02-20\n", time.Time{}, nil},
		{"# updated 2026-01-20\n", time.Time{}, cidr.ErrStale},
		{"# updated 2026-01-20\n", fresh, cidr.ErrStale},
		{"# updated 2026-02-20\n", old, cidr.ErrStale},
		{"# updated 2026-02-20\n# source date: 2026-01-01\n", fresh, cidr.ErrStale},
		{"", now.Add(time.Hour), nil},
		{"", now.Add(-month), nil},
		{"", now.Add(-month - 1), cidr.ErrStale},
	} {
		s, err := read(tt.header+"192.0.2.1\n", cidr.MaxAge(month, tt.date, now))
		if tt.want == nil {
			require.NoError(t, err, "%+v", tt)
			continue
		}
		require.ErrorIs(t, err, tt.want, "%+v", tt)
		require.ErrorContains(t, err, "list.txt: ")
		require.True(t, s.IsEmpty())
	}
}

func TestListHeaderDate(t *testing.T) {
	at := func(s string) time.Time {
		d, err := time.Parse(time.RFC3339, s)
		require.NoError(t, err)
		return d
	}
	for line, want := range map[string]time.Time{
		"# Last update: Sat, 22 Aug 2026 03:00:29 +0200":     at("2026-08-22T01:00:29Z"),
		"# Source File Date: Tue Jan  7 10:00:00 UTC 2025":   at("2025-01-07T10:00:00Z"),
		"; Generated on Thu, 01 Jan 2026 00:00:00 GMT":       at("2026-01-01T00:00:00Z"),
		"// Date=2026-02-03 04:05:06 UTC":                    at("2026-02-03T04:05:06Z"),
		"# Updated:2026-02-03T04:05:06+01:00.":               at("2026-02-03T03:05:06Z"),
		"# modified 2026-02-03 04:05:06":                     at("2026-02-03T04:05:06Z"),
		"# Generated by x 1.2.3 on Wed Feb  4 09:00:00 2026": at("2026-02-04T09:00:00Z"),
		"# list date (2026/02/03)":                           at("2026-02-03T00:00:00Z"),
		"# \u212a\u212a updated 2026-02-03 \u212a 1":         at("2026-02-03T00:00:00Z"), // letters that are shorter in lower case
		"# \u023a\u023a updated 2026-02-03 \u023a":           at("2026-02-03T00:00:00Z"), // and longer
		"# f\xfcr M\xfcnchen, date 2026-02-03":               at("2026-02-03T00:00:00Z"),
		"# Last updated: 3 February 2026":                    at("2026-02-03T00:00:00Z"),
		"# Date: Feb 3, 2026":                                at("2026-02-03T00:00:00Z"),
		"# Expires: Thu, 01 Jan 2026 00:00:00 GMT":           {},
		"# expiry date 2026-01-01":                           {},
		"# 2026-01-01":                                       {},
		"# candidate 2026-01-01":                             {},
		"# update every 2 hours":                             {},
		"# date 2026-13-01":                                  {},
		"# date 0001-01-01":                                  {},
		"# date 12026-01-01":                                 {},
	} {
		var r cidr.ListReport
		_, err := read(line+"\n192.0.2.1\n# date 1999-01-01\n", cidr.Report(&r))
		require.NoError(t, err)
		require.True(t, want.Equal(r.Date), "%s: %v", line, r.Date)
	}
	var r cidr.ListReport
	_, err := read(strings.Repeat("#\n", 100)+"# date 2026-01-01\n192.0.2.1\n", cidr.Report(&r))
	require.NoError(t, err)
	require.True(t, r.Date.IsZero())
}

func TestListMaxShrink(t *testing.T) {
	last := cidr.MustParse("10.0.0.0/8", "192.0.2.1", "192.0.2.3", "192.0.2.5", "2001:db8::/32")
	for _, tt := range []struct {
		name, in string
		share    float64
		want     string
	}{
		{"all there", "10.0.0.0/8\n192.0.2.0/24\n2001:db8::/32\n", 0.01, ""},
		{"merged into fewer prefixes", "0.0.0.0/0\n::/0\n", 0.01, ""},
		{"a prefix in parts", "10.0.0.0/9\n10.128.0.0/10\n192.0.2.0/24\n2001:db8::/32\n", 0.25, ""},
		{"a quarter and a little", "10.0.0.0/9\n10.128.0.0/10\n192.0.2.0/24\n2001:db8::/32\n", 0.24,
			"IPv4: of 16777219 addresses 4194304 are gone, and of 4 prefixes 0; the limit is 24 %"},
		{"the small ones", "10.0.0.0/8\n2001:db8::/32\n", 0.5,
			"IPv4: of 16777219 addresses 3 are gone, and of 4 prefixes 3; the limit is 50 %"},
		{"just as many", "10.0.0.0/8\n192.0.2.1\n2001:db8::/32\n", 0.5, ""},
		{"the other family", "10.0.0.0/8\n192.0.2.0/24\n", 0.5,
			"IPv6: of 79228162514264337593543950336 addresses 79228162514264337593543950336 are gone"},
		{"all of it, if that is right", "1.1.1.1\n", 1, ""},
	} {
		s, err := read(tt.in, cidr.MaxShrink(last, tt.share))
		if tt.want == "" {
			require.NoError(t, err, tt.name)
			plain, err := read(tt.in)
			require.NoError(t, err)
			require.True(t, s.Equal(plain))
			continue
		}
		require.ErrorIs(t, err, cidr.ErrShrunk, tt.name)
		require.ErrorContains(t, err, tt.want, tt.name)
		require.True(t, s.IsEmpty())
	}
	_, err := read("1.1.1.1\n", cidr.MaxShrink(cidr.Set{}, 0.1))
	require.NoError(t, err, "nothing cannot shrink")

	// The list counts, not what else is in the builder.
	var b cidr.Builder
	b.AddSet(last)
	require.ErrorIs(t, b.AddList(strings.NewReader("1.1.1.1\n"), "x", cidr.MaxShrink(last, 0.5)), cidr.ErrShrunk)
	b = cidr.Builder{}
	b.AddSet(last)
	except := "10.0.0.0/8\n2001:db8::/32\n"
	require.NoError(t, b.RemoveList(strings.NewReader(except), "x", cidr.MaxShrink(cidr.MustParse("10.0.0.0/8"), 0.5)))
	s, err := b.Build()
	require.NoError(t, err)
	require.True(t, s.Equal(cidr.MustParse("192.0.2.1", "192.0.2.3", "192.0.2.5")))
}

func TestBuilderLists(t *testing.T) {
	var b cidr.Builder
	require.NoError(t, b.AddList(strings.NewReader("10.0.0.0/30\n2001:db8::/126\n"), "a"))
	require.NoError(t, b.RemoveList(strings.NewReader("10.0.0.1\n2001:db8::1\n"), "b"))
	require.NoError(t, b.AddList(strings.NewReader("10.0.0.5\n"), "c"))
	s, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, "{10.0.0.0 10.0.0.2/31 10.0.0.5 2001:db8:: 2001:db8::2/127}", s.String())

	// The first error stays, whatever comes after.
	bad := b.AddList(strings.NewReader("10.0.0.1\nbad\n"), "a")
	require.ErrorIs(t, bad, cidr.ErrName)
	require.NoError(t, b.AddList(strings.NewReader("10.0.0.1\n"), "b"))
	require.ErrorIs(t, b.RemoveList(strings.NewReader(""), "c"), cidr.ErrEmpty)
	s, err = b.Build()
	require.Equal(t, bad, err)
	require.True(t, s.IsEmpty())
	s, err = b.Build()
	require.NoError(t, err, "ready again")
	require.True(t, s.IsEmpty())
	// A lenient list adds its good lines.
	var r cidr.ListReport
	require.NoError(t, b.AddList(strings.NewReader("10.0.0.1\nbad\n"), "a", cidr.Lenient(&r)))
	s, err = b.Build()
	require.NoError(t, err)
	require.Equal(t, "{10.0.0.1}", s.String())
}

// The path for whole lines of IPv4 must take what the path for all lines takes, and refuse what it refuses. A blank at
// the end of a line is enough to leave the former. ParseRange is the twin of both.
func TestListFastPath(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var lines []string
	n := 8_000
	if testing.Short() {
		n = 800
	}
	for range n {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], rnd.Uint32()>>rnd.IntN(32)<<rnd.IntN(32))
		line := netip.AddrFrom4(b).String()
		if rnd.IntN(2) == 0 {
			line = netip.PrefixFrom(netip.AddrFrom4(b), rnd.IntN(33)).Masked().String()
		}
		switch rnd.IntN(4) {
		case 0: // one byte changed, mostly to something wrong
			at := rnd.IntN(len(line))
			line = line[:at] + string("0123456789./ \r-:"[rnd.IntN(16)]) + line[at+1:]
		case 1:
			at := rnd.IntN(len(line) + 1)
			line = line[:at] + string("0123456789./"[rnd.IntN(12)]) + line[at:]
		}
		lines = append(lines, line)
	}
	var all cidr.Builder
	good, bad := 0, 0
	for _, line := range lines {
		var fast, slow cidr.ListReport
		padding := "\n#" + strings.Repeat("x", 30) + "\n" // the fast path needs more data after the line
		a, errA := read(line+padding, cidr.Report(&fast))
		bare, cr := strings.CutSuffix(line, "\r")
		if cr {
			padding = "\r" + padding
		}
		b, errB := read(bare+" "+padding, cidr.Report(&slow))
		require.Equal(t, errB == nil, errA == nil, "%q: %v, %v", line, errA, errB)
		require.True(t, a.Equal(b), line)
		require.Equal(t, slow.Entries, fast.Entries)
		r, err := cidr.ParseRange(strings.Trim(line, " "))
		if strings.HasSuffix(line, "\r") || strings.ContainsAny(line, " ") {
			continue // a line end, and more text
		}
		require.Equal(t, err == nil, errA == nil, "%q: %v, %v", line, errA, err)
		if err != nil {
			bad++
			continue
		}
		good++
		require.True(t, a.ContainsRange(r) && a.NumAddrs().Cmp(r.NumAddrs()) == 0, line)
		all.AddRange(r)
	}
	require.Greater(t, good, n/4)
	require.Greater(t, bad, n/20)
	want, err := all.Build()
	require.NoError(t, err)
	// The same in one list, across the ends of the reader's buffer, whatever the pieces.
	var r cidr.ListReport
	text := strings.Join(lines, "\n") + "\n"
	whole, err := read(text, cidr.Lenient(&r))
	require.NoError(t, err)
	require.True(t, want.Difference(whole).IsEmpty(), "every good line was taken")
	for _, in := range []io.Reader{
		iotest.OneByteReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text)),
		iotest.DataErrReader(strings.NewReader(text)),
	} {
		var pieces cidr.ListReport
		s, err := cidr.ReadList(in, "list.txt", cidr.Lenient(&pieces))
		require.NoError(t, err)
		require.True(t, s.Equal(whole))
		require.Equal(t, r, pieces)
	}
}

// A line costs no memory of its own.
func TestListAllocation(t *testing.T) {
	lines := map[string][]cidr.ListOption{
		"192.0.2.0/24":            nil,
		"2001:db8::/32":           nil,
		"192.0.2.1 - 192.0.2.9":   nil,
		"192.0.2.1\t10":           nil,
		"192.0.2.1 # c":           nil,
		"::ffff:192.0.2.1":        nil,
		"[2001:db8::1]":           nil,
		"192.000.002.001":         {cidr.LeadingZeros(cidr.DecimalLeadingZeros)},
		"192.0.2.0/255.255.255.0": {cidr.Netmasks(cidr.TakeNetmasks)},
		"192.000.002.000 - 192.000.002.255 , 000 , x": {cidr.Format(cidr.FormatDAT)},
		"a: b:192.0.2.0-192.0.2.255":                  {cidr.Format(cidr.FormatP2P)},
		"ripencc|DE|ipv4|192.0.2.0|256|x|assigned":    {cidr.Format(cidr.FormatRIR)},
		`"x, y",192.0.2.0/24`:                         {cidr.Format(cidr.FormatCSV), cidr.Columns("2")},
	}
	for line, opts := range lines {
		allocs := func(n int) float64 {
			text := strings.Repeat(line+"\n", n)
			in := strings.NewReader(text)
			return testing.AllocsPerRun(5, func() {
				in.Reset(text)
				if _, err := cidr.ReadList(in, "x", opts...); err != nil {
					panic(err)
				}
			})
		}
		// Only the builder's own growth remains, which is logarithmic.
		require.Less(t, allocs(2000)-allocs(1000), 20.0, line)
	}
}
