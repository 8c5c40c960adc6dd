package cidr

import (
	"bytes"
	"fmt"
	"math/big"
	"time"
)

type ageLimit struct {
	most      time.Duration
	date, now time.Time
}

type shrinkLimit struct {
	last  Set
	share float64
}

// MaxAge refuses a list that is older than the limit at the time now (ErrStale). Its date is the given one, such as the
// time of the file, or the one in its own header if that is older: a file that was copied yesterday may hold data of last
// year. A zero date is not known; if the header has none either, that is ErrStale too. Headers are comment lines with a
// word such as "date", "updated" or "generated" before a date in one of the usual forms.
func MaxAge(limit time.Duration, date, now time.Time) ListOption {
	return func(l *listReader) {
		if limit <= 0 || now.IsZero() {
			l.refuseOption("MaxAge needs a limit above 0 and the time that it is now")
			return
		}
		l.age = &ageLimit{limit, date, now}
	}
}

// MaxShrink refuses a list of which too much is gone (ErrShrunk): more than the share, above 0 and up to 1, of the
// addresses of the last list, or of the prefixes that cover it, in either family. The list that is refused may be right;
// somebody should look.
func MaxShrink(last Set, share float64) ListOption {
	return func(l *listReader) {
		if !(share > 0 && share <= 1) {
			l.refuseOption("MaxShrink needs a share above 0 and up to 1")
			return
		}
		l.shrink = &shrinkLimit{last, share}
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
		return fmt.Errorf("%w: it has no date, and none was given", ErrStale)
	}
	if age := l.age.now.Sub(date); age > l.age.most {
		return fmt.Errorf("%w: it is of %s, %d days old, and %d are allowed", ErrStale, date.UTC().Format(time.DateOnly),
			int(age.Hours()/24), int(l.age.most.Hours()/24))
	}
	return nil
}

func (l *listReader) checkShrink() error {
	if l.shrink == nil {
		return nil
	}
	now, err := l.own.Build()
	if err != nil {
		return err
	}
	for _, f := range Families() {
		was, is := l.shrink.last.Only(f), now.Only(f)
		gone := was.Difference(is)
		if share := ratio(gone.NumAddrs(), was.NumAddrs()); share > l.shrink.share {
			return fmt.Errorf("%w: of %v, %.1f %% of %v addresses are gone, and %.1f %% may be", ErrShrunk, f, 100*share,
				was.NumAddrs(), 100*l.shrink.share)
		}
		before, after := was.NumPrefixes(), is.NumPrefixes()
		if float64(before-after) > l.shrink.share*float64(before) {
			return fmt.Errorf("%w: of %v, %d prefixes are left of %d, and %.1f %% may go", ErrShrunk, f, after, before,
				100*l.shrink.share)
		}
	}
	return nil
}

// ratio returns a/b, and 0 if both are.
func ratio(a, b *big.Int) float64 {
	if a.Sign() == 0 {
		return 0
	}
	r, _ := new(big.Rat).SetFrac(a, b).Float64()
	return r
}

// headerDate notes the date of a comment line, if that stands before all entries and the date is older than one before.
func (l *listReader) headerDate(comment []byte) {
	if l.report.Entries > 0 || len(comment) > 200 {
		return
	}
	if date, ok := dateIn(comment); ok && (l.report.Date.IsZero() || date.Before(l.report.Date)) {
		l.report.Date = date
	}
}

// dateIn finds the date in a line such as "# Last update: Sat, 22 Aug 2026 03:00:29 +0200".
func dateIn(line []byte) (time.Time, bool) {
	lower := bytes.Clone(line)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c | 0x20 // as bytes.ToLower does, but the length stays, whatever the bytes are
		}
	}
	if bytes.Contains(lower, []byte("expire")) || bytes.Contains(lower, []byte("next update")) {
		return time.Time{}, false
	}
	at := -1
	for _, word := range []string{"date", "updated", "modified", "generated", "created", "timestamp"} {
		// The last of the words: what follows it is the date.
		if i := bytes.LastIndex(lower, []byte(word)); i >= 0 {
			at = max(at, i+len(word))
		}
	}
	if at < 0 {
		return time.Time{}, false
	}
	text := string(bytes.TrimLeft(line[at:], " \t:=()-onaOf"))
	for len(text) > 0 {
		for _, layout := range []string{
			time.RFC1123Z, time.RFC1123, time.UnixDate, time.ANSIC, time.RFC3339, "2006-01-02 15:04:05 MST",
			"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05", "2006/01/02 15:04:05", "02 Jan 2006 15:04:05 MST",
			"2 Jan 2006", "January 2, 2006", time.DateOnly, "2006/01/02", "Mon, 2 Jan 2006 15:04:05 -0700",
			"Mon, 2 Jan 2006 15:04:05 MST", "Mon Jan _2 15:04:05 2006 MST",
		} {
			if date, err := time.Parse(layout, text); err == nil {
				return date, true
			}
		}
		// A word less at the end may be it.
		i := bytes.LastIndexAny([]byte(text), " \t")
		if i < 0 {
			break
		}
		text = string(bytes.TrimRight([]byte(text[:i]), " \t,;"))
	}
	return time.Time{}, false
}
