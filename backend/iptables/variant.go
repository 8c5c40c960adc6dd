package iptables

import (
	"fmt"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// Variant tells which of the programs named iptables is meant.
type Variant string

const (
	// Default is what the machine calls iptables-restore, whichever that is. Its Target has no variant, and the costs
	// and limits of NFT, which every machine keeps.
	Default Variant = ""
	// Legacy is iptables-legacy-restore and its sisters, on the kernel's ip_tables.
	Legacy Variant = "legacy"
	// NFT is iptables-nft-restore and its sisters, on nf_tables.
	NFT Variant = "nft"
)

// Target describes iptables as Debian 12 ships it, the oldest that is tested: 1.8.9. Of variant it panics unless it is
// one of the three.
func Target(variant Variant) compile.Target {
	t := compile.Target{
		Backend: "iptables",
		Variant: string(variant),
		Hooks:   []string{"input", "forward", "output"},
		Features: compile.Features{
			PassReturns: true,
			Counters:    true,
		},
		Limits: compile.Limits{
			ChainName:   28,  // XT_EXTENSION_MAXNAMELEN, less the final zero
			Comment:     255, // XT_MAX_COMMENT_LEN, less the final zero
			LinearRules: 2000,
			JumpDepth:   14, // NFT_JUMP_STACK_SIZE is 16, and the jump from the built-in chain is one
		},
		Costs: compile.Costs{Rule: 9},
	}
	switch variant {
	case Default, NFT:
	case Legacy:
		t.Limits.JumpDepth = 0 // its stack grows with the number of chains
		t.Costs.Rule = 1.8
	default:
		panic(fmt.Sprintf("iptables: there is no variant %q", string(variant)))
	}
	return t
}

// name is how errors call the variant.
func (v Variant) name() string {
	t := compile.Target{Backend: "iptables", Variant: string(v)}
	return t.String()
}

// tool returns the name of a program: what is "restore" or "save".
func (v Variant) tool(f cidr.Family, what string) string {
	name := "iptables-"
	if f == cidr.V6 {
		name = "ip6tables-"
	}
	if v != Default {
		name += string(v) + "-"
	}
	return name + what
}

// takes reports whether programs for the target can be carried out by the variant. The payload is the same for all, so
// only costs and limits can be wrong: a program that says for which variant it is goes to no other.
func (v Variant) takes(t compile.Target) error {
	if t.Backend == "iptables" && (v == Default || t.Variant == "" || t.Variant == string(v)) {
		return nil
	}
	return &backend.Error{Backend: v.name(), Op: "render", Err: backend.ErrOtherTarget, Detail: t.String()}
}
