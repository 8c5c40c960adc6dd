package iptables

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// putBackTime bounds how long putting a family back may take, besides waiting for the lock. Nothing else ends it: it runs
// when the caller's context is cancelled, too.
const putBackTime = time.Minute

// Apply implements backend.Backend.
//
// It reads each family's table, and from what is there makes one transaction for each, which fills the owner's chains,
// deletes those of an earlier program that this one lacks, and adds and removes jumps so that there is one for each hook.
// A jump that is there stays where it is: an administrator may move it. What else is in the table, also what is added to
// it meanwhile, is left alone. A jump that somebody else deletes between the reading and the writing is missed until the
// next Apply.
//
// If the second family fails, the first gets back what it had, even if ctx is cancelled; that takes a minute at most,
// besides the wait for the lock. Its counters come back, too, where the tool can set them (ip6tables-nft-restore 1.8.9
// cannot). Error.Left says so if putting back fails as well. For the moment between the two families' transactions, one
// has the new rules and the other the old.
func (b *Backend) Apply(ctx context.Context, p *compile.Program) error {
	if err := b.check(p); err != nil {
		return err
	}
	var want [2]*wanted
	for i, f := range b.families {
		var err error
		if want[i], err = wantedBy(p, f); err != nil {
			return &backend.Error{Backend: b.variant.name(), Op: "render", Owner: p.Owner, Err: err}
		}
	}
	return b.change(ctx, "apply", p.Owner, want)
}

// Remove implements backend.Backend. Jumps that loading a payload twice has doubled go as well. If a rule of somebody
// else's goes to one of the owner's chains, nothing is removed and the error names the rule.
func (b *Backend) Remove(ctx context.Context, owner string) error {
	if err := compile.CheckOwner(owner); err != nil {
		return &backend.Error{Backend: b.variant.name(), Op: "remove", Owner: owner, Err: err}
	}
	return b.change(ctx, "remove", owner, [2]*wanted{nothing(), nothing()})
}

// change makes the families' tables what is wanted: all of them, or none.
func (b *Backend) change(ctx context.Context, op, owner string, want [2]*wanted) error {
	failed := func(err error) *backend.Error { return b.fail(op, owner, err) }
	select {
	case b.busy <- struct{}{}:
		defer func() { <-b.busy }()
	case <-ctx.Done():
		return failed(ctx.Err())
	}
	if err := ctx.Err(); err != nil {
		return failed(err)
	}
	var before [2]*state
	var texts [2][]byte
	for i, f := range b.families {
		var err error
		if before[i], err = b.read(ctx, f, owner, len(want[i].chains) > 0); err != nil {
			return failed(err)
		}
		if texts[i], err = before[i].transaction(owner, want[i]); err != nil {
			return failed(err)
		}
	}
	for i, f := range b.families {
		if texts[i] == nil {
			continue
		}
		err := b.restore(ctx, f, texts[i])
		if err == nil {
			continue
		}
		e := failed(err)
		var left []string
		for j := i; j >= 0; j-- {
			// Also the one that has failed: if it was killed, it may have done its work before.
			if texts[j] == nil || j == i && !hasRun(err) {
				continue
			}
			if err := b.putBack(ctx, b.families[j], owner, before[j]); err != nil {
				left = append(left, fmt.Sprintf("of %v: %v", b.families[j], err))
			}
		}
		e.Left = strings.Join(left, "; ")
		return e
	}
	return nil
}

// putBack makes the family's table what it was.
func (b *Backend) putBack(ctx context.Context, f cidr.Family, owner string, before *state) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackTime+time.Duration(b.wait)*time.Second)
	defer cancel()
	now, err := b.read(ctx, f, owner, false)
	if err != nil {
		return err
	}
	if now.sameAs(before) {
		return nil
	}
	text, err := now.transaction(owner, wantedAgain(before))
	if err != nil {
		return err
	}
	return b.restore(ctx, f, text, "--counters")
}

// read returns what the family's table holds of the owner. With load, the kernel makes the table if it is not there, and
// if it cannot, the error says why, which that of a restore command does not.
func (b *Backend) read(ctx context.Context, f cidr.Family, owner string, load bool) (*state, error) {
	tool := b.variant.tool(f, "save")
	args := []string{"--counters"}
	if load {
		args = append(args, "--table", "filter")
	}
	stdout, stderr, err := b.run.Run(ctx, nil, tool, args...)
	if err != nil {
		return nil, classify(f, tool, nil, stderr, err)
	}
	s, err := parseState(stdout, owner, load)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", backend.ErrRefused, tool, err)
	}
	return s, nil
}

// restore loads a transaction. The whole of it is there before the tool starts, so that the tool never reads a part.
func (b *Backend) restore(ctx context.Context, f cidr.Family, text []byte, args ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tool := b.variant.tool(f, "restore")
	_, stderr, err := b.run.Run(ctx, bytes.NewReader(text), tool, append(b.restoreArgs(), args...)...)
	if err != nil {
		return classify(f, tool, text, stderr, err)
	}
	return nil
}
