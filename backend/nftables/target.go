package nftables

import "github.com/cidrc/cidrc/compile"

// Target describes nftables as Debian 12 ships it, the oldest that is tested: nft 1.0.6.
func Target() compile.Target {
	return compile.Target{
		Backend: "nftables",
		Hooks:   []string{"input", "forward", "output", "prerouting", "raw"},
		Features: compile.Features{
			IntervalSets: true,
			Namespaced:   true,
			TypeLists:    true,
		},
		Limits: compile.Limits{
			ChainName:   255, // NFT_NAME_MAXLEN, less the final zero
			SetName:     255,
			Comment:     128, // NFTNL_UDATA_COMMENT_MAXLEN in nft's src/parser_bison.y
			JumpDepth:   15,  // NFT_JUMP_STACK_SIZE is 16
			LinearRules: 2000,
		},
		Costs: compile.Costs{Rule: 40, Probe: 200, Step: 33},
	}
}

// tableName is the name of the owner's table.
func tableName(owner string) string { return "cidrc_" + owner }
