package compile

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sort"

	"github.com/cidrc/cidrc/cidr"
)

// shares says how much of a family's traffic comes from where: weighted ranges that do not overlap, ascending. Within a
// range, traffic is spread evenly.
type shares struct {
	family cidr.Family
	starts [][2]uint64 // in the words of addrWords
	sizes  []float64   // in addresses, as if all had 128 bits
	before []float64   // weight of all ranges before
	weight []float64
	total  float64
}

// shares returns those of a family.
func (t *Traffic) shares(f *familyPlan) (*shares, error) {
	type source struct {
		r      cidr.Range
		weight float64
	}
	var sources []source
	if t.Sources != nil {
		for r, w := range t.Sources {
			if err := r.Check(); err != nil {
				return nil, &PolicyError{Where: "traffic", Err: err}
			}
			if !(w > 0 && w <= math.MaxFloat32) {
				return nil, &PolicyError{Where: "traffic", Err: fmt.Errorf("%w: weight %v of %v", ErrInvalid, w, r)}
			}
			if r.Family() == f.family {
				sources = append(sources, source{r, w})
			}
		}
	}
	out := &shares{family: f.family}
	if len(sources) == 0 {
		for r := range f.classes.All() {
			out.add(r, 1)
		}
		return out, nil
	}
	byFirst := func(a, b source) int { return a.r.First.Compare(b.r.First) }
	if !slices.IsSortedFunc(sources, byFirst) {
		slices.SortFunc(sources, byFirst)
	}
	for i, s := range sources {
		if i > 0 && !sources[i-1].r.Last.Less(s.r.First) {
			return nil, &PolicyError{Where: "traffic", Err: fmt.Errorf("%w: %v and %v overlap", ErrInvalid, sources[i-1].r, s.r)}
		}
		out.add(s.r, s.weight)
	}
	return out, nil
}

func (s *shares) add(r cidr.Range, weight float64) {
	hi, lo := addrWords(r.First)
	endHi, endLo := addrWords(r.Last)
	low, borrow := bits.Sub64(endLo, lo, 0)
	high, _ := bits.Sub64(endHi, hi, borrow)
	unit := 1.0
	if s.family == cidr.V4 {
		unit = 0x1p96
	}
	s.starts = append(s.starts, [2]uint64{hi, lo})
	s.sizes = append(s.sizes, float64(high)*0x1p64+float64(low)+unit)
	s.before = append(s.before, s.total)
	s.weight = append(s.weight, weight)
	s.total += weight
}

// sample gives n addresses, evenly spread over the traffic, the same ones each time.
func (s *shares) sample(n int) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		rnd := rand.New(rand.NewPCG(1, uint64(s.family)))
		i := 0
		for k := range n {
			at := s.total * (float64(k) + 0.5) / float64(n)
			for i+1 < len(s.before) && s.before[i+1] <= at {
				i++
			}
			// Anywhere in the range: as far in as its size allows, bit by bit.
			off := rnd.Float64() * s.sizes[i]
			high := uint64(off / 0x1p64)
			low := uint64(off - float64(high)*0x1p64)
			lo, carry := bits.Add64(s.starts[i][1], low, 0)
			hi, _ := bits.Add64(s.starts[i][0], high, carry)
			if !yield(addrOfWords(hi, lo, s.family)) {
				return
			}
		}
	}
}

// of returns the weight of a block.
func (s *shares) of(k blockKey) float64 {
	hi, lo := k.hi, k.lo
	var carry uint64
	switch {
	case k.bits == 0:
		return s.total
	case k.bits <= 64:
		hi, carry = bits.Add64(hi, 1<<(64-k.bits), 0)
	default:
		lo, carry = bits.Add64(lo, 1<<(128-k.bits), 0)
		hi, carry = bits.Add64(hi, 0, carry)
	}
	end := s.total // the block is the last one of the family
	if carry == 0 {
		end = s.below(hi, lo)
	}
	return end - s.below(k.hi, k.lo)
}

// below returns the weight of the addresses below one.
func (s *shares) below(hi, lo uint64) float64 {
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
