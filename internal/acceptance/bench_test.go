package acceptance

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/geo/dbip"
	"github.com/cidrc/cidrc/internal/refdata"
)

// BenchmarkStages takes real data all the way to the payload, a stage at a time: how long each takes, what it allocates,
// and what comes out of it.
func BenchmarkStages(b *testing.B) {
	b.Run("load embedded", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := dbip.Load()
			require.NoError(b, err)
		}
	})
	b.Run("read CSV", func(b *testing.B) {
		paths := refdata.DBIP(b)
		b.ReportAllocs()
		for b.Loop() {
			_, err := geo.ReadCSVFiles(paths...)
			require.NoError(b, err)
		}
	})
	db := load(b)
	for _, p := range []policy{europe, italy} {
		b.Run(p.name, func(b *testing.B) {
			var built compile.Policy
			b.Run("policy", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					built = p.build(b, db)
				}
				for i, f := range cidr.Families() {
					b.ReportMetric(float64(built.Rules[0].Addrs.Only(f).NumRanges()), []string{"v4-ranges", "v6-ranges"}[i])
				}
			})
			built = p.build(b, db)
			for _, u := range tools() {
				for _, l := range u.layouts {
					b.Run(u.name+"/"+l.String(), func(b *testing.B) { benchmarkBackend(b, built, u, l) })
				}
			}
		})
	}
}

func benchmarkBackend(b *testing.B, built compile.Policy, u tool, l compile.Layout) {
	target := u.on(nil).Target()
	var program *compile.Program
	compileIt := func(b *testing.B) {
		var err error
		program, err = compile.Compile(b.Context(), built, target, compile.Options{Layout: l})
		require.NoError(b, err)
	}
	b.Run("compile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			compileIt(b)
		}
		rules, ranges := 0, 0
		for _, c := range program.Chains {
			rules += len(c.Rules)
		}
		for _, s := range program.Sets {
			ranges += s.Addrs.NumRanges()
		}
		b.ReportMetric(float64(rules), "rules")
		b.ReportMetric(float64(len(program.Chains)), "chains")
		b.ReportMetric(float64(ranges), "ranges")
	})
	compileIt(b)
	b.Run("render", func(b *testing.B) {
		b.ReportAllocs()
		size := 0
		for b.Loop() {
			size = 0
			artifacts, err := u.on(nil).Render(program)
			require.NoError(b, err)
			for _, a := range artifacts {
				counted := &counter{w: io.Discard}
				require.NoError(b, a.Render(counted))
				size += counted.n
			}
		}
		b.SetBytes(int64(size))
		b.ReportMetric(float64(size), "payload-bytes")
	})
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += n
	return n, err
}
