package geo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cidrc/cidrc/cidr"
)

// join returns the map with more rows in it, or an error when the rows contradict the map or each other. It sorts late.
//
// A sweep goes up through the rows by their first address and keeps the one that reaches furthest:
//
//	furthest |-------IT-------|
//	next          |--IT--|            fine: the same country
//	next                 |--FR--|     ErrOverlap
//
// Comparing with that one alone is enough. A row that overlaps an earlier one begins at an address that the furthest also
// holds, so if the two have different countries, the furthest already contradicted one of them.
func join(m cidr.Map[Country], late []row, sources []string) (cidr.Map[Country], error) {
	var b cidr.MapBuilder[Country]
	rows := make([]row, 0, m.NumRanges()+len(late))
	for r, c := range m.All() {
		rows = append(rows, row{Range: r, country: c})
		b.SetRange(r, c)
	}
	for _, r := range late {
		b.SetRange(r.Range, r.country)
	}
	rows = append(rows, late...)
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.source, b.source), cmp.Compare(a.line, b.line)) // IPv4 before IPv6
	})
	furthest := 0
	for i := 1; i < len(rows); i++ {
		r, f := &rows[i], &rows[furthest]
		if r.country != f.country && r.First.Compare(f.Last) <= 0 {
			return cidr.Map[Country]{}, contradiction(*f, *r, sources)
		}
		if f.Last.Less(r.Last) {
			furthest = i
		}
	}
	return b.Build(cidr.LastWins)
}

// contradiction is the error for two rows. It names the line of one that came out of order, the later one of two; there
// is one, since rows in order do not overlap.
func contradiction(a, b row, sources []string) error {
	if b.line == 0 || a.line > 0 && cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.line, b.line)) > 0 {
		a, b = b, a
	}
	err := fmt.Errorf("%w: %v is %s", ErrOverlap, a.Range, text(a.country))
	if a.line > 0 {
		err = fmt.Errorf("%w in %s, line %d", err, sources[a.source], a.line)
	}
	line := fmt.Sprintf("%v,%v,%s", b.First, b.Last, text(b.country))
	return &cidr.LineError{Source: sources[b.source], Line: int(b.line), Column: 1, Text: clip(line, shown), Err: err}
}

// text is the code as rows have it, ZZ included.
func text(c Country) string {
	if c == codeZZ {
		return "ZZ"
	}
	return c.String()
}
