package geo_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
)

func pack(data string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(data))
	_ = z.Close()
	return b.String()
}

func readCSV(data string) (cidr.Map[geo.Country], error) {
	return geo.ReadCSV(strings.NewReader(data), "db.csv")
}

// list writes a map out as rows.
func list(m cidr.Map[geo.Country]) string {
	var b strings.Builder
	for r, c := range m.All() {
		b.WriteString(r.String() + " " + c.String() + "\n")
	}
	return b.String()
}

func TestReadCSV(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"one family", "1.0.0.0,1.0.0.255,AU\n", "1.0.0.0/24 AU\n"},
		{"both families", "2001:db8::,2001:db8::ff,IT\n1.0.0.0,1.0.0.4,AU\n", "1.0.0.0-1.0.0.4 AU\n2001:db8::/120 IT\n"},
		{"CRLF", "1.0.0.0,1.0.0.255,AU\r\n1.0.1.0,1.0.1.255,CN\r\n", "1.0.0.0/24 AU\n1.0.1.0/24 CN\n"},
		{"quotes", `"1.0.0.0","1.0.0.255","AU"` + "\n" + `1.0.1.0,"1.0.1.255",CN` + "\n", "1.0.0.0/24 AU\n1.0.1.0/24 CN\n"},
		{"lower case", "1.0.0.0,1.0.0.255,au\n", "1.0.0.0/24 AU\n"},
		{"the ends", "0.0.0.0,255.255.255.255,IT\n::,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,FR\n", "0.0.0.0/0 IT\n::/0 FR\n"},
		{"one address", "1.0.0.0,1.0.0.0,AU\n", "1.0.0.0 AU\n"},
		{"touching", "1.0.0.0,1.0.0.255,AU\n1.0.1.0,1.0.1.255,AU\n", "1.0.0.0/23 AU\n"},
		{"out of order", "1.0.1.0,1.0.1.255,CN\n1.0.0.0,1.0.0.255,AU\n", "1.0.0.0/24 AU\n1.0.1.0/24 CN\n"},
		{"twice", "1.0.0.0,1.0.0.255,AU\n1.0.0.0,1.0.0.255,AU\n", "1.0.0.0/24 AU\n"},
		{"overlap of one country", "1.0.0.0,1.0.0.255,AU\n1.0.0.128,1.0.1.255,AU\n", "1.0.0.0/23 AU\n"},
		{"codes of registries", "1.0.0.0,1.0.0.255,EU\n1.0.1.0,1.0.1.255,AP\n1.0.2.0,1.0.2.255,UK\n", "1.0.0.0/24 EU\n1.0.1.0/24 AP\n1.0.2.0/24 GB\n"},
		{"unknown", "0.0.0.0,0.255.255.255,ZZ\n1.0.0.0,1.0.0.255,AU\n1.0.1.0,1.0.1.255,zz\n", "1.0.0.0/24 AU\n"},
		{"mapped", "::ffff:1.0.0.0,::ffff:1.0.0.255,AU\n", "1.0.0.0/24 AU\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, data := range []string{tt.data, pack(tt.data)} {
				m, err := readCSV(data)
				require.NoError(t, err)
				require.Equal(t, tt.want, list(m))
				m, err = geo.ReadCSV(iotest.OneByteReader(strings.NewReader(data)), "slow")
				require.NoError(t, err)
				require.Equal(t, tt.want, list(m))
			}
		})
	}
}

