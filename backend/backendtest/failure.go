package backendtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/compile"
)

// documented are the reasons that errors of backends may have.
var documented = []error{
	backend.ErrOtherTarget, backend.ErrNoTool, backend.ErrPrivilege, backend.ErrBuffer, backend.ErrLocked, backend.ErrMissing,
	backend.ErrRefused, context.Canceled, context.DeadlineExceeded,
	compile.ErrInvalid, compile.ErrName, compile.ErrUnsupported, compile.ErrLimit,
}

// requireError checks what every error of a backend keeps, and returns it. An empty op stands for any.
func requireError(t testing.TB, err error, op string) *backend.Error {
	t.Helper()
	var e *backend.Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Backend)
	if op != "" {
		require.Equal(t, op, e.Op)
	}
	known := false
	for _, reason := range documented {
		known = known || errors.Is(err, reason)
	}
	require.True(t, known, "%v wraps none of the documented reasons", err)
	require.NotContains(t, err.Error(), "\x00")
	require.Less(t, len(err.Error()), 5000)
	return e
}

// trial is a lab on whose host an old program is in force, and another that is to replace it.
type trial struct {
	*lab
	was, next           *compile.Program
	before, after, none string // snapshots with the old program, the new one and neither in force
	applies, removes    []*command
}

// newTrial also finds out which commands applying and removing take, on a host of their own.
func (c Config) newTrial(t testing.TB) *trial {
	t.Helper()
	was, next := oldAndNew(t, c.New(Machine{}).Target())
	return c.newTrialOf(t, was, next)
}

// newTrialOf is newTrial with programs that the caller chooses.
func (c Config) newTrialOf(t testing.TB, was, next *compile.Program) *trial {
	t.Helper()
	x := &trial{lab: c.newSharedLab(t), was: was, next: next}
	scratch := c.newSharedLab(t)
	x.none = scratch.snapshot(t)
	scratch.apply(t, was)
	record := func(list *[]*command) backend.Backend {
		return scratch.meddling(func(ctx context.Context, c *command) result {
			*list = append(*list, c)
			return c.run(ctx, c.stdin)
		})
	}
	require.NoError(t, record(&x.applies).Apply(context.Background(), next))
	x.after = scratch.snapshot(t)
	require.NoError(t, record(&x.removes).Remove(context.Background(), owner))
	scratch.requireSnapshot(t, x.none, "what it was")

	x.apply(t, was)
	x.before = x.snapshot(t)
	require.NotEqual(t, x.none, x.before)
	require.NotEqual(t, x.before, x.after)
	x.requireInForce(t, was, fewRandoms)
	return x
}

// requireUnchanged checks that a failure has left the old program in force.
func (x *trial) requireUnchanged(t testing.TB) {
	t.Helper()
	x.requireSnapshot(t, x.before, "what it was")
	x.requireInForce(t, x.was, fewRandoms)
}

// attempt calls Apply or Remove and returns its error.
func (x *trial) attempt(b backend.Backend, op string) error {
	if op == "remove" {
		return b.Remove(context.Background(), owner)
	}
	return b.Apply(context.Background(), x.next)
}

func (x *trial) commands(op string) []*command {
	if op == "remove" {
		return x.removes
	}
	return x.applies
}

var errBroken = errors.New("the runner is broken")

// testFailingCommands lets each command of Apply and of Remove fail in turn, and all commands from each on.
func (c Config) testFailingCommands(t *testing.T) {
	x := c.newTrial(t)
	for _, op := range []string{"apply", "remove"} {
		for i, cmd := range x.commands(op) {
			for _, failure := range []struct {
				name string
				r    result
				want error
			}{
				{"is not installed", result{err: fmt.Errorf("%s: %w", cmd.name, backend.ErrNoTool)}, backend.ErrNoTool},
				{"exits with 1", result{stderr: []byte("nobody knows why\n"), err: &backend.ExitError{Command: cmd.name, Code: 1}}, backend.ErrRefused},
				{"exits with 1 and says a lot", result{stderr: []byte(strings.Repeat("\x00\xff what ", 1<<16)), err: &backend.ExitError{Command: cmd.name, Code: 1}}, backend.ErrRefused},
				{"is killed", result{err: &backend.ExitError{Command: cmd.name, Code: -1}}, nil},
				{"cannot be started", result{err: errBroken}, errBroken},
			} {
				x.failing(t, op, failure.name, failure.want, func(n int) bool { return n == i }, failure.r)
				x.failing(t, op, failure.name+" like all after it", failure.want, func(n int) bool { return n >= i }, failure.r)
			}
		}
	}
}

