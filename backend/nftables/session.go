package nftables

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/cidrc/cidrc/backend"
)

// session is one operation's talk with the kernel.
type session struct {
	ctx  context.Context
	conn Conn
	buf  []byte // of one datagram
}

// datagram is more than the kernel puts into one (NLMSG_GOODSIZE, or 32 KiB less its own header, in netlink_dump).
const datagram = 1 << 16

func newSession(ctx context.Context, dial func() (Conn, error)) (*session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	conn, err := dial()
	if err != nil {
		return nil, wrapErrno(err)
	}
	return &session{ctx: ctx, conn: conn, buf: make([]byte, datagram)}, nil
}

// wrapErrno adds the reason to an error of a system call.
func wrapErrno(err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, ErrNoReply):
		return fmt.Errorf("%w: the kernel gives %w", backend.ErrRefused, err)
	case !errors.As(err, &errno) || errors.Is(err, backend.ErrMissing):
		return err
	}
	if m, ok := meanings[errno]; ok {
		return fmt.Errorf("%w: %w", m.reason, err)
	}
	return fmt.Errorf("%w: %w", backend.ErrRefused, err)
}

var errCut = fmt.Errorf("%w: a reply of the kernel is longer than any should be", backend.ErrRefused)

// receive returns the messages of the next datagram.
func (s *session) receive() ([]byte, error) {
	n, err := s.conn.Receive(s.buf)
	if err != nil {
		return nil, err
	}
	if n > len(s.buf) {
		return nil, errCut
	}
	return s.buf[:n], nil
}

// errUnknown: a transaction was sent, and no reply says what became of it.
var errUnknown = errors.New("the kernel's reply was lost")

// commit sends the transaction and waits for its result. The kernel cannot be stopped once it has it, so that the context
// is asked before; an error that is not errUnknown means that nothing has changed.
func (s *session) commit(t *transaction, keep bool) error {
	return s.send(t, t.commit(), keep)
}

// check lets the kernel check the transaction without carrying it out.
func (s *session) check(t *transaction) error { return s.send(t, t.check(), false) }

