// Package cidr holds exact sets of IP addresses and exact maps from addresses to values.
//
// A [Set] is immutable and holds IPv4 and IPv6 side by side, as sorted, disjoint, maximal ranges: 8 bytes a range for
// IPv4 and 32 for IPv6. Prefixes are made only when somebody asks for them ([Set.Prefixes]), and then they are the
// fewest that cover the set. A [Map] is the same for "address -> value"; a Set is its one-value case. Both are made by
// builders ([Builder], [MapBuilder]) or read from text ([ReadList]).
//
// # What belongs here
//
// Addresses, and nothing that says what an address is for: sets, maps, their algebra, iteration, counting, conversion
// from and to net/netip, net and go4.org/netipx, the reader for address lists, and the IANA special-purpose registries.
// Countries belong to package geo, verdicts to package compile.
//
// # IPv4-mapped IPv6 addresses
//
// Programs see ::ffff:192.0.2.1 when an IPv4 client meets a dual-stack socket; on the wire it is an IPv4 packet from
// 192.0.2.1 (RFC 4291, section 2.5.5.2). Wherever this package takes an address, a prefix of more than 96 bits or a range
// inside ::ffff:0:0/96, it takes the IPv4 address that is meant. (An IPv6 header with such a source is a forgery. Linux
// 6.18 lets it come as far as the input hook, where it is IPv6 space that no source lists.) Two things are refused ([ErrMapped]): a range with one end inside that block, unless it takes
// the whole block in and more, such as ::/0; and the block itself, ::ffff:0:0/96. Lists of unusable IPv6 space often
// hold it, and there it means nothing that can arrive, while as an IPv4-mapped prefix it would mean all of IPv4.
// Inside a set of IPv6 addresses the block is never cut: it is all in or all out.
//
// # Lists
//
// [ReadList], [Builder.AddList] and [Builder.RemoveList] read address lists: plain ones, and the forms that [ListFormat]
// names. What is ambiguous is an error that says where it is, what to do and which [ListOption] would take it; nothing is
// guessed, and nothing is skipped unless a [ListReport] is there to tell ([Lenient]). Empty, cut, shrunk and stale lists can
// be told from good ones.
//
// # Zones
//
// Sets hold addresses, not interfaces. Builders and readers refuse an address with a zone ([ErrZone]); look-ups ignore
// the zone, because a packet from fe80::1 on eth0 is a packet from fe80::1.
package cidr
