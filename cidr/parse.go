package cidr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
)

// ParseAddr reads one address strictly: dotted decimal with four octets and no leading zeros (RFC 6943, section 3.1.1,
// says what the looser forms have done), or IPv6 as in RFC 4291, section 2.2. IPv4-mapped text gives the IPv4 address.
// Zones, names, octal, hexadecimal and short forms such as "10.1" are refused; the error wraps ErrSyntax,
// ErrName, ErrOctet, ErrLeadingZero or ErrZone.
func ParseAddr(s string) (netip.Addr, error) { return parseAddr([]byte(s)) }

// ParseAddrBytes is ParseAddr for a slice of bytes. It keeps no reference to it and does not allocate on success.
func ParseAddrBytes(b []byte) (netip.Addr, error) { return parseAddr(b) }

// ParsePrefix reads "address/length" as ParseAddr reads the address. The length is decimal without a leading zero. Host
// bits are refused (ErrHostBits). An IPv4-mapped prefix of more than 96 bits gives the IPv4 prefix that is meant, any
// other is refused (ErrMapped).
func ParsePrefix(s string) (netip.Prefix, error) { return parsePrefix([]byte(s)) }

// ParseRange reads an entry of an address list: an address, a prefix as ParsePrefix reads it, or "first-last" with or
// without blanks around the dash. A range that Check refuses is an error.
func ParseRange(s string) (Range, error) { return parseRange([]byte(s)) }

func parseRange(b []byte) (Range, error) {
	switch i := bytes.IndexAny(b, "/-"); {
	case i < 0:
		a, err := parseAddr(b)
		if err != nil {
			return Range{}, err
		}
		return Range{a, a}, nil
	case b[i] == '/':
		p, err := parsePrefix(b)
		if err != nil {
			return Range{}, err
		}
		return RangeOf(p), nil
	default:
		first, err := parseWritten(trimBlanks(b[:i]))
		if err != nil {
			return Range{}, err
		}
		last, err := parseWritten(trimBlanks(b[i+1:]))
		if err != nil {
			return Range{}, err
		}
		return Range{first, last}.canonical()
	}
}

func parsePrefix(b []byte) (netip.Prefix, error) {
	addr, length, ok := bytes.Cut(b, []byte("/"))
	if !ok {
		return netip.Prefix{}, fmt.Errorf("%w: no slash", ErrSyntax)
	}
	a, err := parseWritten(addr)
	if err != nil {
		return netip.Prefix{}, err
	}
	n, err := parseLength(length, a.BitLen())
	if err != nil {
		return netip.Prefix{}, err
	}
	if a.Is4In6() {
		if n <= 96 {
			return netip.Prefix{}, ErrMapped
		}
		a, n = a.Unmap(), n-96
	}
	p := netip.PrefixFrom(a, n)
	if m := p.Masked(); m != p {
		return netip.Prefix{}, fmt.Errorf("%w: the network is %v", ErrHostBits, m)
	}
	return p, nil
}

func parseLength(b []byte, limit int) (int, error) {
	n := 0
	for i, c := range b {
		switch {
		case c == '.':
			return 0, ErrMask
		case c == ' ' || c == '\t' || c == ',':
			return 0, errMore
		case c < '0' || c > '9':
			return 0, fmt.Errorf("%w: not a number", ErrLength)
		case i > 0 && b[0] == '0':
			return 0, ErrLeadingZero
		}
		if n = n*10 + int(c-'0'); n > limit {
			if bytes.IndexByte(b, '.') >= 0 {
				return 0, ErrMask
			}
			return 0, fmt.Errorf("%w: over %d", ErrLength, limit)
		}
	}
	if len(b) == 0 {
		return 0, fmt.Errorf("%w: none is given", ErrLength)
	}
	return n, nil
}

func parseAddr(b []byte) (netip.Addr, error) {
	a, err := parseWritten(b)
	return a.Unmap(), err
}

// parseWritten reads an address in the family in which it is written: IPv4-mapped stays IPv6.
func parseWritten(b []byte) (netip.Addr, error) {
	if k, ok := parse4(b); ok {
		return k.addr(), nil
	}
	if k, ok := parse6(b); ok {
		return k.addr(), nil
	}
	return netip.Addr{}, diagnose(b)
}

var errMore = fmt.Errorf("%w: there is more on the line than one entry", ErrSyntax)

// parse4 is the fast path for dotted decimal. It says only yes or no; diagnose says why not.
func parse4(b []byte) (key4, bool) {
	var k key4
	dots, digits, octet := 0, 0, 0
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			if digits > 0 && octet == 0 {
				return 0, false
			}
			octet = octet*10 + int(c-'0')
			if octet > 255 {
				return 0, false
			}
			digits++
		case c == '.' && digits > 0 && dots < 3:
			k = k<<8 | key4(octet)
			dots, digits, octet = dots+1, 0, 0
		default:
			return 0, false
		}
	}
	if dots != 3 || digits == 0 {
		return 0, false
	}
	return k<<8 | key4(octet), true
}

