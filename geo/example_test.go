package geo_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
)

const rows = `192.0.2.0,192.0.2.127,IT
192.0.2.128,192.0.2.255,FR
198.51.100.0,198.51.100.255,US
2001:db8::,2001:db8:0:ffff:ffff:ffff:ffff:ffff,IT
`

func ExampleReadCSV() {
	db, err := geo.ReadCSV(strings.NewReader(rows), "countries.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	allowed, err := geo.ParseSelection("Schengen, GB")
	if err != nil {
		fmt.Println(err)
		return
	}
	for p := range db.Where(allowed.Contains).Prefixes() {
		fmt.Println(p)
	}
	// Output:
	// 192.0.2.0/24
	// 2001:db8::/48
}

func ExampleReadCSV_wrongRow() {
	_, err := geo.ReadCSV(strings.NewReader("192.0.2.0,192.0.2.255,IT\n192.0.3.0,192.0.2.1,FR\n"), "countries.csv")
	var bad *cidr.LineError
	if errors.As(err, &bad) {
		fmt.Println(bad.Source, bad.Line, bad.Column, bad.Text)
	}
	fmt.Println(errors.Is(err, cidr.ErrReversed))
	// Output:
	// countries.csv 2 1 192.0.3.0,192.0.2.1,FR
	// true
}

func ExampleBuilder() {
	var b geo.Builder
	for _, part := range []string{"192.0.2.0,192.0.2.255,IT\n", "2001:db8::,2001:db8::ffff,FR\n"} {
		if err := b.AddCSV(strings.NewReader(part), "part"); err != nil {
			fmt.Println(err)
			return
		}
	}
	db, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	country, found := db.Get(netip.MustParseAddr("2001:db8::7"))
	fmt.Println(country, country.Name(), found)
	// Output: FR France true
}

func ExampleParseSelection() {
	s, err := geo.ParseSelection("it, continent:oc, cc:eu, IT")
	fmt.Println(s, err)
	fmt.Println(len(s.Countries()), s.Contains(geo.MustParseCountry("NZ")))
	// Output:
	// Oceania, IT, cc:EU <nil>
	// 29 true
}

func ExampleParseSelection_unknown() {
	for _, text := range []string{"IT, Gremany", "Europ", "EU - HU"} {
		_, err := geo.ParseSelection(text)
		fmt.Println(err)
	}
	// Output:
	// "Gremany": not a country code or a group of countries; did you mean DE (Germany)?
	// "Europ": not a country code or a group of countries; did you mean Europe?
	// "-": operators are not supported: list the countries, separated by commas
}

func ExampleParseCountry() {
	c, err := geo.ParseCountry("gr")
	fmt.Println(c, c.Name(), err)
	_, err = geo.ParseCountry("ger")
	fmt.Println(err)
	// Output:
	// GR Greece <nil>
	// "ger": not a country code of ISO 3166-1 or of an address registry; did you mean GE (Georgia), GR (Greece) or ER (Eritrea)?
}

func ExampleGroups() {
	for _, g := range geo.Groups()[:3] {
		fmt.Printf("%s: %d as of %s, %s\n", g.Name, len(g.Members), g.Date.Format("2006-01-02"), g.Title)
	}
	// Output:
	// EU: 27 as of 2020-02-01, European Union
	// EEA: 30 as of 2020-02-01, European Economic Area
	// Schengen: 29 as of 2025-01-01, Schengen area
}
