// Geoblock makes a firewall ruleset that lets in, or keeps out, whole countries.
//
//	go run ./examples/geoblock -allow IT              # print an nftables script
//	go run ./examples/geoblock -allow IT -eval 8.8.8.8
//	sudo geoblock -block CN,RU -apply                 # put it in force
//	sudo geoblock -remove                             # take it away
//
// Without -db it uses the country database that is built in: IP Geolocation by DB-IP, https://db-ip.com, CC BY 4.0.
//
// The payload goes to standard output and everything else to standard error. Run it with -h for all options and exit
// codes.
package main
