package compile

import (
	"context"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func italyOnly() Policy {
	p := AllowOnly("allow IT", cidr.MustParse("198.51.100.0/24", "2001:db8:1::/48"),
		cidr.MustParse("198.51.100.0/22", "203.0.113.0/24", "2001:db8::/32"))
	p.Owner = "geo"
	return p
}

func TestDecisionEval(t *testing.T) {
	keep := italyOnly()
	keep.Keep = cidr.MustParse("203.0.113.7")
	without := italyOnly()
	without.WithoutGuards = []Guard{GuardEstablished, GuardLoopback, GuardICMPv6, GuardDHCP, GuardDHCPv6}
	without.PassLocal = false
	output := italyOnly()
	output.Hooks = []Hook{{Point: Output}}
	anyone := italyOnly()
	anyone.Default.Verdict = Any
	block := Block("block XX", cidr.MustParse("203.0.113.0/24"), cidr.MustParse("198.51.100.0/24", "203.0.113.0/24"))
	block.Owner = "geo"

	foreign := Packet{Source: addr("203.0.113.5"), Destination: addr("192.0.2.1")}
	with := func(p Packet, change func(*Packet)) Packet { change(&p); return p }
	for _, test := range []struct {
		name    string
		policy  Policy
		packet  Packet
		verdict Verdict
		rule    string
	}{
		{"allowed", italyOnly(), Packet{Source: addr("198.51.100.1")}, Pass, "allow IT"},
		{"allowed v6", italyOnly(), Packet{Source: addr("2001:db8:1::1")}, Pass, "allow IT"},
		{"mapped is v4", italyOnly(), Packet{Source: addr("::ffff:198.51.100.1")}, Pass, "allow IT"},
		{"zone is ignored", italyOnly(), Packet{Source: addr("fe80::1%eth0")}, Pass, NameLocal},
		{"listed", italyOnly(), foreign, Drop, "listed but not allowed"},
		{"unlisted", italyOnly(), Packet{Source: addr("8.8.8.8")}, Drop, NameDefault},
		{"unlisted, any", anyone, Packet{Source: addr("8.8.8.8")}, Any, NameDefault},
		{"local", italyOnly(), Packet{Source: addr("192.168.0.5")}, Pass, NameLocal},
		{"local turned off", without, Packet{Source: addr("192.168.0.5")}, Drop, NameDefault},
		{"documentation space is not local", italyOnly(), Packet{Source: addr("192.0.2.1")}, Drop, NameDefault},
		{"never block", keep, Packet{Source: addr("203.0.113.7")}, Pass, NameKeep},
		{"beside never block", keep, Packet{Source: addr("203.0.113.6")}, Drop, "listed but not allowed"},
		{"reply", italyOnly(), with(foreign, func(p *Packet) { p.State = Established }), Pass, "guard established"},
		{"related", italyOnly(), with(foreign, func(p *Packet) { p.State = Related }), Pass, "guard established"},
		{"invalid", italyOnly(), with(foreign, func(p *Packet) { p.State = Invalid }), Drop, "listed but not allowed"},
		{"reply, guard off", without, with(foreign, func(p *Packet) { p.State = Established }), Drop, "listed but not allowed"},
		{"loopback", italyOnly(), with(foreign, func(p *Packet) { p.In = "lo" }), Pass, "guard loopback"},
		{"DHCP reply", italyOnly(), with(foreign, func(p *Packet) {
			p.Protocol, p.SourcePort, p.DestinationPort = UDP, 67, 68
		}), Pass, "guard dhcp"},
		{"DHCP request to us", italyOnly(), with(foreign, func(p *Packet) {
			p.Protocol, p.SourcePort, p.DestinationPort = UDP, 68, 67
		}), Drop, "listed but not allowed"},
		{"DHCPv6 reply", italyOnly(), Packet{Source: addr("2001:db8:2::1"), Protocol: UDP, SourcePort: 547, DestinationPort: 546}, Pass, "guard dhcpv6"},
		{"packet too big", italyOnly(), Packet{Source: addr("2001:db8:2::1"), Protocol: ICMPv6, ICMPType: 2}, Pass, "guard icmpv6"},
		{"neighbour solicitation", italyOnly(), Packet{Source: addr("2001:db8:2::1"), Protocol: ICMPv6, ICMPType: 135}, Pass, "guard icmpv6"},
		{"echo request", italyOnly(), Packet{Source: addr("2001:db8:2::1"), Protocol: ICMPv6, ICMPType: 128}, Drop, "listed but not allowed"},
		{"ICMPv6 in IPv4", italyOnly(), with(foreign, func(p *Packet) { p.Protocol, p.ICMPType = ICMPv6, 135 }), Drop, "listed but not allowed"},
		{"output looks at the destination", output, Packet{Source: addr("198.51.100.1"), Destination: addr("203.0.113.5")}, Drop, "listed but not allowed"},
		{"output, allowed", output, Packet{Source: addr("203.0.113.5"), Destination: addr("198.51.100.1")}, Pass, "allow IT"},
		{"blocked", block, foreign, Drop, "block XX"},
		{"not blocked", block, Packet{Source: addr("198.51.100.1")}, Pass, "listed but not blocked"},
		{"not blocked, unlisted", block, Packet{Source: addr("8.8.8.8")}, Pass, NameDefault},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := Decide(test.policy)
			require.NoError(t, err)
			got, err := d.Eval(test.packet)
			require.NoError(t, err)
			require.Equal(t, Ruling{Verdict: test.verdict, Rule: test.rule}, got)

			for _, target := range []Target{nftLike(), iptablesLike()} {
				for _, l := range Layouts() {
					p, err := d.Compile(context.Background(), target, Options{Layout: l})
					if l == IntervalSet && !target.Features.IntervalSets {
						require.ErrorIs(t, err, ErrUnsupported)
						continue
					}
					require.NoError(t, err)
					does, err := p.Eval(test.packet)
					require.NoError(t, err)
					if test.verdict != Any {
						require.Equal(t, test.verdict, does.Verdict, "%v on %v: %s", l, target.Backend, does.Rule)
					}
				}
			}
		})
	}
}

