package cidr

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// csvFormat is FormatCSV.
type csvFormat struct {
	columns []string
	at      []int // where the columns stand, from 0; not known before the header
	header  bool  // the header is still to come
	fields  [][]byte
	quoted  []byte
}

func newCSVFormat(l *listReader) *csvFormat {
	f := &csvFormat{columns: l.columns}
	for _, c := range l.columns {
		n, err := strconv.Atoi(c)
		switch {
		case err != nil:
			f.header = true
		case n < 1:
			l.refuseOption("Columns: %q: columns are numbered from 1", c)
		}
		f.at = append(f.at, n-1)
	}
	return f
}

func (f *csvFormat) line(l *listReader, text []byte) (shown []byte, err error) {
	if text[0] == '#' {
		l.headerDate(text)
		return nil, nil
	}
	if err := f.split(text); err != nil {
		return text, err
	}
	if f.header {
		f.header = false
		return text, f.readHeader(l)
	}
	var parts [2][]byte
	for i, at := range f.at {
		if at >= len(f.fields) {
			return text, fmt.Errorf("%w: the row has %d columns, and column %d is asked for", ErrSyntax, len(f.fields), at+1)
		}
		parts[i] = trimBlanks(f.fields[at])
	}
	if len(f.at) == 1 {
		e, shown, err := l.entry(parts[0])
		if err != nil {
			return f.where(text, shown), err
		}
		l.take(e)
		return nil, nil
	}
	var ends [2]listEntry
	for i, p := range parts {
		if ends[i], shown, err = l.entry(p); err != nil {
			return f.where(text, shown), err
		}
	}
	e, err := between(ends[0], ends[1])
	if err != nil {
		return text, err
	}
	l.take(e)
	return nil, nil
}

func (f *csvFormat) end(*listReader) error { return nil }

// between returns the entry from a first address to a last one.
func between(first, last listEntry) (listEntry, error) {
	switch {
	case first.family != last.family:
		return listEntry{}, ErrMixed
	case first.s4.lo != first.s4.hi || last.s4.lo != last.s4.hi || first.s6.lo != first.s6.hi || last.s6.lo != last.s6.hi:
		return listEntry{}, fmt.Errorf("%w: an address is needed in each of two columns", ErrSyntax)
	case last.s4.lo < first.s4.lo || last.s6.lo.less(first.s6.lo):
		return listEntry{}, ErrReversed
	}
	first.s4.hi, first.s6.hi = last.s4.hi, last.s6.hi
	first.mapped = first.mapped && last.mapped
	return first, nil
}

// where returns the part of the line that a field is. Fields with doubled quotes are copies; then it is the whole line.
func (f *csvFormat) where(line, field []byte) []byte {
	if i := bytes.Index(line, field); i >= 0 && len(field) > 0 {
		return line[i : i+len(field)]
	}
	return line
}

func (f *csvFormat) readHeader(l *listReader) error {
	for i, name := range f.columns {
		if f.at[i] >= 0 {
			continue
		}
		for j, field := range f.fields {
			if strings.EqualFold(string(trimBlanks(field)), strings.TrimSpace(name)) {
				f.at[i] = j
			}
		}
		if f.at[i] < 0 {
			return fmt.Errorf("%w: Columns: the header has no column %q", ErrOption, name)
		}
	}
	return nil
}

// split parts a row into fields (RFC 4180, section 2).
func (f *csvFormat) split(row []byte) error {
	f.fields, f.quoted = f.fields[:0], f.quoted[:0]
	for {
		if len(row) > 0 && row[0] == '"' {
			field, rest, err := f.unquote(row[1:])
			if err != nil {
				return err
			}
			f.fields = append(f.fields, field)
			if rest = trimBlanks(rest); len(rest) == 0 {
				return nil
			}
			if rest[0] != ',' {
				return fmt.Errorf("%w: text after a quoted field", ErrSyntax)
			}
			row = rest[1:]
			continue
		}
		field, rest, more := bytes.Cut(row, []byte(","))
		f.fields = append(f.fields, field)
		if !more {
			return nil
		}
		row = rest
	}
}

// unquote returns the field up to the closing quote, and what follows that.
func (f *csvFormat) unquote(b []byte) (field, rest []byte, err error) {
	start := len(f.quoted)
	for {
		i := bytes.IndexByte(b, '"')
		switch {
		case i < 0:
			return nil, nil, fmt.Errorf("%w: a quote is not closed; a field cannot go over a line end", ErrSyntax)
		case i+1 < len(b) && b[i+1] == '"':
			f.quoted = append(append(f.quoted, b[:i]...), '"')
			b = b[i+2:]
			continue
		case len(f.quoted) == start:
			return b[:i], b[i+1:], nil // as it stands in the row
		}
		f.quoted = append(f.quoted, b[:i]...)
		return f.quoted[start:], b[i+1:], nil
	}
}
