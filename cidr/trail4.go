package cidr

// trail4 remembers the entries of one family in the order of addition, in groups that are skipped as a whole where none
// of their spans can hold an address.
type trail4 struct{ groups []group4 }

// group4 holds entries of one source.
type group4 struct {
	reach  span4 // from the lowest first address in the group to the highest last one
	source uint32
	marks  []mark4
}

// mark4 is an entry and the line that it came from.
type mark4 struct {
	span4
	line uint32
}

func (t *trail4) add(s span4, o origin) {
	n := len(t.groups)
	if n == 0 || t.groups[n-1].source != o.source || len(t.groups[n-1].marks) == groupSize {
		room := groupSize
		if n > 0 {
			// Where sources alternate, groups are short.
			room = min(2*len(t.groups[n-1].marks)+2, groupSize)
		}
		t.groups = append(t.groups, group4{reach: s, source: o.source, marks: make([]mark4, 0, room)})
		n++
	}
	g := &t.groups[n-1]
	if s.lo.less(g.reach.lo) {
		g.reach.lo = s.lo
	}
	if g.reach.hi.less(s.hi) {
		g.reach.hi = s.hi
	}
	g.marks = append(g.marks, mark4{s, o.line})
}

// each gives the entries that hold k and where they came from, in the order of addition, until yield says no.
func (t *trail4) each(k key4, yield func(span4, origin) bool) {
	for i := range t.groups {
		g := &t.groups[i]
		if !g.reach.holds(k) {
			continue
		}
		for _, m := range g.marks {
			if m.holds(k) && !yield(m.span4, origin{g.source, m.line}) {
				return
			}
		}
	}
}
