package cidr

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
)

// listEntry is an entry of a list as numbers.
type listEntry struct {
	family Family
	s4     span4 // for V4
	s6     span6 // for V6
	masked bool  // host bits were masked away
	mapped bool  // it was written as IPv4-mapped
}

// written is an address in the family in which it is written: IPv4-mapped stays IPv6.
type written struct {
	is4 bool
	k4  key4
	k6  key6
}

func (w written) addr() netip.Addr {
	if w.is4 {
		return w.k4.addr()
	}
	return w.k6.addr()
}

func (w written) isMapped() bool { return !w.is4 && !w.k6.less(mapped.lo) && !mapped.hi.less(w.k6) }

// scanLine4 is the fast path for a whole line "a.b.c.d" or "a.b.c.d/n" at the start of data, with its line end. It gives
// how long the line is with that, and 0 for anything else: other lines, wrong ones, and those near the end of data.
func scanLine4(data []byte) (lo, hi key4, n int) {
	if len(data) < len("255.255.255.255/32\r\n") {
		return 0, 0, 0
	}
	i := 0
	for octet := 0; ; octet++ {
		v := uint32(data[i]) - '0'
		if v > 9 {
			return 0, 0, 0
		}
		i++
		if d := uint32(data[i]) - '0'; d <= 9 {
			if v == 0 {
				return 0, 0, 0
			}
			v = v*10 + d
			i++
			if d := uint32(data[i]) - '0'; d <= 9 {
				v = v*10 + d
				i++
				if v > 255 {
					return 0, 0, 0
				}
			}
		}
		lo = lo<<8 | key4(v)
		if octet == 3 {
			break
		}
		if data[i] != '.' {
			return 0, 0, 0
		}
		i++
	}
	hi = lo
	if data[i] == '/' {
		length := uint32(data[i+1]) - '0'
		if length > 9 {
			return 0, 0, 0
		}
		i += 2
		if d := uint32(data[i]) - '0'; d <= 9 {
			if length == 0 {
				return 0, 0, 0
			}
			length = length*10 + d
			i++
		}
		if length > 32 {
			return 0, 0, 0
		}
		host := key4(uint64(1)<<(32-length) - 1)
		if lo&host != 0 {
			return 0, 0, 0
		}
		hi |= host
	}
	if data[i] == '\r' {
		i++
	}
	if data[i] != '\n' {
		return 0, 0, 0
	}
	return lo, hi, i + 1
}

// scanLine6 is scanLine4 for IPv6. It leaves IPv4-mapped addresses to the general path.
func scanLine6(data []byte) (lo, hi key6, n int) {
	const longest = len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255/128\r\n")
	head := 0
	for head < len(data) && head < 4 && data[head] != ':' {
		head++
	}
	if head == len(data) || data[head] != ':' {
		return lo, hi, 0
	}
	end := bytes.IndexByte(data[:min(len(data), longest)], '\n')
	if end < 0 {
		return lo, hi, 0
	}
	line, length := data[:end], 128
	if end > 0 && line[end-1] == '\r' {
		line = line[:end-1]
	}
	for i := len(line) - 1; i >= 0 && i >= len(line)-len("/128"); i-- {
		if line[i] == '/' {
			var err error
			if length, err = parseLength(line[i+1:], 128); err != nil {
				return lo, hi, 0
			}
			line = line[:i]
			break
		}
	}
	lo, ok := parse6(line)
	if !ok || !lo.less(mapped.lo) && !mapped.hi.less(lo) {
		return lo, hi, 0
	}
	hi = lo.fill(128 - length)
	if hi.minus(key6{}.fill(128-length)) != lo {
		return lo, hi, 0
	}
	return lo, hi, end + 1
}

// entry reads an address, a prefix or a range as the options say.
func (l *listReader) entry(b []byte) (listEntry, error) {
	switch i := bytes.IndexAny(b, "/-"); {
	case i < 0:
		a, err := l.address(b)
		if err != nil {
			return listEntry{}, err
		}
		return l.span(a, a)
	case b[i] == '/':
		return l.prefix(b[:i], b[i+1:])
	default:
		return l.ends(b[:i], b[i+1:])
	}
}

// ends reads a range from the texts of its ends.
func (l *listReader) ends(first, last []byte) (listEntry, error) {
	a, err := l.address(trimBlanks(first))
	if err != nil {
		return listEntry{}, err
	}
	z, err := l.address(trimBlanks(last))
	if err != nil {
		return listEntry{}, err
	}
	return l.span(a, z)
}

func (l *listReader) span(first, last written) (listEntry, error) {
	switch {
	case first.is4 && last.is4 && first.k4 <= last.k4:
		return listEntry{family: V4, s4: span4{first.k4, last.k4}}, nil
	case !first.is4 && !last.is4 && !last.k6.less(first.k6) && (last.k6.less(mapped.lo) || mapped.hi.less(first.k6)):
		return listEntry{family: V6, s6: span6{first.k6, last.k6}}, nil
	}
	f, s4, s6, err := Range{first.addr(), last.addr()}.spans()
	if err != nil {
		return listEntry{}, err
	}
	return l.policed(listEntry{family: f, s4: s4, s6: s6, mapped: f == V4 && (first.isMapped() || last.isMapped())})
}

func (l *listReader) policed(e listEntry) (listEntry, error) {
	if e.mapped && l.mappedAddrs == RefuseMapped {
		return listEntry{}, fmt.Errorf("%w; MappedAddrs(TakeMapped) would take it", ErrMapped)
	}
	return e, nil
}

