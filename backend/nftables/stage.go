package nftables

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/compile"
)

// stage puts a program in force whose sets are in the kernel, whole, before any rule asks them.
//
// A set that is filled in the same transaction that brings the first rule to ask it is not complete at the moment from
// which the rule is in force: since early 2026 the kernel makes the array that look-ups search after that moment, at the
// end of its work on the transaction, and until then finds nothing. On Linux 6.18.44, with 60,000 ranges, a hundred
// packets passed that both programs drop.
//
// So the new sets are made beside the old ones, under names that end in a mark and a number if the name is taken, and a
// second transaction replaces the chains and deletes the old sets. What no base chain leads to can be filled in any number
// of transactions without any packet noticing, which is also how a program comes into force where the caller's send buffer
// is small. If all chains do not fit into one transaction, those that are no base chains come beside the old
// ones as well.
//
// What is left if it ends before its last transaction is stale (see State.markStale): the next Apply, Update or Remove
// deletes it.
func (n *Netlink) stage(s *session, p *compile.Program, op string, counters map[ruleAt]counted) (*Plan, error) {
	have, err := s.read(p.Owner, func(*SetState) bool { return false })
	if err != nil {
		return nil, err
	}
	b := &stager{n: n, s: s, p: p, op: op, total: roomForProgram(p), plan: &Plan{Owner: p.Owner}, setNames: map[string]string{}}
	b.suffix = stageMark + strconv.Itoa(freeStage(have))
	taken := map[string]bool{}
	for i := range have.Sets {
		taken[have.Sets[i].Kernel] = true
	}
	chains := 4096
	for _, c := range p.Chains {
		chains += chainRoom + ruleRoom*len(c.Rules)
	}
	for i := range have.Chains {
		chains += 2 * (chainRoom + len(have.Chains[i].Kernel))
	}
	if b.room, err = s.conn.Room(max(b.total, chains)); err != nil {
		return nil, wrapErrno(err)
	}
	b.parts = chains > b.room
	for _, set := range p.Sets {
		if !taken[set.Name] {
			b.setNames[set.Name] = set.Name
		}
	}
	b.start()
	b.tx.addTableWith(uint32(have.flags))
	err = b.fill()
	if err == nil {
		err = b.flush()
	}
	err = beforehand(err)
	if err == nil {
		err = b.flip(have, counters)
	}
	if err != nil {
		// The old program is in force. What was staged is of no use; if it cannot be deleted either, it is swept later.
		b.s = &session{ctx: context.WithoutCancel(s.ctx), conn: s.conn, buf: s.buf}
		if have.Exists {
			_ = b.sweep(true)
		} else {
			b.start()
			b.tx.addTable()
			b.tx.deleteTable()
			_ = b.flush()
		}
		return nil, err
	}
	if b.parts {
		// The new program is in force, and nothing leads to the old one any more. An error now would say that it is not, and
		// whatever is left is swept later.
		b.s = &session{ctx: context.WithoutCancel(s.ctx), conn: s.conn, buf: s.buf}
		_ = b.sweep(false)
	}
	return b.plan, nil
}

// beforehand is the error of a transaction that only makes what no rule uses: whatever became of it, nothing has changed
// for packets.
func beforehand(err error) error {
	if errors.Is(err, errUnknown) {
		return fmt.Errorf("%w: the kernel's reply was lost before the program came into force", backend.ErrBuffer)
	}
	return err
}

// freeStage returns a number of a stage that no object of the owner has.
func freeStage(have *State) int {
	used := map[int]bool{}
	note := func(kernel string) {
		if _, after, ok := strings.Cut(kernel, stageMark); ok {
			if k, err := strconv.Atoi(after); err == nil {
				used[k] = true
			}
		}
	}
	for i := range have.Sets {
		note(have.Sets[i].Kernel)
	}
	for i := range have.Chains {
		note(have.Chains[i].Kernel)
	}
	for k := 1; ; k++ {
		if !used[k] {
			return k
		}
	}
}

// stager sends a program in transactions of at most room bytes.
type stager struct {
	n      *Netlink
	s      *session
	p      *compile.Program
	op     string
	room   int
	suffix string
	// setNames are the names of new sets that need no suffix.
	setNames map[string]string
	parts    bool // chains that are no base chains are staged as well
	tx       *transaction
	sent     int // bytes
	total    int
	plan     *Plan
}

// start starts a transaction, with room for what is still to be sent.
func (b *stager) start() {
	b.tx = newTransaction(tableName(b.p.Owner), 0, max(4096, min(b.room, b.total-b.sent)))
	b.tx.suffix, b.tx.setNames = b.suffix, b.setNames
	if !b.parts {
		b.tx.chainNames = map[string]string{}
		for _, c := range b.p.Chains {
			b.tx.chainNames[c.Name] = c.Name
		}
	}
}

