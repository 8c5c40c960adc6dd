package cidr

import (
	"math/big"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

type key[K any] interface {
	comparable
	less(K) bool
	next() K
	prev() K
	isMax() bool
	plus(K) K
	minus(K) K
	xor(K) K
	differ(a, b K) K
	notBelow(K) int
	digit(shift, mask uint) uint
	ones() int
	blockBits() int
	log2() int
	fill(n int) K
	width() int
	addr() netip.Addr
	big() *big.Int
}

// math/big is the twin of the arithmetic on keys.
func testKey[K key[K]](t *testing.T, keys []K) {
	var zero K
	width := zero.width()
	size := new(big.Int).Lsh(big.NewInt(1), uint(width))
	one := big.NewInt(1)
	mod := func(n *big.Int) string { return n.Mod(n, size).String() }
	for _, a := range keys {
		n := a.big()
		require.Equal(t, mod(new(big.Int).Add(n, one)), a.next().big().String())
		require.Equal(t, mod(new(big.Int).Sub(n, one)), a.prev().big().String())
		require.Equal(t, n.BitLen()-1, a.log2())
		require.Equal(t, new(big.Int).Add(n, one).Cmp(size) == 0, a.isMax())
		if n.Sign() != 0 {
			require.EqualValues(t, n.TrailingZeroBits(), a.blockBits())
		} else {
			require.GreaterOrEqual(t, a.blockBits(), width)
		}
		ones := 0
		for i := range width {
			ones += int(n.Bit(i))
		}
		require.Equal(t, ones, a.ones())
		for shift := range uint(width) {
			for _, mask := range []uint{1, 0xff, 0x7ff} {
				digit := new(big.Int).Rsh(n, shift)
				digit.And(digit, new(big.Int).SetUint64(uint64(mask)))
				require.Equal(t, uint(digit.Uint64()), a.digit(shift, mask), "digit %d", shift)
			}
		}
		for bits := range width + 1 {
			low := new(big.Int).Sub(new(big.Int).Lsh(one, uint(bits)), one)
			require.Equal(t, low.Or(low, n).String(), a.fill(bits).big().String(), "fill %d", bits)
		}
		require.Equal(t, n.FillBytes(make([]byte, width/8)), a.addr().AsSlice())
		for _, b := range keys {
			m := b.big()
			require.Equal(t, n.Cmp(m) < 0, a.less(b))
			require.Equal(t, map[bool]int{true: -1, false: 0}[n.Cmp(m) >= 0], a.notBelow(b))
			require.Equal(t, mod(new(big.Int).Add(n, m)), a.plus(b).big().String())
			require.Equal(t, mod(new(big.Int).Sub(n, m)), a.minus(b).big().String())
			require.Equal(t, new(big.Int).Xor(n, m).String(), a.xor(b).big().String())
			for _, c := range keys[:3] {
				want := new(big.Int).Xor(m, c.big())
				require.Equal(t, want.Or(want, n).String(), a.differ(b, c).big().String())
			}
		}
	}
}

func TestKey4(t *testing.T) {
	keys := []key4{0, 1, 2, 255, 256, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		keys = append(keys, key4(rnd.Uint32())<<rnd.IntN(32))
	}
	testKey(t, keys)
	for _, k := range keys {
		require.Equal(t, k, toKey4(k.addr()))
	}
}

func TestKey6(t *testing.T) {
	const top = 1<<64 - 1
	var keys []key6
	for _, hi := range []uint64{0, 1, 1 << 63, top - 1, top} {
		for _, lo := range []uint64{0, 1, 1 << 63, top - 1, top} {
			keys = append(keys, key6{hi, lo})
		}
	}
	rnd := rand.New(rand.NewPCG(2, 2))
	for range 10 {
		keys = append(keys, key6{rnd.Uint64() >> rnd.IntN(64), rnd.Uint64() << rnd.IntN(64)})
	}
	testKey(t, keys)
	for _, k := range keys {
		require.Equal(t, k, toKey6(k.addr()))
	}
}

func TestMappedBlock(t *testing.T) {
	require.Equal(t, "::ffff:0.0.0.0", mapped.lo.addr().String())
	require.Equal(t, "::ffff:255.255.255.255", mapped.hi.addr().String())
}
