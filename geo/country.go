package geo

import (
	"slices"
	"strings"
)

// Country is a country code. The zero Country is no country. Codes compare and sort as their letters do.
//
// The codes are the 249 of ISO 3166-1 and three more: XK, which databases use for Kosovo, and EU and AP, under which the
// registries list networks that belong to no single country of Europe or of Asia and the Pacific. Get one from
// ParseCountry, from a Selection or from a database; another number is no country.
type Country uint16 // the two letters, the first one in the high byte

const (
	codeAP = Country('A')<<8 | 'P'
	codeEU = Country('E')<<8 | 'U'
	codeGB = Country('G')<<8 | 'B'
	codeUK = Country('U')<<8 | 'K'
	codeZZ = Country('Z')<<8 | 'Z'
)

// ParseCountry reads a code of two letters, in either case. "UK" is GB: ISO 3166-1 reserves it for the United Kingdom.
// Any other text is an *UnknownError that wraps ErrUnknownCountry. So is ZZ, which stands for "unknown": no country is
// selected by it.
func ParseCountry(code string) (Country, error) {
	if c := lookUp(code); c.IsValid() {
		return c, nil
	}
	return 0, unknown(code, ErrUnknownCountry, nearestCodes(code))
}

// MustParseCountry is ParseCountry for constants and tests: it panics when the code is unknown.
func MustParseCountry(code string) Country {
	c, err := ParseCountry(code)
	if err != nil {
		panic(err)
	}
	return c
}

// Countries returns all countries, ascending.
func Countries() []Country { return slices.Clone(loadCodes().all) }

// String returns the code in capital letters, and "no country" for anything else.
func (c Country) String() string {
	if !c.IsValid() {
		return "no country"
	}
	return string([]byte{byte(c >> 8), byte(c)})
}

// Name returns the short English name of ISO 3166-1, without the articles that the standard puts in brackets, and "" for
// no country.
func (c Country) Name() string {
	if !c.IsValid() {
		return ""
	}
	return loadCodes().names[c.index()]
}

// IsValid reports whether c is one of Countries.
func (c Country) IsValid() bool {
	i := c.index()
	return i >= 0 && c != 0 && loadCodes().known[i] == c
}

// MarshalText returns the code. No country is an error (ErrUnknownCountry).
func (c Country) MarshalText() ([]byte, error) {
	if !c.IsValid() {
		return nil, ErrUnknownCountry
	}
	return []byte(c.String()), nil
}

// UnmarshalText is ParseCountry.
func (c *Country) UnmarshalText(text []byte) error {
	parsed, err := ParseCountry(string(text))
	if err == nil {
		*c = parsed
	}
	return err
}

// numIndexes is how many codes of two letters there can be.
const numIndexes = 26 * 26

// index numbers the codes of two capital letters from 0; it is -1 for anything else.
func (c Country) index() int {
	a, b := uint(c>>8)-'A', uint(c&0xff)-'A'
	if a >= 26 || b >= 26 {
		return -1
	}
	return int(a*26 + b)
}

// lookUp is ParseCountry without the error.
func lookUp(code string) Country {
	c := letters(code)
	if i := c.index(); i >= 0 {
		return loadCodes().known[i]
	}
	return 0
}

// letters packs two letters, folded to capitals, whether or not they are a code. Other text gives something that has no
// index.
func letters[T string | []byte](code T) Country {
	if len(code) != 2 {
		return 0
	}
	return Country(upper(code[0]))<<8 | Country(upper(code[1]))
}

func upper(b byte) byte {
	if b >= 'a' && b <= 'z' {
		b -= 'a' - 'A'
	}
	return b
}

// fold makes words comparable: lower case, without hyphens, underlines and blanks.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == '-' || r == '_' || r == ' ':
			return -1
		}
		return r
	}, word)
}
