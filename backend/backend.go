package backend

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// Backend renders programs and puts them in force. Implementations are safe for concurrent use; concurrent calls of
// Apply and Remove of one value come one after the other.
type Backend interface {
	// Target describes a machine for which the backend can render, without looking at one: the oldest that the backend
	// supports.
	Target() compile.Target

	// Probe describes the machine it runs on. It is an *Error if the machine lacks what the backend needs.
	Probe(ctx context.Context) (compile.Target, error)

	// Render returns the artifacts that put a program in force where its owner has none yet, in the order in which they
	// are to be loaded. The program must be compiled for this backend.
	Render(p *compile.Program) ([]Artifact, error)

	// Apply puts the program in force; see the package comment.
	Apply(ctx context.Context, p *compile.Program) error

	// Remove takes away all that the owner has.
	Remove(ctx context.Context, owner string) error
}

// Phase says when an artifact is to be loaded, relative to the others of a program.
type Phase uint8

const (
	// Sets come first: nothing refers to them yet.
	Sets Phase = iota + 1
	// Rules refer to sets, and put the program in force.
	Rules
	// Cleanup takes away what the program before has left.
	Cleanup
)

var phaseNames = [...]string{"none", "sets", "rules", "cleanup"}

// String returns the name of the phase in lower case.
func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown phase"
}

// Artifact is a piece of a rendered program: what one tool reads in one go.
type Artifact struct {
	// Name is a name for a file, such as "geo.nft".
	Name string
	// Loads are the commands that load the artifact from standard input, each with its arguments. More than one: all of
	// them read the same artifact, one for each family.
	Loads [][]string
	// Family is the family that the artifact is about, and zero for both.
	Family cidr.Family
	Phase  Phase

	write func(io.Writer) error
}

// NewArtifact returns the artifact that write writes. It is for implementations of Backend.
func NewArtifact(a Artifact, write func(io.Writer) error) Artifact {
	a.write = write
	return a
}

// Render writes the artifact. The same artifact gives the same bytes each time. Writes may be many and small.
func (a Artifact) Render(w io.Writer) error {
	if a.write == nil {
		return fmt.Errorf("backend: artifact %q is empty", a.Name)
	}
	return a.write(w)
}

// Text returns what Render writes.
func (a Artifact) Text() (string, error) {
	var b strings.Builder
	err := a.Render(&b)
	return b.String(), err
}