// flush sends what has been written since the last time.
func (b *stager) flush() error {
	if b.tx.empty() {
		return nil
	}
	sent := b.tx.plan(b.p.Owner)
	b.plan.Steps = append(b.plan.Steps, sent.Steps...)
	b.plan.Bytes += sent.Bytes
	err := b.n.commit(b.s, b.tx)
	b.sent += sent.Bytes
	b.n.tell(Progress{Op: b.op, Owner: b.p.Owner, Step: "stage", Bytes: b.sent, Total: b.total})
	b.start()
	return err
}

// fits flushes if fewer than size bytes are left.
func (b *stager) fits(size int) error {
	if len(b.tx.buf)+size+batchEndSize > b.room {
		return b.flush()
	}
	return nil
}

// fill makes the sets and all chains but base chains.
func (b *stager) fill() error {
	for _, c := range b.p.Chains {
		if c.Hook != nil || !b.parts {
			continue
		}
		if err := b.fits(chainRoom + 2*len(c.Name)); err != nil {
			return err
		}
		if err := b.tx.addChain(c); err != nil {
			return err
		}
	}
	for _, set := range b.p.Sets {
		if err := b.fits(2 * setRoom); err != nil {
			return err
		}
		name := b.tx.setName(set)
		id := b.tx.addSet(name, shapeOf(set))
		w := b.tx.adding(name, id)
		for r := range set.Addrs.Only(set.Family).Ranges() {
			if len(b.tx.buf)+setRoom+elementSize(set.Family) > b.room {
				w.done()
				if err := b.flush(); err != nil {
					return err
				}
				w = b.tx.adding(name, 0) // the set is of an earlier transaction
			}
			w.add(r)
		}
		w.done()
	}
	for _, c := range b.p.Chains {
		if c.Hook != nil || !b.parts {
			continue
		}
		for i := range c.Rules {
			if err := b.fits(2 * ruleRoom * 2); err != nil {
				return err
			}
			if err := b.tx.addRule(c, i, place{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// flip replaces the base chains, and all others and the sets as well unless it comes in parts.
func (b *stager) flip(have *State, counters map[ruleAt]counted) error {
	b.start()
	b.tx.counters = counters
	b.tx.addTable()
	gone := func(c *ChainState) bool { return c.Hook != "" || !b.parts }
	for i := range have.Chains {
		if c := &have.Chains[i]; gone(c) {
			b.tx.deleteRules(c.Kernel)
		}
	}
	for i := range have.Chains {
		if c := &have.Chains[i]; gone(c) {
			b.tx.deleteChain(c.Kernel)
		}
	}
	for _, c := range b.p.Chains {
		if c.Hook != nil || !b.parts {
			if err := b.tx.addChain(c); err != nil {
				return err
			}
		}
	}
	for _, c := range b.p.Chains {
		for i := range c.Rules {
			if c.Hook != nil || !b.parts {
				if err := b.tx.addRule(c, i, place{}); err != nil {
					return err
				}
			}
		}
	}
	if !b.parts {
		for i := range have.Sets {
			b.tx.deleteSet(have.Sets[i].Kernel)
		}
	}
	if size := len(b.tx.buf) + batchEndSize; size > b.room {
		room, err := b.s.conn.Room(size)
		if err != nil {
			return wrapErrno(err)
		}
		if room < size {
			return fmt.Errorf("%w: the chains alone take a transaction of %d bytes, and there is room for %d", backend.ErrBuffer, size, room)
		}
	}
	return b.n.resolve(b.s, b.p, b.flush())
}

// sweep deletes all sets and chains that are stale; without onlyStale, it deletes all that are not of the new program and
// no base chains.
func (b *stager) sweep(onlyStale bool) error {
	have, err := b.s.read(b.p.Owner, func(*SetState) bool { return false })
	if err != nil {
		return err
	}
	b.start()
	fresh := map[string]bool{}
	for _, set := range b.p.Sets {
		fresh["set "+b.tx.setName(set)] = true
	}
	for _, c := range b.p.Chains {
		fresh["chain "+b.tx.chainName(c)] = true
	}
	var chains, sets []string
	for i := range have.Chains {
		if c := &have.Chains[i]; c.Hook == "" && (c.stale || !onlyStale && !fresh["chain "+c.Kernel]) {
			chains = append(chains, c.Kernel)
		}
	}
	for i := range have.Sets {
		if set := &have.Sets[i]; set.stale || !onlyStale && !fresh["set "+set.Kernel] {
			sets = append(sets, set.Kernel)
		}
	}
	for _, name := range chains {
		if err := b.fits(chainRoom + len(name)); err != nil {
			return err
		}
		b.tx.deleteRules(name)
	}
	for _, name := range chains {
		if err := b.fits(chainRoom + len(name)); err != nil {
			return err
		}
		b.tx.deleteChain(name)
	}
	for _, name := range sets {
		if err := b.fits(chainRoom + len(name)); err != nil {
			return err
		}
		b.tx.deleteSet(name)
	}
	return b.flush()
}
