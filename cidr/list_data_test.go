package cidr_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/internal/refdata"
	"github.com/stretchr/testify/require"
)

// Lists as they are published. The figures were found without this package.
func TestListsAsPublished(t *testing.T) {
	tests := []struct {
		file             string
		opts             []cidr.ListOption
		entries, ignored int
		v4, v6           int // minimal prefixes; -1 where no figure is known
		date             string
	}{
		{"ipsum.txt", nil, 120_430, 0, 95_644, 0, "2026-08-22T01:00:29Z"},
		{"zhanhb-chnroute.txt", nil, 4_741, 0, 3_155, 0, ""},
		{"gaoyifan-china46.txt", nil, 4_604 + 1_641, 0, -1, -1, ""},
		{"x4bnet-datacenter-ipv4.txt", nil, 42_566, 0, -1, 0, ""},
		{"x4bnet-datacenter-ipv6.txt", nil, 8_752, 0, 0, -1, ""},
		{"x4bnet-vpn-ipv4.txt", nil, 10_862, 0, -1, 0, ""},
		{"client9-datacenters.csv", []cidr.ListOption{cidr.Format(cidr.FormatCSV), cidr.Columns("1", "2")}, 3_429, 0, -1, 0, ""},
		{"delegated-ripencc-2014.txt.gz", []cidr.ListOption{cidr.Format(cidr.FormatRIR)}, 49_932 + 9_333, 26_416 + 4, -1, -1,
			"2014-06-30T00:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			f, err := os.Open(refdata.File(t, path.Join("lists", tt.file)))
			require.NoError(t, err)
			defer f.Close()
			var r cidr.ListReport
			s, err := cidr.ReadList(f, tt.file, append(tt.opts, cidr.Report(&r))...)
			require.NoError(t, err)
			require.Equal(t, tt.entries, r.Entries)
			require.Equal(t, tt.ignored, r.Ignored)
			if tt.v4 >= 0 {
				require.Equal(t, tt.v4, s.Only(cidr.V4).NumPrefixes())
			}
			if tt.v6 >= 0 {
				require.Equal(t, tt.v6, s.Only(cidr.V6).NumPrefixes())
			}
			if tt.date != "" {
				require.Equal(t, tt.date, r.Date.UTC().Format(time.RFC3339))
			} else {
				require.True(t, r.Date.IsZero())
			}
			requireNormal(t, s)
		})
	}
}

func TestListSinkholes(t *testing.T) {
	f, err := os.Open(refdata.File(t, "lists/brakmic-sinkholes.csv"))
	require.NoError(t, err)
	defer f.Close()
	var r cidr.ListReport
	_, err = cidr.ReadList(f, "sinkholes", cidr.Format(cidr.FormatCSV), cidr.Columns("IP Range"), cidr.Lenient(&r))
	require.NoError(t, err)
	require.Equal(t, 170, r.Lines)
	// Two rows abbreviate the end of a range, as in 192.0.2.1-9.
	require.Equal(t, 2, r.Bad.Total, "%v", &r.Bad)
	require.Equal(t, "131.253.18.11-12", r.Bad.Lines[0].Text)
	require.Equal(t, "146.112.61.104-110", r.Bad.Lines[1].Text)
	require.Equal(t, 167, r.Entries)
}

func TestListsOfCountries(t *testing.T) {
	f, err := os.Open(refdata.File(t, "lists/ipverse-rir-ip-txt.tar.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	archive := tar.NewReader(z)
	lists := 0
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if !strings.HasSuffix(header.Name, "-aggregated.txt") {
			continue
		}
		lists++
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		entries := 0
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
				entries++
			}
		}
		var r cidr.ListReport
		s, err := cidr.ReadList(strings.NewReader(string(text)), header.Name, cidr.AllowEmpty(), cidr.Report(&r))
		require.NoError(t, err)
		require.Equal(t, entries, r.Entries, header.Name)
		// The lists are aggregated already.
		require.Equal(t, entries, s.NumPrefixes(), header.Name)
	}
	require.Greater(t, lists, 400)
}