func (s *session) send(t *transaction, batch []byte, keep bool) error {
	room, err := s.conn.Room(len(batch))
	if err != nil {
		return wrapErrno(err)
	}
	if room < len(batch) {
		return fmt.Errorf("%w: a transaction of %d bytes, and room for %d", backend.ErrBuffer, len(batch), room)
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if err := s.conn.Send(batch); err != nil {
		return wrapErrno(err)
	}
	var first *MessageError
	acked, lost := false, false
	for {
		b, err := s.receive()
		switch {
		case errors.Is(err, ErrNoReply):
			switch {
			case first != nil:
				if keep {
					first.Batch = batch
				}
				return first
			case acked && !lost:
				return nil
			}
			return errUnknown
		case errors.Is(err, ErrRepliesLost):
			lost = true
			continue
		case err != nil:
			return errors.Join(errUnknown, err)
		}
		for {
			m, rest, ok := nextMessage(b)
			if !ok {
				break
			}
			b = rest
			if m.typ != netlinkError {
				continue
			}
			a, ok := parseAck(&m)
			switch {
			case !ok:
			case a.errno != 0 && first == nil:
				first = t.errorOf(a)
			case a.errno == 0:
				acked = true
			}
		}
	}
}

// errInterrupted: the rules changed while they were read.
var errInterrupted = errors.New("interrupted")

// ask sends a request and hands each message of the answer to f. Errors of the kernel are a syscall.Errno.
func (s *session) ask(typ, flags uint16, fill func(m *messages), f func(m *message)) error {
	var m messages
	family := uint8(familyInet)
	if typ == msgGetGen {
		family = familyNone
	}
	m.begin(typ, flags, family, 0)
	if fill != nil {
		fill(&m)
	}
	m.end()
	if _, err := s.conn.Room(len(m.buf)); err != nil {
		return wrapErrno(err)
	}
	if err := s.conn.Send(m.buf); err != nil {
		return wrapErrno(err)
	}
	dump := flags&flagDump == flagDump
	interrupted := false
	for {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		b, err := s.receive()
		if errors.Is(err, ErrRepliesLost) {
			return errInterrupted
		}
		if err != nil {
			return wrapErrno(err)
		}
		for {
			r, rest, ok := nextMessage(b)
			if !ok {
				break
			}
			b = rest
			interrupted = interrupted || r.flags&flagDumpInterrupted != 0
			switch r.typ {
			case netlinkError:
				a, ok := parseAck(&r)
				if !ok {
					return errCut
				}
				if a.errno == errnoInterrupted {
					return errInterrupted
				}
				if a.errno != 0 {
					return a.errno
				}
			case netlinkDone:
				if interrupted {
					return errInterrupted
				}
				return nil
			default:
				f(&r)
				if !dump {
					return nil
				}
			}
		}
	}
}

// generation returns the kernel's count of transactions.
func (s *session) generation() (uint32, error) {
	var id uint32
	err := s.ask(msgGetGen, 0, nil, func(m *message) { id = uint32(number(find(m.attrs(), generationID))) })
	return id, err
}

// read returns the state of an owner. Sets of which elements says no are read without their elements. A state that changed
// while it was read is read again, some times.
func (s *session) read(owner string, elements func(set *SetState) bool) (*State, error) {
	const tries = 8
	for range tries {
		state, err := s.readOnce(owner, elements)
		if !errors.Is(err, errInterrupted) {
			return state, err
		}
	}
	return nil, fmt.Errorf("%w: it changed each of %d times that it was read", ErrChanged, tries)
}

func (s *session) readOnce(owner string, wants func(set *SetState) bool) (*State, error) {
	generation, err := s.generation()
	if err != nil {
		return nil, readError(err)
	}
	state := &State{Owner: owner, Generation: generation}
	table := tableName(owner)
	err = s.ask(msgGetTable, 0, func(m *messages) { m.text(tableTitle, table) }, func(m *message) {
		state.Exists = true
		state.flags = number(find(m.attrs(), tableFlags))
	})
	if errors.Is(err, errnoNoEntry) {
		return state, nil
	}
	if err != nil {
		return nil, readError(err)
	}
	at := map[string]int{}
	if err := s.ask(msgGetChain, flagDump, nil, func(m *message) {
		if c, of := parseChain(m.attrs()); of == table {
			at[c.Kernel] = len(state.Chains)
			state.Chains = append(state.Chains, c)
		}
	}); err != nil {
		return nil, readError(err)
	}
	var sets []rawSet
	if err := s.ask(msgGetSet, flagDump, func(m *messages) { m.text(setTable, table) }, func(m *message) {
		if set := parseSet(m.attrs()); set.table == table {
			sets = append(sets, set)
		}
	}); err != nil {
		return nil, readError(err)
	}
	load := func(raw *rawSet) (*elements, error) {
		e := &elements{shape: raw.shape}
		err := s.ask(msgGetElement, flagDump, func(m *messages) {
			m.text(elemsTable, table)
			m.text(elemsSet, raw.name)
		}, func(m *message) { e.add(find(m.attrs(), elemsList)) })
		if errors.Is(err, errnoNoEntry) {
			err = errInterrupted // it went away in between
		}
		return e, readError(err)
	}
	anonymous := map[string]*elements{}
	shapes := map[string]*rawSet{}
	for i := range sets {
		raw := &sets[i]
		if raw.shape.flags&setAnonymous == 0 {
			shapes[raw.name] = raw
			state.Sets = append(state.Sets, SetState{Name: logicalName(raw.name), Kernel: raw.name, Family: raw.shape.family(), shape: raw.shape})
			continue
		}
		if anonymous[raw.name], err = load(raw); err != nil {
			return nil, err
		}
	}
	if err := s.ask(msgGetRule, flagDump, func(m *messages) { m.text(ruleTable, table) }, func(m *message) {
		r, of, chain := parseRule(m.attrs(), func(name string, _ uint32) (string, bool) {
			if e, ok := anonymous[name]; ok {
				return e.text(), true
			}
			return "", false
		})
		if i, ok := at[chain]; ok && of == table {
			state.Chains[i].Rules = append(state.Chains[i].Rules, r)
		}
	}); err != nil {
		return nil, readError(err)
	}
	state.markStale()
	for i := range state.Sets {
		set := &state.Sets[i]
		if set.stale || !wants(set) {
			continue
		}
		e, err := load(shapes[set.Kernel])
		if err != nil {
			return nil, err
		}
		if set.other = e.other || set.Family == 0; set.Family == 0 {
			continue
		}
		if set.Addrs, set.split, err = e.addrs(); err != nil {
			return nil, fmt.Errorf("%w: set %s: %w", backend.ErrRefused, set.Kernel, err)
		}
	}
	sortSets(state.Sets)
	now, err := s.generation()
	if err != nil {
		return nil, readError(err)
	}
	if now != generation {
		return nil, errInterrupted
	}
	return state, nil
}

// readError adds the reason to an errno that came as the answer to a request.
func readError(err error) error {
	var errno syscall.Errno
	if errors.Is(err, errInterrupted) || !errors.As(err, &errno) {
		return err
	}
	return wrapErrno(err)
}