func TestReadCSVRefuses(t *testing.T) {
	good := "1.0.0.0,1.0.0.255,AU\n"
	for _, tt := range []struct {
		name, data, message string
		is                  error
	}{
		{"empty", "", "db.csv: no entries", cidr.ErrEmpty},
		{"empty line", good + "\n" + good, `db.csv:2:1: "": a row has three fields`, geo.ErrFields},
		{"blank line", good + "  \n" + good, `db.csv:2:1: "  ": a row has three fields`, geo.ErrFields},
		{"one field", "1.0.0.0\n", `db.csv:1:1: "1.0.0.0": a row has three fields`, geo.ErrFields},
		{"two fields", "1.0.0.0,1.0.0.255\n", `db.csv:1:1: "1.0.0.0,1.0.0.255": a row has three fields`, geo.ErrFields},
		{"four fields", "1.0.0.0,1.0.0.255,AU,x\n", `db.csv:1:1: "1.0.0.0,1.0.0.255,AU,x": a row has three fields`, geo.ErrFields},
		{"quoted comma", `1.0.0.0,1.0.0.255,"A,U"` + "\n", `db.csv:1:1:`, geo.ErrFields},
		{"quotes inside", `1.0.0.0,1.0.0.255,"A""U"` + "\n", `db.csv:1:19: "\"A\"\"U\""`, geo.ErrUnknownCountry},
		{"half a quote", `1.0.0.0,1.0.0.255,"AU` + "\n", `db.csv:1:19: "\"AU"`, geo.ErrUnknownCountry},
		{"header", "start,end,country\n" + good, `db.csv:1:1: "start"`, cidr.ErrName},
		{"comment", "# DB-IP\n" + good, `db.csv:1:1: "# DB-IP"`, geo.ErrFields},
		{"bad start", good + "1.0.1,1.0.1.255,CN\n", `db.csv:2:1: "1.0.1"`, cidr.ErrSyntax},
		{"bad end", good + "1.0.1.0,1.0.1.256,CN\n", `db.csv:2:9: "1.0.1.256"`, cidr.ErrOctet},
		{"leading zero", "1.0.0.0,1.0.0.055,AU\n", `db.csv:1:9: "1.0.0.055"`, cidr.ErrLeadingZero},
		{"zone", "fe80::1%eth0,fe80::2,AU\n", `db.csv:1:1: "fe80::1%eth0"`, cidr.ErrZone},
		{"prefix", "1.0.0.0/24,1.0.0.255,AU\n", `db.csv:1:1: "1.0.0.0/24"`, cidr.ErrSyntax},
		{"number", "16777216,16777471,AU\n", `db.csv:1:1: "16777216"`, cidr.ErrSyntax},
		{"blank in field", "1.0.0.0, 1.0.0.255,AU\n", `db.csv:1:9: " 1.0.0.255"`, cidr.ErrSyntax},
		{"reversed", "1.0.0.255,1.0.0.0,AU\n", `db.csv:1:1: "1.0.0.255,1.0.0.0,AU"`, cidr.ErrReversed},
		{"mixed", "1.0.0.0,2001:db8::,AU\n", `db.csv:1:1: "1.0.0.0,2001:db8::,AU"`, cidr.ErrMixed},
		{"cut through mapped", "::,::ffff:1.2.3.4,AU\n", `db.csv:1:1:`, cidr.ErrMixed},
		{"unknown code", good + "1.0.1.0,1.0.1.255,XQ\n", `db.csv:2:19: "XQ": not a country code`, geo.ErrUnknownCountry},
		{"no code", "1.0.0.0,1.0.0.255,\n", `db.csv:1:19: ""`, geo.ErrUnknownCountry},
		{"alpha-3", "1.0.0.0,1.0.0.255,AUS\n", `db.csv:1:19: "AUS"`, geo.ErrUnknownCountry},
		{"blank after code", "1.0.0.0,1.0.0.255,AU \n", `db.csv:1:19: "AU "`, geo.ErrUnknownCountry},
		{"tabs", "1.0.0.0\t1.0.0.255\tAU\n", `db.csv:1:1: "1.0.0.0\t1.0.0.255\tAU"`, geo.ErrFields},
		{"a stray CR", "1.0.0.0,1.0.0.255\r,AU\n", `db.csv:1:9: "1.0.0.255\r"`, cidr.ErrSyntax},
		{"two CR", "1.0.0.0,1.0.0.255,AU\r\r\n", `db.csv:1:19: "AU\r"`, geo.ErrUnknownCountry},
		{"long line", good + strings.Repeat("x", 300) + "\n", `db.csv:2:1: "` + strings.Repeat("x", 80) + `"`, cidr.ErrLineTooLong},
		{"very long line", strings.Repeat("x", 1<<20) + "\n", `db.csv:1:1: "` + strings.Repeat("x", 80) + `"`, cidr.ErrLineTooLong},
		{"no line end", good + "1.0.1.0,1.0.1.255,CN", `db.csv:2:1: "1.0.1.0,1.0.1.255,CN": the last line has no line end: the data ends early: was the download cut short?`, geo.ErrTruncated},
		{"cut in a field", good + "1.0.1.0,1.0.1.2", `db.csv:2:1: "1.0.1.0,1.0.1.2"`, geo.ErrTruncated},
		{"web page", "<!DOCTYPE html>\n<html>\n", `db.csv: not a CSV file: this is a web page or an error message ("<!DOCTYPE html>\n<html>\n"): was the download refused?`, geo.ErrFormat},
		{"web page with a mark", "\ufeff\r\n <html>", "db.csv: not a CSV file", geo.ErrFormat},
		{"JSON", `{"message": "Not Found"}`, "db.csv: not a CSV file", geo.ErrFormat},
		{"zip", "PK\x03\x04whatever", "db.csv: not a CSV file: this is a zip archive", geo.ErrFormat},
		{"binary", "\x00\x01\x14\xde,\n", "db.csv:1:1: \"\\x00\\x01\\x14\\xde,\": not a CSV file: binary data", geo.ErrFormat},
		{"NUL in a row", "1.0.0.0,1.0.0.255,A\x00\n", `db.csv:1:19: "A\x00": not a CSV file: binary data`, geo.ErrFormat},
		{"only unknown", "1.0.0.0,1.0.0.255,ZZ\n", "no row names a country", cidr.ErrEmpty},
		{"overlap", good + "1.0.0.255,1.0.1.255,CN\n", `db.csv:2:1: "1.0.0.255,1.0.1.255,CN": the row gives addresses to one country that another row gives to another: 1.0.0.0/24 is AU`, geo.ErrOverlap},
		{"overlap out of order", "1.0.1.0,1.0.1.255,CN\n1.0.0.0,1.0.1.0,AU\n", `db.csv:2:1: "1.0.0.0,1.0.1.0,AU"`, geo.ErrOverlap},
		{"overlap of late rows", "2.0.0.0,2.0.0.1,CN\n1.0.0.0,1.0.1.0,AU\n1.0.1.0,1.0.2.0,IT\n", `db.csv:3:1: "1.0.1.0,1.0.2.0,IT": the row gives addresses to one country that another row gives to another: 1.0.0.0-1.0.1.0 is AU in db.csv, line 2`, geo.ErrOverlap},
		{"overlap with unknown", good + "1.0.0.0,1.0.0.255,ZZ\n", `db.csv:2:1: "1.0.0.0,1.0.0.255,ZZ"`, geo.ErrOverlap},
		{"the last address", "1.0.0.0,255.255.255.255,AU\n255.255.255.255,255.255.255.255,CN\n", `db.csv:2:1:`, geo.ErrOverlap},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, data := range []string{tt.data, pack(tt.data)} {
				m, err := readCSV(data)
				require.ErrorIs(t, err, tt.is)
				require.ErrorContains(t, err, tt.message)
				require.NotContains(t, err.Error(), "\n")
				require.Less(t, len(err.Error()), 700)
				require.Zero(t, m)
			}
		})
	}
}

