package iptables

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// Backend is a backend for one variant of iptables. Make one with New.
type Backend struct {
	variant  Variant
	run      backend.Runner
	wait     int // seconds
	families []cidr.Family
	// busy holds a token while an Apply or a Remove is under way.
	busy chan struct{}
}

var _ backend.Backend = (*Backend)(nil)

// Option changes how a Backend works.
type Option func(*Backend)

// WithLockWait says how long to wait for the lock that programs of the legacy variant hold while they change a table. It
// is rounded up to whole seconds, and 1 is the least: to iptables, 0 is forever. Without this option it is 5 seconds.
func WithLockWait(d time.Duration) Option {
	return func(b *Backend) { b.wait = max(1, int((d+time.Second-1)/time.Second)) }
}

// WithoutIPv6 leaves IPv6 alone: only iptables runs, never ip6tables. Without it, a machine that lacks ip6tables or IPv6
// is an error, for an address policy that stands in one family only can be gone around through the other.
func WithoutIPv6() Option {
	return func(b *Backend) { b.families = []cidr.Family{cidr.V4} }
}

// New returns a backend that runs the variant's commands through the runner; nil is backend.Exec, which runs them on this
// machine. It panics if there is no such variant.
func New(variant Variant, r backend.Runner, options ...Option) *Backend {
	Target(variant)
	if r == nil {
		r = backend.Exec{}
	}
	// IPv6 comes first: it is what machines lack, and if the first family fails nothing has to be put back.
	b := &Backend{variant: variant, run: r, wait: 5, families: []cidr.Family{cidr.V6, cidr.V4}, busy: make(chan struct{}, 1)}
	for _, o := range options {
		o(b)
	}
	return b
}

// Target implements backend.Backend; it is the function Target of the backend's variant.
func (b *Backend) Target() compile.Target { return Target(b.variant) }

// Render implements backend.Backend: one artifact, a payload for both families, to be loaded once; see the package
// comment. It touches nothing but the owner's chains, except that it puts a jump first in each built-in chain.
func (b *Backend) Render(p *compile.Program) ([]backend.Artifact, error) {
	return b.artifact(p, p.Owner+".iptables", backend.Rules, payload)
}

// RenderRemoval returns the payload that takes away what Render's payload for the same program has put in force. It is
// for those who load payloads themselves; Remove needs no program and works whatever is there. The payload is refused as
// a whole where a jump is missing, and where there are two of one, since Render's was loaded twice.
func (b *Backend) RenderRemoval(p *compile.Program) ([]backend.Artifact, error) {
	return b.artifact(p, p.Owner+"-remove.iptables", backend.Cleanup, removal)
}

func (b *Backend) artifact(p *compile.Program, name string, phase backend.Phase,
	write func(*bufio.Writer, *compile.Program) error) ([]backend.Artifact, error) {
	if err := b.check(p); err != nil {
		return nil, err
	}
	a := backend.Artifact{Name: name, Phase: phase}
	for i := len(b.families) - 1; i >= 0; i-- {
		a.Loads = append(a.Loads, append([]string{b.variant.tool(b.families[i], "restore")}, b.restoreArgs()...))
	}
	if len(b.families) == 1 {
		a.Family = b.families[0]
	}
	return []backend.Artifact{backend.NewArtifact(a, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<16)
		if err := write(out, p); err != nil {
			return err
		}
		return out.Flush()
	})}, nil
}

func (b *Backend) check(p *compile.Program) error {
	err := b.variant.takes(p.Target)
	var e *backend.Error
	if errors.As(err, &e) {
		e.Owner = p.Owner
	}
	return err
}

func (b *Backend) restoreArgs() []string {
	return []string{"-w", strconv.Itoa(b.wait), "--noflush"}
}
