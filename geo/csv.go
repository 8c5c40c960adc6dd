package geo

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/internal/gunzip"
)

const (
	maxLine = 256 // bytes, with the line end; the longest row there can be has some ninety
	shown   = 80  // bytes of a bad line that an error repeats
)

// AddCSV reads rows "start,end,country", such as
//
//	192.0.2.0,192.0.2.255,IT
//	2001:db8::,2001:db8:ffff:ffff:ffff:ffff:ffff:ffff,IT
//
// which is the form of the country databases DB-IP Lite and of those on https://github.com/sapics/ip-location-db. Start
// and end are the first and the last address of a range of one family; they are read as cidr.ParseAddr reads them. The
// country is a code as ParseCountry reads it, or ZZ for "unknown" (see Builder). Each field may stand in double quotes.
// There is no header and no comment; both families may be in one source. Lines end in LF or CRLF. The data may be
// compressed with gzip, which is told by its first bytes, not by a name.
//
// The reader is strict: the first row that is not exactly that is an error, a *cidr.LineError with the source, the line,
// and the column at which the bad field starts, or column 1 for what is wrong with the row as a whole; its text is that
// field or row. Such an error wraps
//
//   - ErrFields for too few or too many fields, cidr.ErrLineTooLong for a line over 256 bytes,
//   - ErrUnknownCountry for the country,
//   - what cidr.ParseAddr says of an address, what cidr.Range.Check says of the range,
//   - ErrFormat where the data is no text at all.
//
// Data that is cut short is an error that wraps ErrTruncated: compressed data without its end, or a last line without a
// line end. Data without rows is cidr.ErrEmpty; a web page or an archive in place of the data is ErrFormat. More than
// MaxRows rows are ErrTooLarge. Errors of r come back wrapped, with the source's name.
//
// source is a name for messages, usually the path or the address of the data.
func (b *Builder) AddCSV(r io.Reader, source string) error {
	if b.err == nil {
		b.err = b.addCSV(r, source)
	}
	return b.err
}

func (b *Builder) addCSV(r io.Reader, source string) error {
	data, err := gunzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	in := bufio.NewReaderSize(data, 64<<10)
	if err := sniff(in); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	if len(b.sources) > math.MaxUint16 {
		return fmt.Errorf("%s: %w: too many sources", source, ErrTooLarge)
	}
	b.sources = append(b.sources, source)
	c := csv{b: b, known: &loadCodes().known, source: source}
	for {
		c.line++
		line, err := in.ReadSlice('\n')
		switch {
		case len(line) > maxLine:
			return c.bad(line, 0, line, cidr.ErrLineTooLong)
		case err == io.EOF && len(line) == 0 && c.line == 1:
			return fmt.Errorf("%s: %w", source, cidr.ErrEmpty)
		case err == io.EOF && len(line) == 0:
			return nil
		case err == io.EOF:
			return c.bad(line, 0, line, fmt.Errorf("the last line has no line end: %w", ErrTruncated))
		case err != nil:
			return fmt.Errorf("%s: line %d: %w", source, c.line, err)
		case b.rows == MaxRows:
			return fmt.Errorf("%s: line %d: %w", source, c.line, ErrTooLarge)
		}
		line = line[:len(line)-1]
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if err := c.row(line); err != nil {
			return err
		}
	}
}

// csv is one source under way.
type csv struct {
	b      *Builder
	known  *[numIndexes]Country
	source string
	line   int
}

// row adds the row of one line. It does not allocate unless the row is bad.
func (c *csv) row(line []byte) error {
	i := bytes.IndexByte(line, ',')
	if i < 0 {
		return c.bad(line, 0, line, ErrFields)
	}
	j := bytes.IndexByte(line[i+1:], ',')
	if j < 0 {
		return c.bad(line, 0, line, ErrFields)
	}
	j += i + 1
	start, end, code := line[:i], line[i+1:j], line[j+1:]
	if bytes.IndexByte(code, ',') >= 0 {
		return c.bad(line, 0, line, ErrFields)
	}
	first, err := cidr.ParseAddrBytes(unquote(start))
	if err != nil {
		return c.bad(line, 0, start, err)
	}
	last, err := cidr.ParseAddrBytes(unquote(end))
	if err != nil {
		return c.bad(line, i+1, end, err)
	}
	r := cidr.Range{First: first, Last: last}
	if err := r.Check(); err != nil {
		return c.bad(line, 0, line, err)
	}
	country := letters(unquote(code))
	if country != codeZZ {
		i := country.index()
		if i < 0 || c.known[i] == 0 {
			return c.bad(line, j+1, code, ErrUnknownCountry)
		}
		country = c.known[i]
	}
	c.b.add(r, country, c.line)
	return nil
}

// bad returns the error for a part of the line under way, which starts at an index of the line.
func (c *csv) bad(line []byte, at int, part []byte, err error) error {
	if bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\n' }) {
		err = fmt.Errorf("%w: binary data", ErrFormat)
	}
	return &cidr.LineError{
		Source: c.source, Line: c.line, Column: at + 1, Text: string(part[:min(len(part), shown)]), Err: err,
	}
}

// unquote takes the quotes off a field that has one at either end. One that has other quotes as well stays no address and
// no code, so what quotes would mean inside a field does not matter.
func unquote(field []byte) []byte {
	if n := len(field); n >= 2 && field[0] == '"' && field[n-1] == '"' {
		return field[1 : n-1]
	}
	return field
}

// sniff looks at the start of the data and refuses what is often found in place of a CSV file, by name.
func sniff(in *bufio.Reader) error {
	const longest = 512
	start, err := in.Peek(longest)
	if err != nil && err != io.EOF {
		return err
	}
	for _, known := range [...]struct{ magic, what string }{
		{"PK\x03\x04", "a zip archive: unpack it first"},
		{"BZh", "bzip2 data: unpack it first"},
		{"\xfd7zXZ\x00", "xz data: unpack it first"},
		{"\x28\xb5\x2f\xfd", "zstd data: unpack it first"},
		{"\x1f\x8b", "gzip data inside gzip data"},
	} {
		if bytes.HasPrefix(start, []byte(known.magic)) {
			return fmt.Errorf("%w: this is %s", ErrFormat, known.what)
		}
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\ufeff")), " \t\r\n")
	if len(text) > 0 && (text[0] == '<' || text[0] == '{') {
		return fmt.Errorf("%w: this is a web page or an error message (%q): was the download refused?",
			ErrFormat, text[:min(len(text), shown)])
	}
	return nil
}
