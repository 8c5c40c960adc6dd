package acceptance

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// Both policies, in every layout of every tool.
func TestVerdicts(t *testing.T) {
	db := load(t)
	for _, p := range mainPolicies() {
		t.Run(p.name, func(t *testing.T) {
			for _, u := range tools() {
				for _, l := range u.usedLayouts() {
					t.Run(fmt.Sprintf("%s/%v", u.name, l), func(t *testing.T) {
						trial{p, u, l, testnet.Input}.run(t, db)
					})
				}
			}
		})
	}
}

// What else a person may want, once each.
func TestVerdictsOfVariants(t *testing.T) {
	if testing.Short() {
		t.Skip("without -short")
	}
	db := load(t)
	withUnlisted := func(p policy, v compile.Verdict) policy {
		p.name, p.unlisted = fmt.Sprintf("%s, unlisted %v", p.name, v), v
		return p
	}
	localDrop := italy
	localDrop.name, localDrop.dropLocal = "Italy, local drop", true
	block := policy{name: "block CN and RU", countries: "CN,RU", codes: "CN RU", blocks: true}

	for _, x := range []trial{
		{withUnlisted(italy, compile.Pass), nft, compile.IntervalSet, testnet.Input},
		{withUnlisted(italy, compile.Pass), iptablesLegacy, compile.ChainSplit, testnet.Input},
		{withUnlisted(europe, compile.Any), nft, compile.IntervalSet, testnet.Input},
		{withUnlisted(italy, compile.Any), iptablesNFT, compile.ChainSplit, testnet.Input},
		{localDrop, nft, compile.IntervalSet, testnet.Input},
		{localDrop, iptablesNFT, compile.ChainSplit, testnet.Input},
		{block, nft, compile.IntervalSet, testnet.Input},
		{block, iptablesLegacy, compile.ChainSplit, testnet.Input},
		{block, iptablesNFT, compile.ChainSplit, testnet.Input},
		{italy, nft, compile.IntervalSet, testnet.Forward},
		{italy, iptablesLegacy, compile.ChainSplit, testnet.Forward},
		{italy, iptablesNFT, compile.ChainSplit, testnet.Forward},
		// There, sources that routing refuses arrive as well: multicast, 0.0.0.0, the broadcast address.
		{italy, nft, compile.IntervalSet, testnet.Prerouting},
		{localDrop, nft, compile.ChainSplit, testnet.Prerouting},
	} {
		t.Run(fmt.Sprintf("%s at %v/%s/%v", x.policy.name, x.hook, x.tool.name, x.layout), func(t *testing.T) { x.run(t, db) })
	}
}

// trial is a policy put in force in one way.
type trial struct {
	policy policy
	tool   tool
	layout compile.Layout
	hook   testnet.Hook
}

// run puts the policy in force and judges packets of both families.
func (x trial) run(t *testing.T, db *database) {
	testnet.Require(t, x.tool.needs...)
	var n *testnet.Net
	if x.hook == testnet.Forward {
		n = testnet.NewLine(t)
	} else {
		n = testnet.NewPair(t)
	}
	b := x.tool.on(n.Guard())
	start := time.Now()
	program := x.policy.program(t, db, b.Target(), x.layout, x.hook)
	compiled := time.Now()
	require.NoError(t, b.Apply(t.Context(), program))
	t.Logf("compiled in %.2f s, applied in %.2f s", compiled.Sub(start).Seconds(), time.Since(compiled).Seconds())
	for _, f := range cidr.Families() {
		t.Run(f.String(), func(t *testing.T) { x.judge(t, db, n, program, f) })
	}
}

