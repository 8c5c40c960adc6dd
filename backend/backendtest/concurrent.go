package backendtest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/compile"
)

// testConcurrent calls one backend value from several goroutines, for two owners.
func (c Config) testConcurrent(t *testing.T) {
	x := c.newTrial(t)
	ctx := context.Background()
	policy := allow(compile.Drop, compile.Forward)
	policy.Owner = "geo2"
	other := compiled(t, policy, x.b.Target(), compile.Auto)

	var wg sync.WaitGroup
	errs := make(chan error, 100)
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 4 {
				switch i % 4 {
				case 0:
					errs <- x.b.Apply(ctx, x.was)
				case 1:
					errs <- x.b.Apply(ctx, x.next)
				case 2:
					errs <- x.b.Remove(ctx, owner)
				case 3:
					errs <- x.b.Apply(ctx, other)
				}
			}
		}()
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, x.b.Remove(ctx, "geo2"))
	var inForce *compile.Program
	switch now := x.snapshot(t); now {
	case x.before:
		inForce = x.was
	case x.after:
		inForce = x.next
	default:
		x.requireSnapshot(t, x.none, "neither of the programs nor nothing")
	}
	x.requireInForce(t, inForce, fewRandoms)
}
