package cidr_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

func TestParseAddr(t *testing.T) {
	tests := []struct{ in, want string }{
		{"0.0.0.0", "0.0.0.0"},
		{"192.0.2.1", "192.0.2.1"},
		{"255.255.255.255", "255.255.255.255"},
		{"::", "::"},
		{"::1", "::1"},
		{"1::", "1::"},
		{"1000::", "1000::"},
		{"2001:DB8::aBcD", "2001:db8::abcd"},
		{"2001:0db8:0000::0001", "2001:db8::1"}, // zeros may lead a hexadecimal group
		{"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
		{"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
		{"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
		{"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
		{"1:2:3:4:5:6:192.0.2.33", "1:2:3:4:5:6:c000:221"},
		{"::192.0.2.33", "::c000:221"}, // IPv4-compatible, not mapped
		{"::ffff:192.0.2.33", "192.0.2.33"},
		{"::ffff:cb00:7108", "203.0.113.8"},
		{"0:0:0:0:0:ffff:c000:221", "192.0.2.33"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	}
	for _, tt := range tests {
		got, err := cidr.ParseAddr(tt.in)
		require.NoError(t, err, tt.in)
		require.Equal(t, netip.MustParseAddr(tt.want), got, tt.in)
		fromBytes, err := cidr.ParseAddrBytes([]byte(tt.in))
		require.NoError(t, err)
		require.Equal(t, got, fromBytes)
	}
}

// badAddrs are texts that are no address, with what is wrong. Other tests put them where addresses stand in prefixes,
// ranges and lists.
func badAddrs() map[string]error {
	bad := map[string]error{
		"":                                    cidr.ErrSyntax,
		".":                                   cidr.ErrSyntax,
		"...":                                 cidr.ErrSyntax,
		"1.2.3":                               cidr.ErrSyntax,
		"10.1":                                cidr.ErrSyntax,
		"16909060":                            cidr.ErrSyntax,
		"1.2.3.4.5":                           cidr.ErrSyntax,
		"1.2.3.4.":                            cidr.ErrSyntax,
		".1.2.3.4":                            cidr.ErrSyntax,
		"1..2.3":                              cidr.ErrSyntax,
		"1.2.3.4\x00":                         cidr.ErrSyntax,
		"\x001.2.3.4":                         cidr.ErrSyntax,
		"1.2.3.4\r":                           cidr.ErrSyntax,
		"\ufeff1.2.3.4":                       cidr.ErrSyntax,
		"1.2.3.4\u00a0":                       cidr.ErrSyntax,
		"+1.2.3.4":                            cidr.ErrSyntax,
		"1.2.3.+4":                            cidr.ErrSyntax,
		"1,2,3,4":                             cidr.ErrSyntax,
		"1.2.3.4,IT":                          cidr.ErrSyntax,
		"1.2.3.4 IT":                          cidr.ErrSyntax,
		"1.2.3.4:80":                          cidr.ErrSyntax,
		"[::1]":                               cidr.ErrSyntax,
		"0x10":                                cidr.ErrSyntax,
		"0x1.0x2.0x3.0x4":                     cidr.ErrSyntax,
		"0X7F.0.0.1":                          cidr.ErrSyntax,
		"١.٢.٣.٤":                             cidr.ErrSyntax, // Arabic-Indic digits
		"１.２.３.４":                             cidr.ErrSyntax, // full-width digits
		"1。2。3。4":                             cidr.ErrSyntax, // ideographic full stops, which URL parsers take for dots
		"256.2.3.4":                           cidr.ErrOctet,
		"1.2.3.256":                           cidr.ErrOctet,
		"1.2.942.4":                           cidr.ErrOctet,
		"1.2.3.1000":                          cidr.ErrOctet,
		"1.2.3.4294967300":                    cidr.ErrOctet, // 4 more than 2^32
		"99999999999999999999999.1.1.1":       cidr.ErrOctet,
		"localhost":                           cidr.ErrName,
		"bad.example":                         cidr.ErrName,
		"bad_host.example.":                   cidr.ErrName,
		"dead.beef":                           cidr.ErrName,
		"1.2.3.4x":                            cidr.ErrName,
		"1.2.3.a":                             cidr.ErrName,
		":":                                   cidr.ErrSyntax,
		":::":                                 cidr.ErrSyntax,
		":1":                                  cidr.ErrSyntax,
		"1:":                                  cidr.ErrSyntax,
		"::1:":                                cidr.ErrSyntax,
		"1000::::":                            cidr.ErrSyntax,
		"1::2::3":                             cidr.ErrSyntax,
		"1:2:3:4:5:6:7":                       cidr.ErrSyntax,
		"1:2:3:4:5:6:7:8:9":                   cidr.ErrSyntax,
		"1:2:3:4:5:6:7:8:":                    cidr.ErrSyntax,
		"1:2:3:4:5:6:7:8::":                   cidr.ErrSyntax,
		"1:2:3:4::5:6:7:8":                    cidr.ErrSyntax, // "::" must stand for something
		"::12345":                             cidr.ErrSyntax,
		"::00001":                             cidr.ErrSyntax,
		"::g":                                 cidr.ErrSyntax,
		"::-1":                                cidr.ErrSyntax,
		"::1.2.3":                             cidr.ErrSyntax,
		"::1.2.3.4.5":                         cidr.ErrSyntax,
		"::1.2.3.4:5":                         cidr.ErrSyntax,
		"1:2:3:4:5:6:7:1.2.3.4":               cidr.ErrSyntax,
		"::ffff:1.2.3.256":                    cidr.ErrOctet,
		"::1\x00":                             cidr.ErrSyntax,
		"fe80::1%eth0":                        cidr.ErrZone,
		"fe80::1%":                            cidr.ErrZone,
		"1.2.3.4%eth0":                        cidr.ErrZone,
		"::ffff:1.2.3.4%1":                    cidr.ErrZone,
		"nonsense%eth0":                       cidr.ErrSyntax,
		strings.Repeat("1", 1<<16):            cidr.ErrSyntax,
		strings.Repeat("1.", 1<<15):           cidr.ErrSyntax,
		strings.Repeat(":", 1<<16):            cidr.ErrSyntax,
		strings.Repeat("a", 1<<16):            cidr.ErrName,
		"1.2.3." + strings.Repeat("9", 1<<16): cidr.ErrOctet,
	}
	for at := range 4 {
		for _, zeros := range []string{"00", "01", "08", "010", "001", "0000000001", "0256"} {
			octets := []string{"192", "0", "2", "7"}
			octets[at] = zeros
			bad[strings.Join(octets, ".")] = cidr.ErrLeadingZero
			bad["::ffff:"+strings.Join(octets, ".")] = cidr.ErrLeadingZero
		}
	}
	return bad
}

func TestParseAddrRefuses(t *testing.T) {
	for in, want := range badAddrs() {
		a, err := cidr.ParseAddr(in)
		require.ErrorIs(t, err, want, "%.60q", in)
		require.False(t, a.IsValid())
		require.LessOrEqual(t, len(err.Error()), 200, "a message does not grow with the input")
		_, err = cidr.ParseAddrBytes([]byte(in))
		require.ErrorIs(t, err, want, "%.60q", in)
	}
}

func TestParsePrefix(t *testing.T) {
	for in, want := range map[string]string{
		"0.0.0.0/0":            "0.0.0.0/0",
		"128.0.0.0/1":          "128.0.0.0/1",
		"192.0.2.0/24":         "192.0.2.0/24",
		"192.0.2.1/32":         "192.0.2.1/32",
		"::/0":                 "::/0",
		"8000::/1":             "8000::/1",
		"2001:db8::/32":        "2001:db8::/32",
		"2001:db8::1/128":      "2001:db8::1/128",
		"::ffff:192.0.2.0/120": "192.0.2.0/24",
		"::ffff:c000:0201/128": "192.0.2.1/32",
		"::ffff:128.0.0.0/97":  "128.0.0.0/1",
		"::ffff:0:0/97":        "0.0.0.0/1",
		"::fffe:0:0/95":        "::fffe:0:0/95", // takes the mapped block in
		"::/96":                "::/96",
		"64:ff9b::/97":         "64:ff9b::/97",
	} {
		p, err := cidr.ParsePrefix(in)
		require.NoError(t, err, in)
		require.Equal(t, netip.MustParsePrefix(want), p, in)
		r, err := cidr.ParseRange(in)
		require.NoError(t, err, in)
		require.Equal(t, cidr.RangeOf(p), r, in)
	}
}

func badPrefixes() map[string]error {
	bad := map[string]error{
		"/":                                     cidr.ErrSyntax,
		"/24":                                   cidr.ErrSyntax,
		"1.2.3.4/":                              cidr.ErrLength,
		"1.2.3.0//24":                           cidr.ErrLength,
		"1.2.3.0/24/":                           cidr.ErrLength,
		"1.2.3.0/24/24":                         cidr.ErrLength,
		"1.2.3.0/+24":                           cidr.ErrLength,
		"1.2.3.0/-1":                            cidr.ErrLength,
		"1.2.3.0/0x18":                          cidr.ErrLength,
		"1.2.3.0/2x":                            cidr.ErrLength,
		"1.2.3.0/24\x00":                        cidr.ErrLength,
		"1.2.3.0/24\r":                          cidr.ErrLength,
		"1.2.3.0/٢٤":                            cidr.ErrLength,
		"1.2.3.0/33":                            cidr.ErrLength,
		"1.2.3.0/128":                           cidr.ErrLength,
		"1.2.3.0/256":                           cidr.ErrLength,
		"1.2.3.0/4294967320":                    cidr.ErrLength, // 2^32 + 24
		"1.2.3.0/18446744073709551640":          cidr.ErrLength, // 2^64 + 24
		"1.2.3.0/1e1":                           cidr.ErrLength,
		"2001:db8::/129":                        cidr.ErrLength,
		"2001:db8::/1000":                       cidr.ErrLength,
		"2001:db8::/ffff::":                     cidr.ErrLength,
		"196.10.61.0/18.8707":                   cidr.ErrMask, // a length that somebody computed from a count
		"1.2.3.0/024":                           cidr.ErrLeadingZero,
		"1.2.3.0/00":                            cidr.ErrLeadingZero,
		"2001:db8::/032":                        cidr.ErrLeadingZero,
		"1.2.3.0/255.255.255.0":                 cidr.ErrMask,
		"1.2.3.0/0.0.0.255":                     cidr.ErrMask,
		"1.2.3.0/24 foo":                        cidr.ErrSyntax,
		"1.2.3.0/24 // x":                       cidr.ErrSyntax,
		"1.2.3.0/24,IT":                         cidr.ErrSyntax,
		"1.2.3.0/ 24":                           cidr.ErrSyntax,
		"1.2.3.0 /24":                           cidr.ErrSyntax,
		"1.2.3.4/24":                            cidr.ErrHostBits,
		"1.2.3.4/0":                             cidr.ErrHostBits,
		"0.0.0.1/31":                            cidr.ErrHostBits,
		"2001:db8:401::/40":                     cidr.ErrHostBits,
		"::ffff:1.2.3.4/120":                    cidr.ErrHostBits,
		"::1/0":                                 cidr.ErrHostBits,
		"::ffff:0:0/96":                         cidr.ErrMapped, // in lists of unusable IPv6 space; as IPv4 it would be everything
		"::ffff:1.2.3.0/96":                     cidr.ErrMapped,
		"::ffff:1.2.3.0/95":                     cidr.ErrMapped,
		"::ffff:1.2.3.0/24":                     cidr.ErrMapped,
		"::ffff:0.0.0.0/0":                      cidr.ErrMapped,
		"fe80::1%eth0/64":                       cidr.ErrZone,
		"fe80::/10%eth0":                        cidr.ErrLength,
		"010.0.0.0/8":                           cidr.ErrLeadingZero,
		"203.0.113.256/32":                      cidr.ErrOctet,
		"localhost/8":                           cidr.ErrName,
		"1.2.3.0/" + strings.Repeat("1", 1<<16): cidr.ErrLength,
	}
	return bad
}

func TestParsePrefixRefuses(t *testing.T) {
	for in, want := range badPrefixes() {
		p, err := cidr.ParsePrefix(in)
		require.ErrorIs(t, err, want, "%.60q", in)
		require.False(t, p.IsValid())
		_, err = cidr.ParseRange(in)
		require.ErrorIs(t, err, want, "%.60q", in)
		require.LessOrEqual(t, len(err.Error()), 200)
	}
	for in, want := range badAddrs() {
		_, err := cidr.ParsePrefix(in + "/8")
		require.ErrorIs(t, err, want, "%.60q", in)
	}
	_, err := cidr.ParsePrefix("192.0.2.1")
	require.ErrorIs(t, err, cidr.ErrSyntax)
}

func TestParseRange(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1":                             "192.0.2.1-192.0.2.1",
		"192.0.2.1-192.0.2.9":                   "192.0.2.1-192.0.2.9",
		"192.0.2.1 - 192.0.2.9":                 "192.0.2.1-192.0.2.9",
		"192.0.2.1\t-\t192.0.2.9":               "192.0.2.1-192.0.2.9",
		"192.0.2.7-192.0.2.7":                   "192.0.2.7-192.0.2.7",
		"0.0.0.0-255.255.255.255":               "0.0.0.0-255.255.255.255",
		"::-::":                                 "::-::",
		"2001:db8::-2001:db8::ffff":             "2001:db8::-2001:db8::ffff",
		"::ffff:192.0.2.1-::ffff:192.0.2.9":     "192.0.2.1-192.0.2.9",
		"::ffff:192.0.2.1-192.0.2.9":            "192.0.2.1-192.0.2.9",
		"192.0.2.1-::ffff:192.0.2.9":            "192.0.2.1-192.0.2.9",
		"::ffff:0.0.0.1-::ffff:255.255.255.255": "0.0.0.1-255.255.255.255",
	} {
		r, err := cidr.ParseRange(in)
		require.NoError(t, err, in)
		first, last, _ := strings.Cut(want, "-")
		require.Equal(t, rangeOf(first, last), r, in)
	}
	// Ranges that take the whole mapped block in, from either side.
	for _, in := range []string{
		"::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::1-::ffff:255.255.255.255",
		"::ffff:0:0-::1:0:0:0", "::1-::2:0:0:0",
	} {
		r, err := cidr.ParseRange(in)
		require.NoError(t, err, in)
		require.Equal(t, cidr.V6, r.Family(), in)
		again, err := cidr.ParseRange(r.String())
		require.NoError(t, err, in)
		require.Equal(t, r, again, in)
	}
}

func TestParseRangeRefuses(t *testing.T) {
	for in, want := range map[string]error{
		"-":                             cidr.ErrSyntax,
		"1.2.3.4-":                      cidr.ErrSyntax,
		"-1.2.3.4":                      cidr.ErrSyntax,
		"-1":                            cidr.ErrSyntax,
		"1-2":                           cidr.ErrSyntax,
		"1.2.3.4-9":                     cidr.ErrSyntax,
		"1.2.3.4-1.2.3.5-1.2.3.6":       cidr.ErrSyntax,
		"1.2.3.4--1.2.3.5":              cidr.ErrSyntax,
		"1.2.3.4-1.2.3.0/24":            cidr.ErrSyntax,
		"1.2.3.0/24-1.2.4.0/24":         cidr.ErrLength,
		"1.2.3.4\u20131.2.3.5":          cidr.ErrSyntax, // an en dash
		"1.2.3.4-1.2.3.256":             cidr.ErrOctet,
		"1.2.3.4-1.2.3.010":             cidr.ErrLeadingZero,
		"1.2.3.4-bad":                   cidr.ErrName,
		"a-b":                           cidr.ErrName,
		"bad-host.example":              cidr.ErrName,
		"1.2.3.9-1.2.3.4":               cidr.ErrReversed,
		"::2-::1":                       cidr.ErrReversed,
		"::ffff:1.2.3.9-::ffff:1.2.3.4": cidr.ErrReversed,
		"1.2.3.9-::ffff:1.2.3.4":        cidr.ErrReversed,
		"ffff::-::ffff:0:0":             cidr.ErrReversed,
		"1.2.3.4-2001:db8::1":           cidr.ErrMixed,
		"::1-1.2.3.4":                   cidr.ErrMixed,
		"0.0.0.0-::":                    cidr.ErrMixed,
		"::1-::ffff:1.2.3.4":            cidr.ErrMapped,
		"::ffff:1.2.3.4-2001:db8::1":    cidr.ErrMapped,
		"::ffff:0:0-::ffff:ffff:ffff":   cidr.ErrMapped,
		"fe80::1%eth0-fe80::2%eth0":     cidr.ErrZone,
	} {
		r, err := cidr.ParseRange(in)
		require.ErrorIs(t, err, want, in)
		require.Equal(t, cidr.Range{}, r, in)
	}
}
