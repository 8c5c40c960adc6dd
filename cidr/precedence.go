package cidr

import "slices"

// Precedence says which of several entries that hold an address decides its value.
type Precedence uint8

const (
	// LastWins: the entry that was added last.
	LastWins Precedence = iota
	// MostSpecific: the entry with the fewest addresses; of several such, the one that was added last.
	MostSpecific
)

// sortUnlessSorted leaves what is in order alone, as the entries of most sources are: O(n) instead of O(n log n).
func sortUnlessSorted[E any](s []E, compare func(a, b E) int) {
	if !slices.IsSortedFunc(s, compare) {
		slices.SortFunc(s, compare)
	}
}

// shrink gives back memory when s uses less than half of what it holds.
func shrink[E any](s []E) []E {
	if len(s) < cap(s)/2 {
		return slices.Clip(slices.Clone(s))
	}
	return s
}
