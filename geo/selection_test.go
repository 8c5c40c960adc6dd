package geo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/geo"
)

func TestParseSelection(t *testing.T) {
	eu := "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"
	for _, tt := range []struct{ text, canonical, countries string }{
		{"IT", "IT", "IT"},
		{"it, de", "DE, IT", "DE IT"},
		{"it de\tfr", "DE, FR, IT", "DE FR IT"},
		{"IT,IT , it", "IT", "IT"},
		{"uk", "GB", "GB"},
		{"EU", "EU", eu},
		{"eu,eu", "EU", eu},
		{"cc:EU", "cc:EU", "EU"},
		{"CC:eu, eu", "EU, cc:EU", strings.Replace(eu, "ES", "ES EU", 1)},
		{"cc:it", "IT", "IT"},
		{"cc:AP", "AP", "AP"},
		{"IT, EU", "EU, IT", eu},
		{"na", "NA", "NA"}, // Namibia
		{"continent:an", "Antarctica", "AQ BV GS HM TF"},
		{"antarctica continent:AN", "Antarctica", "AQ BV GS HM TF"},
		{"SouthAmerica", "South-America", "AR BO BR CL CO EC FK GF GY PE PY SR UY VE"},
		{"  Schengen  ", "Schengen", "AT BE BG CH CZ DE DK EE ES FI FR GR HR HU IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK"},
	} {
		s, err := geo.ParseSelection(tt.text)
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.canonical, s.String(), tt.text)
		require.Equal(t, tt.countries, codes(s.Countries()), tt.text)
		for _, c := range geo.Countries() {
			require.Equal(t, slices.Contains(s.Countries(), c), s.Contains(c))
		}
		require.Equal(t, s, geo.MustParseSelection(s.String()))
	}
	require.Equal(t, geo.MustParseSelection("Europe").Countries(), geo.MustParseSelection("continent:EU").Countries())
	require.NotEqual(t, geo.MustParseSelection("Europe").Countries(), geo.MustParseSelection("EU").Countries())
}

func TestEmptySelectionContainsNothing(t *testing.T) {
	var s geo.Selection
	require.Empty(t, s.Countries())
	require.Empty(t, s.String())
	for _, c := range append(geo.Countries(), 0, 0xffff, 'Z'<<8|'Z') {
		require.False(t, s.Contains(c))
	}
	require.False(t, geo.MustParseSelection("Europe, Asia").Contains(0))
}

func TestParseSelectionRefuses(t *testing.T) {
	for _, tt := range []struct {
		text, message string
		is            error
	}{
		{"", `"": a term is missing`, geo.ErrEmptySelection},
		{"  ", `"  ": a term is missing`, geo.ErrEmptySelection},
		{"IT,", `"IT,": a term is missing`, geo.ErrEmptySelection},
		{",IT", `",IT": a term is missing`, geo.ErrEmptySelection},
		{"IT, ,DE", `"IT, ,DE": a term is missing`, geo.ErrEmptySelection},
		{"Europ", `"Europ": not a country code or a group of countries; did you mean Europe?`, geo.ErrUnknownTerm},
		{"IT, Italia", `"Italia": not a country code or a group of countries; did you mean IT (Italy)?`, geo.ErrUnknownTerm},
		{"IT\nDE", `"IT\nDE": not a country code or a group of countries`, geo.ErrUnknownTerm},
		{"IT;DE", `"IT;DE": not a country code or a group of countries`, geo.ErrUnknownTerm},
		{"IT\x00", `"IT\x00": not a country code or a group of countries; did you mean IT (Italy)?`, geo.ErrUnknownTerm},
		{`"IT"`, `"\"IT\"": not a country code or a group of countries`, geo.ErrUnknownTerm},
		{"cc:", `"cc:": not a country code of ISO 3166-1 or of an address registry`, geo.ErrUnknownCountry},
		{"cc:ZZ", `"cc:ZZ": not a country code of ISO 3166-1 or of an address registry`, geo.ErrUnknownCountry},
		{"cc:Italy", `"cc:Italy": not a country code of ISO 3166-1 or of an address registry; did you mean IT (Italy)?`, geo.ErrUnknownCountry},
		{"continent:XX", `"continent:XX": not a country code or a group of countries`, geo.ErrUnknownTerm},
		{"continent:Europe", `"continent:Europe": not a country code or a group of countries; did you mean continent:EU?`, geo.ErrUnknownTerm},
		{"continent:aſ", `"continent:aſ": not a country code or a group of countries`, geo.ErrUnknownTerm},
		{"asn:3333", `"asn:3333": not a country code or a group of countries`, geo.ErrUnknownTerm},
		{"EU - HU + CH", `"-": operators are not supported: list the countries, separated by commas`, geo.ErrOperator},
		{"EU -HU", `"-HU": operators are not supported: list the countries, separated by commas`, geo.ErrOperator},
		{"EU-HU", `"EU-HU": operators are not supported: list the countries, separated by commas`, geo.ErrOperator},
		{"EU+CH", `"EU+CH": operators are not supported: list the countries, separated by commas`, geo.ErrOperator},
		{"!RU", `"!RU": operators are not supported: list the countries, separated by commas`, geo.ErrOperator},
		{"EU,+CH", `"+CH": operators are not supported: list the countries, separated by commas`, geo.ErrOperator},
	} {
		s, err := geo.ParseSelection(tt.text)
		require.EqualError(t, err, tt.message)
		require.ErrorIs(t, err, tt.is)
		require.Zero(t, s, "never a part of a selection with an error")
		var typed *geo.UnknownError
		require.ErrorAs(t, err, &typed)
	}
	require.Panics(t, func() { geo.MustParseSelection("nowhere") })
}

