package dbip_test

import (
	"fmt"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/geo/dbip"
)

func ExampleLoad() {
	db, err := dbip.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	italy := db.Where(geo.MustParseSelection("IT").Contains)
	fmt.Println(italy.Only(cidr.V4).NumRanges(), "IPv4 ranges,", italy.Only(cidr.V6).NumRanges(), "IPv6 ranges")
	fmt.Println(dbip.Attribution, dbip.AttributionURL)
	// Output:
	// 5919 IPv4 ranges, 2302 IPv6 ranges
	// IP Geolocation by DB-IP https://db-ip.com
}
