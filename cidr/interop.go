package cidr

import (
	"fmt"
	"net"
	"net/netip"

	"go4.org/netipx"
)

// RangeFromIPRange returns the range of a netipx.IPRange. An invalid one gives an invalid Range.
func RangeFromIPRange(r netipx.IPRange) Range { return Range{r.From(), r.To()} }

// IPRange returns the range as a netipx.IPRange, IPv4-mapped ends as IPv4, and the zero IPRange for an invalid range.
func (r Range) IPRange() netipx.IPRange {
	r, err := r.canonical()
	if err != nil {
		return netipx.IPRange{}
	}
	return netipx.IPRangeFrom(r.First, r.Last)
}

// FromIPSet returns the addresses of a netipx.IPSet; nil gives the empty set. IPv4-mapped IPv6 addresses become the IPv4
// addresses that are meant; a set that holds the whole mapped block on its own, or a part of it together with a
// neighbour outside of it, is ErrMapped.
func FromIPSet(s *netipx.IPSet) (Set, error) {
	var b Builder
	if s != nil {
		for _, r := range s.Ranges() {
			b.AddRange(RangeFromIPRange(r))
		}
	}
	return b.Build()
}

// IPSet returns the set as a netipx.IPSet.
func (s Set) IPSet() (*netipx.IPSet, error) {
	var b netipx.IPSetBuilder
	for r := range s.Ranges() {
		b.AddRange(netipx.IPRangeFrom(r.First, r.Last))
	}
	return b.IPSet()
}

// FromIPNets returns the addresses of the networks. A nil network, one whose mask does not fit its address or is not a
// prefix (255.0.255.0), and one with host bits set is an error that names it by its place in the list, from 0. A network
// whose address is IPv4, in 4 or in 16 bytes, is IPv4; a mask of 16 bytes must then be longer than 96 bits (ErrMapped).
func FromIPNets(nets ...*net.IPNet) (Set, error) {
	var b Builder
	for i, n := range nets {
		p, err := prefixOfIPNet(n)
		if err == nil {
			b.AddPrefix(p)
			err = b.err
		}
		if err != nil {
			return Set{}, fmt.Errorf("network %d, %v: %w", i, n, err)
		}
	}
	return b.Build()
}

func prefixOfIPNet(n *net.IPNet) (netip.Prefix, error) {
	if n == nil {
		return netip.Prefix{}, ErrInvalid
	}
	a, ok := netip.AddrFromSlice(n.IP)
	if !ok {
		return netip.Prefix{}, ErrInvalid
	}
	ones, size := n.Mask.Size()
	switch a = a.Unmap(); {
	case size == 0:
		return netip.Prefix{}, fmt.Errorf("%w: the mask is not a prefix", ErrMask)
	case a.Is4() && size == 128 && ones > 96:
		// A 16-byte mask on an IPv4 address: ::ffff:192.0.2.0/120.
		ones -= 96
	case a.Is4() && size == 128:
		return netip.Prefix{}, ErrMapped
	case size != a.BitLen():
		return netip.Prefix{}, fmt.Errorf("%w: the mask has %d bits, the address %d", ErrLength, size, a.BitLen())
	}
	return netip.PrefixFrom(a, ones), nil
}

// IPNets returns the fewest networks that cover the set exactly, IPv4 before IPv6, each ascending. It allocates each of
// them, since that is what net.IPNet takes; Prefixes does not.
func (s Set) IPNets() []*net.IPNet {
	out := make([]*net.IPNet, 0, s.NumPrefixes())
	for p := range s.Prefixes() {
		out = append(out, netipx.PrefixIPNet(p))
	}
	return out
}
