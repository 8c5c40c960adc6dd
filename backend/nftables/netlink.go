package nftables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/compile"
)

// Netlink is the backend that talks to the kernel itself, without the nft program. What it makes is what nft would make of
// the script that Render gives. Make one with NewNetlink.
type Netlink struct {
	dial     func() (Conn, error)
	progress func(Progress)
	keep     bool
	inPlace  func() bool
	turn     chan struct{} // holds one token while an operation is under way
}

var _ backend.Backend = (*Netlink)(nil)

// NetlinkOptions are what NewNetlink can be told. The zero value is what most want.
type NetlinkOptions struct {
	// Dial opens the connection of each operation; nil is the function Dial, which gives the network namespace of the
	// thread that calls. A Dial that goes to another namespace first, or to a kernel in memory (package nftest), is how
	// to work elsewhere.
	Dial func() (Conn, error)
	// Progress is told of each step of an operation, by the goroutine that called it; nil: nobody is.
	Progress func(Progress)
	// KeepRejected: a MessageError has the transaction that was refused. Written to a netlink socket as it is, it does the
	// same again.
	KeepRejected bool
	// InPlace reports whether the kernel finds the addresses of a set while its elements change, which Update asks; nil:
	// what the running kernel's symbols say.
	InPlace func() bool
}

// Progress is a step of an operation.
type Progress struct {
	Op, Owner string
	// Step is "encode", "send", "read", "stage" or "done".
	Step string
	// Bytes of messages that were sent so far, of Total; Total is 0 where it is not known.
	Bytes, Total int
}

// NewNetlink returns a backend that changes the kernel's rules through netlink.
func NewNetlink(o NetlinkOptions) *Netlink {
	n := &Netlink{dial: o.Dial, progress: o.Progress, keep: o.KeepRejected, turn: make(chan struct{}, 1)}
	if n.dial == nil {
		n.dial = Dial
	}
	if n.inPlace = o.InPlace; n.inPlace == nil {
		n.inPlace = sync.OnceValue(changesInPlace)
	}
	return n
}

// Target implements backend.Backend; it is the function Target.
func (n *Netlink) Target() compile.Target { return Target() }

// Render implements backend.Backend: the script that Script renders, for people to read, and to load by hand.
func (n *Netlink) Render(p *compile.Program) ([]backend.Artifact, error) {
	return (&Script{}).Render(p)
}

// Probe implements backend.Backend. It lets the kernel check a transaction that makes a table, which asks for privilege
// and for nf_tables, and does not carry it out.
func (n *Netlink) Probe(ctx context.Context) (compile.Target, error) {
	t := Target()
	t.Kernel = backend.KernelVersion()
	err := n.do(ctx, "probe", "", func(s *session) error {
		tx := newTransaction(tableName("probe"), 0, 256)
		tx.addTable()
		return s.check(tx)
	})
	return t, err
}

// operation is what the methods share: one at a time, on a connection of its own, with its errors dressed.
func (n *Netlink) do(ctx context.Context, op, owner string, f func(s *session) error) error {
	dress := func(err error) error {
		e := &backend.Error{Backend: "nftables", Op: op, Owner: owner, Err: err}
		if errors.Is(err, errUnknown) {
			e.Err = fmt.Errorf("%w: %w", backend.ErrBuffer, err)
			e.Left = "the transaction is in force wholly or not at all; Verify tells which"
		}
		var kernel *MessageError
		if !errors.As(err, &kernel) && !known(e.Err) {
			e.Err = fmt.Errorf("%w: %w", backend.ErrRefused, e.Err)
		}
		return e
	}
	select {
	case <-ctx.Done():
		return dress(ctx.Err())
	case n.turn <- struct{}{}:
	}
	defer func() { <-n.turn }()
	s, err := newSession(ctx, n.dial)
	if err != nil {
		return dress(err)
	}
	defer s.conn.Close()
	if err := f(s); err != nil {
		return dress(err)
	}
	n.tell(Progress{Op: op, Owner: owner, Step: "done"})
	return nil
}

