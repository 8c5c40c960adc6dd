package nftables

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// slowElements reads the elements of every message of a batch with nothing but the layout of struct nlattr, and checks
// that no length has wrapped.
func slowElements(t *testing.T, batch []byte) (keys []netip.Addr, ends []bool, perMessage []int) {
	t.Helper()
	u16 := func(at int) int { return int(binary.NativeEndian.Uint16(batch[at:])) }
	for at := 0; at < len(batch); {
		size := int(binary.NativeEndian.Uint32(batch[at:]))
		require.Zero(t, size%4)
		if typ := u16(at + 4); typ == 0xa0c {
			n, a := 0, at+20
			for a < at+size {
				length, typ := u16(a), u16(a+2)&0x3fff
				require.GreaterOrEqual(t, length, 4)
				if typ == 3 {
					e := a + 4
					for e < a+length {
						end, key := false, netip.Addr{}
						for in := e + 4; in < e+u16(e); in += (u16(in) + 3) &^ 3 {
							switch u16(in+2) & 0x3fff {
							case 1:
								var ok bool
								key, ok = netip.AddrFromSlice(batch[in+8 : in+4+u16(in+4)])
								require.True(t, ok)
							case 3:
								end = binary.BigEndian.Uint32(batch[in+4:]) == 1
							}
						}
						keys, ends = append(keys, key), append(ends, end)
						n++
						e += (u16(e) + 3) &^ 3
					}
					require.Equal(t, a+length, e, "the elements end where their list does")
				}
				a += (length + 3) &^ 3
			}
			require.Equal(t, at+size, a, "the attributes end where the message does")
			perMessage = append(perMessage, n)
		}
		at += size
	}
	return keys, ends, perMessage
}

// spaced returns n ranges that do not touch, the last of them up to the top of the space if open.
func spaced(f cidr.Family, n int, open bool) cidr.Set {
	var b cidr.Builder
	for i := range uint32(n) {
		first := netip.AddrFrom4([4]byte{byte(i >> 16), byte(i >> 8), byte(i), 8})
		last := netip.AddrFrom4([4]byte{byte(i >> 16), byte(i >> 8), byte(i), 9})
		if f == cidr.V6 {
			first = netip.AddrFrom16([16]byte{0x20, 1, byte(i >> 16), byte(i >> 8), byte(i)})
			last = first.Next()
		}
		b.AddRange(cidr.Range{First: first, Last: last})
	}
	if open {
		for r := range cidr.Everything(f).Ranges() {
			b.AddRange(cidr.Range{First: r.Last.Prev(), Last: r.Last})
		}
	}
	s, err := b.Build()
	if err != nil {
		panic(err)
	}
	return s
}

// Elements are complete, ascending and half-open at every size around those at which one message is full.
func TestElementsAgainstSlowReader(t *testing.T) {
	sizes := map[cidr.Family][]int{
		cidr.V4: {0, 1, 2, 1636, 1637, 1638, 1639, 1640, 3275, 3276, 3277, 3278, 3300, 3400, 5000},
		cidr.V6: {0, 1, 2, 1022, 1023, 1024, 1025, 1050, 2045, 2046, 2047, 2048, 2050, 2100, 4000},
	}
	for f, list := range sizes {
		for _, n := range list {
			for _, open := range []bool{false, true} {
				set := &compile.Set{Name: "drop", Family: f, Addrs: spaced(f, n, open)}
				tx := newTransaction("cidrc_geo", 0, roomFor(set))
				room := cap(tx.buf)
				tx.loadSet(set)
				batch := tx.commit()
				require.Equal(t, room, cap(batch), "the buffer was large enough from the start")
				keys, ends, perMessage := slowElements(t, batch)
				var want []netip.Addr
				var wantEnds []bool
				for r := range set.Addrs.Ranges() {
					want, wantEnds = append(want, r.First), append(wantEnds, false)
					if past := r.Last.Next(); past.IsValid() {
						want, wantEnds = append(want, past), append(wantEnds, true)
					}
				}
				require.Equal(t, want, keys, "%v %d", f, n)
				require.Equal(t, wantEnds, ends)
				for _, n := range perMessage {
					require.LessOrEqual(t, n, 3276)
				}
				counted := 0
				for _, a := range tx.about {
					counted += a.count
				}
				require.Equal(t, set.Addrs.NumRanges(), counted)
			}
		}
	}
}

