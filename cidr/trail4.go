package cidr

// trail4 remembers the entries of one family in the order of addition, in groups that are skipped as a whole where none
// of their spans can hold an address.
type trail4 struct{ groups []group4 }

type group4 struct {
	reach span4 // from the lowest first address in the group to the highest last one
	marks []mark4
}

// mark4 is an entry and where it came from.
type mark4 struct {
	span4
	origin origin
}

func (t *trail4) add(s span4, o origin) {
	n := len(t.groups)
	if n == 0 || len(t.groups[n-1].marks) == groupSize {
		t.groups = append(t.groups, group4{reach: s, marks: make([]mark4, 0, groupSize)})
		n++
	}
	g := &t.groups[n-1]
	if s.lo.less(g.reach.lo) {
		g.reach.lo = s.lo
	}
	if g.reach.hi.less(s.hi) {
		g.reach.hi = s.hi
	}
	g.marks = append(g.marks, mark4{s, o})
}

// each gives the entries that hold k, in the order of addition, until yield says no.
func (t *trail4) each(k key4, yield func(mark4) bool) {
	for i := range t.groups {
		g := &t.groups[i]
		if !g.reach.holds(k) {
			continue
		}
		for _, m := range g.marks {
			if m.holds(k) && !yield(m) {
				return
			}
		}
	}
}
