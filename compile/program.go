package compile

import (
	"fmt"
	"net/netip"

	"github.com/cidrc/cidrc/cidr"
)

// Program is how a target carries out a Decision: sets, chains and rules, in the order in which a backend writes them. It
// is immutable: backends and callers must not change what it holds.
type Program struct {
	Owner  string
	Target Target
	Layout Layout
	// Sets are the named sets, each before its first use.
	Sets []*Set
	// Maps are the verdict maps. A map stands between the chains that it goes to and those that ask it.
	Maps []*VerdictMap
	// Chains are the chains, each before those that go to it: a chain that rules or maps refer to has been seen.
	Chains []*Chain

	decision *Decision
	choice   choice
}

// Decision returns what the program carries out.
func (p *Program) Decision() *Decision { return p.decision }

// Set is a named set of one family.
type Set struct {
	Name   string
	Family cidr.Family
	Addrs  cidr.Set
	// Lead, if not 0, says that only so many leading bits of the address are compared, a multiple of 8: Addrs are whole
	// blocks of that size, each an element of its own. 0: the elements are the ranges of Addrs.
	Lead int
}

// VerdictMap says for each address of a family what a rule does with the packet: several sets in one look-up.
type VerdictMap struct {
	Name   string
	Family cidr.Family
	// Entries gives each address that the map holds a place in Targets. Neighbours of one value are one element.
	Entries cidr.Map[int]
	Targets []MapTarget
	// Lead is that of a Set.
	Lead int
}

// MapTarget is what can become of a packet that is found in a VerdictMap.
type MapTarget struct {
	Do    Do     // not DoMap
	Chain *Chain // of DoJump and DoGoto
}

// Chain is a list of rules. A packet goes through them in order until one decides; at the end of a chain it goes back to
// where it was jumped from, and at the end of a base chain, or of a chain that it was gone to from one, it passes.
type Chain struct {
	// Name is the name that the kernel sees.
	Name string
	// Hook is where a base chain stands, and nil for all other chains.
	Hook *Hook
	// Family is the one family whose packets come here, and zero for both.
	Family cidr.Family
	// Side is the address that rules with a Prefix or a Set compare: Source or Destination.
	Side  Side
	Rules []ChainRule
}

// Do is what a rule of a Program does with a packet for which its conditions hold.
type Do uint8

// What a rule can do. The first four are the verdicts of the same names.
const (
	DoPass Do = iota + 1
	DoAccept
	DoDrop
	DoReject
	// DoJump goes to Chain, and comes back at its end.
	DoJump
	// DoGoto goes to Chain; at its end, the packet goes back to where this chain was jumped from.
	DoGoto
	// DoMap does what Map says for the address at the chain's Side, and goes on to the next rule where it says nothing.
	DoMap
)

var doNames = [...]string{"none", "pass", "accept", "drop", "reject", "jump", "goto", "map"}

// String returns the name in lower case.
func (d Do) String() string {
	if int(d) < len(doNames) {
		return doNames[d]
	}
	return "unknown"
}

func doOf(v Verdict) Do {
	if v == 0 || v > Reject {
		panic(fmt.Sprintf("no rule can do %v", v))
	}
	return Do(v)
}

// ChainRule is one rule of a Program. All of its conditions must hold; zero fields match anything.
type ChainRule struct {
	Family cidr.Family
	// Prefix holds the packet's address at the chain's Side.
	Prefix netip.Prefix
	// Set holds that address; with Not, it does not hold it, and the packet is of the set's family.
	Set *Set
	Not bool
	// Match is what else must hold; nil: nothing.
	Match *Match

	Do      Do
	Chain   *Chain      // of DoJump and DoGoto
	Map     *VerdictMap // of DoMap; the packet is of the map's family
	Counter bool
	Comment string
}

// FamilyIn returns the one family of which the packets are that the rule, standing in the chain, can match, and zero for
// both.
func (r *ChainRule) FamilyIn(c *Chain) cidr.Family {
	switch {
	case r.Family != 0:
		return r.Family
	case r.Set != nil:
		return r.Set.Family
	case r.Map != nil:
		return r.Map.Family
	case r.Prefix.IsValid():
		return cidr.FamilyOf(r.Prefix.Addr())
	case r.Match != nil && r.Match.Family != 0:
		return r.Match.Family
	}
	return c.Family
}
