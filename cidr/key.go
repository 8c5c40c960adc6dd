package cidr

//go:generate go run ../internal/mkv6 span4.go index4.go gather4.go table4.go trail4.go

import (
	"cmp"
	"encoding/binary"
	"math/big"
	"math/bits"
	"net/netip"
)

// An address is held as a number, a key, that sorts and steps fast. key4 and key6 have the same methods, so that the
// files whose names end in 4 can be turned into those that end in 6: concrete code, unlike generic code, lets the
// compiler put these methods where they are called.

// key4 is an IPv4 address.
type key4 uint32

func (k key4) less(o key4) bool  { return k < o }
func (k key4) next() key4        { return k + 1 }
func (k key4) prev() key4        { return k - 1 }
func (k key4) isMax() bool       { return k == 1<<32-1 }
func (k key4) plus(o key4) key4  { return k + o }
func (k key4) minus(o key4) key4 { return k - o }
func (k key4) xor(o key4) key4   { return k ^ o }
func (k key4) ones() int         { return bits.OnesCount32(uint32(k)) }
func (k key4) blockBits() int    { return bits.TrailingZeros32(uint32(k)) }
func (k key4) log2() int         { return bits.Len32(uint32(k)) - 1 }
func (k key4) fill(n int) key4   { return k | key4(uint64(1)<<n-1) }
func (k key4) width() int        { return 32 }
func (k key4) big() *big.Int     { return new(big.Int).SetUint64(uint64(k)) }

// differ collects in k the bits in which a and b differ.
func (k key4) differ(a, b key4) key4 { return k | (a ^ b) }

// notBelow returns -1, which is all ones, if k >= o, and 0 if not. It has no branch.
func (k key4) notBelow(o key4) int {
	_, borrow := bits.Sub32(uint32(k), uint32(o), 0)
	return int(borrow) - 1
}

// digit returns the bits of k from shift upwards, as many as mask has.
func (k key4) digit(shift, mask uint) uint { return uint(k>>(shift&31)) & mask }

func (k key4) addr() netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(k))
	return netip.AddrFrom4(b)
}

// key6 is an IPv6 address.
type key6 struct{ hi, lo uint64 }

func (k key6) less(o key6) bool { return k.hi < o.hi || k.hi == o.hi && k.lo < o.lo }
func (k key6) next() key6 {
	lo, carry := bits.Add64(k.lo, 1, 0)
	return key6{k.hi + carry, lo}
}
func (k key6) prev() key6 {
	lo, borrow := bits.Sub64(k.lo, 1, 0)
	return key6{k.hi - borrow, lo}
}
func (k key6) compare(o key6) int { return cmp.Or(cmp.Compare(k.hi, o.hi), cmp.Compare(k.lo, o.lo)) }
func (k key6) isMax() bool        { return k.hi&k.lo == 1<<64-1 }
func (k key6) plus(o key6) key6 {
	lo, carry := bits.Add64(k.lo, o.lo, 0)
	hi, _ := bits.Add64(k.hi, o.hi, carry)
	return key6{hi, lo}
}
func (k key6) minus(o key6) key6 {
	lo, borrow := bits.Sub64(k.lo, o.lo, 0)
	hi, _ := bits.Sub64(k.hi, o.hi, borrow)
	return key6{hi, lo}
}
func (k key6) xor(o key6) key6 { return key6{k.hi ^ o.hi, k.lo ^ o.lo} }
func (k key6) ones() int       { return bits.OnesCount64(k.hi) + bits.OnesCount64(k.lo) }
func (k key6) blockBits() int {
	if k.lo != 0 {
		return bits.TrailingZeros64(k.lo)
	}
	return 64 + bits.TrailingZeros64(k.hi)
}
func (k key6) log2() int {
	if k.hi != 0 {
		return 63 + bits.Len64(k.hi)
	}
	return bits.Len64(k.lo) - 1
}
func (k key6) fill(n int) key6 {
	// A shift by 64 or more gives 0 in Go, so the mask of a full word comes out as 0-1.
	if n <= 64 {
		return key6{k.hi, k.lo | (1<<n - 1)}
	}
	return key6{k.hi | (1<<(n-64) - 1), 1<<64 - 1}
}
func (k key6) width() int { return 128 }

func (k key6) differ(a, b key6) key6 { return key6{k.hi | (a.hi ^ b.hi), k.lo | (a.lo ^ b.lo)} }

func (k key6) notBelow(o key6) int {
	_, borrow := bits.Sub64(k.lo, o.lo, 0)
	_, borrow = bits.Sub64(k.hi, o.hi, borrow)
	return int(borrow) - 1
}

func (k key6) digit(shift, mask uint) uint {
	if shift >= 64 {
		return uint(k.hi>>(shift&63)) & mask
	}
	return uint(k.hi<<1<<((63-shift)&63)|k.lo>>(shift&63)) & mask
}

func (k key6) big() *big.Int {
	n := new(big.Int).SetUint64(k.hi)
	return n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(k.lo))
}
func (k key6) addr() netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], k.hi)
	binary.BigEndian.PutUint64(b[8:], k.lo)
	return netip.AddrFrom16(b)
}

// mapped is the block ::ffff:0:0/96 of IPv4-mapped addresses (RFC 4291, section 2.5.5.2).
var mapped = span6{key6{0, 0xffff_0000_0000}, key6{0, 0xffff_ffff_ffff}}

// toKey4 takes an IPv4 or IPv4-mapped address. AsSlice is used since the compiler can put it in place without a copy of
// the bytes, which As4 and As16 would cost.
func toKey4(a netip.Addr) key4 {
	b := a.AsSlice()
	return key4(binary.BigEndian.Uint32(b[len(b)-4:]))
}

func toKey6(a netip.Addr) key6 {
	b := a.AsSlice()
	return key6{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}
