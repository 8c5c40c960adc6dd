package cidr

import "net/netip"

// Family is an address family. The zero Family is none.
type Family uint8

const (
	// V4 is IPv4, addresses of 32 bits.
	V4 Family = 4
	// V6 is IPv6, addresses of 128 bits.
	V6 Family = 6
)

// Families lists both families in the order in which this package iterates: IPv4, then IPv6.
func Families() [2]Family { return [2]Family{V4, V6} }

// Bits returns the length of an address of the family in bits, 32 or 128, and 0 for no family.
func (f Family) Bits() int {
	switch f {
	case V4:
		return 32
	case V6:
		return 128
	}
	return 0
}

// String returns "IPv4", "IPv6" or "no family".
func (f Family) String() string {
	switch f {
	case V4:
		return "IPv4"
	case V6:
		return "IPv6"
	}
	return "no family"
}

// FamilyOf returns the family in which a packet carries the address: V4 for IPv4 and for IPv4-mapped IPv6, V6 for any
// other IPv6 address, and no family for the zero Addr.
func FamilyOf(a netip.Addr) Family {
	switch {
	case a.Is4() || a.Is4In6():
		return V4
	case a.Is6():
		return V6
	}
	return 0
}
