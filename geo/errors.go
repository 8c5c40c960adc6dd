package geo

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cidrc/cidrc/internal/gunzip"
)

// What can be wrong with a code, a selection or a database. Errors about a row are a *cidr.LineError that wraps one of
// these or one of package cidr's; errors about a word are an *UnknownError.
var (
	// ErrUnknownCountry: the text is no country code that this package knows.
	ErrUnknownCountry = errors.New("not a country code of ISO 3166-1 or of an address registry")
	// ErrUnknownTerm: a term of a selection is no code, group or continent.
	ErrUnknownTerm = errors.New("not a country code or a group of countries")
	// ErrEmptySelection: a selection has no terms, or a comma has no term next to it.
	ErrEmptySelection = errors.New("a term is missing")
	// ErrOperator: a selection uses an operator such as "-" or "+".
	ErrOperator = errors.New("operators are not supported: list the countries, separated by commas")

	// ErrFields: a row does not have the three fields start, end and country.
	ErrFields = errors.New("a row has three fields: start,end,country")
	// ErrOverlap: two rows give one address to two countries.
	ErrOverlap = errors.New("the row gives addresses to one country that another row gives to another")
	// ErrTruncated: the data ends in the middle, of a line or of the compressed data.
	ErrTruncated = gunzip.ErrTruncated
	// ErrFormat: the data is no CSV: a web page, an archive, a database in another format.
	ErrFormat = errors.New("not a CSV file")
	// ErrTooLarge: the data has more than MaxRows rows.
	ErrTooLarge = errors.New("too many rows for a country database")
)

// An UnknownError is a word that this package does not know.
type UnknownError struct {
	Text    string   // the word, at most 40 bytes of it
	Nearest []string // known words that may be meant, the best first; at most three
	Err     error    // ErrUnknownCountry, ErrUnknownTerm or ErrOperator
}

// Error quotes the word, so that it stays on one line whatever it holds.
func (e *UnknownError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q: %v", e.Text, e.Err)
	for i, word := range e.Nearest {
		switch {
		case i == 0:
			b.WriteString("; did you mean ")
		case i == len(e.Nearest)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(word)
		// A code is followed by the country's name; the bare word EU may be the group, and stands alone.
		code, _ := strings.CutPrefix(word, "cc:")
		if c := lookUp(code); len(code) == 2 && c.IsValid() && (word != code || c != codeEU) {
			b.WriteString(" (" + c.Name() + ")")
		}
	}
	if len(e.Nearest) > 0 {
		b.WriteByte('?')
	}
	return b.String()
}

// Unwrap returns Err.
func (e *UnknownError) Unwrap() error { return e.Err }

// unknown makes an UnknownError.
func unknown(text string, err error, nearest []string) error {
	return &UnknownError{Text: clip(text, 40), Nearest: nearest, Err: err}
}

// clip returns at most n bytes of text, and a copy of them.
func clip(text string, n int) string {
	return strings.Clone(text[:min(n, len(text))])
}
