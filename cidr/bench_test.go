package cidr_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"go4.org/netipx"
)

const benchSize = 1_000_000

// benchPrefixes are distinct prefixes in random order that touch and nest about as often as those of a country database.
func benchPrefixes(f cidr.Family, n int) []netip.Prefix {
	rnd := rand.New(rand.NewPCG(42, uint64(f)))
	out := make([]netip.Prefix, n)
	for i := range out {
		var a netip.Addr
		bits := 24 - rnd.IntN(4)
		if f == cidr.V4 {
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], rnd.Uint32())
			a = netip.AddrFrom4(b)
		} else {
			b := [16]byte{0x20 | byte(rnd.IntN(4))}
			binary.BigEndian.PutUint64(b[1:], rnd.Uint64())
			a, bits = netip.AddrFrom16(b), 48-rnd.IntN(17)
		}
		out[i] = netip.PrefixFrom(a, bits).Masked()
	}
	return out
}

func eachFamily(b *testing.B, f func(*testing.B, cidr.Family)) {
	for _, family := range cidr.Families() {
		b.Run(family.String(), func(b *testing.B) { f(b, family) })
	}
}

func BenchmarkBuild(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		shuffled := benchPrefixes(f, benchSize)
		sorted := slices.SortedFunc(slices.Values(shuffled), netipx.ComparePrefix)
		b.Run("shuffled", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var build cidr.Builder
				for _, p := range shuffled {
					build.AddPrefix(p)
				}
				build.Build()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSize, "ns/prefix")
		})
		b.Run("sorted", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var build cidr.Builder
				for _, p := range sorted {
					build.AddPrefix(p)
				}
				build.Build()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSize, "ns/prefix")
		})
		b.Run("traced", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var build cidr.Builder
				build.Trace()
				for i, p := range shuffled {
					build.From("bench", i)
					build.AddPrefix(p)
				}
				build.Build()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSize, "ns/prefix")
		})
		b.Run("netipx", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var build netipx.IPSetBuilder
				for _, p := range shuffled {
					build.AddPrefix(p)
				}
				build.IPSet()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSize, "ns/prefix")
		})
	})
}

func BenchmarkBuildMap(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		prefixes := benchPrefixes(f, benchSize/10)
		b.ReportAllocs()
		for b.Loop() {
			var build cidr.MapBuilder[uint16]
			for i, p := range prefixes {
				build.SetPrefix(p, uint16(i%250))
			}
			build.Build(cidr.MostSpecific)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(prefixes)), "ns/prefix")
	})
}

func benchSets(b *testing.B, f cidr.Family) (s, t cidr.Set) {
	prefixes := benchPrefixes(f, 100_000)
	s, err := cidr.Of(prefixes[:50_000]...)
	if err != nil {
		b.Fatal(err)
	}
	t, err = cidr.Of(prefixes[50_000:]...)
	if err != nil {
		b.Fatal(err)
	}
	return s, t
}

func BenchmarkUnion(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		s, t := benchSets(b, f)
		b.ReportAllocs()
		for b.Loop() {
			s.Union(t)
		}
	})
}

func BenchmarkDifference(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		s, t := benchSets(b, f)
		b.ReportAllocs()
		for b.Loop() {
			s.Difference(t)
		}
	})
}

func BenchmarkContains(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		s, t := benchSets(b, f)
		var addrs []netip.Addr
		for r := range s.Ranges() {
			addrs = append(addrs, r.First)
		}
		for r := range t.Ranges() {
			addrs = append(addrs, r.Last)
		}
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
		i := 0
		for b.Loop() {
			s.Contains(addrs[i])
			if i++; i == len(addrs) {
				i = 0
			}
		}
	})
}

func BenchmarkNumPrefixes(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		s, _ := cidr.Of(benchPrefixes(f, 150_000)...)
		b.ReportMetric(float64(s.NumRanges()), "ranges")
		for b.Loop() {
			s.NumPrefixes()
		}
	})
}

func BenchmarkPrefixes(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		s, _ := benchSets(b, f)
		b.ReportAllocs()
		for b.Loop() {
			for range s.Prefixes() {
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.NumPrefixes()), "ns/prefix")
	})
}

func BenchmarkParseAddrBytes(b *testing.B) {
	for _, text := range []string{
		"192.0.2.1", "255.255.255.255", "2001:db8::1", "2001:db8:1111:2222:3333:4444:5555:6666", "::ffff:192.0.2.1",
	} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			in := []byte(text)
			for b.Loop() {
				cidr.ParseAddrBytes(in)
			}
		})
	}
}

func BenchmarkReadList(b *testing.B) {
	eachFamily(b, func(b *testing.B, f cidr.Family) {
		var text []byte
		for _, p := range benchPrefixes(f, 100_000) {
			text = append(p.AppendTo(text), '\n')
		}
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			cidr.ReadList(bytes.NewReader(text), "bench")
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/line")
	})
}
