package cidr_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"math/big"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cidrc/cidrc/cidr"
)

// net/netip is the twin for addresses: what it takes without a zone this package takes, and gives the same address with
// IPv4-mapped turned to IPv4; nothing else.
func FuzzParseAddr(f *testing.F) {
	for in := range badAddrs() {
		if len(in) < 100 {
			f.Add(in)
		}
	}
	for _, in := range []string{
		"0.0.0.0", "255.255.255.255", "::", "1::8", "2001:DB8::1", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
	} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := cidr.ParseAddr(in)
		want, wantErr := netip.ParseAddr(in)
		if wantErr != nil || want.Zone() != "" {
			if err == nil {
				t.Fatalf("%q: got %v, netip says %v", in, got, wantErr)
			}
			requireSentinel(t, err)
			return
		}
		if err != nil || got != want.Unmap() {
			t.Fatalf("%q: got %v, %v; want %v", in, got, err, want.Unmap())
		}
		if r, err := cidr.ParseRange(got.String()); err != nil || r != (cidr.Range{First: got, Last: got}) {
			t.Fatalf("%q: %v does not come back: %v, %v", in, got, r, err)
		}
	})
}

// For prefixes the twin is netip too, less host bits and less IPv4-mapped prefixes that are not clear.
func FuzzParsePrefix(f *testing.F) {
	for in := range badPrefixes() {
		if len(in) < 100 {
			f.Add(in)
		}
	}
	for _, in := range []string{"0.0.0.0/0", "10.0.0.0/8", "::/0", "2001:db8::/32", "::ffff:1.2.3.0/120", "::ffff:0:0/97"} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := cidr.ParsePrefix(in)
		want, wantErr := netip.ParsePrefix(in)
		ok := wantErr == nil && want == want.Masked()
		if ok && want.Addr().Is4In6() {
			ok = want.Bits() > 96
			want = netip.PrefixFrom(want.Addr().Unmap(), want.Bits()-96)
		}
		switch {
		case ok && (err != nil || got != want):
			t.Fatalf("%q: got %v, %v; want %v", in, got, err, want)
		case !ok && err == nil:
			t.Fatalf("%q: got %v", in, got)
		case !ok:
			requireSentinel(t, err)
		}
	})
}

// fuzzList holds what is true of every list in every format, and calls each for more where a strict read succeeds.
func fuzzList(f *testing.F, opts []cidr.ListOption, each func(t *testing.T, in string, s cidr.Set)) {
	f.Helper()
	opts = append(opts, cidr.AllowEmpty())
	with := func(more ...cidr.ListOption) []cidr.ListOption { return append(slices.Clone(opts), more...) }
	f.Fuzz(func(t *testing.T, in string) {
		var strict, lenient, slow, open cidr.ListReport
		s, err := cidr.ReadList(strings.NewReader(in), "fuzz", with(cidr.Report(&strict))...)
		l, lenientErr := cidr.ReadList(strings.NewReader(in), "fuzz", with(cidr.Lenient(&lenient))...)
		if (err == nil) != (lenientErr == nil && lenient.Bad.Total == 0) {
			t.Fatalf("%v, but lenient %v with %d bad lines", err, lenientErr, lenient.Bad.Total)
		}
		pieces, slowErr := cidr.ReadList(iotest.OneByteReader(strings.NewReader(in)), "fuzz", with(cidr.Lenient(&slow))...)
		if (lenientErr == nil) != (slowErr == nil) || !pieces.Equal(l) || !reflect.DeepEqual(lenient, slow) {
			t.Fatalf("%v, %v, %+v; byte by byte %v, %v, %+v", l, lenientErr, lenient, pieces, slowErr, slow)
		}
		for _, err := range []error{err, lenientErr} {
			if err != nil {
				requireSentinel(t, err)
			}
		}
		if lenient.Bad.Total > lenient.Lines || lenient.Entries+lenient.Ignored+lenient.Bad.Total > lenient.Lines {
			t.Fatalf("the report does not add up: %+v", lenient)
		}
		if lenientErr == nil {
			requireRoundTrip(t, l)
		}
		if err != nil {
			if !s.IsEmpty() {
				t.Fatalf("a set beside an error: %v", s)
			}
			return
		}
		if !s.Equal(l) || !reflect.DeepEqual(strict, lenient) {
			t.Fatalf("strict %v, %+v; lenient %v, %+v", s, strict, l, lenient)
		}
		// What passes by default means the same when more may pass.
		p, err := cidr.ReadList(strings.NewReader(in), "fuzz", with(cidr.Report(&open), cidr.AllowCut(),
			cidr.HostBits(cidr.MaskHostBits), cidr.LeadingZeros(cidr.DecimalLeadingZeros), cidr.Netmasks(cidr.TakeNetmasks),
			cidr.MoreText(cidr.IgnoreMoreText))...)
		if err != nil || !p.Equal(s) || !reflect.DeepEqual(open, strict) {
			t.Fatalf("%v, %+v; with open policies %v, %+v, %v", s, strict, p, open, err)
		}
		if each != nil {
			each(t, in, s)
		}
	})
}

