// Package iptables carries programs out on iptables and ip6tables, in the table filter, through the save and restore
// commands.
//
// A program is some chains of its own, whose names start with [compile.ChainPrefix], and one jump to them from each
// built-in chain that the policy stands at:
//
//	-A INPUT -m comment --comment "cidrc: policy of owner geo" -j cidrc-geo-in
//
// Those chains and those jumps belong to the owner. Nothing else is ever changed: no other chain or rule and none of
// their counters, no policy of a built-in chain, no other table. (That a policy's own counters start again from zero is
// what the legacy tools do to a table at every change, whoever makes it.) Pass is a RETURN to the built-in chain, so that the administrator's rules
// after the jump still run; Accept is ACCEPT.
//
// # Variants
//
// There are two programs of the name iptables: the old one ([Legacy]), whose whole table is one block of memory that every
// change replaces, and the one on nf_tables ([NFT]). They read the same payload, they do not see each other's rules, and
// packets go through both. [Backend.Mixed] tells whether a machine has rules of both.
//
// # Rendering and applying
//
// The payload that Render gives serves both families and both variants: its lines for one family alone start with -4 or
// -6, and a tool skips the other's. It is for a machine that has no earlier version of the owner. Loaded over one it
// replaces the chains that it names, but it leaves those that it does not name, and it adds a second jump, since a
// restore payload has no conditions. [Backend.Apply] reads what is there first and does neither.
//
// One payload is one table with one COMMIT, and takes effect as a whole or not at all, for one family: the kernel knows
// no transaction over both. Apply makes both succeed together: if the second family fails, the first is put back.
//
// # What belongs here
//
// The syntax of iptables, the commands, what they say when they fail, and the differences between payloads and a live
// table. Which rules there are is decided in package compile.
package iptables
