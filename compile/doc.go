// Package compile turns address policy into a ruleset, in three steps that are each a pure function of the one before:
//
//	Policy   what the user wants: ordered rules, guards, hooks
//	Decision what it means: one rule decides each address, overlaps resolved once
//	Program  how a target does it: sets, chains and rules, in the layout that costs a packet least
//
// A backend translates a Program to what its tool or the kernel reads; it decides nothing. Both Decision and Program can
// judge a packet ([Decision.Eval], [Program.Eval]) on any machine and without privilege, and they agree, so that a
// policy is tested where it is written.
//
// # Pass and Accept
//
// Pass means that the packet goes on, past the rules of this policy: accept in a base chain of nftables, whose other base
// chains still see it, and RETURN in iptables, so that the administrator's later rules still run. Accept is the final
// verdict of iptables and has to be asked for; in nftables it is the same as Pass. Drop and Reject are final everywhere.
//
// # Guards
//
// Before any address is looked up, a policy passes what must never be lost to an address list: see [Guard]. They stand in
// the same base chain as the look-up, because an accept in one base chain does not end another: a list of foreign
// addresses in a chain of its own drops the replies that another chain has accepted.
//
// # What belongs here
//
// Everything that decides about packets and costs, and nothing that knows the syntax of a tool or touches a machine: that
// is package backend's. Where addresses come from is the business of packages cidr and geo.
package compile