func requireRoundTrip(t *testing.T, s cidr.Set) {
	t.Helper()
	var b cidr.Builder
	var out bytes.Buffer
	n := new(big.Int)
	for r := range s.Ranges() {
		b.AddRange(r)
		n.Add(n, r.NumAddrs())
		io.WriteString(&out, r.String()+"\n")
	}
	again, err := b.Build()
	if err != nil || !again.Equal(s) {
		t.Fatalf("ranges of %v do not make it again: %v, %v", s, again, err)
	}
	text, err := cidr.ReadList(&out, "again", cidr.AllowEmpty())
	if err != nil || !text.Equal(s) {
		t.Fatalf("text of %v does not make it again: %v, %v", s, text, err)
	}
	if n.Cmp(s.NumAddrs()) != 0 || len(slices.Collect(s.Prefixes())) != s.NumPrefixes() {
		t.Fatalf("%v: counts disagree", s)
	}
}

func FuzzReadList(f *testing.F) {
	f.Add("192.0.2.0/24\n# c\r\n\r\n2001:db8::/32 ; x\n198.51.100.1 - 198.51.100.9\n")
	f.Add("\ufeff10.0.0.0/8\n")
	f.Add("0.0.0.0/0\n::/0\n255.255.255.255")
	f.Add("::1-::ffff:255.255.255.255\n::ffff:0:0-::1:0:0:0\n::ffff:1.2.3.4\n")
	f.Add("1.2.3.4\r5.6.7.8\n\x00\xff")
	f.Add("#" + strings.Repeat("x", cidr.MaxLine) + "\n1.1.1.1")
	f.Add("// date 2026-01-02 03:04:05 UTC\n[::1]/128\t7\n1.1.1.1#x\n1.1.1.2;y\n1.1.1.3 //z\n")
	f.Add("1.1.1.0/255.255.255.0\n1.1.1.1/24\n01.1.1.1\n1.1.1.1 x\n1.1.1.1\t1.1.1.2\n<html>\n")
	f.Add("\x1f\x8b\b\x00\x00\x00\x00\x00\x00\xff3\xd43\xd43\xd43\xe4\x02\x00s\xf3\xb6\x0c\b\x00\x00\x00")
	fuzzList(f, nil, func(t *testing.T, in string, s cidr.Set) {
		if strings.HasPrefix(in, "\x1f\x8b") {
			return
		}
		// A line that is an entry by itself is in the set, and a list without other lines holds nothing else.
		var b cidr.Builder
		others := false
		for line := range strings.SplitSeq(strings.TrimPrefix(in, "\ufeff"), "\n") {
			line = strings.Trim(strings.TrimSuffix(line, "\r"), " \t")
			r, err := cidr.ParseRange(line)
			switch {
			case err == nil:
				b.AddRange(r)
			case line != "" && line[0] != '#' && line[0] != ';' && !strings.HasPrefix(line, "//"):
				others = true
			}
		}
		twin, err := b.Build()
		if err != nil || !twin.Difference(s).IsEmpty() || !others && !twin.Equal(s) {
			t.Fatalf("%v, line by line %v, %v", s, twin, err)
		}
	})
}

func FuzzReadListDAT(f *testing.F) {
	f.Add("# c\n001.002.003.004 - 001.002.003.255 , 000 , description\n010.0.0.8-10.0.0.9,200,x, y\n")
	f.Add("1.2.3.4 - 1.2.3.256 , 0\n::1 - ::2 , 0\n1.2.3.9-1.2.3.4,1\n0000.1.1.1 - 1.1.1.1, 256")
	fuzzList(f, []cidr.ListOption{cidr.Format(cidr.FormatDAT)}, nil)
}

