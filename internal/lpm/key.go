package lpm

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"github.com/cidrc/cidrc/cidr"
)

// key is an address as a number of 128 bits. An IPv4 address fills the low 32: one form for both families costs IPv4
// some memory and spares a second copy of everything.
type key struct{ hi, lo uint64 }

func (k key) less(o key) bool { return k.hi < o.hi || k.hi == o.hi && k.lo < o.lo }

// next is the address above; it wraps at the top of IPv6.
func (k key) next() key {
	lo, carry := bits.Add64(k.lo, 1, 0)
	return key{k.hi + carry, lo}
}

// bit returns bit n, counted from the low end.
func (k key) bit(n int) uint64 {
	if n < 64 {
		return k.lo >> n & 1
	}
	return k.hi >> (n - 64) & 1
}

// low returns the address whose n low bits are set and no other. A shift by 64 or more gives 0 in Go, so that the mask
// of a full word comes out as 0-1.
func low(n int) key {
	if n <= 64 {
		return key{0, 1<<n - 1}
	}
	return key{1<<(n-64) - 1, 1<<64 - 1}
}

// floor clears the n low bits, fill sets them: the ends of the aligned block of n host bits around k.
func (k key) floor(n int) key { m := low(n); return key{k.hi &^ m.hi, k.lo &^ m.lo} }
func (k key) fill(n int) key  { m := low(n); return key{k.hi | m.hi, k.lo | m.lo} }

// flip changes bit n.
func (k key) flip(n int) key {
	if n < 64 {
		return key{k.hi, k.lo ^ 1<<n}
	}
	return key{k.hi ^ 1<<(n-64), k.lo}
}

// zeros counts the zero bits at the low end, 128 for zero.
func (k key) zeros() int {
	if k.lo != 0 {
		return bits.TrailingZeros64(k.lo)
	}
	return 64 + bits.TrailingZeros64(k.hi)
}

// differ returns the host bits of the smallest aligned block that holds both addresses.
func (k key) differ(o key) int {
	if k.hi != o.hi {
		return 64 + bits.Len64(k.hi^o.hi)
	}
	return bits.Len64(k.lo ^ o.lo)
}

// keyOf takes an IPv4 or IPv4-mapped address for V4 and any address for V6.
func keyOf(a netip.Addr, f cidr.Family) key {
	if f == cidr.V4 {
		b := a.As4()
		return key{0, uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return key{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

func (k key) addr(f cidr.Family) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], k.hi)
	binary.BigEndian.PutUint64(b[8:], k.lo)
	if f == cidr.V4 {
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return netip.AddrFrom16(b)
}
