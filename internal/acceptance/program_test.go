package acceptance

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// passing is the twin's list of the ranges that the policy passes: listed by allowed countries, or local. As long as they
// can be, ascending.
func (p policy) passing(db *database, f cidr.Family) []cidr.Range {
	var all []cidr.Range
	for _, r := range db.rows[f] {
		if containsCode(p.codes, r.country) {
			all = append(all, cidr.Range{First: r.first, Last: r.last})
		}
	}
	for _, local := range localSpace {
		if familyOf(local.Addr()) == f {
			all = append(all, cidr.Range{First: local.Addr(), Last: lastOf(local)})
		}
	}
	slices.SortFunc(all, func(a, b cidr.Range) int { return a.First.Compare(b.First) })
	merged := all[:1]
	for _, r := range all[1:] {
		end := &merged[len(merged)-1].Last
		switch next := end.Next(); {
		case next.IsValid() && next.Less(r.First):
			merged = append(merged, r)
		case end.Less(r.Last):
			*end = r.Last
		}
	}
	return merged
}

// others returns the ranges between those of the list.
func others(list []cidr.Range, f cidr.Family) []cidr.Range {
	var between []cidr.Range
	next, end := space(f)
	for _, r := range list {
		if next.Less(r.First) {
			between = append(between, cidr.Range{First: next, Last: r.First.Prev()})
		}
		if next = r.Last.Next(); !next.IsValid() {
			return between
		}
	}
	return append(between, cidr.Range{First: next, Last: end})
}

// An allow-only policy in the interval layout is one set a family: the ranges that pass, local space among them, or those
// that do not; not one range more.
func TestIntervalProgramHoldsTheRanges(t *testing.T) {
	db := load(t)
	for _, p := range []policy{europe, italy} {
		program := p.program(t, db, nftables.Target(), compile.IntervalSet, testnet.Input)
		require.Len(t, program.Sets, 2)
		for i, f := range cidr.Families() {
			set := program.Sets[i]
			require.Equal(t, f, set.Family)
			want := p.passing(db, f)
			if !set.Addrs.Contains(netip.MustParseAddr(map[cidr.Family]string{cidr.V4: "127.0.0.1", cidr.V6: "::1"}[f])) {
				want = others(want, f)
			}
			require.Equal(t, len(want), set.Addrs.NumRanges(), "%s, %v: set %s", p.name, f, set.Name)
			got := slices.Collect(set.Addrs.Ranges())
			require.True(t, slices.Equal(want, got), "%s, %v: set %s", p.name, f, set.Name)
			t.Logf("%s, %v: set %s of %d ranges", p.name, f, set.Name, len(got))
		}
	}
}

// The chain split has one rule for each prefix of the smallest list, and nothing else that depends on addresses.
func TestSplitProgramHoldsThePrefixes(t *testing.T) {
	db := load(t)
	for _, p := range []policy{europe, italy} {
		for _, u := range []tool{nft, iptablesLegacy} {
			program := p.program(t, db, u.on(nil).Target(), compile.ChainSplit, testnet.Input)
			count := map[cidr.Family]int{}
			listed := map[cidr.Family]compile.Do{}
			for _, c := range program.Chains {
				for _, r := range c.Rules {
					if r.Prefix.IsValid() && r.Chain == nil {
						f := familyOf(r.Prefix.Addr())
						count[f]++
						listed[f] = r.Do
					}
				}
			}
			for _, f := range cidr.Families() {
				ranges := p.passing(db, f)
				if listed[f] == compile.DoDrop {
					ranges = others(ranges, f)
				}
				want := 0
				for _, r := range ranges {
					want += r.NumPrefixes()
				}
				require.Equal(t, want, count[f], "%s, %v, %s", p.name, f, u.name)
			}
		}
	}
}
