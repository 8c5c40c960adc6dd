// Package peers measures package cidr beside the packages that people would use otherwise, in one process, on the
// country data that this repository embeds:
//
//	go test -run '^$' -bench . -count 3
//
// Each benchmark first checks that all give the same answer. Then it runs ours and theirs in turn and reports the median
// of each and, as "times", how many times ours is as fast.
//
// # What belongs here
//
// Comparisons with packages that the library itself does not need, which is why this is a module of its own.
package peers
