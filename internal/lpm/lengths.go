package lpm

import (
	"iter"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Lengths is a set of prefix lengths, 0 to 128. The zero value is empty. It is comparable.
type Lengths [3]uint64

// LengthsOf returns the set of the lengths; those out of bounds are left out.
func LengthsOf(lengths ...int) Lengths {
	var s Lengths
	for _, l := range lengths {
		s = s.With(l)
	}
	return s
}

// Has reports whether the length is in the set.
func (s Lengths) Has(l int) bool { return l >= 0 && l <= 128 && s[l/64]>>(l%64)&1 == 1 }

// With returns the set with the length, unless that is out of bounds.
func (s Lengths) With(l int) Lengths {
	if l >= 0 && l <= 128 {
		s[l/64] |= 1 << (l % 64)
	}
	return s
}

// Without returns the set without the length.
func (s Lengths) Without(l int) Lengths {
	if l >= 0 && l <= 128 {
		s[l/64] &^= 1 << (l % 64)
	}
	return s
}

// Len counts the lengths.
func (s Lengths) Len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2])
}

// All gives the lengths, ascending.
func (s Lengths) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for l := 0; l <= 128; l++ {
			if s.Has(l) && !yield(l) {
				return
			}
		}
	}
}

// String returns the lengths as in "/8 /16 /24", and "no lengths" for none.
func (s Lengths) String() string {
	var out []string
	for l := range s.All() {
		out = append(out, "/"+strconv.Itoa(l))
	}
	if out == nil {
		return "no lengths"
	}
	return strings.Join(out, " ")
}

// Point is one trade-off between prefix lengths and entries: with these lengths, so many entries are enough.
type Point struct {
	Lengths Lengths
	Entries int
}

// tooMany stands for every number of entries that is this large or larger. Two of them and one more still fit.
const tooMany = math.MaxInt >> 2

// expand returns how many blocks of the longer length a number of the shorter one are.
func expand(n, shorter, longer int) int {
	if d := longer - shorter; n <= tooMany>>d { // a shift by the size of an int or more gives 0
		return n << d
	}
	return tooMany
}
