//go:build linux

package testnet

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netns"
)

// here names the network namespace of the calling thread.
func here(t testing.TB) string {
	h, err := netns.Get()
	require.NoError(t, err)
	defer h.Close()
	return h.UniqueId()
}

func TestDo(t *testing.T) {
	Require(t)
	n := NewPair(t)
	home := here(t)
	outside, inside := n.Outside.handle.UniqueId(), n.Inside.handle.UniqueId()
	require.NotEqual(t, home, inside)
	require.NotEqual(t, outside, inside)

	require.NoError(t, n.Inside.Do(func() error {
		require.Equal(t, inside, here(t))
		// Nested, and back.
		require.NoError(t, n.Outside.Do(func() error {
			require.Equal(t, outside, here(t))
			return nil
		}))
		require.Equal(t, inside, here(t))

		devices, err := net.Interfaces()
		require.NoError(t, err)
		require.Len(t, devices, 2)
		return nil
	}))
	require.Equal(t, home, here(t))

	failure := errors.New("failure")
	require.Equal(t, failure, n.Inside.Do(func() error { return failure }))
}

func TestDoEndsWithTheGoroutine(t *testing.T) {
	Require(t)
	n := NewPair(t)
	// The same goroutine goes on after a panic, and must be at home.
	home := here(t)
	require.PanicsWithValue(t, "boom", func() {
		n.Inside.Do(func() error { panic("boom") })
	})
	require.Equal(t, home, here(t))

	r := record(t, func(t testing.TB) {
		n.Inside.Do(func() error {
			t.Fatal("inside")
			return nil
		})
	})
	require.Equal(t, "inside", r.failed)
	for range 20 {
		done := make(chan string)
		go func() { done <- here(t) }()
		require.Equal(t, home, <-done, "no thread may be left in a namespace")
	}
}

func TestCommandsInheritTheNamespace(t *testing.T) {
	Require(t)
	n := NewPair(t)
	for _, h := range []*Host{n.Outside, n.Inside} {
		var want string
		require.NoError(t, h.Do(func() (err error) {
			want, err = os.Readlink("/proc/thread-self/ns/net")
			return err
		}))
		require.Equal(t, want, strings.TrimSpace(h.Run(t, "", "readlink", "/proc/self/ns/net")))

		require.NoError(t, h.Do(func() error {
			out, err := exec.Command("readlink", "/proc/self/ns/net").Output()
			require.Equal(t, want, strings.TrimSpace(string(out)))
			return err
		}))
	}
}

func TestRun(t *testing.T) {
	Require(t)
	n := NewPair(t)
	require.Equal(t, "some input", n.Inside.Run(t, "some input", "cat"))

	r := record(t, func(t testing.TB) { n.Inside.Run(t, "", "sh", "-c", "echo broken >&2; exit 3") })
	require.Equal(t, "inside: sh -c echo broken >&2; exit 3: exit status 3: broken", r.failed)

	out, err := n.Inside.Output(t.Context(), "", "sh", "-c", "echo half; echo broken >&2; exit 3")
	require.Equal(t, "half\n", out)
	var failed *CommandError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "broken\n", failed.Stderr)
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 3, exit.ExitCode())

	_, err = n.Inside.Output(t.Context(), "", "no-such-command")
	require.ErrorIs(t, err, exec.ErrNotFound)

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = n.Inside.Output(ctx, "", "sleep", "60")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestHostsAreGoneAfterTheTest(t *testing.T) {
	Require(t)
	var n *Net
	t.Run("inner", func(t *testing.T) { n = NewLine(t) })
	for _, h := range []*Host{n.Outside, n.Router, n.Inside} {
		require.ErrorContains(t, h.Do(func() error { return nil }), "its test has ended")
	}
}

