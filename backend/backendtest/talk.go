package backendtest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// patience is how long to wait for an answer: long where one has to come, and not where none may, since that takes all of
// it.
func patience(expected bool) time.Duration {
	if expected {
		return 5 * time.Second
	}
	return 250 * time.Millisecond
}

// testConversations lets the host ask foreign servers, which get through to it with their answers unless it is deaf, and
// foreign clients ask the host, which do not get through.
func (l *lab) testConversations(t *testing.T, h *testnet.Host, deaf bool) {
	t.Helper()
	for _, foreign := range []netip.Addr{foreign4, foreign6} {
		own := h.V4.Addr()
		if foreign.Is6() {
			own = h.V6.Addr()
		}
		server := netip.AddrPortFrom(l.newForeign(t, foreign), 53)
		client := netip.AddrPortFrom(l.newForeign(t, foreign), 0)
		service := netip.AddrPortFrom(own, uint16(7000+l.talked))
		serve(t, l.net.Outside, server)
		serve(t, h, service)
		for _, network := range []string{"tcp", "udp"} {
			requireTalk(t, !deaf, h, netip.AddrPort{}, network, server)
			requireTalk(t, false, l.net.Outside, client, network, service)
			if !deaf {
				// The one that was just asked cannot start a conversation either.
				requireTalk(t, false, l.net.Outside, netip.AddrPortFrom(server.Addr(), 0), network, service)
			}
		}
	}
}

// newForeign gives Outside one more address, near the given one.
func (l *lab) newForeign(t *testing.T, near netip.Addr) netip.Addr {
	t.Helper()
	l.talked++
	raw := near.AsSlice()
	raw[len(raw)-1] = byte(l.talked)
	a, _ := netip.AddrFromSlice(raw)
	l.net.Outside.AddAddress(t, a)
	return a
}

// testLoopback lets the host talk to itself, by its loopback and by its other addresses.
func (l *lab) testLoopback(t *testing.T) {
	t.Helper()
	for _, a := range []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback(), l.host.V4.Addr(), l.host.V6.Addr()} {
		l.talked++
		service := netip.AddrPortFrom(a, uint16(7000+l.talked))
		serve(t, l.host, service)
		for _, network := range []string{"tcp", "udp"} {
			requireTalk(t, true, l.host, netip.AddrPort{}, network, service)
		}
	}
}

// serve answers on a TCP and a UDP port of the host with what it is sent.
func serve(t *testing.T, h *testnet.Host, address netip.AddrPort) {
	t.Helper()
	l := h.Listen(t, "tcp", address.String())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	p := h.ListenPacket(t, "udp", address.String())
	go func() {
		buf := make([]byte, 100)
		for {
			n, from, err := p.ReadFrom(buf)
			if err != nil {
				return
			}
			p.WriteTo(buf[:n], from)
		}
	}()
}

// requireTalk checks that a server answers the host, or that it does not. The zero from is any address and port.
func requireTalk(t *testing.T, want bool, h *testnet.Host, from netip.AddrPort, network string, server netip.AddrPort) {
	t.Helper()
	err := answer(h, from, network, server, want)
	require.Equal(t, want, err == nil, "%s (%v) asks %v over %s: %v", h.Name, from, server, network, err)
}

// answer asks a server, and returns why there is no answer.
func answer(h *testnet.Host, from netip.AddrPort, network string, server netip.AddrPort, expected bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience(expected))
	defer cancel()
	var c net.Conn
	var err error
	if from.IsValid() {
		c, err = h.DialFrom(ctx, from, network, server.String())
	} else {
		c, err = h.Dial(ctx, network, server.String())
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience(expected))); err != nil {
		return err
	}
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 1))
	return err
}

// testOutput asks the kernel which destinations the host may send to: it says so to the sender.
func (c Config) testOutput(t *testing.T) {
	target := c.New(Machine{}).Target()
	if !slices.Contains(target.Hooks, compile.Output.String()) {
		t.Skip("the backend has no output hook")
	}
	for _, layout := range layouts(t, target) {
		l := c.newSharedLab(t)
		for _, policy := range []compile.Policy{allow(compile.Drop, compile.Output), block(compile.Pass, compile.Output)} {
			p := compiled(t, policy, target, layout)
			l.apply(t, p)
			for _, a := range sources(fewRandoms, chosen, rest) {
				// Some addresses are no unicast destination at all.
				if !testnet.Deliverable(a, testnet.Forward) {
					continue
				}
				err := l.send(a)
				require.True(t, err == nil || errors.Is(err, syscall.EPERM), "sending to %v: %v", a, err)
				want := evaluate(t, p, compile.Packet{
					Hook: compile.Output, Destination: a, Protocol: compile.UDP, DestinationPort: probePort, Out: l.host.Device,
				})
				require.Equal(t, want, err == nil, "sending to %v: %v", a, err)
			}
			l.testLoopback(t)
		}
	}
}

func (l *lab) send(to netip.Addr) error {
	conn, err := l.host.Dial(context.Background(), "udp", netip.AddrPortFrom(to, probePort).String())
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte("x"))
	return err
}

// testReject looks for the answer that tells Reject from Drop.
func (c Config) testReject(t *testing.T) {
	target := c.New(Machine{}).Target()
	for _, layout := range layouts(t, target) {
		l := c.newLab(t)
		for _, verdict := range []compile.Verdict{compile.Reject, compile.Drop} {
			policy := blockForeign(compile.Input, compile.Forward)
			policy.Rules[0].Action.Verdict = verdict
			l.apply(t, compiled(t, policy, target, layout))
			for _, foreign := range []netip.Addr{foreign4, foreign6} {
				for _, h := range []*testnet.Host{l.host, l.net.Inside} {
					own := h.V4.Addr()
					if foreign.Is6() {
						own = h.V6.Addr()
					}
					client := l.newForeign(t, foreign)
					err := answer(l.net.Outside, netip.AddrPortFrom(client, 0), "udp", netip.AddrPortFrom(own, 7), verdict == compile.Reject)
					require.Error(t, err)
					require.Equal(t, verdict == compile.Reject, errors.Is(err, syscall.ECONNREFUSED),
						"%v of %v at %s: %v", verdict, client, h.Name, err)
				}
			}
		}
	}
}

// testPassAndAccept asks what becomes of a packet that passes: other people's rules still see it, unless it is accepted
// on a target where that is final.
func (c Config) testPassAndAccept(t *testing.T) {
	target := c.New(Machine{}).Target()
	others := []netip.Addr{foreign4, foreign6, netip.MustParseAddr("198.51.100.77"), netip.MustParseAddr("2001:db8:5::5")}
	for _, layout := range layouts(t, target) {
		l := c.newSharedLab(t)
		for _, verdict := range []compile.Verdict{compile.Pass, compile.Accept, compile.Drop} {
			policy := blockForeign(compile.Input)
			policy.Rules[0].Action.Verdict = verdict
			l.apply(t, compiled(t, policy, target, layout))
			final := verdict == compile.Accept && target.Features.PassReturns
			l.net.Check(t, testnet.Input, testnet.UDP(OthersPort), others[:2], func(netip.Addr) bool { return final })
			l.net.Check(t, testnet.Input, testnet.UDP(OthersPort), others[2:], func(netip.Addr) bool { return false })
			l.net.Check(t, testnet.Input, testnet.UDP(probePort), others[:2], func(netip.Addr) bool { return verdict != compile.Drop })
		}
	}
}
