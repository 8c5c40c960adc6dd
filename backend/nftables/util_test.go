package nftables_test

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

func compiled(t testing.TB, p compile.Policy, l compile.Layout) *compile.Program {
	t.Helper()
	prog, err := compile.Compile(context.Background(), p, nftables.Target(), compile.Options{Layout: l, Force: true})
	require.NoError(t, err)
	return prog
}

func script(t testing.TB, p *compile.Program) string {
	t.Helper()
	artifacts, err := nftables.NewScript(nil).Render(p)
	require.NoError(t, err)
	require.Len(t, artifacts, 1)
	s, err := artifacts[0].Text()
	require.NoError(t, err)
	return s
}

// blocking is a policy that drops the addresses, documentation space among them, at input.
func blocking(addrs cidr.Set) compile.Policy {
	return compile.Policy{
		Owner:   "geo",
		Rules:   []compile.Rule{{Name: "blocked", Addrs: addrs, Action: compile.Action{Verdict: compile.Drop}}},
		Default: compile.Action{Verdict: compile.Pass},
	}
}

func addrs(texts ...string) []netip.Addr {
	var list []netip.Addr
	for _, s := range texts {
		list = append(list, netip.MustParseAddr(s))
	}
	return list
}

// pair returns two hosts on whose inner one the program is in force, loaded by its script.
func pair(t *testing.T, p *compile.Program) *testnet.Net {
	t.Helper()
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	n := testnet.NewPair(t)
	n.Inside.Run(t, script(t, p), "nft", "-f", "-")
	return n
}

// dialIn returns a Dial whose connections belong to where do leads.
func dialIn(do func(f func() error) error) func() (nftables.Conn, error) {
	return func() (c nftables.Conn, err error) {
		doErr := do(func() error {
			c, err = nftables.Dial()
			return nil
		})
		if doErr != nil {
			return nil, doErr
		}
		return c, err
	}
}
