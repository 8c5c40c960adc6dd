package nftables_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/backend/backendtest"
	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/internal/testnet"
)

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Config{
		New:       func(m backendtest.Machine) backend.Backend { return nftables.NewScript(m.Runner) },
		Require:   func(t testing.TB) { testnet.Require(t, testnet.NFT) },
		Snapshot:  func(t testing.TB, h backendtest.Host) string { return tables(h.Ruleset(t)) },
		Unguarded: statements,
		Others:    func(t testing.TB, h backendtest.Host) { h.Run(t, others, "nft", "-f", "-") },
	})
}

// others are tables with names like those of the owners, in other families too, and chains before and after ours.
const others = `
table ip cidrc_geo {
	chain input {
		type filter hook input priority -10; policy accept;
		ip saddr 10.99.0.0/16 counter accept
	}
}
table ip6 cidrc_geo2 {
	set drop6 {
		type ipv6_addr
		flags interval
		elements = { 2001:db8:99::/48 }
	}
}
table inet cidrc_ge {
	chain geo {
		drop
	}
}
table inet cidrc_geo_ {
	map verdicts {
		type ipv4_addr : verdict
		elements = { 192.0.2.99 : accept }
	}
}
table inet other {
	set strangers {
		type ipv4_addr
		flags interval
		elements = { 10.0.0.0/8, 192.168.0.0/16 }
	}
	chain input {
		type filter hook input priority 10; policy accept;
		udp dport 9999 drop
		ip saddr @strangers counter accept
	}
	chain forward {
		type filter hook forward priority filter; policy accept;
		counter
	}
}
`

// tables puts the tables of a listing in order: nft lists them as they were made, and replacing one makes it the last.
func tables(listing string) string {
	list := strings.SplitAfter(listing, "\n}\n")
	slices.Sort(list)
	return strings.Join(list, "")
}

// statements is where a script that was cut short is still a script: from its first statement to its first brace, on one
// line.
func statements(payload []byte) (from, to int) {
	from = bytes.Index(payload, []byte("add table "))
	if to = bytes.IndexByte(payload, '{'); to < 0 {
		to = len(payload)
	}
	return from, to
}
