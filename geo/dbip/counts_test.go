package dbip

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
)

// TestCounts holds reading, selecting and merging to counts that were computed independently of this project, by another
// program in another language.
func TestCounts(t *testing.T) {
	t.Run("embedded", func(t *testing.T) { testCounts(t, load(t)) })
	t.Run("CSV", func(t *testing.T) { testCounts(t, readCSV(t)) })
}

func testCounts(t *testing.T, db cidr.Map[geo.Country]) {
	for _, tt := range []struct {
		policy   string
		family   cidr.Family
		rows     [2]int // prefixes of the rows one by one: listed elsewhere, listed here
		block    [2]int // everything listed elsewhere: ranges, prefixes
		allow    [2]int // everything listed here
		unlisted [2]int // complement of allow, which drops unlisted space too
	}{
		{"Europe", cidr.V4, [2]int{367_494, 226_103}, [2]int{48_665, 120_816}, [2]int{48_657, 104_882}, [2]int{48_658, 120_808}},
		{"Europe", cidr.V6, [2]int{369_237, 404_661}, [2]int{95_851, 161_728}, [2]int{95_850, 259_020}, [2]int{95_851, 161_728}},
		{"IT", cidr.V4, [2]int{585_730, 7_867}, [2]int{5_931, 30_448}, [2]int{5_919, 7_867}, [2]int{5_920, 30_411}},
		{"IT", cidr.V6, [2]int{770_104, 3_794}, [2]int{2_304, 19_088}, [2]int{2_302, 3_794}, [2]int{2_303, 19_088}},
	} {
		allowed := geo.MustParseSelection(tt.policy)
		m := db.Only(tt.family)
		var rows [2]int
		for r, c := range m.All() { // a range is a row: no two rows of one country touch
			if allowed.Contains(c) {
				rows[1] += r.NumPrefixes()
			} else {
				rows[0] += r.NumPrefixes()
			}
		}
		size := func(s cidr.Set) [2]int { return [2]int{s.NumRanges(), s.NumPrefixes()} }
		allow := m.Where(allowed.Contains)
		block := m.Where(func(c geo.Country) bool { return !allowed.Contains(c) })

		require.Equal(t, tt.rows, rows, "%s, %v", tt.policy, tt.family)
		require.Equal(t, tt.block, size(block), "%s, %v", tt.policy, tt.family)
		require.Equal(t, tt.allow, size(allow), "%s, %v", tt.policy, tt.family)
		require.Equal(t, tt.unlisted, size(allow.Complement(tt.family)), "%s, %v", tt.policy, tt.family)
		require.False(t, allow.Overlaps(block))
		require.True(t, allow.Union(block).Equal(m.Set()))
	}
}
