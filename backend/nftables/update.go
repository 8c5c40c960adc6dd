package nftables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// Plan is what an operation sends, or would send, to the kernel.
type Plan struct {
	Owner string
	// Whole: everything is replaced, as Apply does it. Why says for what reason.
	Whole bool
	Why   string
	Steps []Step
	// Bytes of all messages.
	Bytes int
}

// Step is one change of a Plan: an object, or some elements of a set.
type Step struct {
	Op   string // "add", "delete" or "replace"
	Kind string // "table", "chain", "set", "element" or "rule"
	Name string // of the table, the chain or the set; of a rule's chain
	Rule int    // number of the rule in its chain, from 1; 0 for all rules of a chain
	// Elements is how many ranges, or other elements, are added or deleted.
	Elements int
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Steps) == 0 }

// Elements returns how many ranges, or other elements, are added and deleted. What a deleted table or set held is not
// counted.
func (p *Plan) Elements() (added, deleted int) {
	for _, s := range p.Steps {
		if s.Op == "delete" {
			deleted += s.Elements
		} else {
			added += s.Elements
		}
	}
	return added, deleted
}

// String lists the steps, one a line.
func (p *Plan) String() string {
	var b strings.Builder
	switch {
	case p.Empty():
		fmt.Fprintf(&b, "%s: nothing to do\n", p.Owner)
	case p.Whole:
		fmt.Fprintf(&b, "%s: everything is replaced: %s\n", p.Owner, p.Why)
	default:
		fmt.Fprintf(&b, "%s: only what differs is sent\n", p.Owner)
	}
	for _, s := range p.Steps {
		switch {
		case s.Kind == "element":
			fmt.Fprintf(&b, "%s %d elements in set %s\n", s.Op, s.Elements, s.Name)
		case s.Kind == "rule" && s.Rule == 0:
			fmt.Fprintf(&b, "%s all rules of chain %s\n", s.Op, s.Name)
		case s.Kind == "rule":
			fmt.Fprintf(&b, "%s rule %d of chain %s\n", s.Op, s.Rule, s.Name)
		default:
			fmt.Fprintf(&b, "%s %s %s\n", s.Op, s.Kind, s.Name)
		}
	}
	if p.Bytes > 0 {
		fmt.Fprintf(&b, "%d bytes\n", p.Bytes)
	}
	return b.String()
}

// plan describes the transaction.
func (t *transaction) plan(owner string) *Plan {
	p := &Plan{Owner: owner}
	for _, a := range t.about {
		if a.kind == "" || strings.HasPrefix(a.name, "__") {
			continue
		}
		s := Step{Op: a.op, Kind: a.kind, Name: a.name, Rule: a.rule, Elements: a.count}
		if n := len(p.Steps); n > 0 && s.Kind == "element" && p.Steps[n-1].Kind == "element" && p.Steps[n-1].Op == s.Op && p.Steps[n-1].Name == s.Name {
			p.Steps[n-1].Elements += s.Elements
			continue
		}
		p.Steps = append(p.Steps, s)
	}
	if len(p.Steps) > 0 {
		p.Bytes = len(t.buf) + batchEndSize
	}
	return p
}

// Update brings the kernel from what it holds to the program, and sends only the difference: elements of sets, rules,
// whole sets and chains. Rules that stay as they are keep what their counters have counted. It returns what it sent.
//
// With old, the program that is in force, elements are compared with those of old and not read from the kernel, which
// takes long for large sets; rules are always read. If the kernel turns out not to hold what old says, as far as a
// transaction can notice, Update reads the elements after all. Verify is how to be sure. Without old, everything is read.
//
// Where the kernel finds addresses while elements of their set change, sets are changed in place. Kernels before 2026 may
// fail to find them for a moment (see NetlinkOptions.InPlace); there, a set that changes is made anew, and the rules that
// use it are replaced in the same transaction, with the values of their counters.
//
// Everything is replaced, as by Apply, where the difference is no less work, where a base chain moves to another hook or
// priority, and where the kernel holds what no program makes.
func (n *Netlink) Update(ctx context.Context, old, p *compile.Program) (*Plan, error) {
	return n.updateOrPlan(ctx, "update", old, p, false)
}

