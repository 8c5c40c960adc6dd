package acceptance

import (
	"net/netip"
	"slices"
	"sort"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/geo/dbip"
)

// database is the embedded one: as the library gives it, and as the rows that the twin searches.
type database struct {
	countries cidr.Map[geo.Country]
	rows      map[cidr.Family][]row // ascending
}

// row gives a range of addresses, both ends included, to a country, by its code.
type row struct {
	first, last netip.Addr
	country     string
}

var loaded = sync.OnceValues(func() (*database, error) {
	m, err := dbip.Load()
	if err != nil {
		return nil, err
	}
	db := &database{countries: m, rows: map[cidr.Family][]row{}}
	for r, c := range m.All() {
		f := cidr.V4
		if r.First.Is6() {
			f = cidr.V6
		}
		db.rows[f] = append(db.rows[f], row{r.First, r.Last, c.String()})
	}
	return db, nil
})

// load returns the database, which is read once.
func load(t testing.TB) *database {
	t.Helper()
	db, err := loaded()
	require.NoError(t, err)
	return db
}

// The twin's search relies on the order of the rows.
func TestRowsAreInOrder(t *testing.T) {
	db := load(t)
	for f, rows := range db.rows {
		for i, r := range rows {
			if r.last.Less(r.first) || familyOf(r.first) != f || familyOf(r.last) != f || i > 0 && !rows[i-1].last.Less(r.first) {
				t.Fatalf("row %d of %v: %v", i, f, r)
			}
		}
	}
	require.Len(t, db.rows[cidr.V4], dbip.Rows4)
	require.Len(t, db.rows[cidr.V6], dbip.Rows6)
}

// lookUp returns the code of the country that has the address, and "" if none has.
func (db *database) lookUp(a netip.Addr) string {
	rows := db.rows[familyOf(a)]
	i := sort.Search(len(rows), func(i int) bool { return !rows[i].last.Less(a) })
	if i == len(rows) || a.Less(rows[i].first) {
		return ""
	}
	return rows[i].country
}

func familyOf(a netip.Addr) cidr.Family {
	if a.Is4() {
		return cidr.V4
	}
	return cidr.V6
}

// localSpace is what country policies leave alone unless told otherwise.
var localSpace = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/32"),
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("255.255.255.255/32"),
	netip.MustParsePrefix("::/128"),
	netip.MustParsePrefix("::1/128"),
	netip.MustParsePrefix("fc00::/7"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("ff00::/8"),
}

func isLocal(a netip.Addr) bool {
	return slices.ContainsFunc(localSpace, func(p netip.Prefix) bool { return p.Contains(a) })
}
