package compile

import (
	"fmt"
	"slices"
)

// Target describes what a program is compiled for: plain data that can be stored as JSON, probed on one machine and used
// on another. Backends make them; a zero Target is refused.
type Target struct {
	// Backend is the backend that renders the program: "nftables", "iptables".
	Backend string `json:"backend"`
	// Variant tells apart tools that read the same payload and work differently: "legacy" or "nft" for iptables.
	Variant string `json:"variant,omitempty"`
	// Kernel and Tool are versions as the machine gives them, such as "6.18.44" and "1.0.6". Empty: not known.
	Kernel string `json:"kernel,omitempty"`
	Tool   string `json:"tool,omitempty"`

	Hooks    []string `json:"hooks"` // names of the Points where rules can stand
	Features Features `json:"features"`
	Limits   Limits   `json:"limits"`
	Costs    Costs    `json:"costs"`
}

// Features says how a target works, as far as layouts depend on it.
type Features struct {
	// IntervalSets: a rule can ask a set of ranges.
	IntervalSets bool `json:"intervalSets"`
	// Namespaced: chains live in a table of the owner's own. Otherwise their names carry the owner's, and the chains of
	// both families are apart.
	Namespaced bool `json:"namespaced"`
	// TypeLists: one rule can match several ICMP types.
	TypeLists bool `json:"typeLists"`
	// PassReturns: Pass is a return to the administrator's chain, so that a rule in a chain that was jumped to cannot
	// give it; it can in one that was gone to.
	PassReturns bool `json:"passReturns"`
	// Counters: rules count whether or not they are asked to.
	Counters bool `json:"counters"`
}

// Limits are what the target refuses or what would make it unusable. Zero fields are no limit.
type Limits struct {
	ChainName   int `json:"chainName,omitempty"`   // bytes
	SetName     int `json:"setName,omitempty"`     // bytes
	Comment     int `json:"comment,omitempty"`     // bytes
	JumpDepth   int `json:"jumpDepth,omitempty"`   // chains below the base chain
	LinearRules int `json:"linearRules,omitempty"` // rules that the linear layout may put in one chain unless forced
}

// Costs are nanoseconds of one packet on one core, for choosing among layouts. They are estimates; only their ratios
// matter.
type Costs struct {
	Rule  float64 `json:"rule"`  // a rule that does not match
	Probe float64 `json:"probe"` // asking an interval set, whatever its size
	Step  float64 `json:"step"`  // and for each doubling of its ranges
}

func (t *Target) check() error {
	if t.Backend == "" || len(t.Hooks) == 0 {
		return &UnsupportedError{Where: "target", Feature: "a zero target", Instead: "take one from a backend, such as nftables.Target()"}
	}
	return nil
}

func (t *Target) String() string {
	s := t.Backend
	if t.Variant != "" {
		s += "-" + t.Variant
	}
	return s
}

func (t *Target) checkHook(h Hook) error {
	if !slices.Contains(t.Hooks, h.Point.String()) {
		return &UnsupportedError{Where: "target " + t.String(), Feature: "hook " + h.Point.String(),
			Instead: fmt.Sprintf("it has %v", t.Hooks)}
	}
	return nil
}

// chainName returns the name that the kernel sees for a chain of the program.
func (t *Target) chainName(owner, local string) (string, error) {
	name := local
	if !t.Features.Namespaced {
		name = ChainPrefix(owner) + local
	}
	if limit := t.Limits.ChainName; limit > 0 && len(name) > limit {
		return "", &LimitError{What: fmt.Sprintf("bytes of chain name %q", name), Count: len(name), Limit: limit,
			Instead: "choose a shorter owner"}
	}
	return name, nil
}

// ChainPrefix returns how the names of all chains of an owner start where chains of several owners share a table. An
// owner has no dash in it, so no other owner's chains start like that.
func ChainPrefix(owner string) string { return "cidrc-" + owner + "-" }