// Plan returns what Update would send, and changes nothing. The kernel checks it.
func (n *Netlink) Plan(ctx context.Context, old, p *compile.Program) (*Plan, error) {
	return n.updateOrPlan(ctx, "plan", old, p, true)
}

func (n *Netlink) updateOrPlan(ctx context.Context, op string, old, p *compile.Program, dry bool) (*Plan, error) {
	if err := checkProgram(op, p); err != nil {
		return nil, err
	}
	if old != nil && old.Owner != p.Owner {
		return nil, &backend.Error{Backend: "nftables", Op: op, Owner: p.Owner, Err: compile.ErrInvalid,
			Detail: "the old program is of owner " + old.Owner}
	}
	var plan *Plan
	err := n.do(ctx, op, p.Owner, func(s *session) (err error) {
		plan, err = n.update(s, op, old, p, dry)
		return err
	})
	return plan, err
}

// update does the work of Update, Repair and Plan. When somebody else changes rules in between, it begins again; in the
// end it replaces everything, which does not depend on what is there.
func (n *Netlink) update(s *session, op string, old, p *compile.Program, dry bool) (*Plan, error) {
	const tries = 5
	for range tries {
		n.tell(Progress{Op: op, Owner: p.Owner, Step: "read"})
		plan, err := n.updateOnce(s, op, old, p, dry)
		switch {
		case errors.Is(err, ErrChanged):
			continue
		case old != nil && (errors.Is(err, errnoNoEntry) || errors.Is(err, errnoExists)):
			old = nil
			continue
		}
		return plan, err
	}
	return n.whole(s, op, p, &State{}, dry, "others keep changing the kernel's rules")
}

// whole replaces everything.
func (n *Netlink) whole(s *session, op string, p *compile.Program, have *State, dry bool, why string) (*Plan, error) {
	if !dry {
		plan, err := n.apply(s, p, op, have.keptCounters(p))
		if plan != nil {
			plan.Whole, plan.Why = true, why
		}
		return plan, err
	}
	tx, err := replacement(p, roomForProgram(p), nil)
	if err != nil {
		return nil, err
	}
	plan := tx.plan(p.Owner)
	plan.Whole, plan.Why = true, why
	if room, err := s.conn.Room(plan.Bytes); err != nil || room < plan.Bytes {
		return plan, err // it would come in parts, of which the kernel cannot check the later ones by themselves
	}
	return plan, s.check(tx)
}

// keptCounters are the values of counters of those rules of the program that the kernel holds in the same chain.
func (s *State) keptCounters(p *compile.Program) map[ruleAt]counted {
	want, err := wanted(p)
	if err != nil {
		return nil
	}
	kept := map[ruleAt]counted{}
	chains := s.chainsByName()
	for i := range want.Chains {
		w := &want.Chains[i]
		h := chains[w.Name]
		if h == nil {
			continue
		}
		for j, at := range keep(h.Rules, w.Rules) {
			if at >= 0 && h.Rules[at].Counter {
				kept[ruleAt{w.Name, j}] = counted{h.Rules[at].Packets, h.Rules[at].Bytes}
			}
		}
	}
	return kept
}

