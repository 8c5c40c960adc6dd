package cidr_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

func TestSetDiffAgainstTwin(t *testing.T) {
	eachTwin(t, 20, func(t *testing.T, w window, rnd *rand.Rand) {
		a, b := randomTwin(rnd), randomTwin(rnd)
		s, u := a.set(t, w, rnd), b.set(t, w, rnd)
		added, removed := s.Diff(u)
		requireTwin(t, w, a.combine(b, func(x, y bool) bool { return !x && y }), added, "added")
		requireTwin(t, w, a.combine(b, func(x, y bool) bool { return x && !y }), removed, "removed")
		require.True(t, s.Difference(removed).Union(added).Equal(u))
		added, removed = s.Diff(s)
		require.True(t, added.IsEmpty() && removed.IsEmpty())
	})
}

func (v values) toMap(t *testing.T, w window) cidr.Map[string] {
	t.Helper()
	var b cidr.MapBuilder[string]
	for i, a := range w.addrs() {
		if v[i] != "" {
			b.SetRange(cidr.Range{First: a, Last: a}, v[i])
		}
	}
	m, err := b.Build(cidr.LastWins)
	require.NoError(t, err)
	return m
}

func randomValues(rnd *rand.Rand) values {
	var v values
	longest := 1 + rnd.IntN(windowSize/3)
	for i := 0; i < len(v); {
		x := [...]string{"", "a", "b", "c"}[rnd.IntN(4)]
		for n := 1 + rnd.IntN(longest); n > 0 && i < len(v); n-- {
			v[i] = x
			i++
		}
	}
	return v
}

func TestMapDiffAgainstTwin(t *testing.T) {
	eachTwin(t, 30, func(t *testing.T, w window, rnd *rand.Rand) {
		a, b := randomValues(rnd), randomValues(rnd)
		var wantAdded, wantRemoved values
		nAdded, nRemoved := 0, 0
		for i := range a {
			if a[i] == b[i] {
				continue
			}
			wantAdded[i], wantRemoved[i] = b[i], a[i]
			if b[i] != "" {
				nAdded++
			}
			if a[i] != "" {
				nRemoved++
			}
		}
		added, removed := a.toMap(t, w).Diff(b.toMap(t, w))
		requireValues(t, w, wantAdded, added, "added")
		requireValues(t, w, wantRemoved, removed, "removed")
		require.EqualValues(t, nAdded, added.NumAddrs().Int64())
		require.EqualValues(t, nRemoved, removed.NumAddrs().Int64())
	})
}

func TestMapDiffOfBothFamilies(t *testing.T) {
	build := func(entries ...string) cidr.Map[int] {
		var b cidr.MapBuilder[int]
		for i, e := range entries {
			b.SetAll(cidr.MustParse(e), i)
		}
		m, err := b.Build(cidr.LastWins)
		require.NoError(t, err)
		return m
	}
	added, removed := build("0.0.0.0/0", "::/0").Diff(build("0.0.0.0/1", "::/0", "2001:db8::1"))
	require.Equal(t, "[2001:db8::1 2]", list(added))
	require.Equal(t, "[128.0.0.0/1 0 2001:db8::1 1]", list(removed))
	added, removed = cidr.Map[int]{}.Diff(build("::/0"))
	require.Equal(t, "[::/0 0] []", list(added)+" "+list(removed))
}

func list[V comparable](m cidr.Map[V]) string {
	var out []string
	for r, v := range m.All() {
		out = append(out, fmt.Sprint(r, " ", v))
	}
	return fmt.Sprint(out)
}