func (l *listReader) prefix(addr, length []byte) (listEntry, error) {
	a, err := l.address(addr)
	if err != nil {
		return listEntry{}, err
	}
	width := 128
	if a.is4 {
		width = 32
	}
	var n int
	if bytes.IndexByte(length, '.') >= 0 {
		n, err = l.netmask(a, length)
	} else {
		n, err = l.length(length, width)
	}
	if err != nil {
		return listEntry{}, err
	}
	e := listEntry{family: V6}
	switch {
	case a.is4:
		e.family = V4
	case a.isMapped() && n <= 96:
		return listEntry{}, ErrMapped
	case a.isMapped():
		e.family, e.mapped = V4, true
		a.k4, n = key4(a.k6.lo), n-96
	}
	var network netip.Prefix
	if e.family == V4 {
		e.s4.hi = a.k4.fill(32 - n)
		e.s4.lo = e.s4.hi - key4(0).fill(32-n)
		if e.masked = e.s4.lo != a.k4; e.masked {
			network = prefixAt4(e.s4.lo, 32-n)
		}
	} else {
		e.s6.hi = a.k6.fill(128 - n)
		e.s6.lo = e.s6.hi.minus(key6{}.fill(128 - n))
		if e.masked = e.s6.lo != a.k6; e.masked {
			network = prefixAt6(e.s6.lo, 128-n)
		}
	}
	if e.masked && l.hostBits == RefuseHostBits {
		return listEntry{}, fmt.Errorf("%w: the network is %v; HostBits(MaskHostBits) would take that", ErrHostBits,
			network)
	}
	return l.policed(e)
}

// length reads a prefix length.
func (l *listReader) length(b []byte, limit int) (int, error) {
	if l.leadingZeros == DecimalLeadingZeros {
		b = withoutZeros(b)
	}
	n, err := parseLength(b, limit)
	return n, adviseZeros(err)
}

func withoutZeros(b []byte) []byte {
	for len(b) > 1 && b[0] == '0' && b[1] >= '0' && b[1] <= '9' {
		b = b[1:]
	}
	return b
}

func adviseZeros(err error) error {
	if errors.Is(err, ErrLeadingZero) {
		return fmt.Errorf("%w, or LeadingZeros(DecimalLeadingZeros) if it is decimal", err)
	}
	return err
}

// netmask reads a netmask after an address.
func (l *listReader) netmask(a written, b []byte) (int, error) {
	if !a.is4 {
		return 0, fmt.Errorf("%w: IPv6 has lengths only", ErrMask)
	}
	m, err := l.address(b)
	if err != nil || !m.is4 {
		return 0, ErrMask
	}
	host := ^m.k4
	switch {
	case host&(host+1) == 0 && l.netmasks == RefuseNetmasks:
		return 0, fmt.Errorf("%w, or Netmasks(TakeNetmasks)", ErrMask)
	case host.isMax() && a.k4 != 0:
		return 0, fmt.Errorf("%w: the mask 0.0.0.0 would take everything: write what is meant", ErrHostBits)
	case host&(host+1) == 0:
		return 32 - bits.OnesCount32(uint32(host)), nil
	case m.k4&(m.k4+1) == 0:
		return 0, fmt.Errorf("%w: %v is a wildcard mask", ErrMask, m.k4.addr())
	}
	return 0, fmt.Errorf("%w: %v has holes", ErrMask, m.k4.addr())
}

// address reads one address, IPv6 with or without brackets.
func (l *listReader) address(b []byte) (written, error) {
	if k, ok := parse4(b); ok {
		return written{is4: true, k4: k}, nil
	}
	if len(b) > 0 && b[0] == '[' {
		inner, ok := bytes.CutSuffix(b[1:], []byte("]"))
		switch {
		case !ok && bytes.Contains(b, []byte("]:")):
			return written{}, fmt.Errorf("%w: an address with a port: leave the port away", ErrSyntax)
		case !ok:
			return written{}, fmt.Errorf("%w: a bracket is not closed", ErrSyntax)
		case bytes.IndexByte(inner, ':') < 0:
			return written{}, fmt.Errorf("%w: brackets are for IPv6", ErrSyntax)
		}
		b = inner
	}
	if k, ok := parse6(b); ok {
		return written{k6: k}, nil
	}
	if l.leadingZeros == DecimalLeadingZeros {
		var space [64]byte
		b = decimalOctets(space[:0], b)
		if k, ok := parse4(b); ok {
			return written{is4: true, k4: k}, nil
		}
		if k, ok := parse6(b); ok {
			return written{k6: k}, nil
		}
	}
	return written{}, explainAddr(b)
}

// decimalOctets appends b to dst without the leading zeros of its dotted decimal part.
func decimalOctets(dst, b []byte) []byte {
	head := bytes.LastIndexByte(b, ':') + 1
	if bytes.IndexByte(b[head:], '.') < 0 {
		return append(dst, b...)
	}
	dst = append(dst, b[:head]...)
	for rest := b[head:]; ; {
		octet, more, found := bytes.Cut(rest, []byte("."))
		dst = append(dst, withoutZeros(octet)...)
		if !found {
			return dst
		}
		dst = append(dst, '.')
		rest = more
	}
}

// explainAddr says why text of a list is no address.
func explainAddr(b []byte) error {
	err := diagnose(b)
	if i := bytes.LastIndexByte(b, ':'); i > 0 && bytes.IndexByte(b, ':') == i {
		if _, ok := parse4(b[:i]); ok {
			return fmt.Errorf("%w: an address with a port: leave the port away", ErrSyntax)
		}
	}
	return adviseZeros(err)
}