// TestCutAnywhere cuts data short after every byte. Cut between two lines, plain data is whole; anything else is noticed.
func TestCutAnywhere(t *testing.T) {
	data := "1.0.0.0,1.0.0.255,AU\r\n1.0.1.0,1.0.3.255,CN\r\n2001:db8::,2001:db8::ff,IT\r\n"
	packed := pack(data)
	for n := range data {
		_, err := readCSV(data[:n])
		if n > 0 && data[n-1] == '\n' {
			require.NoError(t, err)
			continue
		}
		require.Error(t, err, n)
	}
	for n := range packed {
		m, err := readCSV(packed[:n])
		require.Error(t, err, n)
		require.Zero(t, m)
		if n >= 2 {
			require.ErrorIs(t, err, geo.ErrTruncated)
			require.ErrorContains(t, err, "was the download cut short?")
		}
	}
	_, err := readCSV(packed + "something else")
	require.ErrorIs(t, err, gzip.ErrHeader)
	for i := 10; i < len(packed); i++ { // after the header, which says little
		damaged := []byte(packed)
		damaged[i] ^= 0x55
		_, err := readCSV(string(damaged))
		require.Error(t, err)
	}
	m, err := readCSV(packed + pack("2.0.0.0,2.0.0.255,FR\n")) // gzip files may be joined
	require.NoError(t, err)
	require.Equal(t, 4, m.NumRanges())
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("the cable is out")
	rows := strings.Repeat("1.0.0.0,1.0.0.255,AU\n", 50)
	_, err := geo.ReadCSV(io.MultiReader(strings.NewReader(rows+"1.0"), iotest.ErrReader(broken)), "http://x/y")
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "http://x/y: line 51: ")
	_, err = geo.ReadCSV(iotest.ErrReader(broken), "http://x/y")
	require.ErrorIs(t, err, broken)
}

