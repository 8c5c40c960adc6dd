package nftables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/compile"
)

// Script is the backend that goes through the nft program. Make one with NewScript.
type Script struct {
	run backend.Runner
	mu  sync.Mutex // one Apply or Remove at a time
}

var _ backend.Backend = (*Script)(nil)

// NewScript returns a backend that runs nft through the runner; nil is backend.Exec, which runs it on this machine.
func NewScript(r backend.Runner) *Script {
	if r == nil {
		r = backend.Exec{}
	}
	return &Script{run: r}
}

// Target implements backend.Backend; it is the function Target.
func (s *Script) Target() compile.Target { return Target() }

// Probe implements backend.Backend.
func (s *Script) Probe(ctx context.Context) (compile.Target, error) {
	t := Target()
	stdout, stderr, err := s.run.Run(ctx, nil, "nft", "--version")
	if err != nil {
		return t, fail("probe", "", stderr, err)
	}
	t.Tool = backend.ToolVersion(string(stdout))
	t.Kernel = backend.KernelVersion()
	// A check of the smallest script asks for privilege and for nf_tables. To list tables would do so as well, but nft reads
	// all sets of the machine for that, which takes minutes beside a large ruleset.
	if _, stderr, err = s.run.Run(ctx, strings.NewReader("add table inet cidrc_probe\n"), "nft", "-c", "-f", "-"); err != nil {
		return t, fail("probe", "", stderr, err)
	}
	return t, nil
}

// Render implements backend.Backend: one artifact, a script for nft -f. It is one transaction, and puts the program in
// force whether or not an earlier one of the same owner is.
func (s *Script) Render(p *compile.Program) ([]backend.Artifact, error) {
	if p.Target.Backend != "nftables" {
		return nil, &backend.Error{Backend: "nftables", Op: "render", Owner: p.Owner, Err: backend.ErrOtherTarget, Detail: p.Target.String()}
	}
	return []backend.Artifact{backend.NewArtifact(backend.Artifact{
		Name:  p.Owner + ".nft",
		Loads: [][]string{{"nft", "-f", "-"}},
		Phase: backend.Rules,
	}, func(w io.Writer) error { return script(w, p) })}, nil
}

// Apply implements backend.Backend. The whole script is made before nft starts, so that nft never reads a part of it.
func (s *Script) Apply(ctx context.Context, p *compile.Program) error {
	artifacts, err := s.Render(p)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := artifacts[0].Render(&text); err != nil {
		return &backend.Error{Backend: "nftables", Op: "render", Owner: p.Owner, Err: err}
	}
	return s.load(ctx, "apply", p.Owner, &text)
}

// Remove implements backend.Backend.
func (s *Script) Remove(ctx context.Context, owner string) error {
	if err := compile.CheckOwner(owner); err != nil {
		return &backend.Error{Backend: "nftables", Op: "remove", Owner: owner, Err: err}
	}
	return s.load(ctx, "remove", owner, strings.NewReader(removeScript(owner)))
}

func (s *Script) load(ctx context.Context, op, owner string, text io.Reader) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return &backend.Error{Backend: "nftables", Op: op, Owner: owner, Err: err}
	}
	_, stderr, err := s.run.Run(ctx, text, "nft", "-f", "-")
	if err != nil {
		return fail(op, owner, stderr, err)
	}
	return nil
}

// reasons are what nft writes, and what it means. nft reports the kernel's errno as its text.
var reasons = []struct {
	text string
	err  error
}{
	{"Operation not permitted", backend.ErrPrivilege},
	{"must be root", backend.ErrPrivilege},
	{"Message too long", backend.ErrBuffer},
	{"No buffer space available", backend.ErrBuffer},
	{"Operation not supported", backend.ErrMissing},
	{"Protocol not supported", backend.ErrMissing},
	{"cache initialization failed", backend.ErrMissing},
}

// fail finds the reason in what nft wrote.
func fail(op, owner string, stderr []byte, err error) error {
	e := &backend.Error{Backend: "nftables", Op: op, Owner: owner, Err: err, Detail: backend.ClipDetail(string(stderr))}
	var exit *backend.ExitError
	switch {
	case errors.Is(err, backend.ErrNoTool):
		return e
	case errors.As(err, &exit) && exit.Code >= 0:
		for _, r := range reasons {
			if strings.Contains(string(stderr), r.text) {
				e.Err = r.err
				return e
			}
		}
	case op != "probe":
		// Killed, or lost sight of: its transaction may have been committed before.
		e.Left = "nft ended before it could say whether its transaction is in force; it is wholly or not at all"
	}
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		e.Err = fmt.Errorf("%w: %w", backend.ErrRefused, err)
	}
	return e
}
