package cidr

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// csvFormat reads the rows of FormatCSV.
type csvFormat struct {
	columns []string // as the caller names them
	index   []int    // where they are, from 0; -1 until the header is read
	header  bool     // there is a header still to be read
	fields  [][]byte // of the row, kept for its memory
}

func newCSVFormat(l *listReader) *csvFormat {
	f := &csvFormat{columns: l.columns}
	for _, c := range l.columns {
		n, err := strconv.ParseUint(c, 10, 16)
		switch {
		case err == nil && n == 0:
			l.refuseOption("Columns are counted from 1")
		case err != nil:
			f.header, n = true, 0
		}
		f.index = append(f.index, int(n)-1)
	}
	return f
}

func (f *csvFormat) line(l *listReader, line []byte) ([]byte, error) {
	if line[0] == '#' {
		l.comment(line)
		return line, nil
	}
	fields, err := splitCSV(f.fields[:0], line)
	switch {
	case err != nil && f.header:
		return line, fmt.Errorf("%w: Columns: the header cannot be read: %w", ErrOption, err)
	case err != nil:
		return line, err
	}
	f.fields = fields
	if f.header {
		return line, f.readHeader()
	}
	if most := slices.Max(f.index); most >= len(fields) {
		return line, fmt.Errorf("%w: the row has %d columns, column %d is asked for", ErrSyntax, len(fields), most+1)
	}
	first := fields[f.index[0]]
	var e listEntry
	if len(f.index) == 1 {
		e, err = l.entry(first)
	} else {
		last := fields[f.index[1]]
		if e, err = l.ends(first, last); err != nil {
			if _, firstErr := l.address(first); firstErr == nil {
				first = last
			}
		}
	}
	if err != nil {
		return first, err
	}
	l.take(e)
	return first, nil
}

func (f *csvFormat) readHeader() error {
	f.header = false
	for i, name := range f.columns {
		if f.index[i] >= 0 {
			continue // a number
		}
		for at, field := range f.fields {
			switch {
			case string(field) != name:
			case f.index[i] >= 0:
				return fmt.Errorf("%w: Columns: there are two columns %.40q: say which by number", ErrOption, name)
			default:
				f.index[i] = at
			}
		}
		if f.index[i] < 0 {
			return fmt.Errorf("%w: Columns: there is no column %.40q, the header has %.200q", ErrOption, name, f.fields)
		}
	}
	return nil
}

func (f *csvFormat) end(*listReader) error { return nil }

// splitCSV appends the fields of a row to fields, without the blanks and quotes around them. Doubled quotes inside a
// field stay doubled: an address has none.
func splitCSV(fields [][]byte, row []byte) ([][]byte, error) {
	for {
		rest := row[skipBlanks(row, 0):]
		if len(rest) == 0 || rest[0] != '"' {
			field, more, found := bytes.Cut(row, []byte(","))
			if bytes.IndexByte(field, '"') >= 0 {
				return nil, fmt.Errorf("%w: a quote inside a field that does not start with one", ErrSyntax)
			}
			fields = append(fields, trimBlanks(field))
			if !found {
				return fields, nil
			}
			row = more
			continue
		}
		end := 1
		for {
			i := bytes.IndexByte(rest[end:], '"')
			if i < 0 {
				return nil, fmt.Errorf("%w: a quote is not closed on its line", ErrSyntax)
			}
			if end += i + 1; end == len(rest) || rest[end] != '"' {
				break
			}
			end++
		}
		fields = append(fields, rest[1:end-1])
		switch rest = rest[skipBlanks(rest, end):]; {
		case len(rest) == 0:
			return fields, nil
		case rest[0] != ',':
			return nil, fmt.Errorf("%w: a comma belongs after the closing quote", ErrSyntax)
		}
		row = rest[1:]
	}
}
