package cidr

import (
	"bytes"
	"fmt"
	"strings"
)

// plainFormat reads lines that start with one entry.
type plainFormat struct{}

var (
	errAttached = fmt.Errorf("%w: what follows the comment sign could go on with the entry: put a blank before the sign",
		ErrSyntax)
	errSecond = fmt.Errorf("%w: more than one address on the line: if the list has a format, name it with Format",
		ErrSyntax)
	errText = fmt.Errorf("%w; MoreText(IgnoreMoreText) would take the entry", errMore)
)

func (*plainFormat) line(l *listReader, line []byte) ([]byte, error) {
	i, err := commentAt(line)
	if err != nil {
		return line, err
	}
	if i == 0 {
		l.comment(line)
		return line, nil
	}
	text := trimBlanks(line[:i])
	first, more := cutEntry(text)
	if err := l.checkMore(text[len(first):], more); err != nil {
		return text, err
	}
	e, err := l.entry(first)
	if err != nil {
		return text, err
	}
	l.take(e)
	return text, nil
}

func (*plainFormat) end(*listReader) error { return nil }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// commentAt returns where the comment of a line starts, and its length where there is none.
func commentAt(line []byte) (int, error) {
	for i, c := range line {
		free := i == 0 || isBlank(line[i-1])
		next := byte(0)
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch {
		case c == '#' || c == ';':
			if !free && goesOn(next) {
				return 0, errAttached
			}
			return i, nil
		case c == '/' && free && next == '/':
			if i > 0 && i+2 < len(line) && line[i+2] >= '0' && line[i+2] <= '9' {
				return 0, fmt.Errorf("%w: a comment or a prefix length? Put a blank after //", ErrSyntax)
			}
			return i, nil
		}
	}
	return len(line), nil
}

// goesOn reports whether a character can go on with an entry.
func goesOn(c byte) bool { return c == '/' || c == '-' || c == '.' || c == ':' }

// cutEntry divides text after its first entry, which may be a range with blanks around the dash.
func cutEntry(text []byte) (entry, more []byte) {
	n := wordLength(text, 0)
	if next := skipBlanks(text, n); next < len(text) && text[next] == '-' {
		// "first - last" or "first -last"
		n = wordLength(text, skipBlanks(text, next+1))
	} else if next < len(text) && text[n-1] == '-' {
		// "first- last"
		n = wordLength(text, next)
	}
	return text[:n], trimBlanks(text[n:])
}

func wordLength(text []byte, from int) int {
	for from < len(text) && !isBlank(text[from]) {
		from++
	}
	return from
}

func skipBlanks(text []byte, from int) int {
	for from < len(text) && isBlank(text[from]) {
		from++
	}
	return from
}

// checkMore says whether text may follow an entry. gap is that text with the blanks before it.
func (l *listReader) checkMore(gap, more []byte) error {
	if len(more) == 0 {
		return nil
	}
	blanks := gap[:len(gap)-len(more)]
	switch {
	case goesOn(more[0]):
		return errMore
	case holdsAddress(more):
		return errSecond
	case bytes.IndexByte(blanks, '\t') >= 0 || l.moreText == IgnoreMoreText:
		return nil
	}
	return errText
}

// holdsAddress reports whether one of the words of text looks like an address, a prefix, a range or a netmask, right or
// wrong.
func holdsAddress(text []byte) bool {
	for len(text) > 0 {
		n := 0
		for n < len(text) && strings.IndexByte(" \t,;|\"'()<>{}=-/", text[n]) < 0 {
			n++
		}
		if looksLikeAddress(text[:n]) {
			return true
		}
		if n < len(text) && text[n] == '/' && bytes.HasPrefix(text[n:], []byte("//")) {
			n += 2 // the host of an URL is no entry
			for n < len(text) && !isBlank(text[n]) && text[n] != ',' {
				n++
			}
		}
		text = text[min(n+1, len(text)):]
	}
	return false
}

func looksLikeAddress(word []byte) bool {
	if i := bytes.IndexByte(word, '%'); i > 0 {
		word = word[:i]
	}
	word = bytes.TrimRight(word, ".")
	if !bytes.HasSuffix(word, []byte("::")) {
		word = bytes.TrimSuffix(word, []byte(":"))
	}
	if w, ok := bytes.CutPrefix(word, []byte("[")); ok {
		word = w
		if i := bytes.IndexByte(word, ']'); i >= 0 {
			word = word[:i]
		}
	}
	if i := bytes.IndexByte(word, ':'); i >= 0 {
		if bytes.Contains(word, []byte("::")) || bytes.Count(word, []byte(":")) >= 6 {
			return len(bytes.Trim(word, "0123456789abcdefABCDEF:.")) == 0
		}
		word = word[:i] // a port
	}
	if hex := bytes.TrimPrefix(bytes.TrimPrefix(word, []byte("0x")), []byte("0X")); len(word) == 10 && len(hex) == 8 {
		return len(bytes.Trim(hex, "0123456789abcdefABCDEF")) == 0 // a netmask
	}
	dots := 0
	for i, c := range word {
		switch {
		case c == '.' && i > 0 && word[i-1] != '.':
			dots++
		case c < '0' || c > '9':
			return false
		}
	}
	return dots == 3
}
