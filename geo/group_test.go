package geo_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/geo"
)

func group(t *testing.T, name string) geo.Group {
	g, err := geo.FindGroup(name)
	require.NoError(t, err)
	return g
}

func TestGroups(t *testing.T) {
	sizes := map[string]int{}
	for _, g := range geo.Groups() {
		sizes[g.Name] = len(g.Members)
		require.NotEmpty(t, g.Title)
		require.NotEmpty(t, g.Definition)
		require.NotEmpty(t, g.Source)
		require.False(t, g.Date.IsZero())
		require.True(t, slices.IsSorted(g.Members), g.Name)
		require.Len(t, slices.Compact(slices.Clone(g.Members)), len(g.Members))
		for _, c := range g.Members {
			require.True(t, c.IsValid())
		}
		require.Equal(t, g, group(t, g.Name))
	}
	require.Equal(t, map[string]int{
		"EU": 27, "EEA": 30, "Schengen": 29,
		"Africa": 58, "Antarctica": 5, "Asia": 52, "Europe": 53, "North-America": 41, "Oceania": 27, "South-America": 14,
	}, sizes)
}

func TestEurope(t *testing.T) {
	require.Equal(t, "AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU "+
		"LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK", codes(group(t, "Europe").Members))
}

func TestUnions(t *testing.T) {
	minus := func(a, b string) string {
		var only []geo.Country
		for _, c := range group(t, a).Members {
			if !slices.Contains(group(t, b).Members, c) {
				only = append(only, c)
			}
		}
		return codes(only)
	}
	require.Equal(t, "IS LI NO", minus("EEA", "EU"))
	require.Empty(t, minus("EU", "EEA"))
	require.Equal(t, "CY IE", minus("EU", "Schengen"))
	require.Equal(t, "CH IS LI NO", minus("Schengen", "EU"))
	require.Empty(t, minus("EEA", "Europe"))
	require.Empty(t, minus("Schengen", "Europe"))
}

func TestContinentsPartition(t *testing.T) {
	var all []geo.Country
	for _, name := range []string{"Africa", "Antarctica", "Asia", "Europe", "North-America", "Oceania", "South-America"} {
		all = append(all, group(t, name).Members...)
	}
	for _, registry := range []string{"EU", "AP"} {
		all = append(all, geo.MustParseCountry(registry))
	}
	slices.Sort(all)
	require.Equal(t, geo.Countries(), all)
}

func TestFindGroup(t *testing.T) {
	for _, name := range []string{"North-America", "north-america", "NorthAmerica", "NORTH_AMERICA"} {
		require.Equal(t, "North-America", group(t, name).Name)
	}
	for name, nearest := range map[string][]string{
		"Europ":    {"Europe"},
		"shengen":  {"Schengen"},
		"america":  {"AS", "North-America", "South-America"},
		"E-U":      {"EU", "cc:EU"},
		"-EU":      {"EU", "cc:EU"},
		"":         nil,
		"Atlantis": nil,
	} {
		_, err := geo.FindGroup(name)
		require.ErrorIs(t, err, geo.ErrUnknownTerm)
		var typed *geo.UnknownError
		require.ErrorAs(t, err, &typed)
		require.Equal(t, nearest, typed.Nearest, name)
	}
	g := group(t, "EU")
	g.Members[0] = 0
	require.NotZero(t, group(t, "EU").Members[0])
}
