// Command mkdbip packs the CSV files of a country database into the form that package geo/dbip embeds.
//
//	mkdbip -o country.bin dbip-country-ipv4.csv.gz dbip-country-ipv6.csv.gz
//
// The same input gives the same output. It prints what package dbip states in its constants.
package main
