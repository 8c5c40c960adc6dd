package cidr

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// MaxLine is the longest line of a list that ReadList takes, in bytes without the line end.
const MaxLine = 4096

// ListOption changes how ReadList reads.
type ListOption func(*listReader)

// AllowEmpty lets a list without entries be the empty set. By default it is ErrEmpty: an empty file is far more often a
// failed download than a wish.
func AllowEmpty() ListOption { return func(l *listReader) { l.allowEmpty = true } }

type listReader struct {
	allowEmpty bool
	b          Builder
	n          int // entries
	bad        ListError
}

// ReadList reads an address list, one entry a line, each in a form that ParseRange reads: an address, a prefix, or
// "first-last". "#" and ";" start a comment, at the start of a line or after an entry. Empty lines, blanks at either end,
// CRLF line ends and a UTF-8 byte order mark at the start are fine.
//
// The reader is strict: if any line is bad, the result is the empty set and a *ListError that names every bad line by
// source, line, column and text. Nothing is guessed: names are not resolved, numbers with leading zeros are not octal,
// host bits are not masked away. A list without entries is ErrEmpty, see AllowEmpty. Errors of r are returned wrapped,
// with the source's name.
//
// source is a name for messages, usually the path or the address of the list.
func ReadList(r io.Reader, source string, opts ...ListOption) (Set, error) {
	l := listReader{bad: ListError{Source: source}}
	for _, o := range opts {
		o(&l)
	}
	in := bufio.NewReaderSize(r, MaxLine+len("\r\n"))
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			l.report(n, 1, line, ErrLineTooLong)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			line = nil
		}
		if err != nil && err != io.EOF {
			return Set{}, fmt.Errorf("%s: line %d: %w", source, n, err)
		}
		l.line(n, line)
		if err == io.EOF {
			break
		}
	}
	if l.bad.Total > 0 {
		return Set{}, &l.bad
	}
	if l.n == 0 && !l.allowEmpty {
		return Set{}, fmt.Errorf("%s: %w", source, ErrEmpty)
	}
	return l.b.Build()
}

func (l *listReader) line(n int, line []byte) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) > MaxLine {
		l.report(n, 1, line, ErrLineTooLong)
		return
	}
	// A carriage return elsewhere ends a line for some tools and not for others. It must not hide in a comment either,
	// since the entries after it would be lost.
	if i := bytes.IndexByte(line, '\r'); i >= 0 {
		l.report(n, 1+i, line[i:], errBareCR)
		return
	}
	text := line
	if n == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	if i := bytes.IndexAny(text, "#;"); i >= 0 {
		text = text[:i]
	}
	if text = trimBlanks(text); len(text) == 0 {
		return
	}
	r, err := parseRange(text)
	if err != nil {
		l.report(n, 1+bytes.Index(line, text), text, err)
		return
	}
	l.b.AddRange(r)
	l.n++
}

var errBareCR = fmt.Errorf("%w: a carriage return inside the line: end lines with LF or CRLF", ErrSyntax)

// shown is how much of a bad line a LineError repeats.
const shown = 80

func (l *listReader) report(line, column int, text []byte, err error) {
	l.bad.Total++
	if len(l.bad.Lines) < MaxReported {
		if len(text) > shown {
			text = text[:shown]
			for len(text) > 0 && !utf8.Valid(text) && len(text) > shown-utf8.UTFMax {
				text = text[:len(text)-1]
			}
		}
		l.bad.Lines = append(l.bad.Lines, &LineError{l.bad.Source, line, column, string(text), err})
	}
}
