package compile

import (
	"fmt"
	"slices"

	"github.com/cidrc/cidrc/cidr"
)

// plan is what layouts start from: a decision with its actions told apart, for a target that can carry it out.
type plan struct {
	d       *Decision
	t       Target
	actions []Action // the different actions of the decision, Any not among them
	// classes says for each address which of actions it gets; anyClass where that does not matter.
	classes cidr.Map[int]
	split   [2]familyPlan
}

const anyClass = -1

// familyPlan is the part of a plan that is about one family.
type familyPlan struct {
	family  cidr.Family
	actions []Action
	classes cidr.Map[int]
	shares  *shares // of the traffic
	// preferred is the class of the policy's default, or of Pass if the default is Any; -1 if there is none.
	preferred int
}

func newPlan(d *Decision, t Target) (*plan, error) {
	p := &plan{d: d, t: t}
	byRule := make([]int, len(d.deciders))
	for i, x := range d.deciders {
		where := "the default"
		if x.rule != nil {
			where = fmt.Sprintf("rule %q", x.name)
		}
		if feature := x.action.unsupported(); feature != "" {
			return nil, &UnsupportedError{Where: where, Feature: feature, Instead: "no layout can do that yet"}
		}
		if x.action.Verdict == Any {
			byRule[i] = anyClass
			continue
		}
		for _, h := range d.policy.Hooks {
			if x.action.Verdict == Reject && h.Point != Input && h.Point != Forward && h.Point != Output {
				return nil, &UnsupportedError{Where: where, Feature: fmt.Sprintf("reject at %v", h.Point), Instead: "drop there"}
			}
		}
		if byRule[i] = slices.Index(p.actions, x.action); byRule[i] < 0 {
			byRule[i] = len(p.actions)
			p.actions = append(p.actions, x.action)
		}
	}
	if len(p.actions) == 0 {
		return nil, &PolicyError{Where: "rules", Err: fmt.Errorf("%w: nothing in the policy matters, every verdict is any", ErrInvalid)}
	}
	for _, h := range d.policy.Hooks {
		if err := t.checkHook(h); err != nil {
			return nil, err
		}
		if h.Priority != nil && !t.Features.Namespaced {
			return nil, &UnsupportedError{Where: "hook " + h.String(), Feature: "a priority of its own on target " + t.String()}
		}
		// Every hook compares the same remote addresses, so the last map serves them all.
		rules, err := d.Map(h.Point)
		if err != nil {
			return nil, err
		}
		p.classes = cidr.Transform(rules, func(i int) (int, bool) { return byRule[i], true })
	}
	preferred := byRule[len(byRule)-1]
	if preferred == anyClass {
		preferred = slices.IndexFunc(p.actions, func(a Action) bool { return a.Verdict == Pass })
	}
	for i, f := range cidr.Families() {
		p.split[i] = familyPlan{family: f, actions: p.actions, classes: p.classes.Only(f), preferred: preferred}
	}
	return p, nil
}

// settle gives the space that does not matter to the classes around it, so that the other classes than rest need the
// fewest ranges: between two ranges of one class it joins them, and everywhere else it goes to rest.
func (f *familyPlan) settle(rest int) cidr.Map[int] {
	careless := false
	for _, c := range f.classes.All() {
		careless = careless || c == anyClass
	}
	if !careless {
		return f.classes
	}
	var b cidr.MapBuilder[int]
	before, pending := anyClass, cidr.Range{}
	for r, c := range f.classes.All() {
		if c == anyClass {
			pending = r
			continue
		}
		if pending.First.IsValid() {
			if before == c {
				b.SetRange(pending, c)
			} else {
				b.SetRange(pending, rest)
			}
			pending = cidr.Range{}
		}
		b.SetRange(r, c)
		before = c
	}
	if pending.First.IsValid() {
		b.SetRange(pending, rest)
	}
	m, err := b.Build(cidr.LastWins)
	if err != nil {
		panic(fmt.Sprintf("unreachable: ranges of a map are valid: %v", err))
	}
	return m
}

// listed is one way to write a family down: the sets of all classes but one, and that one for what is in none of them.
type listed struct {
	rest  int
	class []int // of sets, ascending
	sets  []cidr.Set
}

// polarity finds the class that it costs least to leave for the rest: a block list, an allow list or, with more than two
// actions, something in between. size is what a set costs. Unless that is an eighth and eight more, the rest is what the
// policy's default says: an allow-only policy then reads as an allow list, and drops everything if its set is lost.
func (f *familyPlan) polarity(size func(cidr.Set) int) listed {
	var best listed
	bestSize := -1
	for rest := range f.actions {
		m := f.settle(rest)
		l, n := listed{rest: rest}, 0
		for c := range f.actions {
			if c == rest {
				continue
			}
			if s := m.Where(func(v int) bool { return v == c }); !s.IsEmpty() {
				l.class, l.sets = append(l.class, c), append(l.sets, s)
				n += size(s)
			}
		}
		if rest == f.preferred {
			n = max(0, n-n/8-8)
		}
		if bestSize < 0 || n < bestSize || n == bestSize && rest == f.preferred {
			best, bestSize = l, n
		}
	}
	return best
}
