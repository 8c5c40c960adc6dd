package cidr_test

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"net/netip"
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

// A list either fails with an error of this package or gives a set that survives a round trip, and the same whatever
// pieces the reader hands out.
func FuzzReadList(f *testing.F) {
	f.Add("192.0.2.0/24\n# c\r\n\r\n2001:db8::/32 ; x\n198.51.100.1 - 198.51.100.9")
	f.Add("\ufeff10.0.0.0/8\n")
	f.Add("0.0.0.0/0\n::/0\n255.255.255.255\n")
	f.Add("::1-::ffff:255.255.255.255\n::ffff:0:0-::1:0:0:0\n::ffff:1.2.3.4")
	f.Add("1.2.3.4\r5.6.7.8\n\x00\xff")
	f.Add("#" + strings.Repeat("x", cidr.MaxLine) + "\n1.1.1.1")
	f.Fuzz(func(t *testing.T, in string) {
		s, err := cidr.ReadList(strings.NewReader(in), "fuzz", cidr.AllowEmpty())
		slow, slowErr := cidr.ReadList(iotest.OneByteReader(strings.NewReader(in)), "fuzz", cidr.AllowEmpty())
		if (err == nil) != (slowErr == nil) || !s.Equal(slow) {
			t.Fatalf("%v, %v; byte by byte %v, %v", s, err, slow, slowErr)
		}
		if err != nil {
			requireSentinel(t, err)
			if !s.IsEmpty() {
				t.Fatalf("a set beside an error: %v", s)
			}
			return
		}
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
	})
}

func requireSentinel(t *testing.T, err error) {
	t.Helper()
	for _, s := range sentinels() {
		if errors.Is(err, s) {
			return
		}
	}
	t.Fatalf("error %v wraps no sentinel", err)
}

func sentinels() []error {
	return []error{
		cidr.ErrSyntax, cidr.ErrName, cidr.ErrOctet, cidr.ErrLeadingZero, cidr.ErrLength, cidr.ErrMask, cidr.ErrHostBits,
		cidr.ErrReversed, cidr.ErrMixed, cidr.ErrMapped, cidr.ErrZone, cidr.ErrInvalid, cidr.ErrEmpty, cidr.ErrLineTooLong, cidr.ErrHTML, cidr.ErrCut, cidr.ErrOption,
	}
}

// FuzzFormats reads anything in every format, strict and lenient, whole and byte by byte.
func FuzzFormats(f *testing.F) {
	for _, in := range []string{
		"001.002.003.004 - 001.002.003.255 , 000 , x\n", "a:b:1.2.3.4-1.2.3.9\n",
		"create a hash:net family inet\nadd a 10.0.0.0/8\nadd a 10.1.0.0/16 nomatch\nadd a 10.1.1.0/24 timeout 3 comment \"x y\"\n",
		"2|x|1|1|19830613|20251231|+0000\nx|*|ipv4|*|1|summary\nx|AU|ipv4|192.0.2.0|768|20100101|allocated\nx|AU|ipv6|2001:db8::|33|20100101|assigned\n",
		"1.2.3.4,1.2.3.9,\"a\"\"b\"\n", "# Date: 2026-01-01\n[2001:db8::]/32\t7\n192.0.2.0/255.255.255.0 // x\n010.1.1.1 x",
	} {
		for kind := range uint8(6) {
			f.Add(in, kind, uint8(0xff))
		}
	}
	f.Fuzz(func(t *testing.T, in string, kind, flags uint8) {
		opts := []cidr.ListOption{cidr.Format(cidr.ListFormat(kind % 6)), cidr.AllowEmpty()}
		if cidr.ListFormat(kind%6) == cidr.FormatCSV {
			opts = append(opts, cidr.Columns([]string{"1", "a", "2"}[flags%3]))
		}
		for i, o := range []cidr.ListOption{
			cidr.HostBits(cidr.MaskHostBits), cidr.LeadingZeros(cidr.DecimalLeadingZeros), cidr.Netmasks(cidr.TakeNetmasks),
			cidr.MoreText(cidr.IgnoreMoreText), cidr.AllowCut(), cidr.MappedAddrs(cidr.RefuseMapped),
		} {
			if flags>>i&1 == 1 {
				opts = append(opts, o)
			}
		}
		var strict, lenient cidr.ListReport
		s, err := cidr.ReadList(strings.NewReader(in), "fuzz", append(opts, cidr.Report(&strict))...)
		slow, slowErr := cidr.ReadList(iotest.OneByteReader(strings.NewReader(in)), "fuzz", opts...)
		if (err == nil) != (slowErr == nil) || !s.Equal(slow) {
			t.Fatalf("%v, %v; byte by byte %v, %v", s, err, slow, slowErr)
		}
		skipped, lenientErr := cidr.ReadList(strings.NewReader(in), "fuzz", append(opts, cidr.Lenient(&lenient))...)
		if err == nil && (lenientErr != nil || lenient.Bad.Total > 0 || !skipped.Equal(s)) {
			t.Fatalf("strict %v; lenient %v, %v, %d bad", s, skipped, lenientErr, lenient.Bad.Total)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "gzip") {
				requireSentinel(t, err)
			}
			if !s.IsEmpty() {
				t.Fatalf("a set beside an error: %v", s)
			}
		}
		// A trace changes nothing.
		var b cidr.Builder
		b.Trace()
		tracedErr := b.AddList(strings.NewReader(in), "fuzz", opts...)
		traced, _ := b.Build()
		if (tracedErr == nil) != (err == nil) || !traced.Equal(s) {
			t.Fatalf("%v, %v; traced %v, %v", s, err, traced, tracedErr)
		}
	})
}
