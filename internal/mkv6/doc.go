// Mkv6 writes the IPv6 twin of a Go source file for IPv4.
//
//	go run github.com/cidrc/cidrc/internal/mkv6 span4.go gather4.go
//
// writes span6.go and gather6.go. Each identifier whose last letter is followed by a final 4 gets a 6 there: key4 becomes
// key6, newSteps4 newSteps6, and uint64 stays. The source must therefore do with addresses only what both families
// allow; what differs belongs to the methods of key4 and key6.
//
// # What belongs here
//
// Nothing but this one program. It exists because generic code calls the methods of its type parameters through a table,
// whereas those of a concrete type are put in place by the compiler: the difference is a factor of three and more in
// loops over millions of addresses.
package main