func TestEvalRefusesWhatIsNoPacket(t *testing.T) {
	p, err := Compile(context.Background(), italyOnly(), nftLike(), Options{})
	require.NoError(t, err)
	for _, packet := range []Packet{
		{},
		{Destination: addr("192.0.2.1")},
		{Source: addr("192.0.2.1"), Destination: addr("2001:db8::1")},
		{Source: addr("192.0.2.1"), Hook: Forward},
		{Source: addr("192.0.2.1"), Hook: 200},
	} {
		_, err := p.Eval(packet)
		require.ErrorIs(t, err, ErrPacket, "%+v", packet)
		_, err = p.Decision().Eval(packet)
		require.ErrorIs(t, err, ErrPacket, "%+v", packet)
	}
}

func TestPolicyThatDoesNotCompile(t *testing.T) {
	early, wrapping := -200, 1<<32-300
	change := func(f func(*Policy)) Policy {
		p := italyOnly()
		p.Rules = append([]Rule{}, p.Rules...)
		f(&p)
		return p
	}
	for _, test := range []struct {
		name   string
		policy Policy
		is     error
		says   string
	}{
		{"zero", Policy{}, ErrName, "needs an owner"},
		{"no rules", Policy{Owner: "geo", Default: Action{Verdict: Drop}}, ErrEmptyPolicy, "no rules"},
		{"empty list", change(func(p *Policy) { p.Rules[0].Addrs = cidr.Set{} }), ErrEmptyRule, `"allow IT"`},
		{"no verdict", change(func(p *Policy) { p.Rules[0].Action = Action{} }), ErrInvalid, "verdict is not set"},
		{"no default", change(func(p *Policy) { p.Default = Action{} }), ErrInvalid, "default"},
		{"unknown verdict", change(func(p *Policy) { p.Default.Verdict = 77 }), ErrInvalid, "default"},
		{"two of a name", change(func(p *Policy) { p.Rules[1].Name = p.Rules[0].Name }), ErrInvalid, "same name"},
		{"name of the compiler's", change(func(p *Policy) { p.Rules[1].Name = NameDefault }), ErrName, "default"},
		{"established at raw", change(func(p *Policy) { p.Hooks = []Hook{{Point: Raw}} }), ErrGuardHook, "before connection tracking"},
		{"established at ingress", change(func(p *Policy) { p.Hooks = []Hook{{Point: Ingress, Device: "eth0"}} }), ErrGuardHook, "before connection tracking"},
		{"established early at prerouting", change(func(p *Policy) { p.Hooks = []Hook{{Point: Prerouting, Priority: &early}} }), ErrGuardHook, `"established"`},
		{"priority that wraps to raw", change(func(p *Policy) { p.Hooks = []Hook{{Point: Prerouting, Priority: &wrapping}} }), ErrInvalid, "priority 4294966996"},
		{"one hook of two", change(func(p *Policy) { p.Hooks = []Hook{{Point: Input}, {Point: Raw}} }), ErrGuardHook, "raw"},
		{"ingress without the guard", change(func(p *Policy) {
			p.Hooks, p.WithoutGuards = []Hook{{Point: Ingress, Device: "eth0"}}, []Guard{GuardEstablished}
		}), ErrUnsupported, "hook ingress"},
		{"ingress without device", change(func(p *Policy) { p.Hooks = []Hook{{Point: Ingress}} }), ErrInvalid, "device"},
		{"device with a quote", change(func(p *Policy) { p.Hooks = []Hook{{Point: Ingress, Device: `eth"0`}} }), ErrName, "interface"},
		{"hook twice", change(func(p *Policy) { p.Hooks = []Hook{{Point: Input}, {Point: Input}} }), ErrInvalid, "twice"},
		{"zero hook", change(func(p *Policy) { p.Hooks = []Hook{{}} }), ErrInvalid, "hooks"},
		{"unknown guard", change(func(p *Policy) { p.WithoutGuards = []Guard{0} }), ErrInvalid, "guards"},
		{"nothing matters", Policy{Owner: "geo", Default: Action{Verdict: Any},
			Rules: []Rule{{Name: "x", Addrs: cidr.MustParse("192.0.2.1"), Action: Action{Verdict: Any}}}}, ErrInvalid, "every verdict is any"},
		{"any with a counter", change(func(p *Policy) { p.Default = Action{Verdict: Any, Counter: true} }), ErrInvalid, "does not matter"},
		{"reversed ports", change(func(p *Policy) {
			p.Rules[0].Services = []Service{{Protocol: TCP, Ports: []Ports{{443, 80}}}}
		}), ErrInvalid, "443-80"},
		{"ports of no protocol", change(func(p *Policy) { p.Rules[0].Services = []Service{{Ports: []Ports{{80, 80}}}} }), ErrInvalid, "no ports"},

		// What no layout handles is refused by its name.
		{"services", change(func(p *Policy) {
			p.Rules[0].Services = []Service{{Protocol: TCP, Ports: []Ports{{22, 22}}}}
		}), ErrUnsupported, "limited to services"},
		{"marks", change(func(p *Policy) { p.Rules[0].Action.Mark = Mark{1, 1} }), ErrUnsupported, "marks"},
		{"logs", change(func(p *Policy) { p.Default.Log = Log{Prefix: "x"} }), ErrUnsupported, "logs"},
		{"limits", change(func(p *Policy) { p.Rules[1].Action.Limit = Limit{Packets: 1} }), ErrUnsupported, "rate limits"},
		{"chains", change(func(p *Policy) { p.Rules[1].Action.Chain = "mine" }), ErrUnsupported, "chains of the caller"},
		{"destination at input", change(func(p *Policy) { p.Rules[0].Side = Destination }), ErrUnsupported, "destination at input"},
		{"reject at prerouting", change(func(p *Policy) {
			p.Hooks, p.Rules[1].Action.Verdict = []Hook{{Point: Prerouting}}, Reject
		}), ErrUnsupported, "reject at prerouting"},
	} {
		t.Run(test.name, func(t *testing.T) {
			prog, err := Compile(context.Background(), test.policy, nftLike(), Options{})
			require.ErrorIs(t, err, test.is)
			require.ErrorContains(t, err, test.says)
			require.Nil(t, prog)
		})
	}
	for _, o := range []Options{
		{Traffic: Traffic{Sources: sources(1, "192.0.2.1", "192.0.2.0-192.0.2.9")}},
		{Traffic: Traffic{Sources: sources(0, "192.0.2.1")}},
		{Traffic: Traffic{Sources: sources(math.NaN(), "192.0.2.1")}},
		{Traffic: Traffic{Sources: sources(math.Inf(1), "2001:db8::1")}},
		{Traffic: Traffic{Sources: func(yield func(cidr.Range, float64) bool) { yield(cidr.Range{}, 1) }}},
		{Traffic: Traffic{Established: 2}},
		{Layout: 99},
	} {
		_, err := Compile(context.Background(), italyOnly(), nftLike(), o)
		require.Error(t, err, "%+v", o)
	}
	_, err := Compile(context.Background(), italyOnly(), Target{}, Options{})
	require.ErrorIs(t, err, ErrUnsupported)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Compile(ctx, italyOnly(), nftLike(), Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// Raw has no connection state, but a policy that does without it may stand there.
func TestRawWithoutEstablished(t *testing.T) {
	p := italyOnly()
	p.Hooks, p.WithoutGuards = []Hook{{Point: Raw}}, []Guard{GuardEstablished}
	prog, err := Compile(context.Background(), p, nftLike(), Options{})
	require.NoError(t, err)
	got, err := prog.Eval(Packet{Source: addr("203.0.113.5"), State: Untracked})
	require.NoError(t, err)
	require.Equal(t, Drop, got.Verdict)
	_, err = Compile(context.Background(), p, iptablesLike(), Options{})
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, "hook raw")
}

func TestNames(t *testing.T) {
	for _, bad := range []string{
		"", "Geo", "geo-x", "geo x", "9geo", "_geo", "geo\n", "geo\"", "geo'", "geo;flush", "geo\x00", "géo", "abcdefghijklm",
		// words of nft's own, countries' codes among them
		"accept", "drop", "ip", "ge", "gt", "lt", "mh", "ne", "th", "ah", "ct", "eq", "le", "or", "rt", "xt", "table", "flush",
	} {
		p := italyOnly()
		p.Owner = bad
		_, err := Decide(p)
		require.ErrorIs(t, err, ErrName, "%q", bad)
		var name *NameError
		require.ErrorAs(t, err, &name)
		require.Equal(t, bad, name.Name)
		require.NotContains(t, err.Error(), "\n")
	}
	for _, good := range []string{"g", "geo", "geo_2", "abcdefghijkl", "de", "cc_ne", "it", "block"} {
		require.NoError(t, CheckOwner(good), good)
	}
	for _, bad := range []string{"", " x", "x ", "a\nflush ruleset", "a\rb", `a"b`, `a'b`, `a\b`, "a;b", "a{b}", "a$b", "a#b", "a`b`", "a\x00", "é", strings.Repeat("a", 101)} {
		p := italyOnly()
		p.Rules[0].Name = bad
		_, err := Decide(p)
		require.ErrorIs(t, err, ErrName, "%q", bad)
		require.NotContains(t, err.Error(), "\n")
	}
	for _, kind := range []func(string) error{
		func(s string) error { _, err := ParseVerdict(s); return err },
		func(s string) error { _, err := ParsePoint(s); return err },
		func(s string) error { _, err := ParseGuard(s); return err },
		func(s string) error { _, err := ParseLayout(s); return err },
	} {
		for _, bad := range []string{"", "none", "x\ny", "drop pass"} {
			require.ErrorIs(t, kind(bad), ErrName, "%q", bad)
		}
	}
}

// A policy can be changed after it was decided without any effect on the decision.
func TestDecisionKeepsNothingOfThePolicysSlices(t *testing.T) {
	p := italyOnly()
	priority := 5
	p.Hooks = []Hook{{Point: Input, Priority: &priority}}
	d, err := Decide(p)
	require.NoError(t, err)
	priority = -400
	require.Equal(t, 5, d.Hooks()[0].EffectivePriority())
	*d.Hooks()[0].Priority = -400
	require.Equal(t, 5, d.Hooks()[0].EffectivePriority())
	p.Rules[0].Name, p.Rules[0].Addrs, p.Hooks[0].Point = "gone", cidr.Set{}, Output
	got, err := d.Eval(Packet{Source: addr("198.51.100.1")})
	require.NoError(t, err)
	require.Equal(t, "allow IT", got.Rule)
}
