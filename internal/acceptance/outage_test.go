//go:build linux

package acceptance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/nftables"
	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/internal/testnet"
)

// earlierAccept is what many rulesets have: a base chain of their own that accepts replies.
const earlierAccept = `table inet replies {
	counter accepted { }
	chain in {
		type filter hook input priority -10; policy accept;
		ct state established,related counter name accepted accept
	}
}
`

// byHand is the ruleset with which it went wrong: the list of blocked countries in another base chain.
func byHand(blocked cidr.Set) string {
	var b strings.Builder
	b.WriteString(earlierAccept)
	b.WriteString("table inet blocked {\n\tcounter dropped { }\n")
	for _, f := range []struct {
		family    cidr.Family
		typ, name string
	}{{cidr.V4, "ipv4_addr", "blocked4"}, {cidr.V6, "ipv6_addr", "blocked6"}} {
		fmt.Fprintf(&b, "\tset %s { type %s; flags interval; elements = {\n", f.name, f.typ)
		for r := range blocked.Only(f.family).Ranges() {
			fmt.Fprintf(&b, "%v-%v,\n", r.First, r.Last)
		}
		b.WriteString("} }\n")
	}
	b.WriteString(`	chain in {
		type filter hook input priority 0; policy accept;
		ip saddr @blocked4 counter name dropped drop
		ip6 saddr @blocked6 counter name dropped drop
	}
}
`)
	return b.String()
}

// outage is a host inside that asks a resolver in a blocked country.
type outage struct {
	*testnet.Net
	policy   policy
	resolver [2]netip.Addr // IPv4, IPv6
}

func newOutage(t *testing.T, db *database) *outage {
	o := &outage{Net: testnet.NewPair(t), policy: mainPolicies()[0]}
	for i, f := range cidr.Families() {
		// An address inside the first large row of a blocked country.
		for _, r := range db.rows[f] {
			if a := r.first.Next(); r.country == "US" && a.Less(r.last) && !isLocal(a) {
				o.resolver[i] = a
				break
			}
		}
		require.Equal(t, "drop", o.policy.verdict(db, o.resolver[i]).String())
		o.Outside.AddAddress(t, o.resolver[i])
		serveDNS(t, o.Outside, netip.AddrPortFrom(o.resolver[i], 53), "the resolver outside")
	}
	return o
}

// ask asks the resolver from inside.
func (o *outage) ask(t *testing.T, resolver netip.Addr) (string, error) {
	return askDNS(t, func(ctx context.Context) (net.Conn, error) {
		return o.Inside.Dial(ctx, "udp", netip.AddrPortFrom(resolver, 53).String())
	})
}

// requireAnswers: replies come in, and a first packet from the same address does not, whereas one from an allowed country
// does.
func (o *outage) requireAnswers(t *testing.T, db *database) {
	t.Helper()
	for i, f := range cidr.Families() {
		answer, err := o.ask(t, o.resolver[i])
		require.NoError(t, err, "a query to %v", o.resolver[i])
		require.Equal(t, "the resolver outside", answer)

		var allowed netip.Addr
		for _, r := range db.rows[f] {
			if r.country == "IT" {
				allowed = r.first
				break
			}
		}
		require.Equal(t, []testnet.Outcome{
			{Addr: o.resolver[i], Arrived: true, Passed: false},
			{Addr: allowed, Arrived: true, Passed: true},
		}, o.Probe(t, testnet.Input, testnet.UDP(53), []netip.Addr{o.resolver[i], allowed}), "queries from outside")
	}
}

// counted returns what a named counter counts. It does not ask nft, which reads every table of the host first.
func (o *outage) counted(t *testing.T, table, counter string) uint64 {
	t.Helper()
	var found nftables.Obj
	require.NoError(t, o.Inside.Do(func() error {
		conn, err := nftables.New()
		if err != nil {
			return err
		}
		found, err = conn.GetObject(&nftables.CounterObj{Table: inetTable(table), Name: counter})
		return err
	}))
	return found.(*nftables.CounterObj).Packets
}

// deleteTable does what its name says, also without nft.
func (o *outage) deleteTable(t *testing.T, table string) {
	t.Helper()
	require.NoError(t, o.Inside.Do(func() error {
		conn, err := nftables.New()
		if err != nil {
			return err
		}
		conn.DelTable(inetTable(table))
		return conn.Flush()
	}))
}

func inetTable(name string) *nftables.Table {
	return &nftables.Table{Name: name, Family: nftables.TableFamilyINet}
}

// TestOutageByHand is the outage that guards are for: every look-up at a foreign resolver times out, because the accept of
// one base chain does not end the other.
func TestOutageByHand(t *testing.T) {
	testnet.Require(t, nft.needs...)
	db := load(t)
	o := newOutage(t, db)
	for i := range o.resolver {
		answer, err := o.ask(t, o.resolver[i])
		require.NoError(t, err)
		require.Equal(t, "the resolver outside", answer, "without rules")
	}
	chosen := geo.MustParseSelection(o.policy.countries)
	o.Inside.Run(t, byHand(db.countries.Set().Difference(db.countries.Where(chosen.Contains))), "nft", "-f", "-")
	for i := range o.resolver {
		accepted, dropped := o.counted(t, "replies", "accepted"), o.counted(t, "blocked", "dropped")
		_, err := o.ask(t, o.resolver[i])
		var failed *net.DNSError
		require.True(t, errors.As(err, &failed) && failed.IsTimeout, "a query to %v: %v", o.resolver[i], err)
		require.Greater(t, o.counted(t, "replies", "accepted"), accepted, "one base chain accepted the reply")
		require.Greater(t, o.counted(t, "blocked", "dropped"), dropped, "the other dropped it")
	}
}

// TestNoOutage: the same policy in the same place, compiled.
func TestNoOutage(t *testing.T) {
	db := load(t)
	for _, u := range tools() {
		t.Run(u.name, func(t *testing.T) {
			testnet.Require(t, u.needs...)
			o := newOutage(t, db)
			o.Inside.Run(t, earlierAccept, "nft", "-f", "-")
			b := u.on(o.Inside)
			require.NoError(t, b.Apply(t.Context(), o.policy.program(t, db, b.Target(), u.layouts[0], testnet.Input)))
			t.Run("beside an earlier accept", func(t *testing.T) {
				o.requireAnswers(t, db)
				require.Positive(t, o.counted(t, "replies", "accepted"))
			})
			o.deleteTable(t, "replies")
			t.Run("alone", func(t *testing.T) { o.requireAnswers(t, db) })
		})
	}
}
