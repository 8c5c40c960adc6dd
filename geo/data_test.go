package geo_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/internal/refdata"
)

// TestRealFiles reads whole databases: every row of them has to be understood.
func TestRealFiles(t *testing.T) {
	for _, tt := range []struct {
		name   string
		v4, v6 int
	}{
		{"dbip-country", 355_800, 345_868},
		{"asn-country", 141_822, 68_368},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path4, path6 := refdata.File(t, tt.name+"-ipv4.csv.gz"), refdata.File(t, tt.name+"-ipv6.csv.gz")
			m, err := geo.ReadCSVFiles(path4, path6)
			require.NoError(t, err)
			// Neither database has touching rows of one country, so each row is a range.
			require.Equal(t, tt.v4, m.Only(cidr.V4).NumRanges())
			require.Equal(t, tt.v6, m.Only(cidr.V6).NumRanges())

			swapped, err := geo.ReadCSVFiles(path6, path4)
			require.NoError(t, err)
			require.True(t, m.Equal(swapped), "the order of files must not matter")
		})
	}
}

func BenchmarkReadCSV(b *testing.B) {
	var plain [2][]byte
	var packed [2][]byte
	for i, name := range []string{"dbip-country-ipv4.csv.gz", "dbip-country-ipv6.csv.gz"} {
		var err error
		packed[i], err = os.ReadFile(refdata.File(b, name))
		require.NoError(b, err)
		z, err := gzip.NewReader(bytes.NewReader(packed[i]))
		require.NoError(b, err)
		plain[i], err = io.ReadAll(z)
		require.NoError(b, err)
	}
	for _, bb := range []struct {
		name string
		data [2][]byte
	}{{"plain", plain}, {"gzip", packed}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(plain[0]) + len(plain[1])))
			for b.Loop() {
				var builder geo.Builder
				for _, data := range bb.data {
					if err := builder.AddCSV(bytes.NewReader(data), "dbip"); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := builder.Build(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
