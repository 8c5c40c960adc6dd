package cidr

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
)

// ParseAddr reads one address strictly: dotted decimal with four octets and no leading zeros (RFC 6943, section 3.1.1,
// says what the looser forms have done), or IPv6 as in RFC 4291, section 2.2. IPv4-mapped text gives the IPv4 address.
// Zones, names, octal, hexadecimal and short forms such as "10.1" are refused, each by its sentinel error.
func ParseAddr(s string) (netip.Addr, error) { return parseAddr([]byte(s)) }

// ParseAddrBytes is ParseAddr for a slice of bytes. It keeps no reference to it and does not allocate on success.
func ParseAddrBytes(b []byte) (netip.Addr, error) { return parseAddr(b) }

// ParsePrefix reads "address/length" as ParseAddr reads the address. The length is decimal without a leading zero. Host
// bits are refused (ErrHostBits). An IPv4-mapped prefix of 96 bits or more gives the IPv4 prefix that is meant, a
// shorter one is refused (ErrMapped).
func ParsePrefix(s string) (netip.Prefix, error) {
	p, err := parsePrefix([]byte(s))
	if err != nil {
		return netip.Prefix{}, err
	}
	return p, nil
}

// ParseRange reads an entry of an address list: an address, a prefix as ParsePrefix reads it, or "first-last" with or
// without blanks around the dash.
func ParseRange(s string) (Range, error) { return parseRange([]byte(s)) }

func parseRange(b []byte) (Range, error) {
	for i, c := range b {
		switch c {
		case '/':
			p, err := parsePrefix(b)
			if err != nil {
				return Range{}, err
			}
			return RangeOf(p), nil
		case '-':
			first, err := parseAddr(trimBlanks(b[:i]))
			if err != nil {
				return Range{}, err
			}
			last, err := parseAddr(trimBlanks(b[i+1:]))
			if err != nil {
				return Range{}, err
			}
			r := Range{first, last}
			// An IPv6 range may end with the last IPv4-mapped address, which parseAddr has turned into IPv4.
			if first.Is6() && last.Is4() && !isDigitsAndDots(trimBlanks(b[i+1:])) {
				r.Last = netip.AddrFrom16(last.As16())
			}
			return r, r.Check()
		}
	}
	a, err := parseAddr(b)
	if err != nil {
		return Range{}, err
	}
	return Range{a, a}, nil
}

func parsePrefix(b []byte) (netip.Prefix, error) {
	slash := -1
	for i, c := range b {
		if c == '/' {
			slash = i
			break
		}
	}
	if slash < 0 {
		return netip.Prefix{}, fmt.Errorf("%w: no slash", ErrSyntax)
	}
	a, err := parseAddr(b[:slash])
	if err != nil {
		return netip.Prefix{}, err
	}
	written := 32
	if !isDigitsAndDots(b[:slash]) {
		written = 128
	}
	n, err := parseLength(b[slash+1:], written)
	if err != nil {
		return netip.Prefix{}, err
	}
	if a.Is4() && written == 128 {
		if n < 96 {
			return netip.Prefix{}, ErrMapped
		}
		n -= 96
	}
	p := netip.PrefixFrom(a, n)
	if m := p.Masked(); m.Addr() != a {
		return netip.Prefix{}, fmt.Errorf("%w: the network is %v", ErrHostBits, m)
	}
	return p, nil
}

// isDigitsAndDots tells text of an IPv4 address from text of an IPv6 address, given that it is one of the two.
func isDigitsAndDots(b []byte) bool {
	for _, c := range b {
		if c == ':' {
			return false
		}
	}
	return true
}

func parseLength(b []byte, limit int) (int, error) {
	n := 0
	for i, c := range b {
		if c < '0' || c > '9' {
			if c == '.' {
				return 0, ErrMask
			}
			return 0, fmt.Errorf("%w: not a number", ErrLength)
		}
		if i > 0 && b[0] == '0' {
			return 0, ErrLeadingZero
		}
		if n = n*10 + int(c-'0'); n > limit {
			for _, c := range b[i:] {
				if c == '.' {
					return 0, ErrMask
				}
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
	if a, ok := parse4(b); ok {
		return a.addr(), nil
	}
	if k, ok := parse6(b); ok {
		return k.addr().Unmap(), nil
	}
	return netip.Addr{}, diagnose(b)
}

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
			c := b[i] | 0x20 // lower case; digits are not changed by it
			switch {
			case b[i] >= '0' && b[i] <= '9':
				v = v<<4 | int(b[i]-'0')
			case c >= 'a' && c <= 'f':
				v = v<<4 | int(c-'a'+10)
			default:
				goto group
			}
			i++
		}
	group:
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
			i = len(b)
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
	if strings.ContainsAny(s, " \t") {
		return fmt.Errorf("%w: there is more on the line than one entry", ErrSyntax)
	}
	if strings.Contains(s, ":") {
		return ErrSyntax
	}
	octets := strings.Split(s, ".")
	numeric := true
	for _, o := range octets {
		numeric = numeric && o != "" && strings.Trim(o, "0123456789") == ""
	}
	if numeric {
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
	}
	letters := strings.ContainsFunc(s, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
	others := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") != ""
	if letters && !others {
		return ErrName
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
