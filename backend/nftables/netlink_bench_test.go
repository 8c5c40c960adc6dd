package nftables_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// benchRanges is how many ranges the benchmarks load: CIDRC_RANGES, or 500,000.
func benchRanges() int {
	if n, err := strconv.Atoi(os.Getenv("CIDRC_RANGES")); err == nil {
		return n
	}
	return 500_000
}

// isolated returns n /24s of which no two touch.
func isolated(f cidr.Family, n int) cidr.Set {
	var b cidr.Builder
	for i := range uint32(n) {
		if f == cidr.V4 {
			// Up to 2,000,000 need less than a /24 each.
			b.AddRange(cidr.Range{First: v4((i + 2000) << 10), Last: v4((i+2000)<<10 + 255)})
		} else {
			b.AddRange(cidr.Range{First: v6(i << 8), Last: v6(i<<8 + 100)})
		}
	}
	s, err := b.Build()
	if err != nil {
		panic(err)
	}
	return s
}

func benchProgram(b *testing.B, n int) *compile.Program {
	p, err := compile.Compile(b.Context(), blocking(isolated(cidr.V4, n)), nftables.Target(), compile.Options{Layout: compile.IntervalSet, Force: true})
	require.NoError(b, err)
	return p
}

func benchHost(b *testing.B) *testnet.Host {
	testnet.Require(b, testnet.NFT, testnet.FullBuffers)
	return testnet.NewPair(b).Inside
}

// peak is the most memory that this process ever had, in MB.
func peak() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kb) / 1024
		}
	}
	return 0
}

func BenchmarkNetlinkApply(b *testing.B) {
	h := benchHost(b)
	p := benchProgram(b, benchRanges())
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dialIn(h.Do)})
	before := peak()
	for b.Loop() {
		require.NoError(b, nl.Apply(b.Context(), p))
		b.StopTimer()
		require.NoError(b, nl.Remove(b.Context(), "geo"))
		b.StartTimer()
	}
	b.ReportMetric(before, "MB-before")
	b.ReportMetric(peak(), "MB-peak")
}

// batchRecorder keeps the longest batch that was sent.
type batchRecorder struct {
	nftables.Conn
	batch *[]byte
}

func (r batchRecorder) Send(b []byte) error {
	if len(b) > len(*r.batch) {
		*r.batch = append((*r.batch)[:0], b...)
	}
	return r.Conn.Send(b)
}

// BenchmarkNetlinkAgainstBare applies a program and writes the transaction that makes its set, made beforehand, to a socket
// in turn, and compares the fastest of each.
func BenchmarkNetlinkAgainstBare(b *testing.B) {
	h := benchHost(b)
	p := benchProgram(b, benchRanges())
	dial := dialIn(h.Do)
	var batch []byte
	record := func() (nftables.Conn, error) {
		c, err := dial()
		return batchRecorder{c, &batch}, err
	}
	require.NoError(b, nftables.NewNetlink(nftables.NetlinkOptions{Dial: record}).Apply(b.Context(), p))
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dial})
	buf := make([]byte, 1<<16)
	best := map[string]time.Duration{}
	timed := func(name string, f func()) {
		require.NoError(b, nl.Remove(b.Context(), "geo"))
		runtime.GC()
		time.Sleep(300 * time.Millisecond) // the kernel frees the old set meanwhile
		start := time.Now()
		f()
		if took := time.Since(start); best[name] == 0 || took < best[name] {
			best[name] = took
		}
	}
	for b.Loop() {
		timed("apply", func() { require.NoError(b, nl.Apply(b.Context(), p)) })
		timed("bare", func() {
			c, err := dial()
			require.NoError(b, err)
			defer c.Close()
			_, err = c.Room(len(batch))
			require.NoError(b, err)
			require.NoError(b, c.Send(batch))
			_, err = c.Receive(buf)
			require.NoError(b, err)
		})
	}
	b.ReportMetric(best["apply"].Seconds(), "s-apply")
	b.ReportMetric(best["bare"].Seconds(), "s-bare")
	b.ReportMetric(float64(best["apply"])/float64(best["bare"]), "ratio")
}