// What the messages say, byte for byte, for one small set.
func TestGoldenBytes(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the bytes are those of a little-endian machine")
	}
	tx := newTransaction("t", 7, 0)
	tx.loadSet(&compile.Set{Name: "s", Family: cidr.V4, Addrs: cidr.MustParse("192.0.2.0/24", "224.0.0.0/3")})
	want := slices.Concat(
		[]byte{28, 0, 0, 0, 0x10, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10}, []byte{8, 0, 1, 0, 0, 0, 0, 7},
		[]byte{80, 0, 0, 0, 9, 10, 1, 4, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
		[]byte{6, 0, 1, 0, 't', 0, 0, 0}, []byte{6, 0, 2, 0, 's', 0, 0, 0},
		[]byte{8, 0, 3, 0, 0, 0, 0, 4}, []byte{8, 0, 4, 0, 0, 0, 0, 7}, []byte{8, 0, 5, 0, 0, 0, 0, 4}, []byte{8, 0, 10, 0, 0, 0, 0, 1},
		[]byte{10, 0, 13, 0, 0, 4, 2, 0, 0, 0, 0, 0},
		[]byte{116, 0, 0, 0, 12, 10, 1, 4, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
		[]byte{6, 0, 1, 0, 't', 0, 0, 0}, []byte{6, 0, 2, 0, 's', 0, 0, 0}, []byte{8, 0, 4, 0, 0, 0, 0, 1},
		[]byte{72, 0, 3, 0x80},
		[]byte{16, 0, 1, 0x80, 12, 0, 1, 0x80, 8, 0, 1, 0, 192, 0, 2, 0},
		[]byte{24, 0, 1, 0x80, 8, 0, 3, 0, 0, 0, 0, 1, 12, 0, 1, 0x80, 8, 0, 1, 0, 192, 0, 3, 0},
		// Up to the last address: no end, and what nft notes about that.
		[]byte{28, 0, 1, 0x80, 12, 0, 1, 0x80, 8, 0, 1, 0, 224, 0, 0, 0, 10, 0, 6, 0, 1, 4, 1, 0, 0, 0, 0, 0},
	)
	require.Equal(t, want, tx.buf)
	require.Equal(t, []byte{20, 0, 0, 0, 0x11, 0, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10}, tx.commit()[len(want):])
	require.Equal(t, byte(5), tx.buf[28+80+6], "the last message before the end is acknowledged")
}

// An error's offset, which is that of any byte of an element, gives the range.
func TestRangeAtOffset(t *testing.T) {
	for _, set := range []*compile.Set{
		{Name: "drop4", Family: cidr.V4, Addrs: spaced(cidr.V4, 4000, true)},
		{Name: "drop6", Family: cidr.V6, Addrs: spaced(cidr.V6, 2500, true)},
	} {
		tx := newTransaction("cidrc_geo", 0, 0)
		tx.loadSet(set)
		ranges := slices.Collect(set.Addrs.Ranges())
		seq := 0
		for i := range tx.about {
			if tx.about[i].kind != "element" {
				continue
			}
			m, _, _ := nextMessage(tx.buf[tx.about[i].start:])
			offset := tx.about[i].list + attrHeader
			for in := (attrs{rest: m.raw[offset:]}); in.next(); {
				if seq%53 == 0 || seq > len(ranges)-3 {
					e := tx.errorOf(ack{seq: uint32(i + 1), errno: errnoExists, offset: offset})
					require.Equal(t, ranges[seq], e.Range)
					require.Equal(t, e, tx.errorOf(ack{seq: uint32(i + 1), errno: errnoExists, offset: offset + 3}))
					require.ErrorIs(t, e, errnoExists)
					require.Contains(t, e.Error(), ranges[seq].String()+" in set "+set.Name)
				}
				if offset += (attrHeader + len(in.data) + 3) &^ 3; number(find(in.data, elemFlags)) == elemEnd {
					seq++
				}
			}
		}
		require.Equal(t, len(ranges)-1, seq, "all but the last, which has no end")
	}
}

// The ranges that are read are those that the kernel finds addresses in, for any elements in any order.
func TestSweepAgainstTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		type point struct {
			key uint32
			end bool
		}
		e := elements{shape: setShape{flags: setInterval, keyType: keyIPv4, keyLen: 4}}
		var list []point
		for range rng.IntN(8) {
			p := point{rng.Uint32N(12), rng.IntN(2) == 0}
			if slices.Contains(list, p) {
				continue
			}
			list = append(list, p)
			if p.end {
				e.v4.ends = append(e.v4.ends, p.key)
			} else {
				e.v4.starts = append(e.v4.starts, p.key)
			}
		}
		got, _, err := e.addrs()
		require.NoError(t, err)
		for a := range uint32(14) {
			// The nearest element at or below decides; of two at one key, the first address does.
			in, best := false, -1
			for _, p := range list {
				if p.key <= a && (int(p.key) > best || int(p.key) == best && !p.end) {
					in, best = !p.end, int(p.key)
				}
			}
			addr := netip.AddrFrom4([4]byte{0, 0, 0, byte(a)})
			require.Equal(t, in, got.Contains(addr), "%v at %v: %v", list, a, got)
		}
	}
}

// Nothing that a kernel could say makes the reader panic.
func FuzzReplies(f *testing.F) {
	tx := newTransaction("cidrc_geo", 3, 0)
	tx.addTable()
	tx.loadSet(&compile.Set{Name: "drop4", Family: cidr.V4, Addrs: cidr.MustParse("192.0.2.0/24", "224.0.0.0/3")})
	c := &compile.Chain{Name: "input", Hook: &compile.Hook{Point: compile.Input}, Rules: []compile.ChainRule{
		{Match: &compile.Match{Protocol: compile.ICMPv6, ICMPTypes: []uint8{1, 2}, Family: 6}, Do: compile.DoPass, Comment: "guard"},
		{Set: &compile.Set{Name: "drop4", Family: cidr.V4}, Do: compile.DoReject, Counter: true},
	}}
	_ = tx.addChain(c)
	for i := range c.Rules {
		_ = tx.addRule(c, i, place{})
	}
	f.Add(tx.commit())
	f.Add([]byte{36, 0, 0, 0, 2, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0xef, 0xff, 0xff, 0xff, 20, 0, 0, 0, 12, 10, 1, 4, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(_ *testing.T, b []byte) {
		for {
			m, rest, ok := nextMessage(b)
			if !ok {
				break
			}
			b = rest
			parseChain(m.attrs())
			parseRule(m.attrs(), func(string, uint32) (string, bool) { return "", false })
			set := parseSet(m.attrs())
			for _, shape := range []setShape{set.shape, {flags: setInterval, keyType: keyIPv4, keyLen: 4}, {flags: setInterval, keyType: keyIPv6, keyLen: 16}} {
				e := elements{shape: shape}
				e.add(find(m.attrs(), elemsList))
				_ = e.text()
				_, _, _ = e.addrs()
			}
			if a, ok := parseAck(&m); ok {
				_ = tx.errorOf(a).Error()
			}
		}
	})
}
