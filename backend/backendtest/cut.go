package backendtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packetsEach: where the snapshot says that nothing has changed, packets are asked after each so many cuts.
const packetsEach = 20

// testCutInput hands the real tools inputs that end too early: whatever a backend's payload looks like, no part of it may
// take effect without the rest.
func (c Config) testCutInput(t *testing.T) {
	was, next := smallPair(t, c.New(Machine{}).Target())
	x := c.newTrialOf(t, was, next)
	fed := func(c *command) bool { return c.fed }
	for _, op := range []string{"apply", "remove"} {
		commands := x.commands(op)
		single := len(slices.DeleteFunc(slices.Clone(commands), func(c *command) bool { return !fed(c) })) == 1
		for i, cmd := range commands {
			if !fed(cmd) {
				continue
			}
			for n, length := range c.cuts(t, cmd.stdin) {
				if length == 0 && !single {
					continue // Nothing at all is a whole payload to some tools, and tells nothing about this one.
				}
				b := x.meddling(func(ctx context.Context, c *command) result {
					if c.number == i {
						return c.run(ctx, c.stdin[:length])
					}
					return c.run(ctx, c.stdin)
				})
				what := fmt.Sprintf("%s: command %d, %v, reads %d of %d bytes:\n%s", op, i, cmd, length, len(cmd.stdin), cmd.stdin[:length])
				if err := x.attempt(b, op); err != nil {
					requireError(t, err, op)
					x.requireSnapshot(t, x.before, "%s", what)
					if n%packetsEach == 0 {
						x.requireInForce(t, x.was, 0)
					}
					continue
				}
				// What is missing made no difference, or all.
				after := x.after
				if op == "remove" {
					after = x.none
				}
				if x.snapshot(t) != x.before {
					x.requireSnapshot(t, after, "%s", what)
				}
				x.apply(t, x.was)
			}
		}
	}
}

// testCutByHand is the same for artifacts that a user loads, over an old program and on an empty host.
func (c Config) testCutByHand(t *testing.T) {
	was, next := smallPair(t, c.New(Machine{}).Target())
	x := c.newTrialOf(t, was, next)
	empty := c.newSharedLab(t)
	bare := empty.snapshot(t)
	// What the whole payload gives. Over an old program that need not be the new one alone: this is no Apply.
	whole := map[*lab]string{}
	for _, l := range []*lab{x.lab, empty} {
		l.load(t, x.next)
		whole[l] = l.snapshot(t)
		if l == empty {
			l.requireInForce(t, x.next, fewRandoms)
		}
		require.NoError(t, l.b.Remove(context.Background(), owner))
	}
	x.apply(t, x.was)
	x.requireUnchanged(t)
	for earlier, a := range artifacts(t, x.b, x.next) {
		payload := text(t, a)
		for n, length := range c.cuts(t, []byte(payload)) {
			for _, l := range []*lab{x.lab, empty} {
				if l == empty && n%3 != 0 {
					continue
				}
				was, before := x.was, x.before
				if l == empty {
					was, before = nil, bare
				}
				// What comes before it in the order is there.
				for _, other := range artifacts(t, x.b, x.next)[:earlier] {
					for _, words := range other.Loads {
						l.host.Run(t, text(t, other), words[0], words[1:]...)
					}
					before = l.snapshot(t)
				}
				took := 0
				for _, words := range a.Loads {
					if _, err := l.host.Output(context.Background(), payload[:length], words[0], words[1:]...); err == nil {
						took++
					}
				}
				what := fmt.Sprintf("%s cut after %d of %d bytes:\n%s", a.Name, length, len(payload), payload[:length])
				if l.snapshot(t) == before {
					if n%packetsEach == 0 {
						l.requireInForce(t, was, 0)
					}
					continue
				}
				require.Equal(t, len(a.Loads), took, "refused, and yet not without effect: %s", what)
				l.requireSnapshot(t, whole[l], "%s", what)
				require.NoError(t, l.b.Remove(context.Background(), owner))
				if was != nil {
					l.apply(t, was)
				}
				l.requireSnapshot(t, before, "%s", what)
			}
		}
	}
}

// cuts returns the lengths to which a payload is cut: at each end of a line, before and after the newline, inside each
// line, and at each semicolon, comma and brace of the first lines; but not where Unguarded says that it is known to do harm.
func (c Config) cuts(t testing.TB, payload []byte) []int {
	t.Helper()
	list := []int{0}
	start := 0
	for line := range strings.Lines(string(payload)) {
		end := start + len(line)
		list = append(list, start+len(line)/2, end-1, end)
		for i := range line {
			if len(list) > 60 {
				break
			}
			if strings.ContainsRune(";{},", rune(line[i])) {
				list = append(list, start+i, start+i+1)
			}
		}
		start = end
	}
	slices.Sort(list)
	list = slices.Compact(list)
	from, to := len(payload), len(payload)
	if c.Unguarded != nil {
		from, to = c.Unguarded(payload)
		require.NotContains(t, string(payload[from:min(to, len(payload)-1)]), "\n", "only a part of one line can be without protection")
	}
	return slices.DeleteFunc(list, func(n int) bool { return n >= len(payload) || from < n && n <= to })
}
