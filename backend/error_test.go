package backend_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
)

func TestErrorText(t *testing.T) {
	e := &backend.Error{Backend: "nftables", Op: "apply", Owner: "geo", Err: backend.ErrBuffer}
	require.Equal(t, "nftables: apply geo: "+backend.ErrBuffer.Error(), e.Error())
	e.Detail = "Message too long"
	require.Equal(t, "nftables: apply geo: "+backend.ErrBuffer.Error()+": Message too long", e.Error())
	e.Left = "IPv6 has the new rules"
	require.Equal(t, "nftables: apply geo: "+backend.ErrBuffer.Error()+
		": Message too long; and the state before may not be in force: IPv6 has the new rules", e.Error())
	e = &backend.Error{Backend: "nftables", Op: "probe", Err: backend.ErrNoTool}
	require.Equal(t, "nftables: probe: the tool is not installed", e.Error())
}

func TestErrorUnwraps(t *testing.T) {
	exit := &backend.ExitError{Command: "nft -f -", Code: 1}
	var err error = &backend.Error{Backend: "nftables", Op: "apply", Err: fmt.Errorf("%w: %w", backend.ErrRefused, exit)}
	err = fmt.Errorf("updating: %w", err)
	require.ErrorIs(t, err, backend.ErrRefused)
	var e *backend.Error
	require.ErrorAs(t, err, &e)
	var x *backend.ExitError
	require.ErrorAs(t, err, &x)
	require.Equal(t, 1, x.Code)
}

// An owner that could be none is quoted, so that it cannot pass for a line of its own or for something else.
func TestErrorQuotesStrangeOwners(t *testing.T) {
	for _, owner := range []string{"a\nb", "a\x00b", "a b", "\x1b[2J", "geo: all is well", strings.Repeat("x", 1<<20)} {
		e := &backend.Error{Backend: "nftables", Op: "remove", Owner: owner, Err: backend.ErrRefused}
		require.Less(t, len(e.Error()), 500)
		require.Contains(t, e.Error(), `remove "`)
		for _, r := range e.Error() {
			require.True(t, r >= ' ' && r <= '~', "%q", e.Error())
		}
	}
}

func TestClipDetail(t *testing.T) {
	require.Equal(t, "", backend.ClipDetail(" \n\t "))
	require.Equal(t, "Error: syntax error\nat line 3", backend.ClipDetail("\nError: syntax error\nat line 3\n"))
	require.Equal(t, strings.Repeat("x", 600), backend.ClipDetail(strings.Repeat("x", 600)))
	require.Equal(t, strings.Repeat("x", 600)+" ...", backend.ClipDetail(strings.Repeat("x", 601)))
	require.Equal(t, "[2Ja, Grüße", backend.ClipDetail("\x1b[2Ja\x00\xff\u2028, Grüße"), "what a terminal would not show as text goes")
	// A character that stands across the cut goes whole.
	require.Equal(t, strings.Repeat("x", 599)+" ...", backend.ClipDetail(strings.Repeat("x", 599)+"üüü"))
}

func TestExitError(t *testing.T) {
	require.EqualError(t, &backend.ExitError{Command: "nft -f -", Code: 4}, "nft -f - exited with 4")
	require.EqualError(t, &backend.ExitError{Command: "nft -f -", Code: -1}, "nft -f - was killed")
}

func TestPhase(t *testing.T) {
	require.Equal(t, []string{"none", "sets", "rules", "cleanup", "unknown phase"}, []string{
		backend.Phase(0).String(), backend.Sets.String(), backend.Rules.String(), backend.Cleanup.String(), backend.Phase(9).String()})
	require.Less(t, backend.Sets, backend.Rules)
	require.Less(t, backend.Rules, backend.Cleanup)
}

func TestArtifact(t *testing.T) {
	a := backend.NewArtifact(backend.Artifact{Name: "geo.nft"}, func(w io.Writer) error {
		_, err := io.WriteString(w, "text\n")
		return err
	})
	for range 2 {
		s, err := a.Text()
		require.NoError(t, err)
		require.Equal(t, "text\n", s)
	}
	failure := errors.New("no room")
	a = backend.NewArtifact(a, func(io.Writer) error { return failure })
	require.ErrorIs(t, a.Render(io.Discard), failure)

	// One that no backend has made.
	require.ErrorContains(t, backend.Artifact{Name: "geo.nft"}.Render(io.Discard), `"geo.nft" is empty`)
}
