package cidr

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"net/netip"
)

// key is an address as a number, in a form that sorts and steps fast. The two implementations let one algorithm serve
// both families.
type key[K any] interface {
	comparable
	less(K) bool
	next() K // the address above; wraps at the top
	prev() K // the address below; wraps at the bottom
	isMax() bool
	plus(K) K       // the sum, modulo the size of the family
	minus(K) K      // the difference, modulo the size of the family
	xor(K) K        // the bits that differ
	ones() int      // how many bits are set
	blockBits() int // trailing zero bits: the largest aligned block that starts here is 2^blockBits addresses
	log2() int      // position of the highest set bit; -1 for zero
	fill(n int) K   // the address with its n low bits set
	width() int     // bits in an address
	addr() netip.Addr
	big() *big.Int
}

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
func (k key6) isMax() bool { return k.hi&k.lo == 1<<64-1 }
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
var mapped = span[key6]{key6{0, 0xffff_0000_0000}, key6{0, 0xffff_ffff_ffff}}

func toKey4(a netip.Addr) key4 {
	b := a.As4()
	return key4(binary.BigEndian.Uint32(b[:]))
}

func toKey6(a netip.Addr) key6 {
	b := a.As16()
	return key6{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}
