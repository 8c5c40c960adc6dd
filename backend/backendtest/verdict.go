package backendtest

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

const (
	probePort  = 5353  // where probes go
	probeFrom  = 40000 // the source port of testnet's probes
	fewRandoms = 4
	allRandoms = 48
)

// requireInForce checks, by packets, that the program is in force on the host at every hook that can be probed, and that
// nothing is at the others. A nil program means that nothing is in force.
func (l *lab) requireInForce(t testing.TB, p *compile.Program, random int) {
	t.Helper()
	sets := []cidr.Set{chosen, rest}
	if p != nil && p.Decision().Policy().PassLocal {
		sets = append(sets, cidr.Local())
	}
	list := sources(random, sets...)
	hooks := []testnet.Hook{testnet.Input, testnet.Forward}
	stands := func(at compile.Point) bool {
		return p != nil && slices.ContainsFunc(p.Decision().Hooks(), func(h compile.Hook) bool { return h.Point == at })
	}
	if stands(compile.Prerouting) || stands(compile.Raw) {
		hooks = []testnet.Hook{testnet.Prerouting}
	}
	for _, hook := range hooks {
		point := pointOf(hook, stands)
		want := func(netip.Addr) bool { return true }
		if stands(point) {
			want = l.verdicts(t, p, point)
		}
		l.net.Check(t, hook, testnet.UDP(probePort), list, want)
	}
	if t.Failed() {
		t.FailNow()
	}
}

func pointOf(hook testnet.Hook, stands func(compile.Point) bool) compile.Point {
	switch {
	case hook == testnet.Input:
		return compile.Input
	case hook == testnet.Forward:
		return compile.Forward
	case stands(compile.Raw):
		return compile.Raw
	}
	return compile.Prerouting
}

// verdicts returns what should happen to probes from an address: what the program says, which has to be what the decision
// says.
func (l *lab) verdicts(t testing.TB, p *compile.Program, at compile.Point) func(netip.Addr) bool {
	return func(a netip.Addr) bool {
		port := l.host.V4
		if a.Is6() {
			port = l.host.V6
		}
		return evaluate(t, p, compile.Packet{
			Hook: at, Source: a, Destination: port.Addr(), Protocol: compile.UDP,
			SourcePort: probeFrom, DestinationPort: probePort, In: l.host.Device,
		})
	}
}

func evaluate(t testing.TB, p *compile.Program, packet compile.Packet) (pass bool) {
	t.Helper()
	got, err := p.Eval(packet)
	require.NoError(t, err)
	want, err := p.Decision().Eval(packet)
	require.NoError(t, err)
	if want.Verdict != compile.Any {
		require.Equal(t, want.Verdict, got.Verdict, "%v: the policy says %q, the program %q", packet.Source, want.Rule, got.Rule)
	}
	return got.Verdict == compile.Pass || got.Verdict == compile.Accept
}

// testApply lets packets judge every layout of every kind of policy at every hook.
func (c Config) testApply(t *testing.T) {
	target := c.New(Machine{}).Target()
	for _, layout := range layouts(t, target) {
		t.Run(layout.String(), func(t *testing.T) {
			// One host for all: each program has to replace the one before without a trace.
			l := c.newSharedLab(t)
			for _, hooks := range [][]compile.Point{
				{compile.Input}, {compile.Forward}, {compile.Input, compile.Forward}, {compile.Prerouting}, {compile.Raw},
			} {
				if !slices.Contains(target.Hooks, hooks[0].String()) {
					continue
				}
				for _, test := range []struct {
					name   string
					policy compile.Policy
				}{
					{"allow, drop unlisted", allow(compile.Drop, hooks...)},
					{"allow, pass unlisted", allow(compile.Pass, hooks...)},
					{"allow, any unlisted", allow(compile.Any, hooks...)},
					{"block, pass unlisted", block(compile.Pass, hooks...)},
					{"block, drop unlisted", block(compile.Drop, hooks...)},
					{"block, any unlisted", block(compile.Any, hooks...)},
					{"mixed", mixed(hooks...)},
					{"everything", everything(hooks...)},
				} {
					if hooks[0] == compile.Raw {
						test.policy.WithoutGuards = []compile.Guard{compile.GuardEstablished}
					}
					if hooks[0] != compile.Input && hooks[0] != compile.Forward && test.name == "mixed" {
						test.policy.Rules = test.policy.Rules[1:] // no reject there
					}
					p := compiled(t, test.policy, target, layout)
					l.apply(t, p)
					l.requireInForce(t, p, allRandoms)
					require.False(t, t.Failed(), "%s at %v", test.name, hooks)
				}
			}
		})
	}
}
