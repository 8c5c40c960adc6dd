package backendtest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/compile"
)

// testRender needs neither a kernel nor a tool.
func (c Config) testRender(t *testing.T) {
	b := c.New(Machine{})
	target := b.Target()
	hooks := []compile.Point{compile.Input, compile.Forward}
	for _, layout := range layouts(t, target) {
		for i, policy := range []compile.Policy{allow(compile.Any, hooks...), block(compile.Pass, hooks...), mixed(hooks...), everything(hooks...)} {
			t.Run(fmt.Sprintf("%v policy %d", layout, i), func(t *testing.T) {
				p := compiled(t, policy, target, layout)
				before := dump(p)
				first := rendering(t, b, p)
				require.Equal(t, first, rendering(t, b, p), "the same program gives the same bytes")
				require.Equal(t, before, dump(p), "rendering leaves the program alone")
				require.Equal(t, first, rendering(t, c.New(Machine{}), compiled(t, policy, target, layout)),
					"the same policy gives the same bytes")
			})
		}
	}
	t.Run("artifacts", func(t *testing.T) {
		phase := backend.Phase(0)
		names := map[string]bool{}
		for _, a := range artifacts(t, b, compiled(t, allow(compile.Drop), target, compile.Auto)) {
			require.NotEmpty(t, a.Name)
			require.NotContains(t, a.Name, "/")
			require.False(t, names[a.Name], "two artifacts are called %s", a.Name)
			names[a.Name] = true
			require.NotEmpty(t, a.Loads, a.Name)
			for _, words := range a.Loads {
				require.NotEmpty(t, words, a.Name)
			}
			require.Contains(t, []backend.Phase{backend.Sets, backend.Rules, backend.Cleanup}, a.Phase, a.Name)
			require.GreaterOrEqual(t, a.Phase, phase, "artifacts are in the order in which they are to be loaded")
			phase = a.Phase
		}
	})
	t.Run("a writer that fails", func(t *testing.T) {
		for _, a := range artifacts(t, b, compiled(t, large(), target, compile.Auto)) {
			size := len(text(t, a))
			for _, room := range []int{0, 1, size / 2, size - 1} {
				require.ErrorIs(t, a.Render(&smallWriter{room: room}), errFull, "%s after %d of %d bytes", a.Name, room, size)
			}
		}
	})
	t.Run("other target", func(t *testing.T) {
		other := target
		other.Backend = "another-backend"
		p := compiled(t, allow(compile.Drop), other, compile.Auto)
		_, err := b.Render(p)
		require.ErrorIs(t, err, backend.ErrOtherTarget)
		requireError(t, err, "")
		if !c.RenderOnly {
			run := false
			m := &meddler{meet: func(context.Context, *command) result { run = true; return result{} }}
			err = c.New(Machine{Runner: m}).Apply(context.Background(), p)
			require.ErrorIs(t, err, backend.ErrOtherTarget)
			requireError(t, err, "")
			require.False(t, run, "no command runs for it")
		}
	})
	t.Run("data of users stay out", func(t *testing.T) {
		for _, evil := range evilTexts {
			p := allow(compile.Drop)
			p.Origins = []compile.Origin{{Name: evil, Licence: evil, Attribution: evil}}
			clean := allow(compile.Drop)
			clean.Origins = []compile.Origin{{Name: "x", Licence: "x", Attribution: "x"}}
			got := rendering(t, b, compiled(t, p, target, compile.Auto))
			want := rendering(t, b, compiled(t, clean, target, compile.Auto))
			require.Equal(t, withoutComments(want), withoutComments(got), "%q", evil)
			require.Equal(t, strings.Count(want, "\n"), strings.Count(got, "\n"), "%q", evil)

			p = allow(compile.Drop)
			p.Rules[0].Name = evil
			if _, err := compile.Decide(p); err == nil {
				require.Equal(t, withoutComments(want), withoutComments(rendering(t, b, compiled(t, p, target, compile.Auto))), "%q", evil)
			}
			p = allow(compile.Drop)
			p.Owner = evil
			_, err := compile.Decide(p)
			require.ErrorIs(t, err, compile.ErrName, "%q", evil)
		}
	})
}

// evilTexts would do harm if they reached a payload as they are.
var evilTexts = []string{
	"a\nflush ruleset", "a\r\nflush", "a\x00b", "a\x1b[2Jb", "a\tb", `a" drop; flush ruleset; "`, `a\`, `a\"`, "a; flush ruleset",
	"a } flush ruleset {", "a\u2028flush ruleset", "a\u0085flush ruleset", "COMMIT", "a\nCOMMIT\n*filter\n-F", "-F", "$(reboot)", "`reboot`",
	"\xff\xfe\xff", strings.Repeat("a\n", 500), "a\vb\fc", "'; reboot; '", "include \"/etc/passwd\"", "# a", "\\\nflush ruleset",
}

// withoutComments returns the lines of a payload that a tool reads.
func withoutComments(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// rendering returns all artifacts as one text, after looking for bytes that no payload may hold.
func rendering(t testing.TB, b backend.Backend, p *compile.Program) string {
	t.Helper()
	var all strings.Builder
	for _, a := range artifacts(t, b, p) {
		s := text(t, a)
		for i := range len(s) {
			if s[i] < ' ' && s[i] != '\n' && s[i] != '\t' || s[i] == 0x7f {
				require.Fail(t, "a byte that no payload may hold", "%s: %#x at %d", a.Name, s[i], i)
			}
		}
		require.True(t, strings.HasSuffix(s, "\n"), "%s ends in the middle of a line", a.Name)
		fmt.Fprintf(&all, "== %s\n%s", a.Name, s)
	}
	return all.String()
}

// dump writes down all that backends can see of a program.
func dump(p *compile.Program) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %+v %v %p\n", p.Owner, p.Target, p.Layout, p.Decision())
	for _, s := range p.Sets {
		fmt.Fprintf(&b, "set %p %s %v %x\n", s, s.Name, s.Family, s.Addrs.Digest())
	}
	for _, c := range p.Chains {
		fmt.Fprintf(&b, "chain %p %s %v %v\n", c, c.Name, c.Family, c.Side)
		if c.Hook != nil {
			fmt.Fprintf(&b, "\thook %+v\n", *c.Hook)
		}
		for _, r := range c.Rules {
			match := r.Match
			r.Match = nil
			fmt.Fprintf(&b, "\t%+v", r)
			if match != nil {
				fmt.Fprintf(&b, " %+v", *match)
			}
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "%+v\n", p.Decision().Policy().Origins)
	return b.String()
}

var errFull = fmt.Errorf("no room left")

type smallWriter struct{ room int }

func (w *smallWriter) Write(b []byte) (int, error) {
	if len(b) > w.room {
		n := w.room
		w.room = 0
		return n, errFull
	}
	w.room -= len(b)
	return len(b), nil
}