// keep matches the rules of a chain as it is with those that it is to have: for each new rule, the index of the old one
// that stays in its place, or -1. Kept rules are in the same order in both. O(n log n).
func keep(have, want []RuleState) []int {
	kept := make([]int, len(want))
	places := map[string][]int{}
	for i := range have {
		text := have[i].describe()
		places[text] = append(places[text], i)
	}
	for j := range want {
		kept[j] = -1
		text := want[j].describe()
		if list := places[text]; len(list) > 0 {
			kept[j], places[text] = list[0], list[1:]
		}
	}
	// The longest ascending sequence of them stays (patience sorting).
	var tops []int // indices into want, of the lowest end of an ascending sequence of each length
	before := make([]int, len(want))
	for j, at := range kept {
		if at < 0 {
			continue
		}
		k, _ := slices.BinarySearchFunc(tops, at, func(top, at int) int { return kept[top] - at })
		before[j] = -1
		if k > 0 {
			before[j] = tops[k-1]
		}
		if k == len(tops) {
			tops = append(tops, j)
		} else {
			tops[k] = j
		}
	}
	stays := map[int]bool{}
	if len(tops) > 0 {
		for j := tops[len(tops)-1]; j >= 0; j = before[j] {
			stays[j] = true
		}
	}
	for j := range kept {
		if !stays[j] {
			kept[j] = -1
		}
	}
	return kept
}

func (n *Netlink) updateOnce(s *session, op string, old, p *compile.Program, dry bool) (*Plan, error) {
	want, err := wanted(p)
	if err != nil {
		return nil, err
	}
	oldSets := map[string]*compile.Set{}
	if old != nil {
		for _, set := range old.Sets {
			oldSets[set.Name] = set
		}
	}
	newSets := map[string]*compile.Set{}
	for _, set := range p.Sets {
		newSets[set.Name] = set
	}
	have, err := s.read(p.Owner, func(held *SetState) bool {
		set := newSets[held.Name]
		return set != nil && oldSets[held.Name] == nil && held.shape == shapeOf(set)
	})
	if err != nil {
		return nil, err
	}
	d, why := n.difference(p, want, have, oldSets)
	if why != "" {
		return n.whole(s, op, p, have, dry, why)
	}
	tx, err := d.transaction()
	if err != nil {
		return nil, err
	}
	sets := d.freshSets()
	plan, first := tx.plan(p.Owner), sets.plan(p.Owner)
	plan.Steps, plan.Bytes = append(first.Steps, plan.Steps...), plan.Bytes+first.Bytes
	if plan.Empty() {
		return plan, nil
	}
	switch room, err := s.conn.Room(plan.Bytes); {
	case err != nil:
		return nil, wrapErrno(err)
	case room < plan.Bytes:
		return n.whole(s, op, p, have, dry, "the difference is too large for one transaction without privilege")
	case dry:
		d.together = true
		if tx, err = d.transaction(); err != nil {
			return nil, err
		}
		return plan, s.check(tx)
	}
	n.tell(Progress{Op: op, Owner: p.Owner, Step: "send", Total: plan.Bytes})
	if sets.empty() {
		return plan, n.resolve(s, p, n.commit(s, tx))
	}
	// New sets are whole before a rule asks them; see stage. That is a transaction of its own, and counts as one.
	if err := beforehand(n.commit(s, sets)); err != nil {
		return plan, err
	}
	have.Generation++
	if tx, err = d.transaction(); err == nil {
		err = n.resolve(s, p, n.commit(s, tx))
	}
	if err != nil && !errors.Is(err, errUnknown) {
		undo := newTransaction(tableName(p.Owner), 0, 256)
		for _, set := range p.Sets {
			if c := d.set[set.Name]; c.fresh {
				undo.deleteSet(c.kernel)
			}
		}
		_ = n.commit(&session{ctx: context.WithoutCancel(s.ctx), conn: s.conn, buf: s.buf}, undo)
	}
	return plan, err
}

// freshSets is the transaction that makes the new sets.
func (d *difference) freshSets() *transaction {
	t := newTransaction(tableName(d.p.Owner), d.have.Generation, d.size)
	t.setNames = map[string]string{}
	for name, c := range d.set {
		t.setNames[name] = c.kernel
	}
	for _, set := range d.p.Sets {
		if d.set[set.Name].fresh {
			t.loadSet(set)
		}
	}
	return t
}

