package packed

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// uint128 is an unsigned number modulo 2^128: an address of either family, or how many addresses a step has, where 0
// stands for all 2^128.
type uint128 struct{ hi, lo uint64 }

func fromAddr(a netip.Addr) uint128 {
	if a.Is4() {
		b := a.As4()
		return uint128{0, uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return uint128{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

func (u uint128) addr(bits int) netip.Addr {
	if bits == 32 {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(u.lo))
		return netip.AddrFrom4(b)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], u.hi)
	binary.BigEndian.PutUint64(b[8:], u.lo)
	return netip.AddrFrom16(b)
}

func (u uint128) plus(v uint128) uint128 {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	hi, _ := bits.Add64(u.hi, v.hi, carry)
	return uint128{hi, lo}
}

func (u uint128) minus(v uint128) uint128 {
	lo, borrow := bits.Sub64(u.lo, v.lo, 0)
	hi, _ := bits.Sub64(u.hi, v.hi, borrow)
	return uint128{hi, lo}
}

func (u uint128) less(v uint128) bool { return u.hi < v.hi || u.hi == v.hi && u.lo < v.lo }

func (u uint128) shiftLeft(n uint) uint128 {
	if n >= 64 {
		return uint128{u.lo << (n - 64), 0}
	}
	return uint128{u.hi<<n | u.lo>>(64-n), u.lo << n}
}

func (u uint128) shiftRight(n uint) uint128 {
	if n >= 64 {
		return uint128{0, u.hi >> (n - 64)}
	}
	return uint128{u.hi >> n, u.lo>>n | u.hi<<(64-n)}
}

// trailingZeros is 128 for 0.
func (u uint128) trailingZeros() int {
	if u.lo != 0 {
		return bits.TrailingZeros64(u.lo)
	}
	return 64 + bits.TrailingZeros64(u.hi)
}

// appendVarint appends u with seven bits a byte, the lowest first.
func (u uint128) appendVarint(b []byte) []byte {
	for u.hi != 0 || u.lo >= 0x80 {
		b = append(b, byte(u.lo)|0x80)
		u = u.shiftRight(7)
	}
	return append(b, byte(u.lo))
}

// readVarint returns the number at the start of b and its length, or a length of 0 when there is none. A number has only
// one valid form: no zeros are added, and no bits go beyond 128.
func readVarint(b []byte) (u uint128, n int) {
	for i, c := range b {
		digit := uint128{0, uint64(c & 0x7f)}
		shifted := digit.shiftLeft(uint(7 * i))
		if i > 18 || shifted.shiftRight(uint(7*i)) != digit || i > 0 && c == 0 {
			return uint128{}, 0
		}
		u = u.plus(shifted)
		if c < 0x80 {
			return u, i + 1
		}
	}
	return uint128{}, 0
}
