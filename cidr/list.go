package cidr

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cidrc/cidrc/internal/gunzip"
)

// MaxLine is the longest line of a list that ReadList takes, in bytes without the line end.
const MaxLine = 4096

// ReadList reads an address list as public feeds hold it, one entry a line: an address, a prefix, or "first-last" with
// or without blanks around the dash. IPv6 may stand in brackets, with the prefix length after them. Other forms have
// names, see Format. Data that is compressed with gzip is told by its first bytes. CRLF line ends and a UTF-8 byte order
// mark at the start are fine; UTF-16, NUL bytes and carriage returns inside a line are errors, in comments too.
//
// "#", ";" and "//" start a comment, at the start of a line or after a blank. "#" and ";" may also follow an entry
// directly, unless the comment starts with a character that could go on with the entry, as in "192.0.2.0#/24"; "//" may
// not stand directly before a digit, as in "192.0.2.0 //24". Both are errors. After a tab there may be more columns,
// which are ignored; after blanks there may not, see MoreText. Where one of them looks like an address, it is an error.
//
// The reader is strict: if any line is bad, the result is the empty set and a *ListError that names every bad line by
// source, line, column and text; see Lenient for another way. Nothing is guessed: names are not resolved, numbers with
// leading zeros are not octal, host bits are not masked away, and a last line without its newline is a cut download
// (ErrCut) unless it is the only line. The options say what else may pass. A list without entries is ErrEmpty, see
// AllowEmpty. Errors of r are returned wrapped, with the source's name.
//
// source is a name for messages, usually the path or the address of the list. Time is linear in the data. Memory is one
// buffer of 64 KiB and what the set needs while it is built; good lines of every format but FormatIPSet cost no
// allocation of their own.
func ReadList(r io.Reader, source string, opts ...ListOption) (Set, error) {
	var b Builder
	if err := b.AddList(r, source, opts...); err != nil {
		return Set{}, err
	}
	return b.Build()
}

// AddList adds the addresses of a list, read as ReadList reads it. An error is returned and remembered: Build fails too,
// so that half a list is never a set.
func (b *Builder) AddList(r io.Reader, source string, opts ...ListOption) error {
	return b.list(r, source, false, opts)
}

// RemoveList removes the addresses of a list, as AddList adds them and with its errors. It is for lists of exceptions.
func (b *Builder) RemoveList(r io.Reader, source string, opts ...ListOption) error {
	return b.list(r, source, true, opts)
}

func (b *Builder) list(r io.Reader, source string, remove bool, opts []ListOption) error {
	l := listReader{b: b, remove: remove}
	if r == nil {
		l.refuseOption("no reader")
	}
	for _, o := range opts {
		if o == nil {
			l.refuseOption("a nil option")
			continue
		}
		o(&l)
	}
	l.report.Source, l.report.Bad.Source = source, source
	err := l.read(r)
	for _, report := range l.reports {
		*report = l.report
	}
	if err != nil {
		b.fail(err)
	}
	return err
}

// listReader reads one list into a builder.
type listReader struct {
	listOptions
	b      *Builder
	own    *Builder // collects the list apart from what else is in b, for MaxShrink; nil without
	remove bool
	report ListReport
	format lineFormat
	lines  lineReader
	n      int  // the line that is being read, from 1
	text   bool // a line that is not blank was seen
}

// lineFormat is what one format does with the lines of a list.
type lineFormat interface {
	// line takes one line without its line end and without blanks at either end, never empty. An error makes the line
	// bad; shown is the part of the line to show with it.
	line(l *listReader, text []byte) (shown []byte, err error)
	// end runs after the last line of a list of which nothing was refused. Its errors stand for the list as a whole.
	end(l *listReader) error
}

func (l *listReader) read(r io.Reader) error {
	if err := l.checkOptions(); err != nil {
		return fmt.Errorf("%s: %w", l.report.Source, err)
	}
	if l.shrink != nil {
		l.own = new(Builder)
	}
	l.lines = lineReader{in: r}
	if err := l.lines.decompress(); err != nil {
		return l.readError(1, err)
	}
	if err := l.eachLine(); err != nil {
		return err
	}
	if l.report.Bad.Total > 0 && !l.lenient {
		return l.badLines()
	}
	if err := l.format.end(l); err != nil {
		return fmt.Errorf("%s: %w", l.report.Source, err)
	}
	if l.report.Entries == 0 && l.report.Bad.Total > 0 {
		return l.badLines()
	}
	if l.report.Entries == 0 && !l.allowEmpty {
		return fmt.Errorf("%s: %w", l.report.Source, ErrEmpty)
	}
	if err := l.checkAge(); err != nil {
		return fmt.Errorf("%s: %w", l.report.Source, err)
	}
	if err := l.checkShrink(); err != nil {
		return fmt.Errorf("%s: %w", l.report.Source, err)
	}
	return nil
}

