package dbip

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/internal/mkdbip/packed"
)

// To renew the data, set the two variables to the paths of DB-IP's files (relative to this directory), run go generate,
// and bring the constants below up to date; the tests compare them with the data.
//
//go:generate go run ../../internal/mkdbip -o country.bin $DBIP_IPV4 $DBIP_IPV6

//go:embed country.bin
var country string // a string, so that nothing can change it

// What the data is.
const (
	// Version names the release: the npm package and version of https://github.com/sapics/ip-location-db it was taken from.
	Version = "@ip-location-db/dbip-country 2.3.2026060120"
	// Rows4 and Rows6 are how many rows, which are ranges of the map, the data has of each family.
	Rows4, Rows6 = 355_800, 345_868
)

// The notice that the licence asks for.
const (
	Licence        = "CC BY 4.0"
	LicenceURL     = "https://creativecommons.org/licenses/by/4.0/legalcode"
	Attribution    = "IP Geolocation by DB-IP"
	AttributionURL = "https://db-ip.com"
)

// Date returns the day of the release, 1 June 2026.
func Date() time.Time { return time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC) }

// Load returns the database. Space that DB-IP assigns to no country, 14 % of IPv4 and most of IPv6, has no value.
//
// Every call decodes the data anew, which costs some 50 ms of one core and 44 MB of memory, of which the map keeps 15 MB.
// Keep the map, which any number of goroutines may use, rather than calling again. An error means that the program file
// is damaged.
func Load() (cidr.Map[geo.Country], error) {
	m, err := packed.Decode([]byte(country))
	if err != nil {
		return cidr.Map[geo.Country]{}, fmt.Errorf("dbip: %w", err)
	}
	return m, nil
}
