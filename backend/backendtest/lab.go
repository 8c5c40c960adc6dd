package backendtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// lab is a small network with a backend at work on its router.
type lab struct {
	Config
	net  *testnet.Net
	host *testnet.Host
	b    backend.Backend
	// talked counts conversations, so that each has addresses and ports that no earlier one had.
	talked int
}

// newLab returns a lab whose host has no rules at all.
func (c Config) newLab(t testing.TB) *lab {
	t.Helper()
	n := testnet.NewLine(t)
	l := &lab{Config: c, net: n, host: n.Guard()}
	l.b = c.New(l.machine())
	return l
}

// newSharedLab returns a lab whose host has other people's rules.
func (c Config) newSharedLab(t testing.TB) *lab {
	t.Helper()
	l := c.newLab(t)
	c.Others(t, l.host)
	return l
}

func (l *lab) machine() Machine { return Machine{Runner: hostRunner{l.host}, Do: l.host.Do} }

// meddling returns a second backend on the same host, of whose commands each goes to meet instead.
func (l *lab) meddling(meet func(ctx context.Context, c *command) result) backend.Backend {
	m := l.machine()
	m.Runner = &meddler{next: m.Runner, meet: meet}
	return l.New(m)
}

func (l *lab) snapshot(t testing.TB) string {
	t.Helper()
	return l.Snapshot(t, l.host)
}

// requireSnapshot fails, showing the lines that differ, if the rulesets of the host are not as wanted.
func (l *lab) requireSnapshot(t testing.TB, want, format string, args ...any) {
	t.Helper()
	if now := l.snapshot(t); now != want {
		require.Fail(t, fmt.Sprintf(format, args...), "the rulesets differ: - wanted, + found\n%s", difference(want, now))
	}
}

// difference lists the lines by which two texts differ, but not a common start or end.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	start := 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
		start++
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	out := fmt.Sprintf("@ line %d", start+1)
	for _, side := range []struct {
		mark  string
		lines []string
	}{{"-", a}, {"+", b}} {
		for i, line := range side.lines {
			if i == 30 {
				out += fmt.Sprintf("\n%s ... and %d more", side.mark, len(side.lines)-i)
				break
			}
			out += "\n" + side.mark + line
		}
	}
	return out
}

func (l *lab) apply(t testing.TB, p *compile.Program) {
	t.Helper()
	require.NoError(t, l.b.Apply(context.Background(), p))
}

// load loads the artifacts as a user would who has only their text.
func (l *lab) load(t testing.TB, p *compile.Program) {
	t.Helper()
	for _, a := range artifacts(t, l.b, p) {
		for _, words := range a.Loads {
			l.host.Run(t, text(t, a), words[0], words[1:]...)
		}
	}
}

func artifacts(t testing.TB, b backend.Backend, p *compile.Program) []backend.Artifact {
	t.Helper()
	list, err := b.Render(p)
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return list
}

func text(t testing.TB, a backend.Artifact) string {
	t.Helper()
	s, err := a.Text()
	require.NoError(t, err)
	return s
}

// hostRunner runs commands on a test host.
type hostRunner struct{ h *testnet.Host }

func (r hostRunner) Run(ctx context.Context, stdin io.Reader, name string, args ...string) (stdout, stderr []byte, err error) {
	doErr := r.h.Do(func() error {
		stdout, stderr, err = backend.Exec{}.Run(ctx, stdin, name, args...)
		return nil
	})
	if doErr != nil {
		err = doErr
	}
	return stdout, stderr, err
}

// meddler lets meet stand in for each command.
type meddler struct {
	next  backend.Runner
	meet  func(ctx context.Context, c *command) result
	count int
}

// command is a command that a backend runs.
type command struct {
	number int    // from 0
	fed    bool   // it has a standard input
	stdin  []byte // all of it
	name   string
	args   []string
	next   backend.Runner
}

// result is what a Runner returns.
type result struct {
	stdout, stderr []byte
	err            error
}

func (m *meddler) Run(ctx context.Context, stdin io.Reader, name string, args ...string) ([]byte, []byte, error) {
	c := &command{number: m.count, name: name, args: args, next: m.next}
	m.count++
	if stdin != nil {
		var err error
		if c.stdin, err = io.ReadAll(stdin); err != nil {
			return nil, nil, err
		}
		c.fed = true
	}
	r := m.meet(ctx, c)
	return r.stdout, r.stderr, r.err
}

// run runs the command on the host, with the given standard input if it has one.
func (c *command) run(ctx context.Context, stdin []byte) (r result) {
	var in io.Reader
	if c.fed {
		in = bytes.NewReader(stdin)
	}
	r.stdout, r.stderr, r.err = c.next.Run(ctx, in, c.name, c.args...)
	return r
}

func (c *command) String() string { return strings.Join(append([]string{c.name}, c.args...), " ") }
