package cidr

import (
	"bytes"
	"fmt"
)

// p2pFormat reads the rows of FormatP2P.
type p2pFormat struct{}

func (p2pFormat) line(l *listReader, line []byte) ([]byte, error) {
	if line[0] == '#' {
		l.comment(line)
		return line, nil
	}
	i := bytes.LastIndexByte(line, ':')
	if i < 0 {
		return line, fmt.Errorf("%w: a row is \"name:first-last\"", ErrSyntax)
	}
	first, last, ok := bytes.Cut(line[i+1:], []byte("-"))
	if !ok {
		return line, fmt.Errorf("%w: after its last colon a row has \"first-last\", IPv4 only", ErrSyntax)
	}
	e, err := l.ends(first, last)
	if err != nil {
		return line, err
	}
	if e.family != V4 || e.mapped {
		return line, fmt.Errorf("%w: this format is for IPv4", ErrSyntax)
	}
	l.take(e)
	return line, nil
}

func (p2pFormat) end(*listReader) error { return nil }
