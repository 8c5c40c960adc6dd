//go:build linux

package iptables

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

func TestMain(m *testing.M) { testnet.Main(m) }

// onHost is a Runner that runs commands on a test host.
type onHost struct {
	h    *testnet.Host
	exec backend.Exec
	// payload, if not nil, changes what a restore command reads.
	payload func(tool string, text []byte) []byte
}

func (r *onHost) Run(ctx context.Context, stdin io.Reader, name string, args ...string) (out, errs []byte, err error) {
	if r.payload != nil && stdin != nil {
		text, err := io.ReadAll(stdin)
		if err != nil {
			return nil, nil, err
		}
		stdin = bytes.NewReader(r.payload(name, text))
	}
	doErr := r.h.Do(func() error {
		out, errs, err = r.exec.Run(ctx, stdin, name, args...)
		return nil
	})
	if doErr != nil {
		return nil, nil, doErr
	}
	return out, errs, err
}

// eachVariant runs the test for each variant on the guard of a pair of hosts.
func eachVariant(t *testing.T, test func(t *testing.T, v Variant, n *testnet.Net)) {
	for _, v := range []Variant{Legacy, NFT} {
		t.Run(string(v), func(t *testing.T) {
			need := testnet.IPTablesLegacy
			if v == NFT {
				need = testnet.IPTablesNFT
			}
			testnet.Require(t, need, testnet.Conntrack)
			test(t, v, testnet.NewPair(t))
		})
	}
}

// saved returns the tables of both families, without counters.
func saved(t *testing.T, h *testnet.Host, v Variant) (out [2]string) {
	for i, f := range cidr.Families() {
		out[i] = h.Saved(t, v.tool(f, "save"))
	}
	return out
}

// counted returns them with the counters of those rules that none of the hosts' own packets (multicast listener reports)
// meet. Policies of built-in chains are not among them: the legacy tools set their counters to zero at any change of a
// table, whoever makes it, and the others do not count there.
func counted(t *testing.T, h *testnet.Host, v Variant) (out [2]string) {
	for i, f := range cidr.Families() {
		for line := range strings.Lines(h.Run(t, "", v.tool(f, "save"), "--counters")) {
			switch {
			case strings.HasPrefix(line, "#"):
			case strings.Contains(line, "-p udp") || strings.Contains(line, "-s "):
				out[i] += line
			case strings.HasPrefix(line, ":"):
				out[i] += line[:strings.LastIndexByte(line, '[')] + "\n"
			default:
				_, rest := cutCounters([]byte(line))
				out[i] += string(rest)
			}
		}
	}
	return out
}

// inhabit loads what other people have in the table, and lets their rules count something.
func inhabit(t *testing.T, n *testnet.Net, v Variant) {
	const others = `*filter
:FORWARD DROP [0:0]
:DOCKER - [0:0]
:cidrc-geo2-in - [0:0]
-A INPUT -p udp -m comment --comment "theirs, not -j cidrc-geo-in" -j DOCKER
-A INPUT -m comment --comment "cidrc: policy of owner geo2" -j cidrc-geo2-in
-A FORWARD -i lo -j ACCEPT
-A DOCKER -p udp -m udp --dport 7 -j RETURN
-A cidrc-geo2-in -p udp -m udp --dport 9 -j DROP
COMMIT
*raw
-A PREROUTING -i nowhere -j ACCEPT
COMMIT
`
	for _, f := range cidr.Families() {
		n.Guard().Run(t, others, v.tool(f, "restore"), "-w", "5", "--noflush")
	}
	for _, o := range n.Probe(t, testnet.Input, testnet.UDP(7), addrs("198.51.100.9", "2001:db8:9::9")) {
		require.True(t, o.Passed)
	}
	for _, table := range counted(t, n.Guard(), v) {
		require.Regexp(t, `\[[1-9]\d*:\d+\] -A DOCKER`, table)
	}
}

// withoutOwner removes an owner's chains and jumps from a saved table.
func withoutOwner(saved [2]string, owner string) [2]string {
	for i, table := range saved {
		saved[i] = ""
		for line := range strings.Lines(table) {
			own := strings.Contains(line, ":cidrc-"+owner+"-") || strings.Contains(line, "-A cidrc-"+owner+"-") ||
				strings.Contains(line, `"cidrc: policy of owner `+owner+`"`)
			if !own {
				saved[i] += line
			}
		}
	}
	return saved
}