// known reports whether an error wraps one of the reasons that errors of backends have.
func known(err error) bool {
	for _, reason := range []error{
		backend.ErrOtherTarget, backend.ErrPrivilege, backend.ErrBuffer, backend.ErrMissing, backend.ErrRefused,
		context.Canceled, context.DeadlineExceeded, compile.ErrInvalid, compile.ErrName, compile.ErrUnsupported, compile.ErrLimit,
	} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

func (n *Netlink) tell(p Progress) {
	if n.progress != nil {
		n.progress(p)
	}
}

func checkProgram(op string, p *compile.Program) error {
	if p.Target.Backend != "nftables" {
		return &backend.Error{Backend: "nftables", Op: op, Owner: p.Owner, Err: backend.ErrOtherTarget, Detail: p.Target.String()}
	}
	return nil
}

// Apply implements backend.Backend. A program without sets comes in one transaction, which replaces the owner's table.
// The sets of others come first, in one transaction whatever their size, and the second puts chains and rules in the place
// of the old ones: from the moment at which a rule is in force, the sets that it asks are whole. For that, a set may have
// another name in the kernel than in the program: the same with ".." and a number behind it.
//
// Where the caller may not have a send buffer for all sets, as in containers, they come in as many transactions as it
// takes.
//
// A context that ends while the kernel is at work on the last transaction is too late: the program is in force, and Apply
// says so.
func (n *Netlink) Apply(ctx context.Context, p *compile.Program) error {
	if err := checkProgram("apply", p); err != nil {
		return err
	}
	return n.do(ctx, "apply", p.Owner, func(s *session) error {
		_, err := n.apply(s, p, "apply", nil)
		return err
	})
}

// apply replaces everything, and returns what it has sent.
func (n *Netlink) apply(s *session, p *compile.Program, op string, counters map[ruleAt]counted) (*Plan, error) {
	n.tell(Progress{Op: op, Owner: p.Owner, Step: "encode"})
	size := roomForProgram(p)
	room, err := s.conn.Room(size)
	if err != nil {
		return nil, wrapErrno(err)
	}
	whole := func() (*Plan, error) { return n.replace(s, p, op, size, counters) }
	if len(p.Sets) == 0 && room >= size/2 {
		plan, err := whole()
		if !errors.Is(err, errRoom) {
			return plan, err
		}
	}
	plan, err := n.stage(s, p, op, counters)
	var kernel *MessageError
	if room >= size && errors.As(err, &kernel) && kernel.Op == "delete" {
		// The table holds, or somebody puts into it, what cannot be replaced piece by piece. With the table, all of it goes.
		if plan, err := whole(); err == nil {
			return plan, nil
		}
	}
	return plan, err
}

// errRoom: a transaction is larger than the send buffer.
var errRoom = fmt.Errorf("%w", backend.ErrBuffer)

// replace puts a program in the place of the owner's table, in one transaction.
func (n *Netlink) replace(s *session, p *compile.Program, op string, size int, counters map[ruleAt]counted) (*Plan, error) {
	tx, err := replacement(p, size, counters)
	if err != nil {
		return nil, err
	}
	total := len(tx.buf) + batchEndSize
	switch room, err := s.conn.Room(total); {
	case err != nil:
		return nil, wrapErrno(err)
	case room < total:
		return nil, errRoom
	}
	plan := tx.plan(p.Owner)
	n.tell(Progress{Op: op, Owner: p.Owner, Step: "send", Total: plan.Bytes})
	return plan, n.resolve(s, p, n.commit(s, tx))
}

// batchEndSize is what commit adds to a batch.
const batchEndSize = netlinkHeader + familyHeader

// replacement is the transaction that puts a program in the place of whatever its owner has.
func replacement(p *compile.Program, size int, counters map[ruleAt]counted) (*transaction, error) {
	tx := newTransaction(tableName(p.Owner), 0, size)
	tx.counters = counters
	tx.replaceTable()
	if err := tx.addProgram(p); err != nil {
		return nil, err
	}
	return tx, nil
}

func (n *Netlink) commit(s *session, tx *transaction) error { return s.commit(tx, n.keep) }

// resolve finds out, if the reply to the transaction that puts a program in force was lost, whether it is in force.
func (n *Netlink) resolve(s *session, p *compile.Program, err error) error {
	if !errors.Is(err, errUnknown) {
		return err
	}
	found, readErr := n.verify(s, p)
	switch {
	case readErr != nil:
		return errors.Join(err, readErr)
	case !slices.ContainsFunc(found, func(d Difference) bool { return !d.Stale }):
		return nil
	}
	return fmt.Errorf("%w: the kernel's reply was lost, and the program is not in force", backend.ErrBuffer)
}

// Remove implements backend.Backend.
func (n *Netlink) Remove(ctx context.Context, owner string) error {
	if err := compile.CheckOwner(owner); err != nil {
		return &backend.Error{Backend: "nftables", Op: "remove", Owner: owner, Err: err}
	}
	return n.do(ctx, "remove", owner, func(s *session) error {
		tx := newTransaction(tableName(owner), 0, 256)
		tx.addTable()
		tx.deleteTable()
		err := n.commit(s, tx)
		if !errors.Is(err, errUnknown) {
			return err
		}
		state, readErr := s.read(owner, func(*SetState) bool { return false })
		switch {
		case readErr != nil:
			return errors.Join(err, readErr)
		case !state.Exists:
			return nil
		}
		return fmt.Errorf("%w: the kernel's reply was lost, and the table is still there", backend.ErrBuffer)
	})
}

// Read returns what the kernel holds of an owner, and a State that does not exist if there is nothing. It takes time in
// proportion to the elements where no set has more than some 50,000 ranges; the kernel gives a set in parts, and goes
// through it from its start for each, so that a set of 500,000 takes it some 20 seconds.
func (n *Netlink) Read(ctx context.Context, owner string) (*State, error) {
	if err := compile.CheckOwner(owner); err != nil {
		return nil, &backend.Error{Backend: "nftables", Op: "read", Owner: owner, Err: err}
	}
	var state *State
	err := n.do(ctx, "read", owner, func(s *session) (err error) {
		n.tell(Progress{Op: "read", Owner: owner, Step: "read"})
		state, err = s.read(owner, func(*SetState) bool { return true })
		return err
	})
	return state, err
}
