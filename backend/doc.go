// Package backend is the contract that every backend keeps: how a compile.Program becomes artifacts, and how artifacts
// come into force on a machine. The backends themselves are the packages below this one, one for each tool or interface;
// the suite that they all pass is package backendtest.
//
// # The contract
//
// Render is a pure function of the program: the same program gives the same bytes, on every machine. Nothing from a
// user's file reaches a payload except as an address.
//
// Apply puts a program in force in one step: before it, the previous ruleset of the same owner is in force, after it the
// new one, and there is no moment without rules. It works whether or not that owner has a ruleset, of whatever layout,
// and it touches no other owner's objects and nobody else's. If it fails, the error is an *Error and the previous ruleset
// is still in force; if a tool was killed and may have done its work before, either the previous or the new one is, wholly,
// and Error.Left says that it may be the new one.
//
// Remove takes away all that an owner has, and nothing else. There being nothing is no error.
//
// # What belongs here
//
// What all backends share and their users see: the interface, artifacts, errors, and how commands are run. A backend knows
// packages compile and cidr, never another backend.
package backend
