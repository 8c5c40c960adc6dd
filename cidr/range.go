package cidr

import (
	"fmt"
	"iter"
	"math/big"
	"net/netip"
)

// Range is an inclusive range of addresses of one family. It need not be a prefix. The zero Range is invalid. Methods of
// an invalid Range do not panic; each says what it returns.
type Range struct {
	First, Last netip.Addr
}

// RangeOf returns the range that a prefix covers, host bits ignored, and the zero Range for an invalid prefix. An
// IPv4-mapped prefix of more than 96 bits gives the IPv4 range that is meant; the one of exactly 96 bits gives a range
// that Check refuses (ErrMapped).
func RangeOf(p netip.Prefix) Range {
	if !p.IsValid() {
		return Range{}
	}
	if p.Addr().Is4In6() && p.Bits() > 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	first := p.Masked().Addr()
	if first.Is4() {
		return Range{first, toKey4(first).fill(32 - p.Bits()).addr()}
	}
	return Range{first, toKey6(first).fill(128 - p.Bits()).addr()}
}

// checkPrefix returns the range of a prefix that a builder may take.
func checkPrefix(p netip.Prefix) (Range, error) {
	switch {
	case !p.IsValid():
		return Range{}, ErrInvalid
	case p.Addr().Is4In6() && p.Bits() <= 96:
		return Range{}, fmt.Errorf("%v: %w", p, ErrMapped)
	case p.Masked() != p:
		return Range{}, fmt.Errorf("%v: %w: the network is %v", p, ErrHostBits, p.Masked())
	}
	return RangeOf(p), nil
}

// Check returns nil for a valid range, and otherwise an error that wraps ErrInvalid, ErrZone, ErrMixed, ErrReversed or
// ErrMapped.
func (r Range) Check() error {
	_, _, _, err := r.spans()
	return err
}

// Family returns the family in which packets carry the addresses of the range, and no family for an invalid range.
func (r Range) Family() Family {
	f, _, _, _ := r.spans()
	return f
}

// spans checks the range and gives it as the numbers that sets are made of.
func (r Range) spans() (f Family, s4 span4, s6 span6, err error) {
	if r.First.Is4() && r.Last.Is4() {
		if s4 = (span4{toKey4(r.First), toKey4(r.Last)}); s4.lo <= s4.hi {
			return V4, s4, s6, nil
		}
	}
	switch {
	case !r.First.IsValid() || !r.Last.IsValid():
		return 0, s4, s6, ErrInvalid
	case r.First.Zone() != "" || r.Last.Zone() != "":
		return 0, s4, s6, r.wrap(ErrZone)
	}
	if FamilyOf(r.First) == V4 && FamilyOf(r.Last) == V4 {
		s4 = span4{toKey4(r.First), toKey4(r.Last)}
		switch {
		case s4.hi.less(s4.lo):
			return 0, s4, s6, r.wrap(ErrReversed)
		case r.First.Is4In6() && r.Last.Is4In6() && s4.lo == 0 && s4.hi.isMax():
			return 0, s4, s6, r.wrap(ErrMapped)
		}
		return V4, s4, s6, nil
	}
	if r.First.Is4() || r.Last.Is4() {
		return 0, s4, s6, r.wrap(ErrMixed)
	}
	s6 = span6{toKey6(r.First), toKey6(r.Last)}
	switch {
	case s6.hi.less(s6.lo):
		return 0, s4, s6, r.wrap(ErrReversed)
	case r.First.Is4In6() && s6.lo != mapped.lo, r.Last.Is4In6() && s6.hi != mapped.hi:
		return 0, s4, s6, r.wrap(ErrMapped)
	}
	return V6, s4, s6, nil
}

func (r Range) wrap(err error) error {
	if r.First == r.Last {
		return fmt.Errorf("%v: %w", r.First, err)
	}
	return fmt.Errorf("%v-%v: %w", r.First, r.Last, err)
}

// canonical returns the range with its ends in the form in which packets carry them.
func (r Range) canonical() (Range, error) {
	switch f, s4, s6, err := r.spans(); f {
	case V4:
		return s4.rng(), nil
	case V6:
		return s6.rng(), nil
	default:
		return Range{}, err
	}
}

// Contains reports whether the address, its zone ignored and IPv4-mapped taken as IPv4, lies in the range. An invalid
// range contains nothing, and the zero Addr lies in no range.
func (r Range) Contains(a netip.Addr) bool {
	f, s4, s6, _ := r.spans()
	switch {
	case f == 0 || FamilyOf(a) != f:
		return false
	case f == V4:
		k := toKey4(a)
		return s4.lo <= k && k <= s4.hi
	default:
		k := toKey6(a)
		return !k.less(s6.lo) && !s6.hi.less(k)
	}
}

// Prefixes gives the fewest prefixes that cover the range exactly, ascending; none for an invalid range.
func (r Range) Prefixes() iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		switch f, s4, s6, _ := r.spans(); f {
		case V4:
			s4.eachPrefix(yield)
		case V6:
			s6.eachPrefix(yield)
		}
	}
}

// Prefix returns the prefix that is exactly this range, and false when it is no prefix or invalid. O(1).
func (r Range) Prefix() (netip.Prefix, bool) {
	switch f, s4, s6, _ := r.spans(); f {
	case V4:
		return s4.prefix()
	case V6:
		return s6.prefix()
	}
	return netip.Prefix{}, false
}

// NumPrefixes counts Prefixes, without making them. O(1).
func (r Range) NumPrefixes() int {
	switch f, s4, s6, _ := r.spans(); f {
	case V4:
		return s4.numPrefixes()
	case V6:
		return s6.numPrefixes()
	}
	return 0
}

// NumAddrs returns how many addresses the range holds, 0 for an invalid one.
func (r Range) NumAddrs() *big.Int {
	switch f, s4, s6, _ := r.spans(); f {
	case V4:
		return countAddrs4([]span4{s4})
	case V6:
		return countAddrs6([]span6{s6})
	}
	return new(big.Int)
}

// String returns the range in the shortest of the forms that ParseRange reads: an address, a prefix, or "first-last",
// with IPv4-mapped ends as IPv4; "invalid range" for an invalid one.
func (r Range) String() string {
	r, err := r.canonical()
	if err != nil {
		return "invalid range"
	}
	if r.First == r.Last {
		return r.First.String()
	}
	if p, ok := r.Prefix(); ok {
		return p.String()
	}
	return r.First.String() + "-" + r.Last.String()
}
