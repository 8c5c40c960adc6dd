package cidr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What can be wrong with an address, prefix, range or list. Every error of this package wraps one of these, so that a
// caller can tell them apart with errors.Is; the error's text says what to do.
var (
	// ErrSyntax: the text is no address, prefix or range.
	ErrSyntax = errors.New("not an address, prefix or range")
	// ErrName: the text looks like a host name. Names are never resolved.
	ErrName = errors.New("a name, not an address; names are never resolved: write the addresses")
	// ErrOctet: an IPv4 octet is larger than 255.
	ErrOctet = errors.New("an IPv4 octet is over 255")
	// ErrLeadingZero: an IPv4 octet or a prefix length is written with a leading zero, which some tools read as octal.
	ErrLeadingZero = errors.New("a number has a leading zero, which some tools read as octal: write it without")
	// ErrLength: the prefix length is not a number from 0 to 32 (IPv4) or 128 (IPv6).
	ErrLength = errors.New("the prefix length is out of bounds")
	// ErrMask: a netmask stands where a prefix length belongs.
	ErrMask = errors.New("a netmask instead of a prefix length: write /0 to /32")
	// ErrHostBits: bits are set below the prefix length.
	ErrHostBits = errors.New("host bits are set")
	// ErrReversed: a range ends before it starts.
	ErrReversed = errors.New("the range ends before it starts")
	// ErrMixed: a range goes from one family to the other.
	ErrMixed = errors.New("the range goes from one address family to the other")
	// ErrMapped: a range or prefix cuts through ::ffff:0:0/96, the IPv4-mapped addresses, or is the whole of it and could
	// mean all of IPv4 or nothing that Linux lets in.
	ErrMapped = errors.New("not clear with the IPv4-mapped addresses ::ffff:0:0/96: write the IPv4 prefix that is meant")
	// ErrZone: an address carries a zone such as %eth0.
	ErrZone = errors.New("an address with a zone is not one address: leave the zone away")
	// ErrInvalid: a zero netip.Addr, netip.Prefix or Range.
	ErrInvalid = errors.New("no address: a zero or invalid value")
	// ErrEmpty: a list holds no entries. See AllowEmpty.
	ErrEmpty = errors.New("no entries: an empty list is refused, since it would open or close the firewall")
	// ErrLineTooLong: a line of a list is longer than MaxLine.
	ErrLineTooLong = errors.New("the line is too long for an address list")
	// ErrHTML: the list is a web page, most often the error page of a failed download.
	ErrHTML = errors.New("a web page instead of a list: look at what the download gave")
	// ErrCut: the list ends early: within a line, within compressed data, or with fewer rows than it says. See AllowCut.
	ErrCut = errors.New("the list ends early: was the download cut short?")
	// ErrShrunk: too much of the last list is gone. See MaxShrink.
	ErrShrunk = errors.New("the list has shrunk too much: look at it, and read it without MaxShrink if it is right")
	// ErrStale: the list is older than the caller allows, or its age is not known. See MaxAge.
	ErrStale = errors.New("the list is stale: find out why it is no longer updated")
	// ErrOption: an option for reading a list is wrong, or one that the list needs is missing.
	ErrOption = errors.New("an option is wrong or missing")
)

// A LineError is one bad line of a text source.
type LineError struct {
	Source string // name of the source, as the caller gave it
	Line   int    // from 1
	Column int    // of the first byte of Text, in bytes, from 1
	Text   string // what was found there, at most 80 bytes of it
	Err    error  // wraps one of this package's sentinels
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s: %v", e.Source, e.Line, e.Column, strconv.Quote(e.Text), e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

// A ListError is what was wrong with the lines of a list. It unwraps to each of its LineErrors.
type ListError struct {
	Source string
	Lines  []*LineError // the first MaxReported, in order of lines
	Total  int          // bad lines in all, at least len(Lines)
}

// MaxReported is how many bad lines a ListError describes; it counts all.
const MaxReported = 20

func (e *ListError) Error() string {
	var b strings.Builder
	if e.Total == 0 {
		return e.Source + ": no bad lines"
	}
	if e.Total > 1 {
		fmt.Fprintf(&b, "%s: %d bad lines", e.Source, e.Total)
	}
	if e.Total > len(e.Lines) {
		fmt.Fprintf(&b, "; the first %d are:", len(e.Lines))
	}
	for _, l := range e.Lines {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Error())
	}
	return b.String()
}

func (e *ListError) Unwrap() []error {
	errs := make([]error, len(e.Lines))
	for i, l := range e.Lines {
		errs[i] = l
	}
	return errs
}
