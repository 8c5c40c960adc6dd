package cidr

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// ipsetFormat is FormatIPSet.
type ipsetFormat struct {
	made    map[string]bool // the sets that were created, by name; whether they can be read
	entries []ipsetEntry
	in      string // the set that the entries are of
	others  map[string]bool
}

type ipsetEntry struct {
	listEntry
	except bool
	line   int
}

func newIPSetFormat() *ipsetFormat {
	return &ipsetFormat{made: map[string]bool{}, others: map[string]bool{}}
}

func (f *ipsetFormat) line(l *listReader, text []byte) (shown []byte, err error) {
	if text[0] == '#' {
		l.headerDate(text)
		return nil, nil
	}
	words := bytes.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	switch command := string(words[0]); {
	case command == "create" && len(words) >= 3:
		return f.create(l, words)
	case command == "add" && len(words) >= 3:
		return f.add(l, text, words)
	case command == "COMMIT" && len(words) == 1:
		return nil, nil
	default:
		return text, fmt.Errorf("%w: ipset save writes create and add", ErrSyntax)
	}
}

// create notes a set. The types that hold addresses alone can be read.
func (f *ipsetFormat) create(l *listReader, words [][]byte) (shown []byte, err error) {
	name, kind := string(words[1]), string(words[2])
	if _, ok := f.made[name]; ok {
		return words[1], fmt.Errorf("%w: the set is created twice", ErrSyntax)
	}
	readable := kind == "hash:ip" || kind == "hash:net" || kind == "bitmap:ip"
	f.made[name] = readable
	if !readable && (!l.setNamed || name == l.setName) {
		return words[2], fmt.Errorf("%w: sets of type %.40q hold more than addresses", ErrSyntax, kind)
	}
	return nil, nil
}

func (f *ipsetFormat) add(l *listReader, text []byte, words [][]byte) (shown []byte, err error) {
	name := string(words[1])
	if _, ok := f.made[name]; !ok {
		return words[1], fmt.Errorf("%w: there is no set of that name before this line", ErrSyntax)
	}
	if l.setNamed && name != l.setName {
		l.report.Ignored++
		return nil, nil
	}
	if !f.made[name] {
		return words[1], fmt.Errorf("%w: the set's type holds more than addresses", ErrSyntax)
	}
	if f.in == "" {
		f.in = name
	}
	if name != f.in {
		f.others[name] = true
	}
	e, shown, err := l.entry(words[2])
	if err != nil {
		return shown, err
	}
	except, shown, err := f.options(text, words[3:])
	if err != nil {
		return shown, err
	}
	if e.family == V4 && e.s4.numPrefixes() > 1 || e.family == V6 && e.s6.numPrefixes() > 1 {
		if except {
			return words[2], fmt.Errorf("%w: nomatch is for prefixes", ErrSyntax)
		}
	}
	l.count(e)
	f.entries = append(f.entries, ipsetEntry{e, except, l.n})
	return nil, nil
}

// options goes through what can follow an entry. A comment is in quotes and may hold any word.
func (f *ipsetFormat) options(text []byte, words [][]byte) (except bool, shown []byte, err error) {
	for i := 0; i < len(words); i++ {
		switch string(words[i]) {
		case "nomatch":
			except = true
		case "timeout", "packets", "bytes", "skbmark", "skbprio", "skbqueue":
			if i++; i == len(words) {
				return false, text, fmt.Errorf("%w: %s needs a value", ErrSyntax, words[i-1])
			}
		case "comment":
			if i+1 == len(words) || words[i+1][0] != '"' {
				return false, text, fmt.Errorf("%w: a comment stands in quotes", ErrSyntax)
			}
			for i++; i < len(words) && !closesQuote(words[i], i > 0 && string(words[i-1]) == "comment"); i++ {
			}
			if i == len(words) {
				return false, text, fmt.Errorf("%w: a quote is not closed", ErrSyntax)
			}
		default:
			return false, words[i], fmt.Errorf("%w: no option of an entry", ErrSyntax)
		}
	}
	return except, nil, nil
}

// closesQuote reports whether the word ends a comment. The first word of one starts with a quote of its own.
func closesQuote(word []byte, first bool) bool {
	return word[len(word)-1] == '"' && (!first || len(word) > 1)
}

// end hands the entries on. In the kernel the longest prefix that holds an address decides (ip_set_hash_net, with
// nomatch), so they go in by length, the longest last, exceptions as the opposite.
func (f *ipsetFormat) end(l *listReader) error {
	if l.setNamed && len(f.made) > 0 {
		if _, ok := f.made[l.setName]; !ok {
			return fmt.Errorf("%w: IPSetName: the file has no set %.40q; it has %s", ErrOption, l.setName, names(f.made))
		}
	}
	if len(f.others) > 0 {
		f.others[f.in] = true
		return fmt.Errorf("%w: several sets have entries, %s: name one with IPSetName", ErrOption, names(f.others))
	}
	if !slices.ContainsFunc(f.entries, func(e ipsetEntry) bool { return e.except }) {
		for _, e := range f.entries {
			l.n = e.line
			l.hand(e.listEntry, false)
		}
		return nil
	}
	size := func(e ipsetEntry) int {
		if e.family == V4 {
			return e.s4.hi.minus(e.s4.lo).log2()
		}
		return e.s6.hi.minus(e.s6.lo).log2()
	}
	slices.SortStableFunc(f.entries, func(a, b ipsetEntry) int { return size(b) - size(a) })
	spans := map[listEntry]bool{}
	for _, e := range f.entries {
		at := listEntry{family: e.family, s4: e.s4, s6: e.s6}
		if was, ok := spans[at]; ok && was != e.except {
			return fmt.Errorf("%w: line %d: the same prefix stands in the set with nomatch and without", ErrSyntax, e.line)
		}
		spans[at] = e.except
	}
	// What a list takes out of itself it must not take out of what was in the builder before.
	var own Builder
	part := listReader{b: &own}
	for _, e := range f.entries {
		part.hand(e.listEntry, e.except)
	}
	s, err := own.Build()
	if err != nil {
		return err
	}
	if l.b.trace == nil {
		for _, sp := range s.v4.list() {
			l.add4(sp.lo, sp.hi)
		}
		for _, sp := range s.v6.list() {
			l.add6(sp.lo, sp.hi)
		}
		return nil
	}
	return l.handTraced(f.entries, s)
}

// handTraced hands over what is left of each entry, so that a trace names its line.
func (l *listReader) handTraced(entries []ipsetEntry, s Set) error {
	for _, e := range entries {
		if e.except {
			continue
		}
		var one Builder
		part := listReader{b: &one}
		part.hand(e.listEntry, false)
		own, err := one.Build()
		if err != nil {
			return err
		}
		l.n = e.line
		for r := range own.Intersection(s).Ranges() {
			if _, s4, s6, _ := r.spans(); r.First.Is4() {
				l.add4(s4.lo, s4.hi)
			} else {
				l.add6(s6.lo, s6.hi)
			}
		}
	}
	return nil
}

func names(sets map[string]bool) string {
	var out []string
	for name := range sets {
		out = append(out, fmt.Sprintf("%.40q", name))
	}
	slices.Sort(out)
	if len(out) > 8 {
		out = append(out[:8], "and more")
	}
	return strings.Join(out, ", ")
}
