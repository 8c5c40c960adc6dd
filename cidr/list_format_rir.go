package cidr

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
	"time"
)

// rirFormat is FormatRIR: the format that RIPE NCC, ARIN, APNIC, LACNIC and AFRINIC have agreed on for their statistics.
type rirFormat struct {
	wanted map[string]int // of each registry and type, as the summaries say
	seen   map[string]int
}

func (f *rirFormat) line(l *listReader, text []byte) (shown []byte, err error) {
	if text[0] == '#' {
		return nil, nil
	}
	var fields [8][]byte
	n := 0
	for field := range bytes.SplitSeq(text, []byte("|")) {
		if n < len(fields) {
			fields[n] = field
		}
		n++
	}
	switch {
	case n >= 6 && string(fields[5]) == "summary":
		return f.summary(l, text, fields[:6])
	case n >= 7 && len(fields[0]) > 0 && fields[0][0] >= '0' && fields[0][0] <= '9':
		// The version: version|registry|serial|records|start date|end date|offset.
		if date, err := time.Parse("20060102", string(fields[5])); err == nil && (l.report.Date.IsZero() || date.Before(l.report.Date)) {
			l.report.Date = date
		}
		l.report.Ignored++
		return nil, nil
	case n < 7:
		return text, fmt.Errorf("%w: a row of registry statistics is registry|cc|type|start|value|date|status", ErrSyntax)
	}
	registry, kind, start, value, status := fields[0], fields[2], fields[3], fields[4], fields[6]
	f.count(&f.seen, registry, kind, 1)
	switch string(status) {
	case "allocated", "assigned":
	case "available", "reserved":
		l.report.Ignored++
		return nil, nil
	default:
		return status, fmt.Errorf("%w: no status of registry statistics", ErrSyntax)
	}
	e, shown, err := f.entry(l, kind, start, value)
	if err != nil {
		return shown, err
	}
	if e.family == 0 {
		l.report.Ignored++
		return nil, nil
	}
	l.take(e)
	return nil, nil
}

// entry returns what a row is about, of no family for an AS number.
func (f *rirFormat) entry(l *listReader, kind, start, value []byte) (e listEntry, shown []byte, err error) {
	switch string(kind) {
	case "asn":
		return e, nil, nil
	case "ipv4":
		lo, shown, err := l.address4(start)
		if err != nil {
			return e, shown, err
		}
		count, err := strconv.ParseUint(string(value), 10, 33)
		hi, over := bits.Sub64(count, 1, 0)
		hi, carry := bits.Add64(uint64(lo), hi, 0)
		if err != nil || over+carry != 0 || hi > 1<<32-1 {
			return e, value, fmt.Errorf("%w: not a count of addresses that are there from %v on", ErrLength, lo.addr())
		}
		return listEntry{family: V4, s4: span4{lo, key4(hi)}}, nil, nil
	case "ipv6":
		return l.prefix(start, start, value)
	}
	return e, kind, fmt.Errorf("%w: no type of registry statistics", ErrSyntax)
}

func (f *rirFormat) count(m *map[string]int, registry, kind []byte, n int) {
	if *m == nil {
		*m = map[string]int{}
	}
	(*m)[string(registry)+"|"+string(kind)] += n
}

// summary reads registry|*|type|*|count|summary.
func (f *rirFormat) summary(l *listReader, text []byte, fields [][]byte) ([]byte, error) {
	n, err := strconv.Atoi(string(fields[4]))
	if err != nil || n < 0 {
		return text, fmt.Errorf("%w: a summary needs a count", ErrSyntax)
	}
	f.count(&f.wanted, fields[0], fields[2], n)
	l.report.Ignored++
	return nil, nil
}

func (f *rirFormat) end(l *listReader) error {
	if l.report.Bad.Total > 0 {
		return nil // the rows that are missing are known
	}
	for key, n := range f.wanted {
		if f.seen[key] != n {
			return fmt.Errorf("%w: %q has %d rows, and its summary says %d", ErrCut, key, f.seen[key], n)
		}
	}
	return nil
}
