package cidr

import (
	"time"
	"unicode/utf8"
)

// A ListReport is what reading one list found, see Report and Lenient. It is filled in whether or not reading succeeded;
// after an error it says how far the reader came. If an option was wrong, only Source is filled in.
type ListReport struct {
	Source  string    // name of the list, as the caller gave it
	Lines   int       // lines read, comments and blank ones too
	Entries int       // entries taken
	Ignored int       // rows that the format says not to take, such as allowed ranges of FormatDAT
	Masked  int       // entries of which host bits were masked away, see HostBits
	Mapped  int       // entries written as IPv4-mapped IPv6 and taken as IPv4, see MappedAddrs
	Bad     ListError // the bad lines; none of them was taken
	Date    time.Time // oldest date in the list's own header, see MaxAge; zero when there is none
}

// shown is how much of a bad line a LineError repeats.
const shown = 80

// bad notes a bad line. text is the part of the line that is wrong, and shares its memory.
func (l *listReader) bad(line, text []byte, err error) {
	bad := &l.report.Bad
	if bad.Total++; len(bad.Lines) == MaxReported {
		return
	}
	column := 1 + cap(line) - cap(text)
	if len(text) > shown {
		text = text[:shown]
		for len(text) > 0 && !utf8.Valid(text) && len(text) > shown-utf8.UTFMax {
			text = text[:len(text)-1]
		}
	}
	bad.Lines = append(bad.Lines, &LineError{bad.Source, l.n, column, string(text), err})
}

// badLines is the error for a list that is refused for its bad lines.
func (l *listReader) badLines() error {
	bad := l.report.Bad // apart from the report, which the caller may change
	return &bad
}
