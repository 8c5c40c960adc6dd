package geo

import (
	"slices"
	"strings"
)

// Selection is a set of countries as a person names it. The zero Selection is empty; ParseSelection never returns it
// without an error. Two Selections are equal (==) when they have the same terms, so "EU" is not equal to a list of its 27
// members although both hold the same countries.
type Selection struct {
	members countrySet
	text    string
}

// ParseSelection reads a list of terms, separated by commas, by blanks or by both, in either case. A term is one of
//
//	IT              a country code, as ParseCountry reads it, except that EU is the group
//	cc:IT           the same, and the way to write the registry code EU: cc:EU
//	Schengen        a group by its name, see Groups; "north-america" and "NorthAmerica" are one name
//	continent:NA    a continent by its code: AF, AN, AS, EU, NA, OC, SA
//
// Terms may overlap and repeat; the selection holds each country once.
//
// A term that is none of these is an *UnknownError with the nearest known terms, which wraps ErrUnknownTerm, or
// ErrUnknownCountry for "cc:". A text without terms, or with a comma that has no term before or after it, is
// ErrEmptySelection. Operators, as in "EU - HU + CH", are kept for later and are ErrOperator.
func ParseSelection(text string) (Selection, error) {
	var s Selection
	var groups, countries []string // canonical terms
	for part := range strings.SplitSeq(text, ",") {
		terms := strings.FieldsFunc(part, isBlank)
		if len(terms) == 0 {
			return Selection{}, unknown(text, ErrEmptySelection, nil)
		}
		for _, term := range terms {
			canonical, members, err := parseTerm(term)
			if err != nil {
				return Selection{}, err
			}
			if len(members) == 1 && canonical == term1(members[0]) {
				countries = append(countries, canonical)
			} else {
				groups = append(groups, canonical)
			}
			for _, c := range members {
				s.members.add(c)
			}
		}
	}
	slices.Sort(groups)
	slices.Sort(countries)
	s.text = strings.Join(slices.Concat(slices.Compact(groups), slices.Compact(countries)), ", ")
	return s, nil
}

// MustParseSelection is ParseSelection for constants and tests: it panics on an error.
func MustParseSelection(text string) Selection {
	s, err := ParseSelection(text)
	if err != nil {
		panic(err)
	}
	return s
}

// Contains reports whether the country is selected. O(1), without allocation; cidr.Map.Where takes it as it is.
func (s Selection) Contains(c Country) bool { return s.members.has(c) }

// Countries returns the selected countries, each once, ascending.
func (s Selection) Countries() []Country {
	var cs []Country
	for _, c := range loadCodes().all {
		if s.members.has(c) {
			cs = append(cs, c)
		}
	}
	return cs
}

// String returns the terms in one spelling, groups before countries, each sorted and without repetition. ParseSelection
// reads it back to an equal Selection. The empty Selection is "".
func (s Selection) String() string { return s.text }

// MarshalText returns String. The empty Selection is an error (ErrEmptySelection), since nothing reads it back.
func (s Selection) MarshalText() ([]byte, error) {
	if s.text == "" {
		return nil, ErrEmptySelection
	}
	return []byte(s.text), nil
}

// UnmarshalText is ParseSelection.
func (s *Selection) UnmarshalText(text []byte) error {
	parsed, err := ParseSelection(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// parseTerm returns what a term stands for, and its canonical spelling.
func parseTerm(term string) (canonical string, members []Country, err error) {
	kind, word, prefixed := strings.Cut(term, ":")
	groups := loadGroups()
	switch {
	case !prefixed:
		if g, ok := groups.find(term); ok {
			return g.Name, g.Members, nil
		}
		if c := lookUp(term); c.IsValid() {
			return term1(c), []Country{c}, nil
		}
		if hasOperator(term) {
			return "", nil, unknown(term, ErrOperator, nil)
		}
	case strings.EqualFold(kind, "cc"):
		c, err := ParseCountry(word)
		if err != nil {
			return "", nil, unknown(term, ErrUnknownCountry, nearestCodes(word))
		}
		return term1(c), []Country{c}, nil
	case strings.EqualFold(kind, "continent"):
		if i, ok := groups.byContinent[letters(word)]; ok {
			return groups.all[i].Name, groups.all[i].Members, nil
		}
		return "", nil, unknown(term, ErrUnknownTerm, nearestContinents(word))
	}
	return "", nil, unknown(term, ErrUnknownTerm, nearestTerms(term))
}

// term1 is the canonical term for one country.
func term1(c Country) string {
	if c == codeEU {
		return "cc:EU"
	}
	return c.String()
}

// nearestContinents proposes the continent of that name, or of a country with that code.
func nearestContinents(word string) []string {
	var guesses []guess
	c := lookUp(word)
	for _, known := range continents {
		name := fold(known.name)
		if d := distance(fold(word), name); d <= tolerance(name) ||
			c.IsValid() && slices.Contains(loadCodes().continents[known.code], c) {
			guesses = append(guesses, guess{"continent:" + known.code, d})
		}
	}
	return best(guesses)
}

// hasOperator reports whether an unknown term looks like a part of an expression: "-", "+CH", "EU-HU", "!RU".
func hasOperator(term string) bool {
	if strings.Trim(term, "-") != term || strings.ContainsAny(term, "+!&|()") {
		return true
	}
	left, right, ok := strings.Cut(term, "-")
	return ok && isWord(left) && isWord(right)
}

// isWord reports whether the text is a bare country code or the name of a group.
func isWord(text string) bool {
	_, ok := loadGroups().find(text)
	return ok || lookUp(text).IsValid()
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

// countrySet has a bit for every index of a Country.
type countrySet [(numIndexes + 63) / 64]uint64

func (s *countrySet) add(c Country) {
	if i := c.index(); i >= 0 {
		s[i/64] |= 1 << (i % 64)
	}
}

func (s *countrySet) has(c Country) bool {
	i := c.index()
	return i >= 0 && s[i/64]&(1<<(i%64)) != 0
}
