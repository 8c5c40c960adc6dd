// Package nftables carries programs out on nftables.
//
// [Script] does it through the nft program: one script, one transaction. Everything of an owner lives in one table of
// family inet, which no other owner and nobody else uses: cidrc_ and the owner's name. Replacing a program is deleting
// that table and making it anew in the same transaction, so that any layout replaces any other, packets see the old rules
// or the new ones and nothing between, and nothing of the old is left.
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
// The syntax of nft, the apply through it, and what nft and the kernel refuse. Which rules there are is decided in package
// compile.
package nftables
