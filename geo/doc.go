// Package geo turns country databases into maps from addresses to countries, and what a person types into countries.
//
// A [Country] is a code: ISO 3166-1 and the few others that databases really hold. A [Group] is a named, dated list of
// countries, such as the European Union or the continents. A [Selection] is a list of both as a person writes it, "IT,
// Schengen, cc:EU". A [Builder] reads databases ([ReadCSV] and [ReadCSVFiles] are the short ways) into a cidr.Map, of
// which cidr.Map.Where makes the address set of a selection:
//
//	db, err := geo.ReadCSVFiles("dbip-country-ipv4.csv.gz", "dbip-country-ipv6.csv.gz")
//	...
//	allowed, err := geo.ParseSelection("Europe")
//	...
//	set := db.Where(allowed.Contains)
//
// # What belongs here
//
// Country codes, groups and selections, and one reader for each format of database; every reader gives a
// cidr.Map[Country]. Databases themselves do not: package geo/dbip embeds one, and a program that does not import it
// does not carry it. What happens to a country's packets belongs to package compile, fetching databases to the caller.
//
// # Never a wrong or an empty answer
//
// A code or a name that nobody knows is an error that names the nearest known ones, never an empty list, since an empty
// list would open or close a firewall. A database with a single bad row is refused, with the row's source, line, column
// and text, and so is one that was cut short on its way. No function returns part of a result together with an error.
//
// # EU and EU
//
// "EU" has three meanings. Here the bare word is the European Union of 27
// states; "Europe" or "continent:EU" is the continent; and "cc:EU" is the code under which registries list networks that
// belong to no single state.
package geo