func (x *trial) failing(t *testing.T, op, name string, want error, fails func(n int) bool, r result) {
	t.Helper()
	var failed *command
	b := x.meddling(func(ctx context.Context, c *command) result {
		if fails(c.number) {
			if failed == nil {
				failed = c
			}
			return r
		}
		return c.run(ctx, c.stdin)
	})
	err := x.attempt(b, op)
	what := fmt.Sprintf("%s: command %d, %v, %s", op, failed.number, failed, name)
	require.Error(t, err, what)
	e := requireError(t, err, op)
	require.Equal(t, owner, e.Owner, what)
	if want != nil {
		require.ErrorIs(t, err, want, what)
	}
	if e.Left != "" && x.snapshot(t) != x.before {
		// Putting the old program back has failed as well, and the error says so.
		require.True(t, fails(failed.number+1), "%s: the old program could have been put back: %v", what, err)
		x.apply(t, x.was)
	}
	x.requireSnapshot(t, x.before, "%s", what)
	x.requireInForce(t, x.was, fewRandoms)
}

// testFaults is for backends that can fail without a command.
func (c Config) testFaults(t *testing.T) {
	if len(c.Faults) == 0 {
		t.Skip("the backend has no failures besides those of its commands")
	}
	x := c.newTrial(t)
	for _, f := range c.Faults {
		for _, op := range []string{"apply", "remove"} {
			t.Run(f.Name+" "+op, func(t *testing.T) {
				err := x.attempt(f.New(x.machine()), op)
				require.ErrorIs(t, err, f.Want)
				requireError(t, err, op)
				x.requireUnchanged(t)
			})
		}
	}
}

// testGarbledState lets the commands that read what is there answer nonsense.
func (c Config) testGarbledState(t *testing.T) {
	x := c.newTrial(t)
	for _, op := range []string{"apply", "remove"} {
		for i, cmd := range x.commands(op) {
			if cmd.fed {
				continue
			}
			for name, garble := range map[string]func([]byte) []byte{
				"other text":       func([]byte) []byte { return []byte("Segmentation fault\n") },
				"binary":           func([]byte) []byte { return []byte("*filter\n\x00\xff\xfe:INPUT\n-A\n") },
				"half of it":       func(b []byte) []byte { return b[:len(b)/2] },
				"without its end":  func(b []byte) []byte { return b[:max(0, len(b)-10)] },
				"the first line":   func(b []byte) []byte { return b[:min(len(b), 20)] },
				"blank lines only": func([]byte) []byte { return []byte("\n\n\n") },
			} {
				b := x.meddling(func(ctx context.Context, c *command) result {
					r := c.run(ctx, c.stdin)
					if c.number == i {
						r.stdout = garble(r.stdout)
					}
					return r
				})
				what := fmt.Sprintf("%s: command %d, %v, answers %s", op, i, cmd, name)
				err := x.attempt(b, op)
				if err != nil {
					requireError(t, err, op)
					x.requireSnapshot(t, x.before, "%s", what)
					x.requireInForce(t, x.was, fewRandoms)
					continue
				}
				// It may have worked all the same, but then for both families.
				t.Log(what, "and nobody notices")
				if op == "remove" {
					x.requireInForce(t, nil, fewRandoms)
				} else {
					x.requireInForce(t, x.next, fewRandoms)
				}
				require.NoError(t, x.b.Remove(context.Background(), owner))
				x.apply(t, x.was)
				x.requireSnapshot(t, x.before, "%s", what)
			}
		}
	}
}