// slowSelection is ParseSelection again, by looking every term up in lists.
func slowSelection(text string) (map[geo.Country]bool, bool) {
	selected := map[geo.Country]bool{}
	for _, part := range strings.Split(text, ",") {
		terms := strings.Split(strings.ReplaceAll(part, "\t", " "), " ")
		terms = slices.DeleteFunc(terms, func(term string) bool { return term == "" })
		if len(terms) == 0 {
			return nil, false
		}
		for _, term := range terms {
			found := false
			for _, g := range geo.Groups() {
				spellings := []string{g.Name}
				if first, second, ok := strings.Cut(g.Name, "-"); ok {
					spellings = append(spellings, first+second, first+"_"+second)
				}
				for code, name := range map[string]string{
					"AF": "Africa", "AN": "Antarctica", "AS": "Asia", "EU": "Europe", "NA": "North-America", "OC": "Oceania",
					"SA": "South-America",
				} {
					if g.Name == name {
						spellings = append(spellings, "continent:"+code)
					}
				}
				if slices.ContainsFunc(spellings, func(s string) bool { return equalASCII(s, term) }) {
					for _, c := range g.Members {
						selected[c] = true
					}
					found = true
				}
			}
			for _, c := range geo.Countries() {
				code := c.String()
				if !found && equalASCII(term, code) || equalASCII(term, "cc:"+code) ||
					code == "GB" && (equalASCII(term, "UK") || equalASCII(term, "cc:UK")) {
					selected[c], found = true, true
				}
			}
			if !found {
				return nil, false
			}
		}
	}
	return selected, true
}

func equalASCII(a, b string) bool {
	return len(a) == len(b) && strings.EqualFold(a, b)
}

func FuzzParseSelection(f *testing.F) {
	for _, seed := range []string{"IT, EU, cc:EU, Europe, continent:EU", "north_america", "EU - HU + CH", "IT,,DE", "uk cc:uk", "İT", "a-b-c-d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, "-")+strings.Count(text, "_") > 1 {
			return // "no-rthamerica" is a spelling that the slow twin does not try
		}
		s, err := geo.ParseSelection(text)
		want, ok := slowSelection(text)
		require.Equal(t, ok, err == nil, "%q: %v", text, err)
		if err != nil {
			require.Zero(t, s)
			require.Less(t, len(err.Error()), 600)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		for _, c := range geo.Countries() {
			require.Equal(t, want[c], s.Contains(c), "%q: %v", text, c)
		}
		require.Len(t, s.Countries(), len(want))
		again, err := geo.ParseSelection(s.String())
		require.NoError(t, err)
		require.Equal(t, s, again)
	})
}
