package lpm_test

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/internal/lpm"
	"github.com/cidrc/cidrc/internal/refdata"
)

// benchMap drops a million random prefixes, /20 to /24 or /32 to /48, and passes the rest.
func benchMap(tb testing.TB, f cidr.Family) cidr.Map[int] {
	rnd := rand.New(rand.NewPCG(42, uint64(f)))
	var b cidr.MapBuilder[int]
	b.SetAll(cidr.Everything(f), pass)
	for range 1_000_000 {
		var a netip.Addr
		bits := 24 - rnd.IntN(5)
		if f == cidr.V4 {
			var k [4]byte
			binary.BigEndian.PutUint32(k[:], rnd.Uint32())
			a = netip.AddrFrom4(k)
		} else {
			k := [16]byte{0x20 | byte(rnd.IntN(4))}
			binary.BigEndian.PutUint64(k[1:], rnd.Uint64())
			a, bits = netip.AddrFrom16(k), 48-rnd.IntN(17)
		}
		b.SetPrefix(netip.PrefixFrom(a, bits).Masked(), drop)
	}
	m, err := b.Build(cidr.LastWins)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func benchmarkMinimal(b *testing.B, m cidr.Map[int], f cidr.Family) {
	n := m.Only(f).NumRanges()
	b.ReportAllocs()
	var t *lpm.Table
	for b.Loop() {
		t = minimal(b, m, f, pass)
	}
	b.ReportMetric(float64(n), "ranges")
	b.ReportMetric(float64(t.Len()), "entries")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/range")
}

func BenchmarkMinimalMillion(b *testing.B) {
	for _, f := range cidr.Families() {
		b.Run(f.String(), func(b *testing.B) { benchmarkMinimal(b, benchMap(b, f), f) })
	}
}

func BenchmarkMinimalEurope(b *testing.B) {
	m := blockMap(b, readDB(b, refdata.DBIP(b)...), europe, pass)
	for _, f := range cidr.Families() {
		b.Run(f.String(), func(b *testing.B) { benchmarkMinimal(b, m, f) })
	}
}

func BenchmarkLengthsEurope(b *testing.B) {
	m := blockMap(b, readDB(b, refdata.DBIP(b)...), europe, pass)
	for _, f := range cidr.Families() {
		set := m.Only(f).Where(func(v int) bool { return v == drop })
		b.Run(f.String()+"/set", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				lpm.SetLengths(set, f)
			}
		})
		lengths := minimal(b, m, f, pass).Lengths()
		b.Run(f.String()+"/one", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := lpm.MinimalWith(ctx, m, f, pass, lengths); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(f.String()+"/search", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := lpm.TableLengths(ctx, m, f, pass, 1_000_000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTable(b *testing.B) {
	t := minimal(b, blockMap(b, readDB(b, refdata.DBIP(b)...), europe, pass), cidr.V4, pass)
	rnd := rand.New(rand.NewPCG(42, 0))
	addrs := make([]netip.Addr, 1<<12)
	for i := range addrs {
		var k [4]byte
		binary.BigEndian.PutUint32(k[:], rnd.Uint32())
		addrs[i] = netip.AddrFrom4(k)
	}
	b.Run("Lookup", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			t.Lookup(addrs[i%len(addrs)])
			i++
		}
	})
	b.Run("Within", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			t.Within(netip.PrefixFrom(addrs[i%len(addrs)], 12))
			i++
		}
	})
}
