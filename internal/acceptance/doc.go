// Package acceptance holds the tests of the whole: real country data, compiled, loaded into a real kernel by the real
// tools, and judged by packets.
//
// Every verdict is compared with a twin that shares nothing with the library but the rows of the database: a search in
// those rows, a list of country codes and a list of local prefixes, all written out in the tests. Twin, Decision.Eval,
// Program.Eval and kernel have to agree on each address.
//
// # What belongs here
//
// Tests that need more than one of geo, compile and the backends to say something: verdicts, what becomes of replies,
// what becomes of other people's rules, the sizes of what real data compiles to, and benchmarks from data to payload.
// What one package promises alone is tested in that package; hosts and packets come from package testnet. There is no
// code here for anybody to import.
//
// Kernel tests need root, or a user namespace for those whose rulesets fit a small socket buffer; the others say why they
// are skipped. With -short, one small policy runs on one layout of each backend.
package acceptance
