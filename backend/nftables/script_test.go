package nftables_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// fakeRunner notes what it is asked to run, and answers with what it holds.
type fakeRunner struct {
	stdout, stderr string
	err            error
	commands       []string
	stdin          string
}

func (f *fakeRunner) Run(_ context.Context, stdin io.Reader, name string, args ...string) ([]byte, []byte, error) {
	f.commands = append(f.commands, strings.Join(append([]string{name}, args...), " "))
	if stdin != nil {
		b, err := io.ReadAll(stdin)
		if err != nil {
			return nil, nil, err
		}
		f.stdin = string(b)
	}
	return []byte(f.stdout), []byte(f.stderr), f.err
}

func TestApplyRunsOneCommand(t *testing.T) {
	p := compiled(t, blocking(cidr.MustParse("192.0.2.0/24")), compile.IntervalSet)
	run := &fakeRunner{}
	b := nftables.NewScript(run)
	require.NoError(t, b.Apply(t.Context(), p))
	require.Equal(t, []string{"nft -f -"}, run.commands)
	require.Equal(t, script(t, p), run.stdin)
	artifacts, err := b.Render(p)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"nft", "-f", "-"}}, artifacts[0].Loads)
	require.Equal(t, "geo.nft", artifacts[0].Name)
	require.Equal(t, backend.Rules, artifacts[0].Phase)
	require.Zero(t, artifacts[0].Family)

	require.NoError(t, b.Remove(t.Context(), "geo"))
	require.Equal(t, []string{"nft -f -", "nft -f -"}, run.commands)
	require.Equal(t, "add table inet cidrc_geo; delete table inet cidrc_geo\n", run.stdin)
}

// What nft and the kernel say, and what it means.
func TestErrors(t *testing.T) {
	p := compiled(t, blocking(cidr.MustParse("192.0.2.0/24")), compile.IntervalSet)
	exit := &backend.ExitError{Command: "nft -f -", Code: 1}
	broken := errors.New("broken pipe")
	for _, test := range []struct {
		stderr string
		err    error
		want   error
		left   bool
	}{
		{"/dev/stdin:2:1-9: Error: Could not process rule: Operation not permitted\n", exit, backend.ErrPrivilege, false},
		{"Operation not permitted (you must be root)\nnetlink: Error: cache initialization failed: Operation not permitted\n", exit, backend.ErrPrivilege, false},
		{"netlink: Error: Could not process rule: Message too long\n", exit, backend.ErrBuffer, false},
		{"netlink: Error: Could not process rule: No buffer space available\n", exit, backend.ErrBuffer, false},
		{"Error: Could not process rule: Operation not supported\n", exit, backend.ErrMissing, false},
		{"netlink: Error: cache initialization failed: Protocol not supported\n", exit, backend.ErrMissing, false},
		{"/dev/stdin:7:12-14: Error: syntax error, unexpected ip\n", exit, backend.ErrRefused, false},
		{"", exit, backend.ErrRefused, false},
		{"", &backend.ExitError{Command: "nft", Code: -1}, backend.ErrRefused, true},
		{"", fmt.Errorf("nft: %w", backend.ErrNoTool), backend.ErrNoTool, false},
		{"", context.Canceled, context.Canceled, true},
		{"", context.DeadlineExceeded, context.DeadlineExceeded, true},
		{"", broken, broken, true},
		{"", broken, backend.ErrRefused, true},
	} {
		run := &fakeRunner{stderr: test.stderr, err: test.err}
		b := nftables.NewScript(run)
		_, probeErr := b.Probe(t.Context())
		for op, err := range map[string]error{"apply": b.Apply(t.Context(), p), "remove": b.Remove(t.Context(), "geo"), "probe": probeErr} {
			require.ErrorIs(t, err, test.want, "%s: %q", op, test.stderr)
			var e *backend.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, "nftables", e.Backend)
			require.Equal(t, op, e.Op)
			require.Equal(t, strings.TrimSpace(test.stderr), e.Detail)
			require.Equal(t, test.left && op != "probe", e.Left != "", "%s: %v", op, err)
			if test.stderr == "" {
				require.NotContains(t, err.Error(), "\n")
			}
		}
	}
}

func TestProbeWithFake(t *testing.T) {
	run := &fakeRunner{stdout: "nftables v1.0.6 (Lester Gooch #5)\n"}
	target, err := nftables.NewScript(run).Probe(t.Context())
	require.NoError(t, err)
	require.Equal(t, "1.0.6", target.Tool)
	require.Equal(t, []string{"nft --version", "nft -c -f -"}, run.commands)

	run.stdout = "something else"
	target, err = nftables.NewScript(run).Probe(t.Context())
	require.NoError(t, err)
	require.Empty(t, target.Tool, "an unknown version is not an error")
}

func TestOwnersAreChecked(t *testing.T) {
	run := &fakeRunner{}
	b := nftables.NewScript(run)
	for _, owner := range []string{"", "Geo", "geo; flush ruleset", "geo\n", "accept", "averyverylongowner"} {
		require.ErrorIs(t, b.Remove(t.Context(), owner), compile.ErrName, "%q", owner)
	}
	require.Empty(t, run.commands)
}
