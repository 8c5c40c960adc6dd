// Package lpm makes longest-prefix-match tables: the fewest prefixes, each with a class, such that the class of the
// longest one that matches is, for every address, the one that a cidr.Map gives.
//
// [Minimal] is the optimal algorithm of Draves, King, Venkatachary and Zill, "Constructing optimal IP routing tables"
// (INFOCOM 1999), for any number of classes up to [MaxClasses] and with space for which any class will do. It needs
// time and memory in proportion to the ranges of the map; empty stretches of the binary trie are walked, never stored.
//
// Some look-up structures pay for each distinct length of a prefix, such as ipset's hash:net, which probes once for
// each. [SetLengths] and [TableLengths] say how few entries are enough for how few lengths, and [ExpandSet] and
// [MinimalWith] make them.
//
// # What belongs here
//
// Prefixes and small numbers, one family at a time. What a class stands for, and which table a target can hold, is for
// the caller to know.
//
// # The root
//
// The root is the class that holds where no prefix of the table matches. It is not an entry and costs nothing, and no
// table holds a prefix of length 0: a target whose default cannot be had for nothing takes one more entry, which is the
// caller's to add.
//
// # Any
//
// A map has to say something about every address, so that an address which was forgotten is an error and not a gift to
// the algorithm. It says [Any] where any class will do. A prefix stands for a block only where that saves an entry over
// prefixes for its halves, so that a table reaches no further into such space than its size asks for.
package lpm