// difference is what an update has to do.
type difference struct {
	p          *compile.Program
	want, have *State
	set        map[string]*setChange // by name in the program
	swapped    map[string]bool       // names in the kernel of sets that are made anew
	size       int                   // estimate of the messages
	together   bool                  // new sets are part of the transaction
}

// setChange is what happens to a set of the program.
type setChange struct {
	kernel         string // name
	fresh          bool   // it is made, whole
	replaced       string // name in the kernel of the set whose place it takes; empty: none
	removed, added []cidr.Range
}

// difference compares; a reason means that everything has to be replaced.
func (n *Netlink) difference(p *compile.Program, want, have *State, oldSets map[string]*compile.Set) (*difference, string) {
	if !have.Exists {
		return nil, "there is nothing yet"
	}
	if have.flags != 0 {
		return nil, "the table has flags that ours has not"
	}
	d := &difference{p: p, want: want, have: have, set: map[string]*setChange{}, swapped: map[string]bool{}, size: 4096}
	held := have.setsByName()
	stage := freeStage(have)
	changed, all := 0, 0
	for _, set := range p.Sets {
		c := &setChange{kernel: set.Name}
		d.set[set.Name] = c
		all += set.Addrs.NumRanges()
		h := held[set.Name]
		if h == nil {
			c.fresh = true
			c.kernel = d.freeName(set.Name, stage)
			changed += set.Addrs.NumRanges()
			d.size += roomFor(set)
			continue
		}
		if h.shape != shapeOf(set) {
			return nil, "set " + set.Name + " is of another kind"
		}
		c.kernel = h.Kernel
		was := h.Addrs
		if o := oldSets[set.Name]; o != nil {
			was = o.Addrs.Only(o.Family)
		} else if h.other || h.split {
			return nil, "set " + set.Name + " holds what no program makes"
		}
		c.removed, c.added = rangeDifference(was, set.Addrs.Only(set.Family))
		if len(c.removed)+len(c.added) == 0 {
			continue
		}
		if !n.inPlace() {
			c.fresh, c.replaced = true, h.Kernel
			c.kernel = d.freeName(set.Name, stage)
			d.swapped[h.Kernel] = true
			changed += set.Addrs.NumRanges()
			d.size += roomFor(set)
			continue
		}
		// An element in the middle of a set, and one that is deleted, cost the kernel about twice as much as one at the end.
		changed += 2 * (len(c.removed) + len(c.added))
		d.size += (len(c.removed)+len(c.added))*elementSize(set.Family) + 2*setRoom
	}
	if all > 1000 && changed >= all {
		return nil, "the difference is no less work"
	}
	chains := have.chainsByName()
	for i := range want.Chains {
		w := &want.Chains[i]
		if h := chains[w.Name]; h != nil && h.Hook != w.Hook {
			return nil, "chain " + w.Name + " moves"
		}
	}
	return d, ""
}

// freeName is the name for a set that is made, beside all that there are.
func (d *difference) freeName(name string, stage int) string {
	for i := range d.have.Sets {
		if d.have.Sets[i].Kernel == name {
			return name + stageMark + strconv.Itoa(stage)
		}
	}
	return name
}

// rangeDifference returns the ranges of was that are not ranges of is, and the other way round: the kernel knows ranges,
// not addresses.
func rangeDifference(was, is cidr.Set) (removed, added []cidr.Range) {
	if was.Equal(is) {
		return nil, nil
	}
	old := slices.AppendSeq(make([]cidr.Range, 0, was.NumRanges()), was.Ranges())
	for r := range is.Ranges() {
		for len(old) > 0 && old[0].First.Less(r.First) {
			removed, old = append(removed, old[0]), old[1:]
		}
		if len(old) > 0 && old[0] == r {
			old = old[1:]
			continue
		}
		added = append(added, r)
	}
	return append(removed, old...), added
}

