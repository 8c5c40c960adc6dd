package compile

import "github.com/cidrc/cidrc/cidr"

// linear is one rule for each prefix, in a chain for each family.
type linear struct {
	limit int // rules in all; 0: any number
	rules int
}

func (*linear) chain(hook string, f cidr.Family) string { return familyChain(hook, f) }

func (l *linear) lookUp(b *programBuilder, _ string, c *Chain, f *familyPlan) error {
	way := f.polarity(cidr.Set.NumPrefixes)
	n := 0
	for _, s := range way.sets {
		n += s.NumPrefixes()
	}
	if l.rules += n; l.limit > 0 && l.rules > l.limit {
		return &LimitError{What: "rules of layout linear", Count: l.rules, Limit: l.limit,
			Instead: "every packet walks them; choose another layout, or force this one"}
	}
	c.Rules = make([]ChainRule, 0, n+1)
	for i, s := range way.sets {
		c.prefixRules(s, f.actions[way.class[i]])
	}
	f.rest(c, f.actions[way.rest])
	return nil
}

// prefixRules adds one rule for each prefix of the set.
func (c *Chain) prefixRules(s cidr.Set, a Action) {
	for p := range s.Prefixes() {
		c.Rules = append(c.Rules, ChainRule{Prefix: p, Do: doOf(a.Verdict), Counter: a.Counter})
	}
}
