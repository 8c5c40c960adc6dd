package acceptance

import (
	"maps"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// othersNFT is what other people have in nftables, at our hook and elsewhere.
const othersNFT = `table inet firewall {
	set admins {
		type ipv4_addr
		flags interval
		elements = { 198.51.100.0/24, 203.0.113.7 }
	}
	chain input {
		type filter hook input priority filter - 5; policy accept;
		ip saddr @admins tcp dport 22 counter accept comment "ours: cidrc-countries-in"
		jump more
	}
	chain more {
		udp dport 5353 drop
	}
}
table ip nat {
	chain postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		oifname "wan9" masquerade
	}
}
table netdev early {
	chain in {
		type filter hook ingress device "in0" priority filter; policy accept;
		tcp flags & (fin | syn) == fin | syn drop
	}
}
`

// othersIPTables is what other people have in iptables, for both families and variants.
const othersIPTables = `*filter
:INPUT ACCEPT [0:0]
:FORWARD DROP [0:0]
:OUTPUT ACCEPT [0:0]
:cidrc-other - [0:0]
:guests - [0:0]
-A INPUT -i lo -j ACCEPT
-A INPUT -p tcp -m tcp --dport 2222 -m comment --comment "-j cidrc-countries-in" -j guests
-A INPUT -j cidrc-other
-A FORWARD -i br0 -j guests
-A guests -p udp -m udp --dport 5353 -j DROP
-A cidrc-other -p tcp -m tcp --dport 25 -j DROP
COMMIT
*mangle
-A PREROUTING -i wan9 -j MARK --set-xmark 0x7/0xff
COMMIT
`

// snapshot is all rules of a host, by the command that lists them.
func snapshot(t *testing.T, h *testnet.Host) map[string]string {
	t.Helper()
	all := map[string]string{"nft list ruleset": h.Ruleset(t)}
	for _, command := range []string{"iptables-legacy-save", "ip6tables-legacy-save", "iptables-nft-save", "ip6tables-nft-save"} {
		all[command] = h.Saved(t, command)
	}
	return all
}

// requireSame compares snapshots without printing a large one.
func requireSame(t *testing.T, want, got map[string]string, when string) {
	t.Helper()
	for command := range want {
		a, b := want[command], got[command]
		if a == b {
			continue
		}
		i := 0
		for i < len(a) && i < len(b) && a[i] == b[i] {
			i++
		}
		around := func(s string) string { return s[max(0, i-200):min(len(s), i+200)] }
		require.Fail(t, "not as before", "%s, %s: %d bytes were %d\nbefore: %s\nnow: %s", when, command, len(b), len(a), around(a), around(b))
	}
}

// Other people's rules stay as they are, byte for byte, whatever of ours is applied, replaced and removed beside them.
func TestPlacement(t *testing.T) {
	db := load(t)
	small := policy{name: "Holy See", countries: "VA", codes: "VA"}
	large := mainPolicies()[0]
	for _, u := range tools() {
		t.Run(u.name, func(t *testing.T) {
			testnet.Require(t, testnet.NFT, testnet.IPTablesLegacy, testnet.IPTablesNFT)
			testnet.Require(t, u.needs...)
			n := testnet.NewPair(t)
			h := n.Inside
			h.Run(t, othersNFT, "nft", "-f", "-")
			for _, tool := range []string{"iptables-legacy", "ip6tables-legacy", "iptables-nft", "ip6tables-nft"} {
				h.Run(t, othersIPTables, tool+"-restore", "--noflush")
			}
			b := u.on(h)
			neighbour := small.build(t, db)
			neighbour.Owner = "countries2"
			neighbour.Default.Verdict = compile.Pass
			neighbour.Rules[1].Action.Verdict = compile.Pass
			neighbour.Rules[0].Action.Verdict = compile.Drop
			program, err := compile.Compile(t.Context(), neighbour, b.Target(), compile.Options{})
			require.NoError(t, err)
			require.NoError(t, b.Apply(t.Context(), program))
			before := snapshot(t, h)

			// apply puts a policy in force and asks whether it is.
			apply := func(p policy, l compile.Layout) {
				t.Helper()
				start := time.Now()
				require.NoError(t, b.Apply(t.Context(), p.program(t, db, b.Target(), l, testnet.Input)), "%s, %v", p.name, l)
				t.Logf("%s, %v: compiled and applied in %.2f s", p.name, l, time.Since(start).Seconds())
				n.Check(t, testnet.Input, testnet.UDP(53), someOfEach(db), func(a netip.Addr) bool {
					return p.verdict(db, a) == compile.Pass && db.lookUp(a) != "VA"
				})
			}
			// remove takes it away, and asks whether all is as it was.
			remove := func() {
				t.Helper()
				require.NoError(t, b.Remove(t.Context(), owner))
				requireSame(t, before, snapshot(t, h), "removed")
			}
			first, last := u.layouts[0], u.layouts[len(u.layouts)-1]
			apply(large, first)
			apply(italy, last)
			apply(italy, first)
			inForce := snapshot(t, h)
			require.False(t, maps.Equal(before, inForce))
			apply(italy, first)
			requireSame(t, inForce, snapshot(t, h), "the same applied twice")
			apply(small, compile.Linear)
			apply(italy, last)
			apply(italy, first)
			again := snapshot(t, h)
			if u.name != nft.name {
				// nft lists the chains of iptables-nft in the order in which they were made; the save commands do not.
				again["nft list ruleset"] = inForce["nft list ruleset"]
			}
			requireSame(t, inForce, again, "the same after others in other layouts")
			remove()
			remove()
			apply(large, first)
			remove()
			n.Check(t, testnet.Input, testnet.UDP(53), someOfEach(db), func(a netip.Addr) bool { return db.lookUp(a) != "VA" })
		})
	}
}

// someOfEach returns a few addresses of some countries, of unlisted and of local space.
func someOfEach(db *database) []netip.Addr {
	list := []netip.Addr{
		netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("192.168.255.255"), netip.MustParseAddr("240.0.0.1"),
		netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fe80::1"), netip.MustParseAddr("4000::1"),
	}
	for _, f := range cidr.Families() {
		count := map[string]int{}
		for _, r := range db.rows[f] {
			if count[r.country]++; containsCode("AR CN DE IT RU US VA", r.country) && count[r.country] <= 3 && !isLocal(r.first) {
				list = append(list, r.first, r.last)
			}
		}
	}
	return list
}