func TestTheMachineIsNotTouched(t *testing.T) {
	Require(t)
	before, err := net.Interfaces()
	require.NoError(t, err)
	n := NewLine(t)
	after, err := net.Interfaces()
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.NoFileExists(t, "/var/run/netns/"+n.Inside.Name)

	r := record(t, func(t testing.TB) { n.Inside.Sysctl(t, "kernel.hostname", "x") })
	require.Contains(t, r.failed, "not of one network namespace only")
	r = record(t, func(t testing.TB) { n.Inside.Sysctl(t, "net/../kernel/hostname", "x") })
	require.Contains(t, r.failed, "not of one network namespace only")
}

// echo answers on a TCP and a UDP port of the host.
func echo(t *testing.T, h *Host, address string) {
	l := h.Listen(t, "tcp", address)
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
	p := h.ListenPacket(t, "udp", address)
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := p.ReadFrom(buf)
			if err != nil {
				return
			}
			p.WriteTo(buf[:n], from)
		}
	}()
}

// talk sends a word to an echo and returns the address it was heard from.
func talk(t *testing.T, dial func(network string) (net.Conn, error)) error {
	for _, network := range []string{"tcp", "udp"} {
		c, err := dial(network)
		if err != nil {
			return err
		}
		defer c.Close()
		require.NoError(t, c.SetDeadline(time.Now().Add(time.Second)))
		if _, err := io.WriteString(c, "hello"); err != nil {
			return err
		}
		buf := make([]byte, 5)
		if _, err := io.ReadFull(c, buf); err != nil {
			return err
		}
		require.Equal(t, "hello", string(buf))
	}
	return nil
}

func TestSockets(t *testing.T) {
	Require(t)
	converse(t, NewPair(t))
	converse(t, NewLine(t))

	_, err := NewPair(t).Inside.Dial(t.Context(), "tcp", "localhost:7")
	require.Error(t, err)
}

// converse lets Outside talk to Inside.
func converse(t *testing.T, n *Net) {
	for _, dst := range []netip.Addr{n.Inside.V4.Addr(), n.Inside.V6.Addr()} {
		server := netip.AddrPortFrom(dst, 7).String()
		echo(t, n.Inside, server)
		require.NoError(t, talk(t, func(network string) (net.Conn, error) {
			return n.Outside.Dial(t.Context(), network, server)
		}), dst)
	}
}

// Inside talks to a foreign server, which Outside plays.
func TestForeignAddresses(t *testing.T) {
	Require(t)
	for _, n := range []*Net{NewPair(t), NewLine(t)} {
		for _, addr := range addrs("8.8.8.8", "2a00:1450::8888") {
			n.Outside.AddAddress(t, addr)
			server := netip.AddrPortFrom(addr, 53)
			echo(t, n.Outside, server.String())
			require.NoError(t, talk(t, func(network string) (net.Conn, error) {
				return n.Inside.Dial(t.Context(), network, server.String())
			}), addr)

			// And the foreign host calls back.
			inside := netip.AddrPortFrom(n.Inside.addr(addr), 7).String()
			echo(t, n.Inside, inside)
			require.NoError(t, talk(t, func(network string) (net.Conn, error) {
				c, err := n.Outside.DialFrom(t.Context(), netip.AddrPortFrom(addr, 0), network, inside)
				if err == nil {
					require.Contains(t, c.LocalAddr().String(), addr.String())
				}
				return c, err
			}), addr)
		}
	}
}

func TestForwarding(t *testing.T) {
	Require(t)
	n := NewLine(t)
	n.Router.SetForwarding(t, false)
	for _, dst := range []netip.Addr{n.Inside.V4.Addr(), n.Inside.V6.Addr()} {
		server := netip.AddrPortFrom(dst, 7).String()
		echo(t, n.Inside, server)
		call := func(network string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			return n.Outside.Dial(ctx, network, server)
		}
		require.Error(t, talk(t, call), dst)
		n.Router.SetForwarding(t, true)
		require.NoError(t, talk(t, call), dst)
		n.Router.SetForwarding(t, false)
	}
}

func TestRunInCleanup(t *testing.T) {
	Require(t)
	n := NewPair(t)
	t.Cleanup(func() { require.Equal(t, "x", n.Inside.Run(t, "x", "cat")) })
}
