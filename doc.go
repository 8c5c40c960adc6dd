// Package cidrc compiles large CIDR rulesets for Linux firewalls. It holds no code; this is the tour.
//
// A ruleset is made in steps, each a package that can be used by itself:
//
//	lists, country databases    cidr, geo    exact sets of addresses: cidr.Set, cidr.Map
//	compile.Policy              compile      what you want: ordered rules, guards, hooks
//	compile.Decision            compile      what it means: one rule decides each address
//	compile.Program             compile      how a target does it: sets, chains, rules, chosen by cost
//	artifacts                   backend/...  what nft or iptables-restore reads, byte for byte repeatable
//	the kernel                  backend/...  applied in one step, or not at all
//
// Data moves one way, and each step is a pure function of the one before. Only a backend's Apply, Remove and Probe touch
// the machine, and each takes a context.
//
// # Where to look
//
//   - [github.com/cidrc/cidrc/cidr]: sets and maps of addresses, their algebra, the list reader
//   - [github.com/cidrc/cidrc/geo]: countries, groups of countries, country databases
//   - [github.com/cidrc/cidrc/geo/dbip]: a country database to start with
//   - [github.com/cidrc/cidrc/compile]: policies, verdicts without a kernel, layouts and their cost
//   - [github.com/cidrc/cidrc/backend/nftables] and [github.com/cidrc/cidrc/backend/iptables]: payloads and how they
//     come into force
//   - examples/geoblock: the program that does it all
//
// The examples below are runnable and need no privilege.
package cidrc
