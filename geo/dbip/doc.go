// Package dbip carries a country database, so that a program works without fetching one: DB-IP Lite, "IP to Country", of
// June 2026, IPv4 and IPv6, in 0.7 MB.
//
// # Licence
//
// The data, not this package's code, is under the Creative Commons Attribution 4.0 International licence, CC BY 4.0
// (https://creativecommons.org/licenses/by/4.0/legalcode), and asks for this notice wherever it or what is made of it is
// passed on or shown:
//
//	IP Geolocation by DB-IP, https://db-ip.com
//
// A program that embeds this package has to show it, for instance in its documentation or on its about page; the constants
// Attribution, AttributionURL and Licence are for that. The data was changed in form only: packed, and nothing added to
// it or taken from it.
//
// # What belongs here
//
// The data and what is to be said about it. Databases in files are read by package geo. The data is decoded when Load is
// called and not before; a program that does not import this package does not carry it, and importing package geo does
// not import this one.
//
// # Age
//
// Networks move between countries, so a database grows wrong with time. Date says how old this one is. DB-IP publishes a
// new one every month, at https://db-ip.com/db/download/ip-to-country-lite, and geo.ReadCSVFiles reads it.
package dbip
