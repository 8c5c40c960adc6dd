package backendtest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// The lists of the policies: ranges of all kinds, among them single addresses, ranges that are no prefix, neighbours of
// each other, and both ends of both spaces.
var (
	chosen = build(
		"1.0.0.0/24", "1.0.1.5", "1.0.4.0/22", "9.9.9.0-9.9.11.7", "64.0.0.0/3", "198.51.100.0/25",
		"203.0.113.7-203.0.113.20", "203.0.113.22", "223.255.255.0-223.255.255.254", "240.0.0.0-255.255.255.255",
		"2001:db8:1::/48", "2001:db8:8::-2001:db8:9:ffff::5", "2001:db8:a::7", "2a00::/12", "2a10::1",
		"fec0::/10", "ffff::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
	)
	rest = build(
		"0.0.0.0-0.0.0.9", "1.0.1.4", "1.0.2.0/24", "9.9.0.0/21", "198.51.100.128/25", "203.0.113.21",
		"::-::9", "2001:db8:2::/48", "2001:db8:9:ffff::6", "2c00::/12", "2a10::2",
	)
)

func build(ranges ...string) cidr.Set {
	var b cidr.Builder
	for _, s := range ranges {
		r, err := cidr.ParseRange(s)
		if err != nil {
			panic(fmt.Sprintf("backendtest: %v", err))
		}
		b.AddRange(r)
	}
	s, err := b.Build()
	if err != nil {
		panic(fmt.Sprintf("backendtest: %v", err))
	}
	return s
}

// owner is the owner of most policies.
const owner = "geo"

func at(points ...compile.Point) []compile.Hook {
	var hooks []compile.Hook
	for _, p := range points {
		hooks = append(hooks, compile.Hook{Point: p})
	}
	return hooks
}

// allow and block are the two policies that people have most, with the given verdict for unlisted space.
func allow(unlisted compile.Verdict, hooks ...compile.Point) compile.Policy {
	p := compile.AllowOnly("chosen", chosen, chosen.Union(rest))
	p.Owner, p.Hooks, p.Default.Verdict = owner, at(hooks...), unlisted
	return p
}

func block(unlisted compile.Verdict, hooks ...compile.Point) compile.Policy {
	p := compile.Block("chosen", chosen, chosen.Union(rest))
	p.Owner, p.Hooks, p.Default.Verdict, p.PassLocal = owner, at(hooks...), unlisted, false
	return p
}

// mixed has all actions there are, overlaps, counters and a never-block set.
func mixed(hooks ...compile.Point) compile.Policy {
	return compile.Policy{
		Owner: owner, Hooks: at(hooks...), PassLocal: true,
		Keep: build("9.9.10.9", "64.9.0.0/16", "2a00:5::/32"),
		Rules: []compile.Rule{
			{Name: "reject", Addrs: build("1.0.0.0/25", "9.9.10.0/24", "2a00::/16"), Action: compile.Action{Verdict: compile.Reject}},
			{Name: "accept", Addrs: build("64.0.0.0/8", "2a01::/16"), Action: compile.Action{Verdict: compile.Accept}},
			{Name: "counted", Addrs: build("198.51.0.0/16", "2001:db8::/32"), Action: compile.Action{Verdict: compile.Drop, Counter: true}},
			{Name: "chosen", Addrs: chosen, Action: compile.Action{Verdict: compile.Drop}},
			{Name: "passed and counted", Addrs: rest, Action: compile.Action{Verdict: compile.Pass, Counter: true}},
		},
		Default: compile.Action{Verdict: compile.Pass},
	}
}

// everything drops both spaces whole, as sets or as rules without an address.
func everything(hooks ...compile.Point) compile.Policy {
	return compile.Policy{
		Owner: owner, Hooks: at(hooks...),
		Rules:   []compile.Rule{{Name: "all", Addrs: cidr.Everything(cidr.V4).Union(cidr.Everything(cidr.V6)), Action: compile.Action{Verdict: compile.Drop}}},
		Default: compile.Action{Verdict: compile.Pass},
	}
}