// parse6 is the fast path for IPv6 text: up to eight groups of one to four hexadecimal digits, at most one "::" standing
// for one group of zeros or more, and optionally dotted decimal for the last two groups.
func parse6(b []byte) (key6, bool) {
	var groups [8]uint16
	n, gap := 0, -1 // groups read; where "::" stands
	i := 0
	if len(b) >= 2 && b[0] == ':' && b[1] == ':' {
		gap, i = 0, 2
	}
	for i < len(b) {
		if n == 8 {
			return key6{}, false
		}
		start, v := i, 0
		for i < len(b) && i-start < 5 {
			d, ok := hexDigit(b[i])
			if !ok {
				break
			}
			v = v<<4 | d
			i++
		}
		if i < len(b) && b[i] == '.' {
			if n > 6 {
				return key6{}, false
			}
			k, ok := parse4(b[start:])
			if !ok {
				return key6{}, false
			}
			groups[n], groups[n+1] = uint16(k>>16), uint16(k)
			n += 2
			break
		}
		if digits := i - start; digits == 0 || digits > 4 {
			return key6{}, false
		}
		groups[n] = uint16(v)
		n++
		if i == len(b) {
			break
		}
		if b[i] != ':' {
			return key6{}, false
		}
		i++
		if i == len(b) {
			return key6{}, false // a lone colon at the end
		}
		if b[i] == ':' {
			if gap >= 0 {
				return key6{}, false
			}
			gap = n
			i++
		}
	}
	if gap >= 0 {
		if n == 8 {
			return key6{}, false
		}
		copy(groups[8-(n-gap):], groups[gap:n])
		clear(groups[gap : 8-(n-gap)])
	} else if n != 8 {
		return key6{}, false
	}
	var raw [16]byte
	for g, v := range groups {
		binary.BigEndian.PutUint16(raw[2*g:], v)
	}
	return key6{binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])}, true
}

func hexDigit(c byte) (int, bool) {
	switch lower := c | 0x20; {
	case c >= '0' && c <= '9':
		return int(c - '0'), true
	case lower >= 'a' && lower <= 'f':
		return int(lower-'a') + 10, true
	}
	return 0, false
}

// diagnose says why text is no address. It runs only on bad input, so it may take its time.
func diagnose(b []byte) error {
	s := string(b)
	if s == "" {
		return fmt.Errorf("%w: nothing is there", ErrSyntax)
	}
	if head, _, ok := strings.Cut(s, "%"); ok {
		if _, err := netip.ParseAddr(head); err == nil {
			return ErrZone
		}
	}
	if strings.ContainsAny(s, " \t,") {
		return errMore
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		// The last 32 bits of an IPv6 address may be dotted decimal.
		if octets := strings.Split(s[i+1:], "."); len(octets) == 4 && isNumeric(octets, decimal) {
			return diagnoseOctets(octets)
		}
		return ErrSyntax
	}
	if octets := strings.Split(s, "."); isNumeric(octets, decimal) {
		return diagnoseOctets(octets)
	} else if isNumeric(octets, hexadecimal) {
		return fmt.Errorf("%w: a hexadecimal number: write it in decimal", ErrSyntax)
	}
	letters := strings.ContainsFunc(s, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
	others := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") != ""
	if letters && !others {
		return ErrName
	}
	return ErrSyntax
}

func isNumeric(octets []string, form func(string) bool) bool {
	for _, o := range octets {
		if o == "" || !form(o) {
			return false
		}
	}
	return true
}

func decimal(s string) bool { return strings.Trim(s, "0123456789") == "" }

// hexadecimal takes decimal too, since such addresses may mix the two.
func hexadecimal(s string) bool {
	digits, ok := strings.CutPrefix(strings.ToLower(s), "0x")
	return decimal(s) || ok && strings.Trim(digits, "0123456789abcdef") == ""
}

func diagnoseOctets(octets []string) error {
	if len(octets) != 4 {
		return fmt.Errorf("%w: an IPv4 address has four octets, this has %d", ErrSyntax, len(octets))
	}
	for _, o := range octets {
		if len(o) > 1 && o[0] == '0' {
			return fmt.Errorf("octet %.20s: %w", o, ErrLeadingZero)
		}
	}
	for _, o := range octets {
		if len(o) > 3 || len(o) == 3 && o > "255" {
			return fmt.Errorf("octet %.20s: %w", o, ErrOctet)
		}
	}
	return ErrSyntax
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}
