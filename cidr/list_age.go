package cidr

import (
	"fmt"
	"strings"
	"time"
)

type ageLimit struct {
	limit     time.Duration
	date, now time.Time
}

// MaxAge refuses a list that is older than limit at the time now (ErrStale). date is what the caller knows of the list's
// date, such as the modification time of its file, or zero. The list's own header may hold a date too; of all dates the
// oldest counts. No date at all is ErrStale. A date after now is not old.
//
// The header is the comment lines before the first entry, as far as the hundredth line. A date counts where its line says
// what it is with a word such as date, update, modified or generated, and does not speak of expiry. RFC 1123, RFC 850,
// RFC 3339, the forms of date(1) and asctime(3), and dates such as 2006-01-02 with or without a time are known. A time
// without a zone, or with a zone's abbreviation, is taken as UTC.
func MaxAge(limit time.Duration, date, now time.Time) ListOption {
	return func(l *listReader) {
		switch {
		case limit <= 0:
			l.refuseOption("MaxAge: a limit of %v leaves nothing", limit)
		case now.IsZero():
			l.refuseOption("MaxAge: the time now is missing")
		}
		l.age = &ageLimit{limit, date, now}
	}
}

func (l *listReader) checkAge() error {
	if l.age == nil {
		return nil
	}
	date := l.age.date
	if own := l.report.Date; date.IsZero() || !own.IsZero() && own.Before(date) {
		date = own
	}
	if date.IsZero() {
		return fmt.Errorf("%w: its date is not known: its header has none, and MaxAge was given none", ErrStale)
	}
	if age := l.age.now.Sub(date); age > l.age.limit {
		return fmt.Errorf("%w: it is of %s, %s old, more than %s", ErrStale, date.Format(time.RFC3339), days(age),
			days(l.age.limit))
	}
	return nil
}

// days says a duration as a reader of lists thinks of it.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return d.Round(time.Minute).String()
	}
	return fmt.Sprintf("%d days", d/day)
}

// lastHeaderLine is the last line that can belong to a header; it bounds what a hostile list can cost.
const lastHeaderLine = 100

// comment looks for a date in a comment line of the header.
func (l *listReader) comment(line []byte) {
	if l.report.Entries > 0 || l.n > lastHeaderLine {
		return
	}
	if date, ok := headerDate(string(line)); ok {
		l.sawDate(date)
	}
}

func (l *listReader) sawDate(date time.Time) {
	if l.report.Date.IsZero() || date.Before(l.report.Date) {
		l.report.Date = date
	}
}

// dateWords say that a line is about the date of the list.
var dateWords = []string{
	"date", "dated", "update", "updated", "modified", "modification", "generated", "created", "compiled", "published",
	"timestamp", "changed",
}

// dateLayouts are the forms that headers use. Where two fit, the longer is meant, so it stands first.
var dateLayouts = []string{
	"Mon, 2 Jan 2006 15:04:05 -0700", // RFC 1123 with a numeric zone
	"Mon, 2 Jan 2006 15:04:05 MST",
	"Monday, 2-Jan-06 15:04:05 MST", // RFC 850
	"Mon Jan 2 15:04:05 MST 2006",   // date(1)
	"Mon Jan 2 15:04:05 -0700 2006",
	"Mon 2 Jan 15:04:05 MST 2006",
	"Mon 2 Jan 2006 15:04:05 MST",
	"Mon Jan 2 15:04:05 2006", // asctime(3)
	time.RFC3339,
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05-07:00",
	"2006-01-02 15:04:05 MST",
	"2006-01-02 15:04:05",
	"2006/01/02 15:04:05",
	"2006-01-02 15:04",
	"2006-01-02",
	"2006/01/02",
	"2 Jan 2006",
	"2 January 2006",
	"Jan 2, 2006",
	"January 2, 2006",
}

// firstDate is the earliest date that a list can have; what is before is no date.
var firstDate = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

func headerDate(line string) (time.Time, bool) {
	// Other letters than those of English stay as they are, and with them the places of all bytes: what strings.ToLower
	// makes of some is longer or shorter.
	line = strings.ToValidUTF8(line, "?")
	lower := strings.Map(lowerASCII, line)
	isLetter := func(c byte) bool { return c >= 'a' && c <= 'z' }
	said := false
	for word := range strings.FieldsFuncSeq(lower, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if strings.HasPrefix(word, "expire") || word == "expiry" || word == "expiration" {
			return time.Time{}, false
		}
		for _, w := range dateWords {
			said = said || w == word
		}
	}
	if !said {
		return time.Time{}, false
	}
	for i := range len(line) {
		c := lower[i]
		digit := c >= '0' && c <= '9'
		if !digit && !isLetter(c) || i > 0 && (isLetter(lower[i-1]) || lower[i-1] >= '0' && lower[i-1] <= '9') {
			continue
		}
		if !digit && !startsWithDayOrMonth(lower[i:]) {
			continue
		}
		fields := strings.Fields(line[i:min(len(line), i+64)])
		for _, layout := range dateLayouts {
			n := 1 + strings.Count(layout, " ")
			if n > len(fields) {
				continue
			}
			text := strings.TrimRight(strings.Join(fields[:n], " "), ".,;)]")
			if t, err := time.ParseInLocation(layout, text, time.UTC); err == nil && !t.Before(firstDate) {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

func lowerASCII(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r - 'A' + 'a'
	}
	return r
}

func startsWithDayOrMonth(s string) bool {
	if len(s) < 3 {
		return false
	}
	const names = "mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec"
	return strings.Contains(names, s[:3]) && !strings.Contains(s[:3], " ")
}
