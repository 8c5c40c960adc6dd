package cidr

import (
	"bytes"
	"fmt"
	"net/netip"
)

// listEntry is one entry of a list, in the family in which packets carry it.
type listEntry struct {
	family         Family
	s4             span4
	s6             span6
	masked, mapped bool
}

// scanLine4 reads a line that is an IPv4 address or prefix and nothing else, line end included, from the start of data.
// n is its length, and 0 if the line is anything else, or not there to its end.
func scanLine4(data []byte) (lo, hi key4, n int) {
	var k key4
	i := 0
	for dots := 0; ; dots++ {
		if i+3 >= len(data) {
			return 0, 0, 0
		}
		c := uint32(data[i] - '0')
		if c > 9 {
			return 0, 0, 0
		}
		octet := c
		i++
		if d := uint32(data[i] - '0'); d <= 9 {
			octet = octet*10 + d
			i++
			if d := uint32(data[i] - '0'); d <= 9 {
				octet = octet*10 + d
				i++
			}
			if c == 0 || octet > 255 {
				return 0, 0, 0
			}
		}
		k = k<<8 | key4(octet)
		if dots == 3 {
			break
		}
		if i >= len(data) || data[i] != '.' {
			return 0, 0, 0
		}
		i++
	}
	host := 0
	if i < len(data) && data[i] == '/' {
		if i+3 >= len(data) {
			return 0, 0, 0
		}
		i++
		c := uint32(data[i] - '0')
		if c > 9 {
			return 0, 0, 0
		}
		length := c
		i++
		if d := uint32(data[i] - '0'); d <= 9 {
			length = length*10 + d
			i++
			if c == 0 {
				return 0, 0, 0
			}
		}
		if host = 32 - int(length); host < 0 || k.blockBits() < host {
			return 0, 0, 0
		}
	}
	if i < len(data) && data[i] == '\r' {
		i++
	}
	if i >= len(data) || data[i] != '\n' {
		return 0, 0, 0
	}
	return k, k.fill(host), i + 1
}

// entry reads an address, a prefix or a range, as the options have it. On an error, part is what to show of it.
func (l *listReader) entry(b []byte) (e listEntry, part []byte, err error) {
	if len(b) > 0 && b[0] == '[' {
		if b, err = unbracket(b); err != nil {
			return e, b, err
		}
	}
	if k, ok := parse4(b); ok {
		return listEntry{family: V4, s4: span4{k, k}}, nil, nil
	}
	i := bytes.IndexAny(b, "/-")
	switch {
	case i < 0:
		a, mapped, err := l.addr(b)
		if err != nil {
			return e, b, err
		}
		return l.spans(Range{a, a}, mapped, b)
	case b[i] == '/':
		return l.prefix(b, b[:i], b[i+1:])
	}
	first, mapped1, err := l.addr(trimBlanks(b[:i]))
	if err != nil {
		return e, b, err
	}
	last, mapped2, err := l.addr(trimBlanks(b[i+1:]))
	if err != nil {
		return e, b, err
	}
	return l.spans(Range{first, last}, mapped1 && mapped2, b)
}

// addr reads an address in the family in which it is written.
func (l *listReader) addr(b []byte) (a netip.Addr, mapped bool, err error) {
	if a, err = parseWritten(b); err != nil && l.leadingZeros == DecimalLeadingZeros {
		if k, ok := parsePadded4(b); ok {
			return k.addr(), false, nil
		}
	}
	if err != nil {
		return a, false, err
	}
	if a.Is4In6() && l.mappedAddrs == RefuseMapped {
		return a, false, ErrMapped
	}
	return a, a.Is4In6(), nil
}

// parsePadded4 reads dotted decimal whose octets may have up to three digits, leading zeros among them.
func parsePadded4(b []byte) (key4, bool) {
	var k key4
	for i := range 4 {
		octet, rest, more := bytes.Cut(b, []byte("."))
		if more != (i < 3) || len(octet) == 0 || len(octet) > 3 {
			return 0, false
		}
		n := 0
		for _, c := range octet {
			if c < '0' || c > '9' {
				return 0, false
			}
			n = n*10 + int(c-'0')
		}
		if n > 255 {
			return 0, false
		}
		k, b = k<<8|key4(n), rest
	}
	return k, true
}