func TestBuilder(t *testing.T) {
	var b geo.Builder
	require.NoError(t, b.AddCSV(strings.NewReader("1.0.0.0,1.0.0.255,AU\n"), "v4"))
	require.NoError(t, b.AddCSV(strings.NewReader("2001:db8::,2001:db8::ff,IT\n"), "v6"))
	require.NoError(t, b.AddCSV(strings.NewReader("1.0.0.0,1.0.0.1,AU\n"), "more"))
	m, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, "1.0.0.0/24 AU\n2001:db8::/120 IT\n", list(m))
	c, ok := m.Get(netip.MustParseAddr("1.0.0.9"))
	require.True(t, ok)
	require.Equal(t, geo.MustParseCountry("AU"), c)

	_, err = b.Build()
	require.ErrorIs(t, err, cidr.ErrEmpty, "Build leaves the builder empty")

	require.NoError(t, b.AddCSV(strings.NewReader("1.0.0.0,1.0.0.255,AU\n"), "one"))
	require.NoError(t, b.AddCSV(strings.NewReader("0.0.0.0,1.0.0.0,CN\n"), "other"))
	_, err = b.Build()
	var line *cidr.LineError
	require.ErrorAs(t, err, &line)
	require.Equal(t, cidr.LineError{Source: "other", Line: 1, Column: 1, Text: "0.0.0.0,1.0.0.0,CN", Err: line.Err}, *line)

	require.NoError(t, b.AddCSV(strings.NewReader("1.0.0.0,1.0.0.255,AU\n"), "good"))
	bad := b.AddCSV(strings.NewReader("1.0.1.0,1.0.1.255,??\n"), "bad")
	require.ErrorIs(t, bad, geo.ErrUnknownCountry)
	require.Equal(t, bad, b.AddCSV(strings.NewReader("1.0.2.0,1.0.2.255,AU\n"), "good"))
	require.Equal(t, bad, b.AddCSVFile("good"))
	m, err = b.Build()
	require.Equal(t, bad, err)
	require.Zero(t, m)
}

func TestReadCSVFiles(t *testing.T) {
	dir := t.TempDir()
	plain, packed := filepath.Join(dir, "v4.csv"), filepath.Join(dir, "v6.csv")
	require.NoError(t, os.WriteFile(plain, []byte("1.0.0.0,1.0.0.255,AU\n"), 0o600))
	require.NoError(t, os.WriteFile(packed, []byte(pack("2001:db8::,2001:db8::ff,IT\n")), 0o600))
	m, err := geo.ReadCSVFiles(plain, packed)
	require.NoError(t, err)
	require.Equal(t, "1.0.0.0/24 AU\n2001:db8::/120 IT\n", list(m))

	_, err = geo.ReadCSVFiles(plain, filepath.Join(dir, "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = geo.ReadCSVFiles()
	require.ErrorIs(t, err, cidr.ErrEmpty)
}

func TestMaxRows(t *testing.T) {
	if testing.Short() {
		t.Skip("reads millions of rows")
	}
	row := "1.0.0.0,1.0.0.255,AU\n"
	rows := strings.NewReader(strings.Repeat(row, 1<<16))
	endless := io.MultiReader(pipe{rows})
	_, err := geo.ReadCSV(endless, "endless")
	require.ErrorIs(t, err, geo.ErrTooLarge)
}

// pipe reads its source again and again.
type pipe struct{ r *strings.Reader }

func (p pipe) Read(b []byte) (int, error) {
	if p.r.Len() == 0 {
		_, _ = p.r.Seek(0, io.SeekStart)
	}
	return p.r.Read(b)
}

func TestReadCSVAllocations(t *testing.T) {
	var b bytes.Buffer
	for i := range 1 << 14 {
		a := netip.AddrFrom4([4]byte{1, byte(i >> 8), byte(i), 0})
		b.WriteString(a.String() + "," + a.String() + ",AU\n")
	}
	data := b.Bytes()
	allocs := testing.AllocsPerRun(5, func() {
		_, err := geo.ReadCSV(bytes.NewReader(data), "rows")
		require.NoError(t, err)
	})
	require.Less(t, allocs, 100.0, "no allocation a row")
}
