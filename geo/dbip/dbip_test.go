package dbip

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/internal/mkdbip/packed"
	"github.com/cidrc/cidrc/internal/refdata"
)

// load returns the embedded database; readCSV the files it was made of, and skips the test where they are absent.
func load(tb testing.TB) cidr.Map[geo.Country] {
	m, err := Load()
	require.NoError(tb, err)
	return m
}

func readCSV(tb testing.TB) cidr.Map[geo.Country] {
	m, err := geo.ReadCSVFiles(refdata.DBIP(tb)...)
	require.NoError(tb, err)
	return m
}

func TestLoad(t *testing.T) {
	m := load(t)
	require.Equal(t, Rows4, m.Only(cidr.V4).NumRanges())
	require.Equal(t, Rows6, m.Only(cidr.V6).NumRanges())
	require.LessOrEqual(t, len(country), 1_000_000)
	require.Equal(t, "2026-06-01", Date().Format("2006-01-02"))
	require.Contains(t, Version, Date().Format("20060102"))
}

func TestEmbeddedIsCSV(t *testing.T) {
	require.True(t, load(t).Equal(readCSV(t)))
}

// TestDamage damages the embedded data all over; every time it has to be noticed.
func TestDamage(t *testing.T) {
	for i := 0; i < len(country); i += len(country) / 500 {
		damaged := []byte(country)
		damaged[i] ^= 0x10
		_, err := packed.Decode(damaged)
		require.ErrorIs(t, err, packed.ErrCorrupt, i)
		_, err = packed.Decode(damaged[:i])
		require.ErrorIs(t, err, packed.ErrCorrupt, i)
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(); err != nil {
			b.Fatal(err)
		}
	}
}