func addrs(list ...string) []netip.Addr {
	var out []netip.Addr
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

// A payload goes to both tools of a variant as it is, they list what it says, line by line, and its removal leaves
// nothing. Cut short after any line it is refused.
func TestKernelPayload(t *testing.T) {
	eachVariant(t, func(t *testing.T, v Variant, n *testnet.Net) {
		inhabit(t, n, v)
		h := n.Guard()
		before := counted(t, h, v)
		b := New(Default, nil) // it takes programs for all variants, whose payloads are the same
		for name, prog := range goldens(t) {
			arts, err := b.Render(prog)
			require.NoError(t, err)
			text, err := arts[0].Text()
			require.NoError(t, err)
			for _, f := range cidr.Families() {
				tool, args := v.tool(f, "restore"), b.restoreArgs()
				lines := strings.SplitAfter(text, "\n")
				for cut := 1; cut < len(lines)-1 && name == "block-input-linear"; cut++ {
					_, err := h.Output(t.Context(), strings.Join(lines[:cut], ""), tool, args...)
					require.Error(t, err, "%s: %d lines", name, cut)
				}
				require.Equal(t, before, withoutOwner(counted(t, h, v), prog.Owner))
				h.Run(t, text, tool, args...)
			}
			for i, table := range saved(t, h, v) {
				require.Equal(t, ownLines(text, cidr.Families()[i]), savedLines(table, prog.Owner), name)
			}
			require.Equal(t, before, withoutOwner(counted(t, h, v), prog.Owner))

			removals, err := b.RenderRemoval(prog)
			require.NoError(t, err)
			text, err = removals[0].Text()
			require.NoError(t, err)
			for _, f := range cidr.Families() {
				h.Run(t, text, v.tool(f, "restore"), b.restoreArgs()...)
			}
			require.Equal(t, before, counted(t, h, v))
		}
	})
}

// ownLines returns what a family's table should list after the payload: chains and rules, sorted.
func ownLines(payload string, f cidr.Family) []string {
	var out []string
	gone := map[string]bool{}
	for line := range strings.Lines(payload) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, fmt.Sprintf("-%d ", 4+6-f)); ok && rest != "" {
			continue
		}
		line = strings.TrimPrefix(line, fmt.Sprintf("-%d ", f))
		switch {
		case strings.HasPrefix(line, "-X "):
			gone[line[3:]] = true
		case strings.HasPrefix(line, ":"):
			out = append(out, strings.TrimSuffix(line, " [0:0]"))
		case strings.HasPrefix(line, "-I "):
			words := strings.SplitN(line, " ", 4)
			out = append(out, "-A "+words[1]+" "+words[3])
		case strings.HasPrefix(line, "-A "):
			out = append(out, line)
		}
	}
	out = slices.DeleteFunc(out, func(line string) bool { return line[0] == ':' && gone[strings.Fields(line[1:])[0]] })
	slices.Sort(out)
	return out
}

