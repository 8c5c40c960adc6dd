package compile

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"sort"

	"github.com/cidrc/cidrc/cidr"
)

// trafficShares says how much of the traffic comes from where, for layouts that put hot blocks first.
type trafficShares struct {
	families map[cidr.Family]*familyShares
}

// familyShares holds weighted ranges that do not overlap, ascending. Within a range, traffic is spread evenly.
type familyShares struct {
	starts [][2]uint64
	sizes  []float64 // in addresses of the 128 bits of a block key
	before []float64 // weight of all ranges before
	weight []float64
}

func (s *trafficShares) of(f *familyPlan) *familyShares {
	if s != nil && s.families[f.family] != nil {
		return s.families[f.family]
	}
	out := &familyShares{}
	sum := 0.0
	for r := range f.classes.All() {
		out.add(r, 1, &sum)
	}
	return out
}

func (s *familyShares) add(r cidr.Range, weight float64, sum *float64) {
	hi, lo := addrWords(r.First)
	endHi, endLo := addrWords(r.Last)
	s.starts = append(s.starts, [2]uint64{hi, lo})
	low, borrow := bits.Sub64(endLo, lo, 0)
	high, _ := bits.Sub64(endHi, hi, borrow)
	unit := 1.0
	if r.First.Is4() {
		unit = 0x1p96
	}
	s.sizes = append(s.sizes, float64(high)*0x1p64+float64(low)+unit)
	s.before = append(s.before, *sum)
	s.weight = append(s.weight, weight)
	*sum += weight
}

// of returns the weight of a block.
func (s *familyShares) of(k blockKey) float64 {
	if k.bits == 0 {
		return s.below(^uint64(0), ^uint64(0))
	}
	hi, lo := k.hi, k.lo
	if k.bits <= 64 {
		hi += 1<<(64-k.bits) - 1
		lo = ^uint64(0)
	} else {
		lo += 1<<(128-k.bits) - 1
	}
	return s.below(hi, lo) - s.below(k.hi, k.lo)
}

// below returns the weight of the addresses below one, about: single addresses do not count.
func (s *familyShares) below(hi, lo uint64) float64 {
	i := sort.Search(len(s.starts), func(i int) bool {
		return s.starts[i][0] > hi || s.starts[i][0] == hi && s.starts[i][1] > lo
	}) - 1
	if i < 0 {
		return 0
	}
	low, borrow := bits.Sub64(lo, s.starts[i][1], 0)
	high, _ := bits.Sub64(hi, s.starts[i][0], borrow)
	return s.before[i] + s.weight[i]*min(1, (float64(high)*0x1p64+float64(low))/s.sizes[i])
}

// addrWords returns an address as the top of 128 bits.
func addrWords(a netip.Addr) (hi, lo uint64) {
	b := a.AsSlice()
	if len(b) == 4 {
		return uint64(binary.BigEndian.Uint32(b)) << 32, 0
	}
	return binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
}

func addrOfWords(hi, lo uint64, f cidr.Family) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], hi)
	binary.BigEndian.PutUint64(b[8:], lo)
	if f == cidr.V4 {
		return netip.AddrFrom4([4]byte(b[:4]))
	}
	return netip.AddrFrom16(b)
}

// commonBits counts the leading zeros of 128 bits.
func commonBits(hi, lo uint64) int {
	if hi != 0 {
		return bits.LeadingZeros64(hi)
	}
	return 64 + bits.LeadingZeros64(lo)
}
