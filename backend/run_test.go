//go:build unix

package backend_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
)

func TestExec(t *testing.T) {
	ctx := context.Background()
	out, errs, err := backend.Exec{}.Run(ctx, strings.NewReader("in"), "sh", "-c", "cat; echo said >&2")
	require.NoError(t, err)
	require.Equal(t, "in", string(out))
	require.Equal(t, "said\n", string(errs))

	// No standard input is an empty one.
	out, _, err = backend.Exec{}.Run(ctx, nil, "cat")
	require.NoError(t, err)
	require.Empty(t, out)
}

func TestExecExitCode(t *testing.T) {
	out, errs, err := backend.Exec{}.Run(context.Background(), nil, "sh", "-c", "echo half; echo why >&2; exit 7")
	var exit *backend.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 7, exit.Code)
	require.Contains(t, exit.Command, "sh -c")
	require.Equal(t, "half\n", string(out))
	require.Equal(t, "why\n", string(errs))

	_, _, err = backend.Exec{}.Run(context.Background(), nil, "sh", "-c", "kill -9 $$")
	require.ErrorAs(t, err, &exit)
	require.Equal(t, -1, exit.Code)
}

func TestExecNoTool(t *testing.T) {
	_, _, err := backend.Exec{}.Run(context.Background(), nil, "no-such-tool-anywhere")
	require.ErrorIs(t, err, backend.ErrNoTool)
	require.ErrorContains(t, err, "no-such-tool-anywhere")
	_, _, err = backend.Exec{Prefix: []string{"no-such-prefix"}}.Run(context.Background(), nil, "cat")
	require.ErrorIs(t, err, backend.ErrNoTool)
	require.ErrorContains(t, err, "no-such-prefix")
}

// Administrators' tools are found where a user's PATH does not lead, and a tool in PATH comes first.
func TestExecPath(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mytool"), []byte("#!/bin/sh\necho mine\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	out, _, err := backend.Exec{}.Run(context.Background(), nil, "mytool")
	require.NoError(t, err)
	require.Equal(t, "mine\n", string(out))

	if _, err := os.Stat("/usr/sbin/nft"); err == nil {
		t.Setenv("PATH", "/bin")
		_, _, err := backend.Exec{}.Run(context.Background(), nil, "nft", "--version")
		require.NoError(t, err)
	}
}

func TestExecPrefixAndEnv(t *testing.T) {
	e := backend.Exec{Prefix: []string{"env", "OF_PREFIX=1"}, Env: []string{"OF_ENV=2"}}
	out, _, err := e.Run(context.Background(), nil, "sh", "-c", "echo $OF_PREFIX $OF_ENV $LC_ALL")
	require.NoError(t, err)
	require.Equal(t, "1 2 C\n", string(out))
	require.Equal(t, []string{"env", "OF_PREFIX=1"}, e.Prefix, "running leaves it alone")
}

func TestExecContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	out, _, err := backend.Exec{}.Run(ctx, nil, "sh", "-c", "echo before; exec sleep 60")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, "before\n", string(out))
	require.Less(t, time.Since(start), 10*time.Second)

	cancelled, cancelNow := context.WithCancel(context.Background())
	cancelNow()
	_, _, err = backend.Exec{}.Run(cancelled, nil, "cat")
	require.ErrorIs(t, err, context.Canceled)
}
