//go:build linux

package iptables

import (
	"strings"
	"testing"
	"time"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/backend/backendtest"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/internal/testnet"
)

func TestConformance(t *testing.T) {
	for v, need := range map[Variant]testnet.Need{Legacy: testnet.IPTablesLegacy, NFT: testnet.IPTablesNFT} {
		t.Run(string(v), func(t *testing.T) {
			t.Parallel()
			backendtest.Run(t, backendtest.Config{
				// All test hosts share one lock.
				New:     func(m backendtest.Machine) backend.Backend { return New(v, m.Runner, WithLockWait(time.Minute)) },
				Require: func(t testing.TB) { testnet.Require(t, need) },
				Snapshot: func(t testing.TB, h backendtest.Host) string {
					var tables []string
					for _, f := range cidr.Families() {
						tables = append(tables, h.Saved(t, v.tool(f, "save")))
					}
					return strings.Join(tables, "")
				},
				Others: func(t testing.TB, h backendtest.Host) {
					for _, f := range cidr.Families() {
						h.Run(t, others, v.tool(f, "restore"), "-w", "5", "--noflush")
					}
				},
			})
		})
	}
}

// others are chains with names like those of the owners, jumps that look like theirs, and a policy that is not the usual.
const others = `*filter
:OUTPUT ACCEPT [0:0]
:DOCKER - [0:0]
:cidrc-ge-in - [0:0]
:cidrc-geo_-in - [0:0]
:cidrc-geo2x-in - [0:0]
-A INPUT -p udp -m udp --dport 9999 -m comment --comment "cidrc: policy of owner geo -j cidrc-geo-in" -j DROP
-A INPUT -m comment --comment "cidrc: policy of owner geo2x" -j cidrc-geo2x-in
-A INPUT -p udp -j DOCKER
-A cidrc-geo_-in -p udp -m udp --dport 9999 -j RETURN
COMMIT
*mangle
-A PREROUTING -i nowhere -j ACCEPT
COMMIT
`