// spans makes an entry of a range of written addresses.
func (l *listReader) spans(r Range, mapped bool, shown []byte) (e listEntry, part []byte, err error) {
	e.mapped = mapped
	e.family, e.s4, e.s6, err = r.spans()
	return e, shown, err
}

func (l *listReader) prefix(whole, addr, length []byte) (e listEntry, part []byte, err error) {
	a, mapped, err := l.addr(addr)
	if err != nil {
		return e, whole, err
	}
	var n int
	switch {
	case bytes.IndexByte(length, '.') >= 0:
		n, err = l.netmask(a, length)
	case l.leadingZeros == DecimalLeadingZeros:
		trimmed := bytes.TrimLeft(length, "0")
		if len(trimmed) == 0 && len(length) > 0 {
			trimmed = length[len(length)-1:]
		}
		n, err = parseLength(trimmed, a.BitLen())
	default:
		n, err = parseLength(length, a.BitLen())
	}
	if err != nil {
		return e, whole, err
	}
	if mapped {
		if n <= 96 {
			return e, whole, ErrMapped
		}
		a, n = a.Unmap(), n-96
	}
	p := netip.PrefixFrom(a, n)
	if m := p.Masked(); m != p {
		if l.hostBits == RefuseHostBits {
			return e, whole, fmt.Errorf("%w: the network is %v", ErrHostBits, m)
		}
		p, e.masked = m, true
	}
	e.mapped = mapped
	e.family, e.s4, e.s6, err = RangeOf(p).spans()
	return e, whole, err
}

// netmask reads a mask such as 255.255.255.0 as the length that it stands for.
func (l *listReader) netmask(a netip.Addr, b []byte) (int, error) {
	mask, ok := parse4(b)
	if !ok && l.leadingZeros == DecimalLeadingZeros {
		mask, ok = parsePadded4(b)
	}
	switch {
	case !ok:
		return 0, fmt.Errorf("%w: and no netmask either", ErrMask)
	case !a.Is4():
		return 0, fmt.Errorf("%w: of IPv4, after an IPv6 address", ErrMask)
	}
	n := mask.ones()
	switch key4(0).fill(32-n) ^ mask {
	case 1<<32 - 1: // the mask's ones stand first
	default:
		if mask&(mask+1) == 0 {
			return 0, fmt.Errorf("%w: and this is a wildcard mask, the inverse of one", ErrMask)
		}
		return 0, fmt.Errorf("%w: and this one has holes", ErrMask)
	}
	if l.netmasks == RefuseNetmasks {
		return 0, fmt.Errorf("%w: here /%d", ErrMask, n)
	}
	if n == 0 && toKey4(a) != 0 {
		return 0, fmt.Errorf("%w: the mask 0.0.0.0 leaves none for the network", ErrHostBits)
	}
	return n, nil
}

// unbracket takes the brackets off an IPv6 address, which a prefix length may follow.
func unbracket(b []byte) ([]byte, error) {
	end := bytes.IndexByte(b, ']')
	switch {
	case end < 0:
		return b, fmt.Errorf("%w: a bracket is not closed", ErrSyntax)
	case bytes.IndexByte(b[1:end], ':') < 0:
		return b, fmt.Errorf("%w: brackets are for IPv6", ErrSyntax)
	case end == len(b)-1:
		return b[1:end], nil
	case b[end+1] == ':':
		return b, fmt.Errorf("%w: a port after the address", ErrSyntax)
	case b[end+1] != '/' || bytes.IndexByte(b[1:end], '/') >= 0:
		return b, fmt.Errorf("%w: only a prefix length can follow a bracket", ErrSyntax)
	}
	return append(append(make([]byte, 0, len(b)), b[1:end]...), b[end+1:]...), nil
}

// looksLikeAddress reports whether a word is, or was meant to be, an address, a prefix, a range or a netmask.
func looksLikeAddress(word []byte) bool {
	dots, colons, digits := 0, 0, 0
	for _, c := range word {
		switch {
		case c == '.':
			dots++
		case c == ':':
			colons++
		case c >= '0' && c <= '9':
			digits++
		case c == '/' || c == '-' || c == '[' || c == ']' || c == '%':
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			if colons == 0 && dots > 0 {
				return false
			}
		default:
			return false
		}
	}
	return digits > 0 && (dots >= 3 || colons >= 2)
}
