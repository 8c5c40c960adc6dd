// Package packed is the compact binary form of a country map, in which a program can carry one.
//
// Encode and Decode are exact inverses. Equal maps have equal encodings under one version of the Go standard library,
// whose compressor is used; any version reads what any other has written.
//
// # The form
//
//	"cidrcgeo1"   9 bytes
//	checksum      32 bytes, SHA-256 of all that follows
//	payload       compressed with DEFLATE
//
// The payload, decompressed, starts with the countries that occur: their number, then two letters each. Then comes each
// family, IPv4 first. A family is a walk up from its lowest address in steps; a step is a range that has one country, or
// that has none and counts as country 0. Space above the last step has no country. There are no positions, only sizes,
// so steps cannot overlap or go down. Sizes in databases are nearly always a small multiple of a large power of two, so a
// step of m·2^t addresses, m odd, is kept as t and m/2; and each of the three numbers of a step stands in a column of its
// own, because like things next to each other compress best:
//
//	number of steps
//	length of the column m in bytes
//	column t      a byte a step
//	column m      a variable-length number a step, seven bits a byte, the lowest first; up to 128 bits
//	column c      a byte a step: 0 for no country, n for the n-th country
//
// Numbers outside columns are variable-length in the same way.
package packed
