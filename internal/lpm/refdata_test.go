package lpm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/internal/lpm"
	"github.com/cidrc/cidrc/internal/refdata"
	"github.com/stretchr/testify/require"
)

// The 53 codes of the reference counts.
const europe = "AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC " +
	"MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK"

const (
	pass = 0
	drop = 1
)

// blockMap drops every address that the database lists for another country than the allowed ones, passes those, and
// gives the value to space that it does not list.
func blockMap(tb testing.TB, db cidr.Map[geo.Country], allow string, unlisted int) cidr.Map[int] {
	tb.Helper()
	allowed := geo.MustParseSelection(strings.ReplaceAll(allow, " ", ","))
	var b cidr.MapBuilder[int]
	for _, f := range cidr.Families() {
		b.SetAll(cidr.Everything(f), unlisted)
	}
	b.SetAll(db.Set(), drop)
	b.SetAll(db.Where(allowed.Contains), pass)
	m, err := b.Build(cidr.LastWins)
	require.NoError(tb, err)
	return m
}

func readDB(tb testing.TB, files ...string) cidr.Map[geo.Country] {
	tb.Helper()
	db, err := geo.ReadCSVFiles(files...)
	require.NoError(tb, err)
	return db
}

// atMostOneMore returns the size of the smallest table for the root where, other than here, an entry may have length 0:
// either it has none, or it has and the rest is the table with the best root.
func atMostOneMore(tb testing.TB, m cidr.Map[int], f cidr.Family, root int) int {
	tb.Helper()
	return min(minimal(tb, m, f, root).Len(), minimal(tb, m, f, lpm.Any).Len()+1)
}

// The counts were made by programs that share nothing with this one. They allow an entry of length 0, which costs one.
// The tables of this package have none, so with the root that does not suit they take one more than those.
func TestReferenceCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("reads whole databases")
	}
	dbip := refdata.DBIP(t)
	asn := []string{refdata.File(t, "asn-country-ipv4.csv.gz"), refdata.File(t, "asn-country-ipv6.csv.gz")}
	tests := []struct {
		name      string
		files     []string
		allow     string
		family    cidr.Family
		rootPass  int    // where unlisted space passes and so does the root
		rootDrop  int    // the same map with the root that drops; for the RIR data it only guards against change
		eitherWay int    // with the root that passes, where unlisted space may go either way
		more      [3]int // how many more it takes without an entry of length 0, for each of these
	}{
		{"DB-IP Europe", dbip, europe, cidr.V4, 66250, 66249, 66238, [3]int{1, 0, 1}},
		{"DB-IP Europe", dbip, europe, cidr.V6, 117843, 117844, 117842, [3]int{0, 1, 0}},
		{"DB-IP Italy", dbip, "IT", cidr.V4, 7013, 7012, 6999, [3]int{1, 0, 1}},
		{"DB-IP Italy", dbip, "IT", cidr.V6, 2532, 2533, 2531, [3]int{0, 1, 0}},
		{"RIR Europe", asn, europe, cidr.V4, 24171, 24170, 16268, [3]int{1, 0, 1}},
		{"RIR Italy", asn, "IT", cidr.V4, 11606, 11605, 3339, [3]int{1, 0, 1}},
		{"RIR Europe", asn, europe, cidr.V6, 46290, 46291, 4267, [3]int{0, 1, 0}},
		{"RIR Italy", asn, "IT", cidr.V6, 66784, 66785, 1052, [3]int{0, 1, 0}},
	}
	read := map[string]cidr.Map[geo.Country]{}
	for _, tt := range tests {
		db, ok := read[tt.files[0]]
		if !ok {
			db = readDB(t, tt.files...)
			read[tt.files[0]] = db
		}
		t.Run(fmt.Sprint(tt.name, " ", tt.family), func(t *testing.T) {
			exact := blockMap(t, db, tt.allow, pass).Only(tt.family)
			either := blockMap(t, db, tt.allow, lpm.Any).Only(tt.family)
			require.Equal(t, tt.rootPass, atMostOneMore(t, exact, tt.family, pass))
			require.Equal(t, tt.rootDrop, atMostOneMore(t, exact, tt.family, drop))
			require.Equal(t, tt.eitherWay, atMostOneMore(t, either, tt.family, pass))
			passes := minimal(t, exact, tt.family, pass)
			drops := minimal(t, exact, tt.family, drop)
			anyway := minimal(t, either, tt.family, pass)
			require.Equal(t, tt.rootPass+tt.more[0], passes.Len())
			require.Equal(t, tt.rootDrop+tt.more[1], drops.Len())
			require.Equal(t, tt.eitherWay+tt.more[2], anyway.Len())
			requireSays(t, exact, passes, false)
			requireSays(t, exact, drops, false)
			requireSays(t, either, anyway, false)
		})
	}
}

// Lengths and entries that iprange --ipset-reduce makes of the same sets (version 1.0.4, at 20, 50 and 100 %).
func TestSetLengthsAgainstIprange(t *testing.T) {
	db := readDB(t, refdata.DBIP(t)...)
	tests := []struct {
		allow   string
		minimal lpm.Point // lengths left out
		lengths int
		reduced map[int]int // entries by number of lengths
	}{
		{europe, lpm.Point{Entries: 120816}, 26, map[int]int{13: 139352, 10: 170911, 7: 238243}},
		{"IT", lpm.Point{Entries: 30448}, 27, map[int]int{14: 35684, 11: 43308, 8: 58288}},
	}
	for _, tt := range tests {
		set := blockMap(t, db, tt.allow, pass).Where(func(v int) bool { return v == drop })
		points := lpm.SetLengths(set, cidr.V4)
		last := points[len(points)-1]
		require.Equal(t, tt.minimal.Entries, last.Entries)
		require.Equal(t, tt.lengths, last.Lengths.Len())
		requirePareto(t, points)
		for _, p := range points {
			if theirs, ok := tt.reduced[p.Lengths.Len()]; ok {
				t.Logf("%d lengths: %d entries, iprange %d", p.Lengths.Len(), p.Entries, theirs)
				require.LessOrEqual(t, p.Entries, theirs)
			}
		}
	}
}

// With exceptions there are fewer entries at every number of lengths.
func TestTableLengthsItaly(t *testing.T) {
	m := blockMap(t, readDB(t, refdata.DBIP(t)...), "IT", pass).Only(cidr.V4)
	points, err := lpm.TableLengths(ctx, m, cidr.V4, pass, 1_000_000)
	require.NoError(t, err)
	requirePareto(t, points)
	require.Equal(t, 7014, points[len(points)-1].Entries)
	plain := lpm.SetLengths(m.Where(func(v int) bool { return v == drop }), cidr.V4)
	entries := map[int]int{}
	for _, p := range plain {
		entries[p.Lengths.Len()] = p.Entries
	}
	for _, p := range points {
		t.Logf("%d entries, without exceptions %d: %v", p.Entries, entries[p.Lengths.Len()], p.Lengths)
		if plain, ok := entries[p.Lengths.Len()]; ok {
			require.LessOrEqual(t, p.Entries, plain)
		}
	}
	at := points[len(points)/2]
	tab, err := lpm.MinimalWith(ctx, m, cidr.V4, pass, at.Lengths)
	require.NoError(t, err)
	require.Equal(t, at, lpm.Point{Lengths: tab.Lengths(), Entries: tab.Len()})
	requireSays(t, m, tab, false)
}
