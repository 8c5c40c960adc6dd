package cidr

import (
	"bytes"
	"fmt"
	"strconv"
)

// datFormat is FormatDAT.
type datFormat struct{}

func (datFormat) line(l *listReader, text []byte) (shown []byte, err error) {
	if text[0] == '#' || text[0] == ';' || bytes.HasPrefix(text, []byte("//")) {
		l.headerDate(text)
		return nil, nil
	}
	span, more, ok := bytes.Cut(text, []byte(","))
	if !ok {
		return text, fmt.Errorf("%w: a row of this format is first - last , level , description", ErrSyntax)
	}
	first, last, ok := bytes.Cut(span, []byte("-"))
	if !ok {
		return trimBlanks(span), fmt.Errorf("%w: a row of this format starts with first - last", ErrSyntax)
	}
	lo, err := parseDAT(trimBlanks(first))
	if err != nil {
		return trimBlanks(first), err
	}
	hi, err := parseDAT(trimBlanks(last))
	if err != nil {
		return trimBlanks(last), err
	}
	if hi < lo {
		return trimBlanks(span), ErrReversed
	}
	field, _, _ := bytes.Cut(more, []byte(","))
	field = trimBlanks(field)
	level, err := strconv.ParseUint(string(field), 10, 8)
	if err != nil {
		return field, fmt.Errorf("%w: an access level is a number from 0 to 255", ErrSyntax)
	}
	if level >= 128 {
		l.report.Ignored++
		return nil, nil
	}
	l.take(listEntry{family: V4, s4: span4{lo, hi}})
	return nil, nil
}

func (datFormat) end(*listReader) error { return nil }

// parseDAT reads an address of three digits for each octet, or of fewer.
func parseDAT(b []byte) (key4, error) {
	k, ok := parsePadded4(b)
	if !ok {
		if _, err := parseWritten(b); err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("%w: this format is for IPv4", ErrSyntax)
	}
	return k, nil
}

// p2pFormat is FormatP2P.
type p2pFormat struct{}

func (p2pFormat) line(l *listReader, text []byte) (shown []byte, err error) {
	if text[0] == '#' {
		l.headerDate(text)
		return nil, nil
	}
	i := bytes.LastIndexByte(text, ':')
	if i < 0 {
		return text, fmt.Errorf("%w: a row of this format is name:first-last", ErrSyntax)
	}
	span := trimBlanks(text[i+1:])
	first, last, ok := bytes.Cut(span, []byte("-"))
	if !ok {
		return span, fmt.Errorf("%w: a row of this format ends in first-last", ErrSyntax)
	}
	lo, part, err := l.address4(trimBlanks(first))
	if err != nil {
		return part, err
	}
	hi, part, err := l.address4(trimBlanks(last))
	if err != nil {
		return part, err
	}
	if hi < lo {
		return span, ErrReversed
	}
	l.take(listEntry{family: V4, s4: span4{lo, hi}})
	return nil, nil
}

func (p2pFormat) end(*listReader) error { return nil }

// address4 reads an IPv4 address of a format that has no other.
func (l *listReader) address4(b []byte) (key4, []byte, error) {
	a, _, err := l.addr(b)
	if err != nil {
		return 0, b, err
	}
	if !a.Is4() {
		return 0, b, fmt.Errorf("%w: this format is for IPv4", ErrSyntax)
	}
	return toKey4(a), nil, nil
}
