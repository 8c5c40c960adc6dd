package cidr

import (
	"bytes"
	"fmt"
	"time"
)

// rirFormat reads the rows of FormatRIR.
type rirFormat struct {
	rows   [3]uint64 // by type, good and bad ones
	said   [3]uint64 // what the summaries say
	hasSum [3]bool
}

var rirTypes = [3]string{"ipv4", "ipv6", "asn"}

func (f *rirFormat) line(l *listReader, line []byte) ([]byte, error) {
	if line[0] == '#' {
		l.comment(line)
		return line, nil
	}
	var fields [8][]byte
	n := 0
	for rest, more := line, true; more && n < len(fields); n++ {
		fields[n], rest, more = bytes.Cut(rest, []byte("|"))
	}
	if n > 5 && len(fields[0]) > 0 && len(bytes.Trim(fields[0], "0123456789.")) == 0 { // a version, such as 2.3
		l.report.Ignored++
		if date, err := time.Parse("20060102", string(fields[5])); err == nil {
			l.sawDate(date)
		}
		return line, nil
	}
	if n < 6 {
		return line, fmt.Errorf("%w: a row is \"registry|cc|type|start|value|date|status\"", ErrSyntax)
	}
	kind := -1
	for i, name := range rirTypes {
		if string(fields[2]) == name {
			kind = i
		}
	}
	if kind < 0 {
		return line, fmt.Errorf("%w: the type is ipv4, ipv6 or asn, not %.20q", ErrSyntax, fields[2])
	}
	if string(fields[5]) == "summary" {
		count, ok := parseCount(fields[4])
		if !ok {
			return line, fmt.Errorf("%w: the summary's count is not a number", ErrSyntax)
		}
		f.said[kind], f.hasSum[kind] = f.said[kind]+count, true
		l.report.Ignored++
		return line, nil
	}
	f.rows[kind]++
	if n < 7 {
		return line, fmt.Errorf("%w: a row is \"registry|cc|type|start|value|date|status\"", ErrSyntax)
	}
	switch string(fields[6]) {
	case "allocated", "assigned":
	case "available", "reserved":
		l.report.Ignored++
		return line, nil
	default:
		return line, fmt.Errorf("%w: the status is allocated, assigned, available or reserved, not %.20q", ErrSyntax,
			fields[6])
	}
	switch kind {
	case 0:
		return line, f.row4(l, fields[3], fields[4])
	case 1:
		e, err := l.prefix(fields[3], fields[4])
		if err == nil && e.family != V6 {
			err = fmt.Errorf("%w: an ipv6 row that is not IPv6", ErrSyntax)
		}
		if err == nil {
			l.take(e)
		}
		return line, err
	}
	l.report.Ignored++
	return line, nil
}

// row4 takes an IPv4 row. Its value is a count of addresses, which need not be a power of two.
func (f *rirFormat) row4(l *listReader, start, value []byte) error {
	a, err := l.address(start)
	if err != nil {
		return err
	}
	count, ok := parseCount(value)
	switch {
	case !a.is4:
		return fmt.Errorf("%w: an ipv4 row that is not IPv4", ErrSyntax)
	case !ok || count == 0:
		return fmt.Errorf("%w: the value of an ipv4 row is a count of addresses", ErrSyntax)
	case uint64(a.k4)+count > 1<<32:
		return fmt.Errorf("%w: %d addresses from here go beyond 255.255.255.255", ErrSyntax, count)
	}
	l.take(listEntry{family: V4, s4: span4{a.k4, key4(uint64(a.k4) + count - 1)}})
	return nil
}

// parseCount reads a decimal number of at most ten digits.
func parseCount(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 10 || len(b) > 1 && b[0] == '0' {
		return 0, false
	}
	n := uint64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

func (f *rirFormat) end(*listReader) error {
	for i, name := range rirTypes {
		if f.hasSum[i] && f.said[i] != f.rows[i] {
			return fmt.Errorf("%w The summary says %d rows of %s, there are %d", ErrCut, f.said[i], name, f.rows[i])
		}
	}
	return nil
}
