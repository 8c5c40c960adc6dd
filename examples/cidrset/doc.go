// Cidrset does algebra on address lists: it reads files as public feeds hold them, and writes the fewest prefixes that
// cover the result, IPv4 before IPv6, each ascending.
//
//	cidrset union FILE...             the addresses of any of the lists
//	cidrset subtract FILE FILE...     those of the first that no other has
//	cidrset intersect FILE FILE...    those that all have
//	cidrset diff OLD NEW              what changed: "+" new, "-" gone; exit status 1 if anything did
//	cidrset count FILE...             ranges, prefixes and addresses of each list
//	cidrset why ADDRESS FILE...       the lists and lines that hold the address; exit status 1 if none does
//
// A FILE of "-" is standard input. A bad line is an error that names it, and nothing is written; -lenient skips bad lines
// and names them on standard error. Exit status 2 means that something was wrong.
//
// # What belongs here
//
// The command, in one sitting: options, what each command does, output. Everything about addresses is package cidr's.
package main
