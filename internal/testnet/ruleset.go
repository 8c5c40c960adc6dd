package testnet

import (
	"regexp"
	"strings"
	"testing"
)

// Ruleset returns the host's nft ruleset as `nft -s list ruleset` prints it,
// without the values of counters and without what [Net.Probe] adds for its own
// use: two results are equal if and only if the rules are. Tables of
// iptables-nft are part of it; those of iptables-legacy are not.
func (h *Host) Ruleset(t testing.TB) string {
	t.Helper()
	return withoutTable(h.Run(t, "", "nft", "-s", "list", "ruleset"), observerTable)
}

// withoutTable removes the tables of that name, of any family, from a listing,
// in which a table's first and last line are the only ones not indented.
func withoutTable(listing, name string) string {
	var b strings.Builder
	skip := false
	for line := range strings.Lines(listing) {
		if f := strings.Fields(line); len(f) == 4 && f[0] == "table" && f[2] == name {
			skip = true
		}
		if !skip {
			b.WriteString(line)
		}
		if strings.HasPrefix(line, "}") {
			skip = false
		}
	}
	return b.String()
}

// Saved returns the output of a save command on the host, such as
// "iptables-legacy-save", "ip6tables-nft-save" or "ipset save", split at blanks,
// without comment lines, which hold dates, and without packet and byte counters:
// two results are equal if and only if the rules are.
func (h *Host) Saved(t testing.TB, command string) string {
	t.Helper()
	words := strings.Fields(command)
	return withoutCounters(h.Run(t, "", words[0], words[1:]...))
}

var (
	ruleCounters  = regexp.MustCompile(`^\[\d+:\d+\] `)
	chainCounters = regexp.MustCompile(`^(:\S+ \S+) \[\d+:\d+\]`)
)

func withoutCounters(saved string) string {
	var b strings.Builder
	for line := range strings.Lines(saved) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = ruleCounters.ReplaceAllString(line, "")
		line = chainCounters.ReplaceAllString(line, "$1")
		b.WriteString(line)
	}
	return b.String()
}