// eachLine gives every line to the format. Its error says that the list as a whole is refused.
func (l *listReader) eachLine() error {
	_, plain := l.format.(*plainFormat)
	for {
		if plain {
			l.fast()
		}
		l.n++
		line, end, err := l.lines.next()
		if err != nil {
			return l.readError(l.n, err)
		}
		if end == endOfList {
			return nil
		}
		l.report.Lines = l.n
		whole, shown, err := l.line(line, end)
		if err != nil {
			l.bad(whole, shown, err)
		}
		if errors.Is(err, ErrHTML) || errors.Is(err, errUTF16) || errors.Is(err, ErrOption) {
			return l.badLines() // no other line can be right
		}
	}
}

// fast takes the lines that are an address or prefix and nothing else, as long as there are any in the buffer. It takes
// only what plainFormat would take too.
func (l *listReader) fast() {
	data := l.lines.buffered()
	pos := 0
	for {
		if lo, hi, n := scanLine4(data[pos:]); n > 0 {
			pos += n
			l.n++
			l.report.Entries++
			l.add4(lo, hi)
			continue
		}
		lo, hi, n := scanLine6(data[pos:])
		if n == 0 {
			break
		}
		pos += n
		l.n++
		l.report.Entries++
		l.add6(lo, hi)
	}
	if pos > 0 {
		l.lines.skip(pos)
		l.report.Lines, l.text = l.n, true
	}
}

// line does what is the same in every format.
func (l *listReader) line(line []byte, end lineEnd) (whole, shown []byte, err error) {
	whole = line
	if end == endTooLong {
		return whole, whole, ErrLineTooLong
	}
	if l.n == 1 {
		if bytes.HasPrefix(line, []byte("\xff\xfe")) || bytes.HasPrefix(line, []byte("\xfe\xff")) {
			return whole, whole, errUTF16
		}
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if end == endNone && l.n > 1 && !l.allowCut {
		return whole, whole, errCutLine
	}
	// A carriage return elsewhere ends a line for some tools and not for others. It must not hide in a comment either,
	// since the entries after it would be lost.
	if i := bytes.IndexByte(line, '\r'); i >= 0 {
		return whole, line[i:], errBareCR
	}
	text := trimBlanks(line)
	if len(text) == 0 {
		return whole, text, nil
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return whole, text, errNUL
	}
	if !l.text && text[0] == '<' {
		return whole, text, ErrHTML
	}
	l.text = true
	shown, err = l.format.line(l, text)
	return whole, shown, err
}

var (
	errBareCR  = fmt.Errorf("%w: a carriage return inside the line: end lines with LF or CRLF", ErrSyntax)
	errNUL     = fmt.Errorf("%w: a NUL byte", ErrSyntax)
	errUTF16   = fmt.Errorf("%w: the list is UTF-16: save it as UTF-8", ErrSyntax)
	errCutLine = fmt.Errorf("%w The last line has no newline; AllowCut takes it all the same", ErrCut)
)

func (l *listReader) readError(line int, err error) error {
	if errors.Is(err, gunzip.ErrTruncated) {
		return fmt.Errorf("%s: line %d: %w: %w", l.report.Source, line, ErrCut, err)
	}
	return fmt.Errorf("%s: line %d: %w", l.report.Source, line, err)
}

// take adds an entry of the list.
func (l *listReader) take(e listEntry) {
	l.count(e)
	l.add(e)
}

func (l *listReader) add(e listEntry) {
	if e.family == V4 {
		l.add4(e.s4.lo, e.s4.hi)
	} else {
		l.add6(e.s6.lo, e.s6.hi)
	}
}

func (l *listReader) count(e listEntry) {
	l.report.Entries++
	if e.masked {
		l.report.Masked++
	}
	if e.mapped {
		l.report.Mapped++
	}
}

// add4 hands an IPv4 span to the builder, with the line that it comes from.
func (l *listReader) add4(lo, hi key4) {
	l.from(l.n)
	l.b.put4(span4{lo, hi}, l.remove)
	if l.own != nil {
		l.own.put4(span4{lo, hi}, false)
	}
}

// add6 is add4 for IPv6.
func (l *listReader) add6(lo, hi key6) {
	l.from(l.n)
	l.b.put6(span6{lo, hi}, l.remove)
	if l.own != nil {
		l.own.put6(span6{lo, hi}, false)
	}
}

// addSet hands over what several lines make together; it has no line of its own.
func (l *listReader) addSet(s Set) {
	l.from(0)
	l.b.putSet(s, l.remove)
	if l.own != nil {
		l.own.putSet(s, false)
	}
}

func (l *listReader) from(line int) {
	if l.b.trace != nil {
		l.b.trace.from(l.report.Source, line)
	}
}
