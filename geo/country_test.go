package geo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/geo"
)

func codes(cs []geo.Country) string {
	words := make([]string, len(cs))
	for i, c := range cs {
		words[i] = c.String()
	}
	return strings.Join(words, " ")
}

func TestCountries(t *testing.T) {
	all := geo.Countries()
	require.Len(t, all, 249+3, "ISO 3166-1 and XK, EU, AP")
	names := map[string]geo.Country{}
	for i, c := range all {
		require.True(t, c.IsValid())
		require.Regexp(t, "^[A-Z]{2}$", c.String())
		require.NotEmpty(t, c.Name(), c)
		require.Zero(t, names[c.Name()], "%v and %v have one name", c, names[c.Name()])
		names[c.Name()] = c
		if i > 0 {
			require.Less(t, all[i-1], c)
		}
		for _, text := range []string{c.String(), strings.ToLower(c.String())} {
			parsed, err := geo.ParseCountry(text)
			require.NoError(t, err)
			require.Equal(t, c, parsed)
		}
	}
	all[0] = 0
	require.NotZero(t, geo.Countries()[0], "the caller's copy is the caller's")

	require.Equal(t, "Italy", geo.MustParseCountry("it").Name())
	require.Equal(t, "Türkiye", geo.MustParseCountry("TR").Name())
	require.Equal(t, "Kosovo", geo.MustParseCountry("XK").Name())
	require.Equal(t, geo.MustParseCountry("GB"), geo.MustParseCountry("uk"))
}

func TestNoCountry(t *testing.T) {
	for _, c := range []geo.Country{0, 1, 0xffff, 'Z'<<8 | 'Z', 'U'<<8 | 'K', 'i'<<8 | 't'} {
		require.False(t, c.IsValid())
		require.Equal(t, "no country", c.String())
		require.Empty(t, c.Name())
		_, err := c.MarshalText()
		require.ErrorIs(t, err, geo.ErrUnknownCountry)
	}
}

func TestParseCountryRefuses(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, tt := range []struct{ text, message string }{
		{"", `"": not a country code of ISO 3166-1 or of an address registry`},
		{"ZZ", `"ZZ": not a country code of ISO 3166-1 or of an address registry`},
		{"XQ", `"XQ": not a country code of ISO 3166-1 or of an address registry; did you mean XK (Kosovo), AQ (Antarctica) or BQ (Bonaire, Sint Eustatius and Saba)?`},
		{"ITA", `"ITA": not a country code of ISO 3166-1 or of an address registry; did you mean IT (Italy)?`},
		{"Italy", `"Italy": not a country code of ISO 3166-1 or of an address registry; did you mean IT (Italy)?`},
		{"germny", `"germny": not a country code of ISO 3166-1 or of an address registry; did you mean DE (Germany)?`},
		{"Britain", `"Britain": not a country code of ISO 3166-1 or of an address registry; did you mean GB (United Kingdom of Great Britain and Northern Ireland)?`},
		{" IT", `" IT": not a country code of ISO 3166-1 or of an address registry; did you mean IT (Italy)?`},
		{"I\n", `"I\n": not a country code of ISO 3166-1 or of an address registry; did you mean ID (Indonesia), IE (Ireland) or IL (Israel)?`},
		{`"IT"`, `"\"IT\"": not a country code of ISO 3166-1 or of an address registry`},
		{"\x00\x00", `"\x00\x00": not a country code of ISO 3166-1 or of an address registry`},
		{"İT", `"İT": not a country code of ISO 3166-1 or of an address registry`},
		{long, `"` + long[:40] + `": not a country code of ISO 3166-1 or of an address registry`},
	} {
		c, err := geo.ParseCountry(tt.text)
		require.Zero(t, c)
		require.EqualError(t, err, tt.message)
		require.ErrorIs(t, err, geo.ErrUnknownCountry)
		var typed *geo.UnknownError
		require.ErrorAs(t, err, &typed)
		require.LessOrEqual(t, len(typed.Nearest), 3)
	}
	require.Panics(t, func() { geo.MustParseCountry("XX") })
}

func TestText(t *testing.T) {
	type config struct {
		Home    geo.Country
		Allowed geo.Selection
	}
	var c config
	require.NoError(t, json.Unmarshal([]byte(`{"Home":"it","Allowed":"cc:eu,schengen"}`), &c))
	text, err := json.Marshal(c)
	require.NoError(t, err)
	require.JSONEq(t, `{"Home":"IT","Allowed":"Schengen, cc:EU"}`, string(text))

	require.ErrorIs(t, json.Unmarshal([]byte(`{"Home":"italy"}`), &c), geo.ErrUnknownCountry)
	require.ErrorIs(t, json.Unmarshal([]byte(`{"Allowed":""}`), &c), geo.ErrEmptySelection)
	_, err = json.Marshal(config{Home: c.Home})
	require.ErrorIs(t, err, geo.ErrEmptySelection)
}
