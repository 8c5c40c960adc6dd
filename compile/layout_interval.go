package compile

import (
	"strconv"

	"github.com/cidrc/cidrc/cidr"
)

// intervalSet is one named set of ranges for each action but one, and a rule in the base chain that asks it. Ranges cost
// less than the prefixes that cover them, two to five times less in country data, and a look-up as much as their number's
// logarithm.
type intervalSet struct {
	// made holds the sets by family and class: all hooks ask the same.
	made map[cidr.Family][]*Set
	way  map[cidr.Family]listed
}

func (*intervalSet) chain(string, cidr.Family) string { return "" }

func (l *intervalSet) lookUp(b *programBuilder, _ string, c *Chain, f *familyPlan) error {
	if l.made == nil {
		l.made, l.way = map[cidr.Family][]*Set{}, map[cidr.Family]listed{}
	}
	way, ok := l.way[f.family]
	if !ok {
		way = f.polarity(cidr.Set.NumRanges)
		l.way[f.family] = way
		for i, s := range way.sets {
			set := &Set{Name: b.setName(f.actions[way.class[i]].Verdict, f.family), Family: f.family, Addrs: s}
			l.made[f.family] = append(l.made[f.family], set)
			b.Sets = append(b.Sets, set)
		}
	}
	sets, rest := l.made[f.family], f.actions[way.rest]
	if len(sets) == 1 {
		// "Everything but this set" is one rule, not two.
		if a := f.actions[way.class[0]]; a.Verdict == Pass && !a.Counter {
			c.Rules = append(c.Rules, ChainRule{Set: sets[0], Not: true, Do: doOf(rest.Verdict), Counter: rest.Counter})
			return nil
		}
	}
	for i, set := range sets {
		a := f.actions[way.class[i]]
		c.Rules = append(c.Rules, ChainRule{Set: set, Do: doOf(a.Verdict), Counter: a.Counter})
	}
	f.rest(c, rest)
	return nil
}

// setName names a set by what happens to its addresses, so that the name stays when the addresses change.
func (b *programBuilder) setName(v Verdict, f cidr.Family) string {
	base := v.String() + familyDigit(f)
	name := base
	for n := 2; ; n++ {
		taken := false
		for _, s := range b.Sets {
			taken = taken || s.Name == name
		}
		if !taken {
			return name
		}
		name = base + "-" + strconv.Itoa(n)
	}
}
