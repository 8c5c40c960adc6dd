// Package nftables carries programs out on nftables.
//
// [Script] does it through the nft program: one script, one transaction. [Netlink] talks to the kernel itself: it needs no
// program, a small part of nft's time and memory, names the element that the kernel refuses, changes only what differs,
// and compares what the kernel holds with what it should. Both make the same rules.
//
// Everything of an owner lives in one table of family inet, which no other owner and nobody else uses: cidrc_ and the
// owner's name. For Script, replacing a program is deleting that table and making it anew in the same transaction, so that
// any layout replaces any other, and nothing of the old is left.
//
// A set that is filled in the transaction that brings its rule is a moment late on kernels since early 2026: the rule is in
// force, and look-ups find nothing until the kernel is done with the transaction, some milliseconds for 60,000 ranges.
// Script cannot help it. Netlink fills sets first, and only then brings the rules that ask them.
//
// Base chains have the policy accept: what a program does not drop, it passes on to the other base chains of the hook.
// An accept in another base chain does not save a packet that this table drops, and an accept here does not save one that
// another drops; so the guards of a policy stand in the same chain as its look-up.
//
// A script that nft does not get whole changes nothing, with one exception that the syntax of nft leaves no way around: if
// it ends within its one line that starts with "add table", before the brace, nft takes it for a whole script that
// deletes the owner's table. Apply hands the script over as one piece of memory; those who load a script by hand should
// make sure of the file first.
//
// # What belongs here
//
// The syntax of nft, the messages of nf_tables, applying through either, and what nft and the kernel refuse. Which rules
// there are is decided in package compile. A set of a program becomes messages in transaction.loadSet and a rule in
// transaction.addRule, and nowhere else; a kind of object that is new has to be known to State as well, which reads it
// back. A kernel for tests is in package nftest.
package nftables
