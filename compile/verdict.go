package compile

import (
	"strings"
	"time"
)

// Verdict is what happens to a packet. The zero Verdict is none; a policy that leaves one unset does not compile.
type Verdict uint8

const (
	// Pass: the packet goes on, past the rules of this policy. See the package comment.
	Pass Verdict = iota + 1
	// Accept: iptables' final ACCEPT, which skips the administrator's later rules; the same as Pass in nftables.
	Accept
	// Drop: the packet is gone, without an answer.
	Drop
	// Reject: the packet is gone, and its sender gets an ICMP error.
	Reject
	// Any: the policy does not care, and each such address gets the verdict that makes the ruleset smallest. It is
	// allowed for space where no packets that matter come from, such as space that no country database lists.
	Any
)

var verdictNames = [...]string{"none", "pass", "accept", "drop", "reject", "any"}

// String returns the verdict in lower case.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "unknown verdict"
}

// ParseVerdict reads what String writes, in any case.
func ParseVerdict(s string) (Verdict, error) {
	for i, name := range verdictNames {
		if i > 0 && strings.EqualFold(s, name) {
			return Verdict(i), nil
		}
	}
	return 0, &NameError{Kind: "verdict", Name: s, Why: "it is one of pass, accept, drop, reject, any"}
}

// Action is what a rule does with a packet that it decides. Two rules with equal Actions share sets; a counter, a mark or
// a log of its own keeps a rule's addresses apart from the others', which costs look-ups.
type Action struct {
	Verdict Verdict
	Counter bool // count packets and bytes where the target counts only when asked; iptables always counts
	// What follows is understood by no layout yet: a policy that asks for it does not compile.
	Mark  Mark  // zero: no mark
	Log   Log   // zero: no log
	Limit Limit // zero: no limit
	// Chain names a chain of the caller's to which the packet goes before it gets Verdict; empty: none.
	Chain string
}

// Mark sets the packet's mark to Value in the bits of Mask. The zero Mark sets nothing.
type Mark struct{ Value, Mask uint32 }

// Log writes a line to the kernel's log. The zero Log writes nothing.
type Log struct {
	Prefix string
	Limit  Limit // how many lines at most; zero: all
}

// Limit bounds how often an action is taken: at most Packets per Per, after a first burst of Burst. The zero Limit does
// not bound. With SourceBits, each source prefix of that length has a limit of its own.
type Limit struct {
	Packets    uint64
	Per        time.Duration
	Burst      uint64
	SourceBits int
}

// unsupported names what the action asks for besides a verdict and a counter, which is all that layouts can do so far.
func (a Action) unsupported() string {
	switch {
	case a.Mark != Mark{}:
		return "marks"
	case a.Log != Log{}:
		return "logs"
	case a.Limit != Limit{}:
		return "rate limits"
	case a.Chain != "":
		return "chains of the caller"
	}
	return ""
}