// savedLines returns what a saved table lists of the owner, sorted.
func savedLines(table, owner string) []string {
	var out []string
	rest := withoutOwner([2]string{table}, owner)[0]
	for line := range strings.Lines(table) {
		if !strings.Contains(rest, line) {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	slices.Sort(out)
	return out
}

// Whatever is applied over whatever, other people's things and all their counters stay, applying again changes nothing,
// and removing leaves nothing.
func TestKernelApply(t *testing.T) {
	eachVariant(t, func(t *testing.T, v Variant, n *testnet.Net) {
		inhabit(t, n, v)
		h := n.Guard()
		before := counted(t, h, v)
		b := New(v, &onHost{h: h})

		small := block(t)
		everywhere := allow(t)
		everywhere.Owner = "geo"
		everywhere.Hooks = hooks(compile.Output, compile.Input, compile.Forward)
		rejecting := allow(t)
		rejecting.Owner = "geo"
		rejecting.Hooks = hooks(compile.Forward)
		rejecting.Default = compile.Action{Verdict: compile.Reject}
		for _, p := range []compile.Policy{small, everywhere, rejecting, small} {
			for _, l := range []compile.Layout{compile.Linear, compile.ChainSplit, compile.ChainTree} {
				prog := compiled(t, p, v, l)
				require.NoError(t, b.Apply(t.Context(), prog))
				require.Equal(t, before, withoutOwner(counted(t, h, v), "geo"))
				once := saved(t, h, v)
				require.NoError(t, b.Apply(t.Context(), prog))
				require.Equal(t, once, saved(t, h, v))
				for i, f := range cidr.Families() {
					want, err := wantedBy(prog, f)
					require.NoError(t, err)
					require.Len(t, savedLines(once[i], "geo"),
						strings.Count(string(want.rules), "\n")+len(prog.Decision().Hooks()))
				}
			}
		}

		// Loaded by hand over it, twice.
		arts, err := b.Render(compiled(t, small, v, compile.Linear))
		require.NoError(t, err)
		text, err := arts[0].Text()
		require.NoError(t, err)
		for _, load := range slices.Concat(arts[0].Loads, arts[0].Loads) {
			h.Run(t, text, load[0], load[1:]...)
		}
		require.Equal(t, 3, strings.Count(saved(t, h, v)[1], "-A INPUT -m comment --comment \"cidrc: policy of owner geo\" "))
		require.NoError(t, b.Apply(t.Context(), compiled(t, small, v, compile.Linear)))
		require.Equal(t, 1, strings.Count(saved(t, h, v)[1], "-A INPUT -m comment --comment \"cidrc: policy of owner geo\" "))
		for _, load := range arts[0].Loads {
			h.Run(t, text, load[0], load[1:]...)
		}
		require.NoError(t, b.Remove(t.Context(), "geo"))
		require.Equal(t, before, counted(t, h, v))
		require.NoError(t, b.Remove(t.Context(), "geo"))

		_, err = b.Probe(t.Context())
		require.NoError(t, err)
	})
}

// If the second family is refused, the first is as it was, counters included.
func TestKernelPutBack(t *testing.T) {
	eachVariant(t, func(t *testing.T, v Variant, n *testnet.Net) {
		inhabit(t, n, v)
		h := n.Guard()
		runner := &onHost{h: h}
		b := New(v, runner)
		require.NoError(t, b.Apply(t.Context(), compiled(t, block(t), v, compile.ChainSplit)))
		n.Probe(t, testnet.Input, testnet.UDP(7), addrs("192.0.2.9", "2001:db8:1::9", "2001:db8:2::9"))
		before := counted(t, h, v)
		require.Regexp(t, `\[[1-9]\d*:\d+\] -A cidrc-geo-in-2001`, before[1])
		requireBack := func() {
			after := counted(t, h, v)
			if v == NFT {
				// ip6tables-nft-restore 1.8.9 does not set counters, whatever it is told.
				require.Equal(t, withoutOwner(before, "geo"), withoutOwner(after, "geo"))
				require.True(t, sameRules([]byte(before[1]), []byte(after[1])))
				return
			}
			require.Equal(t, before, after)
		}

		p := allow(t)
		p.Owner = "geo"
		p.Hooks = hooks(compile.Forward)
		runner.payload = func(tool string, text []byte) []byte {
			if strings.HasPrefix(tool, "iptables") {
				return text[:len(text)/2]
			}
			return text
		}
		err := b.Apply(t.Context(), compiled(t, p, v, compile.Linear))
		require.ErrorIs(t, err, backend.ErrRefused)
		var e *backend.Error
		require.ErrorAs(t, err, &e)
		require.Empty(t, e.Left)
		requireBack()

		runner.payload = func(tool string, text []byte) []byte {
			return bytes.Replace(text, []byte("-s 203.0.113.0/25"), []byte("-s 203.0.113.0/255"), 1)
		}
		err = b.Apply(t.Context(), compiled(t, p, v, compile.Linear))
		require.ErrorIs(t, err, backend.ErrRefused)
		require.ErrorContains(t, err, "the line is: -A cidrc-geo-fwd-v4 -s 203.0.113.0/25 -j RETURN")
		requireBack()
	})
}

// The kernel decides as the policy does.
func TestKernelVerdicts(t *testing.T) {
	eachVariant(t, func(t *testing.T, v Variant, n *testnet.Net) {
		h := n.Guard()
		b := New(v, &onHost{h: h})
		sources := addrs("192.0.1.255", "192.0.2.9", "192.0.2.255", "192.0.3.0", "198.51.100.6", "198.51.100.7", "198.51.100.8",
			"203.0.113.1", "203.0.113.127", "203.0.113.128", "8.8.8.8", "10.0.0.1", "2001:db8:0:ffff::1", "2001:db8:1::",
			"2001:db8:1:ffff::1", "2001:db8:2::", "2a00::1", "fd00::1", "fe80::9", "::2")
		for _, p := range []compile.Policy{block(t), allow(t)} {
			for _, forRest := range []compile.Verdict{compile.Pass, compile.Drop, compile.Reject, compile.Accept} {
				p.Owner = "geo"
				p.Default = compile.Action{Verdict: forRest}
				for _, l := range []compile.Layout{compile.Linear, compile.ChainSplit, compile.ChainTree} {
					prog := compiled(t, p, v, l)
					require.NoError(t, b.Apply(t.Context(), prog))
					n.Check(t, testnet.Input, testnet.TCP(443), sources, func(a netip.Addr) bool {
						r, err := prog.Decision().Eval(compile.Packet{Source: a, Protocol: compile.TCP, DestinationPort: 443})
						require.NoError(t, err)
						return r.Verdict == compile.Pass || r.Verdict == compile.Accept
					})
				}
			}
		}

		// What passes is still seen by the administrator's rules, what is accepted is not.
		p := block(t)
		p.Rules[1] = compile.Rule{Name: "friends", Addrs: set(t, "203.0.113.0/24", "2a00::/16"), Action: compile.Action{Verdict: compile.Accept}}
		require.NoError(t, b.Apply(t.Context(), compiled(t, p, v, compile.ChainSplit)))
		for _, f := range cidr.Families() {
			h.Run(t, "*filter\n-A INPUT -p tcp -j DROP\nCOMMIT\n", v.tool(f, "restore"), "-w", "5", "--noflush")
		}
		friends := p.Rules[1].Addrs
		n.Check(t, testnet.Input, testnet.TCP(443), sources, friends.Contains)
	})
}

// Guards come before any address: answers to this host's own requests, neighbour discovery, replies of DHCP.
func TestKernelGuards(t *testing.T) {
	eachVariant(t, func(t *testing.T, v Variant, n *testnet.Net) {
		p := compile.AllowOnly("nobody", set(t, "192.0.2.200/32", "2001:db8:7::/48"), cidr.Set{})
		p.Owner, p.PassLocal = "geo", false
		require.NoError(t, New(v, &onHost{h: n.Guard()}).Apply(t.Context(), compiled(t, p, v, compile.ChainSplit)))
		none := func(netip.Addr) bool { return false }
		all := func(netip.Addr) bool { return true }
		v4, v6 := addrs("8.8.8.8"), addrs("2a00:1450::8888", "fe80::9")
		n.Check(t, testnet.Input, testnet.UDP(53), slices.Concat(v4, v6), none)
		n.Check(t, testnet.Input, testnet.UDP(68).From(67), v4, all)
		n.Check(t, testnet.Input, testnet.UDP(546).From(547), v6, all)
		for _, typ := range []uint8{1, 2, 3, 4, 130, 131, 132, 133, 134, 135, 136, 143} {
			n.Check(t, testnet.Input, testnet.ICMPv6(typ), v6, all)
		}
		n.Check(t, testnet.Input, testnet.ICMPv6(128), v6, none)
		n.Check(t, testnet.Input, testnet.ICMPv6(128), addrs("2001:db8:7::1"), all)

		for _, foreign := range addrs("8.8.8.8", "2a00:1450::8888") {
			n.Outside.AddAddress(t, foreign)
			server := netip.AddrPortFrom(foreign, 53).String()
			l := n.Outside.Listen(t, "tcp", server)
			go func() {
				if c, err := l.Accept(); err == nil {
					io.WriteString(c, "answer")
					c.Close()
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			c, err := n.Inside.Dial(ctx, "tcp", server)
			require.NoError(t, err)
			defer c.Close()
			require.NoError(t, c.SetDeadline(time.Now().Add(5*time.Second)))
			answer, err := io.ReadAll(c)
			require.NoError(t, err)
			require.Equal(t, "answer", string(answer))
		}
		l := n.Inside.Listen(t, "tcp", "127.0.0.1:7")
		require.NoError(t, n.Inside.Do(func() error {
			c, err := net.DialTimeout("tcp", l.Addr().String(), time.Second)
			if err == nil {
				c.Close()
			}
			return err
		}))
	})
}

// While programs replace each other, no packet that all of them drop gets through.
func TestKernelReplaceUnderTraffic(t *testing.T) {
	eachVariant(t, func(t *testing.T, v Variant, n *testnet.Net) {
		b := New(v, &onHost{h: n.Guard()})
		programs := []*compile.Program{compiled(t, block(t), v, compile.Linear), compiled(t, block(t), v, compile.ChainSplit)}
		require.NoError(t, b.Apply(t.Context(), programs[0]))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		var replaced atomic.Int64
		go func() {
			for i := 1; ; i++ {
				if err := b.Apply(ctx, programs[i%2]); err != nil {
					done <- err
					return
				}
				replaced.Add(1)
			}
		}()
		var blocked []netip.Addr
		for i := range 256 {
			blocked = append(blocked, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}))
		}
		for replaced.Load() < 10 && !t.Failed() {
			n.Check(t, testnet.Input, testnet.UDP(9), blocked, func(netip.Addr) bool { return false })
		}
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		// The last one was ended somewhere. Both families have the same one of the programs.
		tables := saved(t, n.Guard(), v)
		require.Equal(t, strings.Contains(tables[0], ":cidrc-geo-in-192 "), strings.Contains(tables[1], ":cidrc-geo-in-2001 "))
	})
}
