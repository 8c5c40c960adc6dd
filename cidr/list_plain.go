package cidr

import (
	"bytes"
	"fmt"
)

// plainFormat is FormatPlain.
type plainFormat struct{}

var (
	errMoreText = fmt.Errorf("%w: there is more on the line than one entry; MoreText ignores it", ErrSyntax)
	errSecond   = fmt.Errorf("%w: there is more than one address on the line: if it has columns, name the format", ErrSyntax)
	errAttached = fmt.Errorf("%w: the comment could belong to the entry: put a blank before it", ErrSyntax)
)

func (plainFormat) line(l *listReader, text []byte) (shown []byte, err error) {
	text, err = l.uncomment(text)
	if err != nil || len(text) == 0 {
		return text, err
	}
	// A tab starts columns; blanks around the dash of a range do not.
	text, columns, _ := bytes.Cut(text, []byte("\t"))
	text = trimBlanks(text)
	entry, rest := splitEntry(text)
	for _, more := range [][]byte{rest, columns} {
		for word := range bytes.FieldsSeq(more) {
			if looksLikeAddress(word) || word[0] == '/' {
				return text, errSecond
			}
		}
	}
	if len(rest) > 0 && l.moreText == RefuseMoreText {
		return text, errMoreText
	}
	e, shown, err := l.entry(entry)
	if err != nil {
		return shown, err
	}
	l.take(e)
	return nil, nil
}

func (plainFormat) end(*listReader) error { return nil }

// uncomment takes comments away, and looks for a date in those of the header.
func (l *listReader) uncomment(text []byte) ([]byte, error) {
	switch text[0] {
	case '#', ';':
		l.headerDate(text)
		return nil, nil
	}
	for i, c := range text {
		switch {
		case c == '#' || c == ';':
			if i+1 < len(text) && i > 0 && !isBlank(text[i-1]) && bytes.IndexByte([]byte("/-.:"), text[i+1]) >= 0 {
				return text, errAttached
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			switch {
			case i > 0 && !isBlank(text[i-1]):
				continue // "192.0.2.0//24" is no entry, and will be refused as one
			case i > 0 && i+2 < len(text) && text[i+2] >= '0' && text[i+2] <= '9':
				return text, errAttached
			}
			if i == 0 {
				l.headerDate(text)
			}
		default:
			continue
		}
		return trimBlanks(text[:i]), nil
	}
	return text, nil
}

// splitEntry parts the first entry of a text from what follows it after blanks. Blanks around the dash of a range belong
// to it.
func splitEntry(b []byte) (entry, rest []byte) {
	i := bytes.IndexByte(b, ' ')
	if i < 0 {
		return b, nil
	}
	next := trimBlanks(b[i:])
	switch {
	case next[0] == '-':
		next = trimBlanks(next[1:])
	case b[i-1] != '-' || bytes.Count(b[:i], []byte("-")) != 1:
		return b[:i], next
	}
	// A range: the entry goes on to the end of the next word.
	end := len(b) - len(next)
	if j := bytes.IndexByte(next, ' '); j >= 0 {
		return b[:end+j], trimBlanks(next[j:])
	}
	return b, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
