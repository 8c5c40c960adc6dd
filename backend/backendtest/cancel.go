package backendtest

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/compile"
)

// testCancelled cancels before Apply and Remove start, and between their commands.
func (c Config) testCancelled(t *testing.T) {
	x := c.newTrial(t)
	for _, op := range []string{"apply", "remove"} {
		call := func(ctx context.Context, b backend.Backend) error {
			if op == "remove" {
				return b.Remove(ctx, owner)
			}
			return b.Apply(ctx, x.next)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		ran := 0
		err := call(ctx, x.meddling(func(ctx context.Context, c *command) result { ran++; return c.run(ctx, c.stdin) }))
		require.ErrorIs(t, err, context.Canceled)
		requireError(t, err, op)
		require.Zero(t, ran, "no command runs")
		x.requireUnchanged(t)

		ctx, cancel = context.WithTimeout(context.Background(), -time.Second)
		err = call(ctx, x.b)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		requireError(t, err, op)
		x.requireUnchanged(t)

		for i := range x.commands(op) {
			// Before the command has started, and after it has done its work.
			for _, late := range []bool{false, true} {
				ctx, cancel := context.WithCancel(context.Background())
				err := call(ctx, x.meddling(func(inner context.Context, c *command) result {
					if c.number != i {
						return c.run(inner, c.stdin)
					}
					var r result
					if late {
						r = c.run(context.WithoutCancel(inner), c.stdin)
					}
					cancel()
					if r.err = inner.Err(); r.err == nil && !late {
						r = c.run(inner, c.stdin)
					}
					return r
				}))
				cancel()
				x.requireOldOrNew(t, op, err)
			}
		}
	}
}

// requireOldOrNew checks what a call that was cancelled in the middle may leave behind, and puts the old program back.
// Either program may be in force, but wholly, and an error stands for the old one unless it says that it does not.
func (x *trial) requireOldOrNew(t testing.TB, op string, err error) (changed bool) {
	t.Helper()
	next, after := x.next, x.after
	if op == "remove" {
		next, after = nil, x.none
	}
	if changed = x.snapshot(t) != x.before; changed {
		x.requireSnapshot(t, after, "%s: %v: the ruleset is neither the old one nor the new", op, err)
	}
	if err == nil {
		require.True(t, changed, "%s succeeds and does nothing", op)
	} else {
		e := requireError(t, err, op)
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, !changed || e.Left != "", "%s: the new ruleset is in force, and the error does not say so: %v", op, err)
	}
	if !changed {
		x.requireInForce(t, x.was, 0)
		return false
	}
	x.requireInForce(t, next, 0)
	x.apply(t, x.was)
	x.requireSnapshot(t, x.before, "what it was")
	return true
}

// testKilled kills the tools at random moments of their work.
func (c Config) testKilled(t *testing.T) {
	target := c.New(Machine{}).Target()
	list := layouts(t, target)
	was := compiled(t, block(compile.Pass, compile.Input, compile.Forward), target, list[0])
	next := compiled(t, large(compile.Input), target, list[len(list)-1])
	x := c.newTrialOf(t, was, next)

	start := time.Now()
	x.apply(t, next)
	whole := time.Since(start)
	x.apply(t, was)

	const kills = 24
	rng := rand.New(rand.NewPCG(3, 4))
	var failed, changed, late int
	for range kills {
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(time.Duration(rng.Float64()*1.1*float64(whole)), cancel)
		err := x.b.Apply(ctx, next)
		timer.Stop()
		cancel()
		if err != nil {
			failed++
		}
		if x.requireOldOrNew(t, "apply", err) {
			changed++
			if err != nil {
				late++
			}
		}
	}
	t.Logf("an apply takes %v; of %d that were killed, %d failed and %d had come into force, %d of them with an error", whole, kills, failed, changed, late)
	require.NotZero(t, failed, "nothing was killed")
}