// transaction writes the messages, in an order in which nothing is used before it is there, or gone while it is used.
func (d *difference) transaction() (*transaction, error) {
	t := newTransaction(tableName(d.p.Owner), d.have.Generation, d.size)
	t.setNames, t.chainNames = map[string]string{}, map[string]string{}
	chains := d.have.chainsByName()
	for _, c := range d.p.Chains {
		if h := chains[c.Name]; h != nil {
			t.chainNames[c.Name] = h.Kernel
		} else if d.hasChain(c.Name) {
			t.chainNames[c.Name] = c.Name + stageMark + strconv.Itoa(freeStage(d.have))
		}
	}
	for name, c := range d.set {
		t.setNames[name] = c.kernel
	}
	for _, c := range d.p.Chains {
		if chains[c.Name] == nil {
			if err := t.addChain(c); err != nil {
				return nil, err
			}
		}
	}
	for _, set := range d.p.Sets {
		if d.together && d.set[set.Name].fresh {
			t.loadSet(set)
		}
	}
	wanted := d.want.chainsByName()
	for _, c := range d.p.Chains {
		if err := d.rules(t, c, wanted[c.Name], chains[c.Name]); err != nil {
			return nil, err
		}
	}
	for _, set := range d.p.Sets {
		if c := d.set[set.Name]; !c.fresh {
			t.deleteRanges(c.kernel, slices.Values(c.removed))
			t.addRanges(c.kernel, 0, slices.Values(c.added))
		}
	}
	d.deletions(t, wanted)
	return t, nil
}

func (d *difference) hasChain(kernel string) bool {
	return slices.ContainsFunc(d.have.Chains, func(c ChainState) bool { return c.Kernel == kernel })
}

// rules brings the rules of one chain to what they are to be.
func (d *difference) rules(t *transaction, c *compile.Chain, want, have *ChainState) error {
	if have == nil {
		for i := range c.Rules {
			if err := t.addRule(c, i, place{}); err != nil {
				return err
			}
		}
		return nil
	}
	kept := keep(have.Rules, want.Rules)
	stays := map[int]bool{}
	for _, at := range kept {
		stays[at] = true
	}
	for i := range have.Rules {
		if !stays[i] {
			t.deleteRule(have.Kernel, i+1, have.Rules[i].handle)
		}
	}
	// From the end: a new rule comes before the next one that stays.
	before := make([]uint64, len(kept))
	var next uint64
	for j := len(kept) - 1; j >= 0; j-- {
		before[j] = next
		if kept[j] >= 0 {
			next = have.Rules[kept[j]].handle
		}
	}
	for j, at := range kept {
		where := place{before: before[j]}
		if at >= 0 {
			r := &have.Rules[at]
			if !slices.ContainsFunc(r.sets, func(name string) bool { return d.swapped[name] }) {
				continue
			}
			// The rule is the same, and the set that it asks is another.
			if t.counters == nil {
				t.counters = map[ruleAt]counted{}
			}
			t.counters[ruleAt{c.Name, j}] = counted{r.Packets, r.Bytes}
			where = place{replace: r.handle}
		}
		if err := t.addRule(c, j, where); err != nil {
			return err
		}
	}
	return nil
}

// deletions takes away what the program does not have, and what is stale.
func (d *difference) deletions(t *transaction, wanted map[string]*ChainState) {
	var gone []string
	for i := range d.have.Chains {
		if c := &d.have.Chains[i]; c.stale || wanted[c.Name] == nil {
			gone = append(gone, c.Kernel)
		}
	}
	for _, name := range gone {
		t.deleteRules(name)
	}
	for _, name := range gone {
		t.deleteChain(name)
	}
	for i := range d.have.Sets {
		set := &d.have.Sets[i]
		if c := d.set[set.Name]; set.stale || c == nil || c.replaced == set.Kernel {
			t.deleteSet(set.Kernel)
		}
	}
}