// BenchmarkScriptApply lets nft load the same program.
func BenchmarkScriptApply(b *testing.B) {
	h := benchHost(b)
	p := benchProgram(b, benchRanges())
	text := func() string {
		a, err := nftables.NewScript(nil).Render(p)
		require.NoError(b, err)
		s, err := a[0].Text()
		require.NoError(b, err)
		return s
	}()
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dialIn(h.Do)})
	for b.Loop() {
		h.Run(b, text, "nft", "-f", "-")
		b.StopTimer()
		require.NoError(b, nl.Remove(b.Context(), "geo"))
		b.StartTimer()
	}
}

func BenchmarkNetlinkVerify(b *testing.B) {
	h := benchHost(b)
	p := benchProgram(b, benchRanges())
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dialIn(h.Do)})
	require.NoError(b, nl.Apply(b.Context(), p))
	for b.Loop() {
		found, err := nl.Verify(b.Context(), p)
		require.NoError(b, err)
		require.Empty(b, found)
	}
}

// BenchmarkNetlinkUpdate changes one range in a hundred of two sets about as large as those of the list of Europe.
func BenchmarkNetlinkUpdate(b *testing.B) {
	h := benchHost(b)
	rng := rand.New(rand.NewPCG(1, 2))
	some := manyRanges(rng, cidr.V4, 48_000).Union(manyRanges(rng, cidr.V6, 95_000))
	other := some
	for r := range some.Ranges() {
		if rng.IntN(100) == 0 {
			one, err := cidr.Of(func() (list []netip.Prefix) {
				for p := range r.Prefixes() {
					list = append(list, p)
				}
				return list[:1]
			}()...)
			require.NoError(b, err)
			other = other.Difference(one)
		}
	}
	programs := [2]*compile.Program{}
	for i, s := range []cidr.Set{some, other} {
		var err error
		programs[i], err = compile.Compile(context.Background(), blocking(s), nftables.Target(), compile.Options{Layout: compile.IntervalSet})
		require.NoError(b, err)
	}
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dialIn(h.Do)})
	b.Run("apply", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			require.NoError(b, nl.Apply(b.Context(), programs[i%2]))
		}
	})
	require.NoError(b, nl.Apply(b.Context(), programs[1]))
	b.Run("update", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			plan, err := nl.Update(b.Context(), programs[(i+1)%2], programs[i%2])
			require.NoError(b, err)
			if plan.Whole || plan.Empty() {
				require.NoError(b, errors.New(plan.String()))
			}
		}
		b.StopTimer()
	})
}

// BenchmarkNetlinkReadManySets reads as many ranges in one set for each first octet.
func BenchmarkNetlinkReadManySets(b *testing.B) {
	h := benchHost(b)
	const sets = 222
	per := benchRanges() / sets
	var text, rules strings.Builder
	text.WriteString("table inet cidrc_geo {\n")
	for i := range sets {
		fmt.Fprintf(&text, "set s%d { type ipv4_addr; flags interval; elements = { ", i)
		for j := range per {
			a := uint32(i+1)<<24 | uint32(j)<<10
			fmt.Fprintf(&text, "%v-%v, ", v4(a), v4(a+100))
		}
		text.WriteString("} }\n")
		fmt.Fprintf(&rules, "ip saddr @s%d drop\n", i)
	}
	text.WriteString("chain input { type filter hook input priority 0;\n" + rules.String() + "}\n}\n")
	h.Run(b, text.String(), "nft", "-f", "-")
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dialIn(h.Do)})
	for b.Loop() {
		s, err := nl.Read(b.Context(), "geo")
		require.NoError(b, err)
		n := 0
		for _, set := range s.Sets {
			n += set.Addrs.NumRanges()
		}
		require.Equal(b, sets*per, n)
	}
}