// large is a policy of some hundred ranges that a tool needs a moment for. It fits into one transaction without
// privilege over the socket buffer.
func large(hooks ...compile.Point) compile.Policy {
	var b cidr.Builder
	for i := range 300 {
		b.AddPrefix(netip.PrefixFrom(netip.AddrFrom4([4]byte{11, byte(i / 50), byte(i % 50 * 2), 0}), 24))
	}
	for i := range 100 {
		var raw [16]byte
		copy(raw[:], []byte{0x2a, 0x0b, byte(i / 50), byte(i % 50 * 2)})
		b.AddPrefix(netip.PrefixFrom(netip.AddrFrom16(raw), 32))
	}
	s, err := b.Build()
	if err != nil {
		panic(fmt.Sprintf("backendtest: %v", err))
	}
	p := block(compile.Pass, hooks...)
	p.Rules[0].Addrs, p.Rules[1].Addrs = s, cidr.Set{}
	return p
}

func compiled(t testing.TB, p compile.Policy, target compile.Target, l compile.Layout) *compile.Program {
	t.Helper()
	prog, err := compile.Compile(context.Background(), p, target, compile.Options{Layout: l, Force: true})
	require.NoError(t, err)
	return prog
}

// layouts returns the layouts that the target can do.
func layouts(t testing.TB, target compile.Target) []compile.Layout {
	t.Helper()
	var list []compile.Layout
	for _, l := range compile.Layouts() {
		_, err := compile.Compile(context.Background(), block(compile.Pass), target, compile.Options{Layout: l})
		if err == nil {
			list = append(list, l)
			continue
		}
		require.ErrorIs(t, err, compile.ErrUnsupported)
	}
	require.NotEmpty(t, list)
	return list
}

// oldAndNew returns two programs of one owner that differ in everything: layout if the target has two, hooks, and the
// verdict on most addresses.
func oldAndNew(t testing.TB, target compile.Target) (was, next *compile.Program) {
	t.Helper()
	list := layouts(t, target)
	was = compiled(t, block(compile.Pass, compile.Input, compile.Forward), target, list[0])
	next = compiled(t, allow(compile.Drop, compile.Input), target, list[len(list)-1])
	return was, next
}

// smallPair returns two programs that differ in the same way and have short payloads.
func smallPair(t testing.TB, target compile.Target) (was, next *compile.Program) {
	t.Helper()
	list := layouts(t, target)
	policy := func(verdict, other compile.Verdict, hooks ...compile.Point) compile.Policy {
		return compile.Policy{
			Owner: owner, Hooks: at(hooks...), WithoutGuards: []compile.Guard{compile.GuardICMPv6, compile.GuardDHCP, compile.GuardDHCPv6},
			Rules:   []compile.Rule{{Name: "chosen", Addrs: build("198.51.100.0/25", "203.0.113.7", "2001:db8:1::/48", "2a00::/12"), Action: compile.Action{Verdict: verdict}}},
			Default: compile.Action{Verdict: other},
		}
	}
	was = compiled(t, policy(compile.Drop, compile.Pass, compile.Input, compile.Forward), target, list[0])
	next = compiled(t, policy(compile.Pass, compile.Drop, compile.Input), target, list[len(list)-1])
	return was, next
}

// sources returns the first and last address of every range of the sets, the addresses beside them, both ends of both
// spaces, and as many random addresses of each family, half of them near the others.
func sources(random int, sets ...cidr.Set) []netip.Addr {
	seen := map[netip.Addr]bool{}
	var list []netip.Addr
	add := func(a netip.Addr) {
		// IPv4-mapped addresses are IPv4 to Eval, and IPv6 on the wire.
		if a.IsValid() && !seen[a] && !a.Is4In6() {
			seen[a] = true
			list = append(list, a)
		}
	}
	for _, s := range append(sets, cidr.Everything(cidr.V4), cidr.Everything(cidr.V6)) {
		for r := range s.Ranges() {
			add(r.First.Prev())
			add(r.First)
			add(r.Last)
			add(r.Last.Next())
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	n := len(list)
	for i := range random {
		var v4 [4]byte
		var v6 [16]byte
		binary.BigEndian.PutUint32(v4[:], rng.Uint32())
		binary.BigEndian.PutUint64(v6[:], rng.Uint64())
		binary.BigEndian.PutUint64(v6[8:], rng.Uint64())
		if i%2 == 0 {
			// Half of the bits are those of an address above.
			switch near := list[rng.IntN(n)]; {
			case near.Is4():
				b := near.As4()
				copy(v4[:2], b[:2])
			default:
				b := near.As16()
				copy(v6[:6], b[:6])
			}
		}
		add(netip.AddrFrom4(v4))
		add(netip.AddrFrom16(v6))
	}
	return list
}
