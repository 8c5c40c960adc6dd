package backendtest

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/compile"
)

func (c Config) testProbe(t *testing.T) {
	l := c.newSharedLab(t)
	before := l.snapshot(t)
	target, err := l.b.Probe(context.Background())
	require.NoError(t, err)
	l.requireSnapshot(t, before, "looking changes nothing")
	require.Equal(t, l.b.Target().Backend, target.Backend)
	require.NotEmpty(t, target.Kernel)
	p := compiled(t, allow(compile.Drop), target, compile.Auto)
	l.apply(t, p)
	l.requireInForce(t, p, fewRandoms)
}

// testAgain applies every layout over every other.
func (c Config) testAgain(t *testing.T) {
	target := c.New(Machine{}).Target()
	type version struct {
		p    *compile.Program
		want string // the snapshot of a host where nothing else was ever applied
	}
	var versions []version
	for i, layout := range layouts(t, target) {
		for j, policy := range []compile.Policy{
			allow(compile.Drop, compile.Input), block(compile.Any, compile.Forward, compile.Input), mixed(compile.Output),
		} {
			if (i+j)%2 == 1 && len(layouts(t, target)) > 2 {
				continue
			}
			v := version{p: compiled(t, policy, target, layout)}
			fresh := c.newSharedLab(t)
			fresh.apply(t, v.p)
			v.want = fresh.snapshot(t)
			fresh.apply(t, v.p)
			fresh.requireSnapshot(t, v.want, "applying a program once more changes nothing")
			versions = append(versions, v)
		}
	}
	require.NotEmpty(t, versions)
	l := c.newSharedLab(t)
	for _, a := range versions {
		for _, b := range versions {
			l.apply(t, a.p)
			l.apply(t, b.p)
			l.requireSnapshot(t, b.want, "%v at %v over %v at %v", b.p.Layout, b.p.Decision().Hooks(), a.p.Layout, a.p.Decision().Hooks())
		}
		l.apply(t, a.p)
		l.requireInForce(t, a.p, fewRandoms)
	}
}

// testRemove takes away programs of all layouts and hooks, on hosts with other people's rules and without.
func (c Config) testRemove(t *testing.T) {
	target := c.New(Machine{}).Target()
	ctx := context.Background()
	shared, bare := c.newSharedLab(t), c.newLab(t)
	before := shared.snapshot(t)
	for _, l := range []*lab{shared, bare} {
		was := l.snapshot(t)
		require.NoError(t, l.b.Remove(ctx, owner), "there being nothing is no error")
		l.requireSnapshot(t, was, "what it was")
	}
	for _, layout := range layouts(t, target) {
		for _, policy := range []compile.Policy{
			allow(compile.Drop, compile.Input, compile.Forward), mixed(compile.Output, compile.Forward), block(compile.Pass),
		} {
			p := compiled(t, policy, target, layout)
			for _, l := range []*lab{shared, bare} {
				l.apply(t, p)
				require.NoError(t, l.b.Remove(ctx, owner))
				l.requireInForce(t, nil, 0)
				if l == shared {
					l.requireSnapshot(t, before, "%v at %v leaves something", layout, policy.Hooks)
				}
				was := l.snapshot(t)
				require.NoError(t, l.b.Remove(ctx, owner))
				l.requireSnapshot(t, was, "what it was")
			}
		}
	}
	// A second value of the backend, as another run of a program has, removes what the first has applied.
	shared.apply(t, compiled(t, mixed(compile.Input), target, compile.Auto))
	require.NoError(t, c.New(shared.machine()).Remove(ctx, owner))
	shared.requireSnapshot(t, before, "what it was")

	for _, bad := range slices.Concat(evilTexts, []string{"", "Geo", "geo ", "geo-x", "geo*", "0geo", "géo", "averyveryverylongowner", "accept", "../geo"}) {
		err := shared.b.Remove(ctx, bad)
		require.ErrorIs(t, err, compile.ErrName, "%q", bad)
		requireError(t, err, "remove")
	}
	shared.requireSnapshot(t, before, "what it was")
}

// testOwners lets two owners, of whom one's name begins with the other's, work side by side.
func (c Config) testOwners(t *testing.T) {
	target := c.New(Machine{}).Target()
	ctx := context.Background()
	list := layouts(t, target)
	for _, names := range [][2]string{{"geo", "geo2"}, {"geo2", "geo"}, {"geo", "geo_in"}, {"a", "a_4"}} {
		l := c.newSharedLab(t)
		before := l.snapshot(t)
		first, second := block(compile.Pass, compile.Input), allow(compile.Drop, compile.Input, compile.Forward)
		first.Owner, second.Owner = names[0], names[1]
		one, two := compiled(t, first, target, list[0]), compiled(t, second, target, list[len(list)-1])

		l.apply(t, one)
		onlyOne := l.snapshot(t)
		l.requireInForce(t, one, 0)
		l.apply(t, two)
		require.NoError(t, l.b.Remove(ctx, names[1]))
		l.requireSnapshot(t, onlyOne, "%s has touched %s", names[1], names[0])
		l.requireInForce(t, one, 0)

		l.apply(t, two)
		both := l.snapshot(t)
		l.apply(t, one)
		l.requireSnapshot(t, both, "%s has touched %s", names[0], names[1])
		require.NoError(t, l.b.Remove(ctx, names[0]))
		l.requireInForce(t, two, 0)
		require.NoError(t, l.b.Remove(ctx, names[1]))
		l.requireSnapshot(t, before, "what it was")
	}
}

// testByHand loads artifacts with the commands that they name, on an empty host.
func (c Config) testByHand(t *testing.T) {
	target := c.New(Machine{}).Target()
	for _, layout := range layouts(t, target) {
		for _, policy := range []compile.Policy{
			allow(compile.Any, compile.Input, compile.Forward), block(compile.Pass, compile.Forward), mixed(compile.Input), everything(compile.Input, compile.Forward),
		} {
			p := compiled(t, policy, target, layout)
			l := c.newLab(t)
			l.load(t, p)
			l.requireInForce(t, p, allRandoms)
			l.load(t, p)
			l.requireInForce(t, p, fewRandoms)
			if c.RenderOnly {
				continue
			}
			// Apply takes over what was loaded by hand.
			next := compiled(t, block(compile.Pass, compile.Input), target, compile.Auto)
			l.apply(t, next)
			fresh := c.newLab(t)
			fresh.apply(t, next)
			l.requireSnapshot(t, fresh.snapshot(t), "what it was")
			l.requireInForce(t, next, fewRandoms)
		}
	}
}
