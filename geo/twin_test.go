package geo_test

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
)

// slowRow is a row as slowCSV reads it.
type slowRow struct {
	first, last netip.Addr
	code        string
}

// slowCSV is ReadCSV again, by the standard library's readers and by comparing every row with every other.
func slowCSV(data string) ([]slowRow, error) {
	if !strings.HasSuffix(data, "\n") {
		return nil, fmt.Errorf("cut short")
	}
	for _, line := range strings.SplitAfter(strings.TrimSuffix(data, "\n"), "\n") {
		if strings.Trim(line, "\r\n") == "" || len(strings.TrimSuffix(line, "\n")) > 255 {
			return nil, fmt.Errorf("a line without a row, or too long")
		}
	}
	r := csv.NewReader(strings.NewReader(data))
	r.FieldsPerRecord = 3
	records, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var rows []slowRow
	named := false
	for _, record := range records {
		first, err := netip.ParseAddr(record[0])
		if err != nil {
			return nil, err
		}
		last, err := netip.ParseAddr(record[1])
		if err != nil {
			return nil, err
		}
		if first.Zone() != "" || last.Zone() != "" {
			return nil, fmt.Errorf("a zone")
		}
		first, last = first.Unmap(), last.Unmap()
		if first.Is4() != last.Is4() || last.Less(first) {
			return nil, fmt.Errorf("no range")
		}
		code := strings.ToUpper(record[2])
		if code != "ZZ" || len(record[2]) != 2 {
			c, err := geo.ParseCountry(record[2])
			if err != nil {
				return nil, err
			}
			code, named = c.String(), true
		}
		row := slowRow{first, last, code}
		for _, other := range rows {
			if row.code != other.code && !row.last.Less(other.first) && !other.last.Less(row.first) &&
				row.first.Is4() == other.first.Is4() {
				return nil, fmt.Errorf("overlap")
			}
		}
		rows = append(rows, row)
	}
	if !named {
		return nil, fmt.Errorf("no country")
	}
	return rows, nil
}

// compareCSV holds ReadCSV to slowCSV: both refuse the data, or they agree around all ends of rows.
func compareCSV(t *testing.T, data string) {
	rows, slowErr := slowCSV(data)
	m, err := geo.ReadCSV(strings.NewReader(data), "db.csv")
	require.Equal(t, slowErr == nil, err == nil, "%q: slow %v, fast %v", data, slowErr, err)
	if err != nil {
		require.Zero(t, m)
		require.NotContains(t, err.Error(), "\n")
		return
	}
	check := func(a netip.Addr) {
		if !a.IsValid() || a.Is4In6() {
			return // beyond the ends of the family; or taken as IPv4, which is asked elsewhere
		}
		want := ""
		for _, row := range rows {
			if row.first.Is4() == a.Is4() && !a.Less(row.first) && !row.last.Less(a) && row.code != "ZZ" {
				want = row.code
			}
		}
		c, ok := m.Get(a)
		require.Equal(t, want != "", ok, "%q: %v", data, a)
		if ok {
			require.Equal(t, want, c.String(), "%q: %v", data, a)
		}
	}
	for _, row := range rows {
		for _, a := range []netip.Addr{row.first, row.last} {
			check(a)
			check(a.Prev())
			check(a.Next())
		}
	}
	previous, started := cidr.Range{}, false
	var value geo.Country
	for r, c := range m.All() {
		if started && previous.Last.Next() == r.First {
			require.NotEqual(t, value, c, "touching ranges of one country are one")
		}
		previous, value, started = r, c, true
	}
}

func FuzzReadCSV(f *testing.F) {
	for _, seed := range []string{
		"1.0.0.0,1.0.0.255,AU\n1.0.1.0,1.0.3.255,CN\n",
		"2001:db8::,2001:db8::ff,IT\r\n::ffff:1.2.3.4,1.2.3.5,ZZ\r\n",
		"\"1.0.0.0\",\"1.0.0.255\",\"AU\"\n",
		"1.0.0.0,1.0.0.255,AU\n1.0.0.0,1.0.0.4,AU\n0.0.0.0,255.255.255.255,ZZ\n",
		"1.0.0.0,1.0.0.255,\"A\"\"U\"\n",
		"fe80::%1,fe80::1,EU\n",
		"::,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,uk\n\n",
		"<html>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if strings.HasPrefix(data, "\x1f\x8b") {
			return // gzip, which slowCSV does not know
		}
		compareCSV(t, data)
	})
}

// TestRandomRows makes rows on few addresses, so that many touch, overlap, repeat and come out of order.
func TestRandomRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	ends := []string{"0.0.0.%d", "255.255.255.%d", "::%x", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ff%02x", "::ffff:0.0.0.%d"}
	accepted := 0
	for range 20_000 {
		var b strings.Builder
		space := 4 + rnd.IntN(252)
		codes := []string{"IT", "it", "FR", "ZZ", "EU"}[:1+rnd.IntN(5)]
		sorted, next := rnd.IntN(2) == 0, 0
		for range 1 + rnd.IntN(8) {
			form := ends[rnd.IntN(len(ends))]
			first := rnd.IntN(space)
			if sorted {
				form = ends[1]
				first = next + rnd.IntN(3)
			}
			last := min(first+rnd.IntN(4), 255)
			if first > 255 {
				break
			}
			next = last + 1
			fmt.Fprintf(&b, form+","+form+",%s\n", first, last, codes[rnd.IntN(len(codes))])
		}
		if _, err := slowCSV(b.String()); err == nil {
			accepted++
		}
		compareCSV(t, b.String())
	}
	require.Greater(t, accepted, 5_000, "most of the rows should say something")
}
