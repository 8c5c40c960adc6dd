package cidr

import (
	"fmt"
	"iter"
	"math/big"
	"net/netip"
)

// Range is an inclusive range of addresses of one family. It need not be a prefix. The zero Range is invalid.
type Range struct {
	First, Last netip.Addr
}

// RangeOf returns the range that a prefix covers, host bits ignored, and the zero Range for an invalid prefix. An
// IPv4-mapped prefix of 96 bits or more gives the IPv4 range that is meant.
func RangeOf(p netip.Prefix) Range {
	if !p.IsValid() {
		return Range{}
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	p = p.Masked()
	if p.Addr().Is4() {
		lo := toKey4(p.Addr())
		return Range{p.Addr(), lo.fill(32 - p.Bits()).addr()}
	}
	lo := toKey6(p.Addr())
	return Range{p.Addr(), lo.fill(128 - p.Bits()).addr()}
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
func (r Range) spans() (f Family, s4 span[key4], s6 span[key6], err error) {
	first, last := r.First, r.Last
	switch {
	case !first.IsValid() || !last.IsValid():
		return 0, s4, s6, ErrInvalid
	case first.Zone() != "" || last.Zone() != "":
		return 0, s4, s6, fmt.Errorf("%v-%v: %w", first, last, ErrZone)
	}
	if first.Is4In6() && last.Is4In6() {
		first, last = first.Unmap(), last.Unmap()
	}
	switch {
	case first.Is4() != last.Is4():
		return 0, s4, s6, fmt.Errorf("%v-%v: %w", first, last, ErrMixed)
	case last.Less(first):
		return 0, s4, s6, fmt.Errorf("%v-%v: %w", first, last, ErrReversed)
	case first.Is4():
		return V4, span[key4]{toKey4(first), toKey4(last)}, s6, nil
	}
	s6 = span[key6]{toKey6(first), toKey6(last)}
	if first.Is4In6() || last.Is4In6() && s6.hi != mapped.hi {
		return 0, s4, s6, fmt.Errorf("%v-%v: %w", first, last, ErrMapped)
	}
	return V6, s4, s6, nil
}

// Contains reports whether the address, its zone ignored and IPv4-mapped taken as IPv4, lies in the range. An invalid
// range contains nothing.
func (r Range) Contains(a netip.Addr) bool {
	if r.Check() != nil {
		return false
	}
	first, last, a := r.First, r.Last, a.WithZone("").Unmap()
	if first.Is4In6() && last.Is4In6() {
		first, last = first.Unmap(), last.Unmap()
	}
	return a.Is4() == first.Is4() && a.IsValid() && !a.Less(first) && !last.Less(a)
}

// Prefixes gives the fewest prefixes that cover the range exactly, ascending; none for an invalid range.
func (r Range) Prefixes() iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		switch f, s4, s6, _ := r.spans(); f {
		case V4:
			s4.eachPrefix(func(k key4, bits int) bool { return yield(prefixAt(k, bits)) })
		case V6:
			s6.eachPrefix(func(k key6, bits int) bool { return yield(prefixAt(k, bits)) })
		}
	}
}

// Prefix returns the prefix that is exactly this range, and false when it is no prefix.
func (r Range) Prefix() (netip.Prefix, bool) {
	for p := range r.Prefixes() {
		return p, RangeOf(p) == Range{r.First.Unmap(), r.Last.Unmap()} || RangeOf(p) == r
	}
	return netip.Prefix{}, false
}

// NumPrefixes counts Prefixes.
func (r Range) NumPrefixes() int {
	n := 0
	for range r.Prefixes() {
		n++
	}
	return n
}

// NumAddrs returns how many addresses the range holds, 0 for an invalid one.
func (r Range) NumAddrs() *big.Int {
	switch f, s4, s6, _ := r.spans(); f {
	case V4:
		return countAddrs([]span[key4]{s4})
	case V6:
		return countAddrs([]span[key6]{s6})
	}
	return new(big.Int)
}

// String returns the range in the shortest of the forms that ParseRange reads: an address, a prefix, or
// "first-last"; "invalid range" for an invalid one.
func (r Range) String() string {
	if r.Check() != nil {
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
