package cidr

import (
	"bytes"
	"fmt"
	"strings"
)

// datFormat reads the rows of FormatDAT.
type datFormat struct{}

// firstAllowed is the access level from which a range is one that ipfilter.dat lets through.
const firstAllowed = 128

func (datFormat) line(l *listReader, line []byte) ([]byte, error) {
	if line[0] == '#' || line[0] == ';' || bytes.HasPrefix(line, []byte("//")) {
		l.comment(line)
		return line, nil
	}
	ends, rest, ok := bytes.Cut(line, []byte(","))
	if !ok {
		return line, fmt.Errorf("%w: a row is \"first - last , level , description\"", ErrSyntax)
	}
	level, _, _ := bytes.Cut(rest, []byte(","))
	first, last, ok := bytes.Cut(ends, []byte("-"))
	if !ok {
		return line, fmt.Errorf("%w: a range has a dash between its ends", ErrSyntax)
	}
	lo, err := parsePadded4(trimBlanks(first))
	if err != nil {
		return line, err
	}
	hi, err := parsePadded4(trimBlanks(last))
	if err != nil {
		return line, err
	}
	e, err := l.span(written{is4: true, k4: lo}, written{is4: true, k4: hi})
	if err != nil {
		return line, err
	}
	access, err := parseLevel(trimBlanks(level))
	if err != nil {
		return line, err
	}
	if access >= firstAllowed {
		l.report.Ignored++
		return line, nil
	}
	l.take(e)
	return line, nil
}

func (datFormat) end(*listReader) error { return nil }

func parseLevel(b []byte) (int, error) {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' || len(b) > 3 {
			return 0, fmt.Errorf("%w: the access level is not a number from 0 to 255", ErrSyntax)
		}
		n = n*10 + int(c-'0')
	}
	if len(b) == 0 || n > 255 {
		return 0, fmt.Errorf("%w: the access level is not a number from 0 to 255", ErrSyntax)
	}
	return n, nil
}

// parsePadded4 reads four octets of one to three decimal digits.
func parsePadded4(b []byte) (key4, error) {
	var k key4
	octets, digits, octet := 0, 0, 0
	for i := 0; i <= len(b); i++ {
		switch {
		case i < len(b) && b[i] >= '0' && b[i] <= '9' && digits < 3:
			octet = octet*10 + int(b[i]-'0')
			digits++
		case (i == len(b) || b[i] == '.') && digits > 0 && octets < 4 && octet <= 255:
			k = k<<8 | key4(octet)
			octets, digits, octet = octets+1, 0, 0
		default:
			return 0, diagnosePadded(b)
		}
	}
	if octets != 4 {
		return 0, diagnosePadded(b)
	}
	return k, nil
}

func diagnosePadded(b []byte) error {
	octets := strings.Split(string(b), ".")
	if !isNumeric(octets, decimal) {
		if bytes.IndexByte(b, ':') >= 0 {
			return fmt.Errorf("%w: this format is for IPv4", ErrSyntax)
		}
		return diagnose(b)
	}
	for i, o := range octets {
		if len(o) > 3 {
			return fmt.Errorf("octet %.20s: %w", o, ErrOctet)
		}
		octets[i] = string(withoutZeros([]byte(o)))
	}
	return diagnoseOctets(octets)
}