// judge compares, for each source, the four verdicts: the twin's, the decision's, the program's and, if packets from there
// arrive at the hook, the kernel's.
func (x trial) judge(t *testing.T, db *database, n *testnet.Net, program *compile.Program, f cidr.Family) {
	sources := x.policy.sources(t, db, f, x.hook)
	var arriving []netip.Addr
	for _, s := range sources {
		if testnet.Deliverable(s.addr, x.hook) {
			arriving = append(arriving, s.addr)
		}
	}
	start := time.Now()
	done := make(chan []opinion, 1)
	go func() { done <- x.opinions(db, n, program, sources) }()
	outcomes := map[netip.Addr]testnet.Outcome{}
	for _, o := range n.Probe(t, x.hook, testnet.UDP(53), arriving) {
		if o.Arrived {
			outcomes[o.Addr] = o
		}
	}
	probed := time.Now()
	opinions := <-done
	require.Len(t, outcomes, len(arriving), "packets that should have arrived at %v", x.hook)
	require.GreaterOrEqual(t, len(outcomes), leastPackets)

	var wrong []string
	passed, seen := map[bool]int{}, map[string]int{}
	for i, s := range sources {
		o, arrived := outcomes[s.addr]
		if arrived {
			passed[o.Passed]++
			seen[s.kind]++
		}
		if opinions[i].wrong(o) {
			wrong = append(wrong, fmt.Sprintf("%v, %s: %v; the kernel: %v", s.addr, s.kind, opinions[i], o))
		}
	}
	t.Logf("%d packets judged (%d passed, %d dropped) and %d addresses that none comes from; %d wrong; packets %.2f s, all %.2f s",
		len(outcomes), passed[true], passed[false], len(sources)-len(outcomes), len(wrong),
		probed.Sub(start).Seconds(), time.Since(start).Seconds())
	if len(wrong) > 0 {
		t.Errorf("%d of %d verdicts are wrong:", len(wrong), len(sources))
		for _, line := range wrong[:min(len(wrong), 10)] {
			t.Error(line)
		}
	}
	// A sample without variety would prove nothing. From the ends of the IPv6 space no packet can be forwarded.
	require.Greater(t, passed[true], leastPackets/20)
	require.Greater(t, passed[false], leastPackets/20)
	for _, kind := range []string{
		localEdge, localInside, localBeside, chosenEdge, chosenInside, otherEdge, otherInside, unlistedEdge,
		unlistedInside, rowEdge, rowInside, anywhere,
	} {
		require.Positive(t, seen[kind], "packets from an address of the kind %q", kind)
	}
	require.GreaterOrEqual(t, seen[chosenEdge], 2000)
	require.GreaterOrEqual(t, seen[otherEdge], 2000)
	require.True(t, slices.ContainsFunc(sources, func(s source) bool { return !testnet.Deliverable(s.addr, testnet.Input) }))
}

// opinion is what all but the kernel say about an address.
type opinion struct {
	rows        compile.Verdict // the twin
	means, does compile.Ruling  // the decision and the program
	err         error
}

func (o opinion) String() string {
	return fmt.Sprintf("the rows say %v, the decision %v (%s), the program %v (%s), error %v",
		o.rows, o.means.Verdict, o.means.Rule, o.does.Verdict, o.does.Rule, o.err)
}

// wrong reports whether any two of the four do not agree. A verdict that does not matter to the policy still has to be the
// one that the program gives.
func (o opinion) wrong(kernel testnet.Outcome) bool {
	return o.err != nil || o.rows != o.means.Verdict || o.rows != compile.Any && o.rows != o.does.Verdict ||
		kernel.Arrived && kernel.Passed != (o.does.Verdict == compile.Pass)
}

// opinions asks all but the kernel about a first packet from each source.
func (x trial) opinions(db *database, n *testnet.Net, program *compile.Program, sources []source) []opinion {
	packet := compile.Packet{Protocol: compile.UDP, SourcePort: 40000, DestinationPort: 53, In: n.Guard().Device}
	if x.hook == testnet.Forward {
		packet.Out = n.Guard().Inner.Device
	}
	list := make([]opinion, len(sources))
	for i, s := range sources {
		o := &list[i]
		packet.Source, packet.Destination = s.addr, n.Inside.V4.Addr()
		if s.addr.Is6() {
			packet.Destination = n.Inside.V6.Addr()
		}
		o.rows = x.policy.verdict(db, s.addr)
		var err error
		o.means, o.err = program.Decision().Eval(packet)
		o.does, err = program.Eval(packet)
		o.err = errors.Join(o.err, err)
	}
	return list
}