func FuzzReadListP2P(f *testing.F) {
	f.Add("# c\nA-B: x:198.51.100.10-198.51.100.77\n:1.1.1.1 - 1.1.1.2\n")
	f.Add("x:::ffff:1.1.1.1-1.1.1.2\nx:2001:db8::1-2001:db8::2\n1.1.1.1-1.1.1.2\nx:1.1.1.1\nx:01.1.1.1-1.1.1.1")
	fuzzList(f, []cidr.ListOption{cidr.Format(cidr.FormatP2P)}, nil)
}

func FuzzReadListIPSet(f *testing.F) {
	f.Add("create a hash:net family inet hashsize 1024\nadd a 10.0.0.0/8 timeout 0 comment \"x y\"\nadd a 10.1.0.0/16 nomatch\n")
	f.Add("create a hash:net family inet6\nadd a ::/0\nadd a ::fffe:0:0/96 nomatch\nadd a ::1:0:0:0/80 nomatch\nadd a ::1\n")
	f.Add("create a bitmap:ip range 10.0.0.0/8 netmask 16\nadd a 10.1.0.0-10.2.0.0\ncreate b hash:ip,port\n")
	f.Add("create a hash:ip\ncreate b hash:ip\nadd a 1.1.1.1\nadd b 1.1.1.2\nadd c 1\nadd a 1.1.1.3 nomatch\nCOMMIT")
	fuzzList(f, []cidr.ListOption{cidr.Format(cidr.FormatIPSet)}, nil)
}

func FuzzReadListRIR(f *testing.F) {
	f.Add("2|x|1|3|1|20260101|+0\nx|*|asn|*|1|summary\nx|DE|asn|64496|1||assigned\nx||ipv4|10.0.0.0|256||available\n")
	f.Add("x|DE|ipv4|198.18.0.0|73728|19920922|assigned|A\nx|DE|ipv6|2001:db8::|32||allocated\nx|*|ipv4|*|1|summary\n")
	f.Add("x|DE|ipv4|255.255.255.0|257||assigned\nx|DE|ipv6|::ffff:0:0|97||assigned\nx|DE|ipv6|::1|0||assigned\n")
	fuzzList(f, []cidr.ListOption{cidr.Format(cidr.FormatRIR)}, nil)
}

func FuzzReadListCSV(f *testing.F) {
	f.Add("a,net\n\"x, \"\"y\"\"\",192.0.2.0/24\nz, \"2001:db8::1-2001:db8::2\" \n")
	f.Add("net,net\n1.1.1.1,x\n")
	f.Add("# c\nnet\n1.1.1.1,\"\n1.1.1.1\"\n,\n")
	fuzzList(f, []cidr.ListOption{cidr.Format(cidr.FormatCSV), cidr.Columns("net")}, nil)
}

func FuzzReadListCSVRanges(f *testing.F) {
	f.Add("192.0.2.0,192.0.2.9,x\n\"::1\",::2\n192.0.2.9,192.0.2.0\n::ffff:1.1.1.1,1.1.1.2\n")
	fuzzList(f, []cidr.ListOption{cidr.Format(cidr.FormatCSV), cidr.Columns("1", "2")}, nil)
}

func requireSentinel(t *testing.T, err error) {
	t.Helper()
	for _, s := range append(sentinels(), gzip.ErrHeader, gzip.ErrChecksum) {
		if errors.Is(err, s) {
			return
		}
	}
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) {
		return
	}
	t.Fatalf("error %v wraps no sentinel", err)
}

func sentinels() []error {
	return []error{
		cidr.ErrSyntax, cidr.ErrName, cidr.ErrOctet, cidr.ErrLeadingZero, cidr.ErrLength, cidr.ErrMask, cidr.ErrHostBits,
		cidr.ErrReversed, cidr.ErrMixed, cidr.ErrMapped, cidr.ErrZone, cidr.ErrInvalid, cidr.ErrEmpty, cidr.ErrLineTooLong,
		cidr.ErrHTML, cidr.ErrCut, cidr.ErrShrunk, cidr.ErrStale, cidr.ErrOption,
	}
}
