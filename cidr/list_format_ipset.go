package cidr

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ipsetFormat reads the commands of FormatIPSet.
type ipsetFormat struct {
	sets  map[string]*ipsetSet
	names []string // of the sets, in the order of the file
	full  []string // of the sets that hold entries
	words [][]byte // of the line, kept for its memory
	nets  []ipsetNet
}

// ipsetSet is a set of the file.
type ipsetSet struct {
	family  Family
	nets    bool  // hash:net
	netmask int   // entries stand for networks of that length
	refused error // why its entries cannot be read; nil if they can
	full    bool  // it holds entries
}

// ipsetNet is a prefix of a hash:net set.
type ipsetNet struct {
	line    int
	e       listEntry
	nomatch bool
}

func newIPSetFormat() *ipsetFormat { return &ipsetFormat{sets: map[string]*ipsetSet{}} }

func (f *ipsetFormat) line(l *listReader, line []byte) ([]byte, error) {
	if line[0] == '#' {
		l.comment(line)
		return line, nil
	}
	words, err := splitIPSet(f.words[:0], line)
	if err != nil {
		return line, err
	}
	f.words = words
	switch command := string(words[0]); {
	case command == "COMMIT" && len(words) == 1:
		return line, nil
	case (command == "create" || command == "-N") && len(words) >= 3:
		return line, f.create(l, words)
	case (command == "add" || command == "-A") && len(words) >= 3:
		return line, f.add(l, words)
	}
	return line, fmt.Errorf("%w: a line is \"create NAME TYPE ...\" or \"add NAME ENTRY ...\"", ErrSyntax)
}

func (f *ipsetFormat) create(l *listReader, words [][]byte) error {
	name, kind := string(words[1]), string(words[2])
	if f.sets[name] != nil {
		return fmt.Errorf("%w: the set %.40q is created twice", ErrSyntax, name)
	}
	set := &ipsetSet{family: V4, nets: kind == "hash:net", netmask: -1}
	f.sets[name] = set
	f.names = append(f.names, name)
	switch kind {
	case "hash:ip", "hash:net", "bitmap:ip":
		set.refused = set.options(l, words[3:])
	default:
		set.refused = fmt.Errorf("%w: the type %.40q: only hash:ip, hash:net and bitmap:ip hold addresses alone", ErrSyntax,
			kind)
	}
	if l.setNamed && l.setName != name {
		return nil
	}
	return set.refused
}

func (s *ipsetSet) options(l *listReader, words [][]byte) error {
	for i := 0; i < len(words); i++ {
		option := string(words[i])
		switch option {
		case "counters", "comment", "skbinfo", "forceadd", "-exist", "-!":
			continue
		case "family", "netmask", "hashsize", "maxelem", "bucketsize", "initval", "timeout", "range", "size", "probes",
			"resize", "network", "from", "to", "gc":
		default:
			return fmt.Errorf("%w: the option %.40q of a set is not known", ErrSyntax, option)
		}
		if i++; i == len(words) {
			return fmt.Errorf("%w: the option %s has no value", ErrSyntax, option)
		}
		switch value := string(words[i]); {
		case option == "family" && (value == "inet" || value == "ipv4"):
			s.family = V4
		case option == "family" && (value == "inet6" || value == "ipv6"):
			s.family = V6
		case option == "family":
			return fmt.Errorf("%w: the family is inet or inet6, not %.40q", ErrSyntax, value)
		}
	}
	for i := 0; i+1 < len(words); i++ {
		if string(words[i]) == "netmask" {
			n, err := l.length(words[i+1], s.family.Bits())
			if err != nil {
				return err
			}
			s.netmask = n
		}
	}
	return nil
}

func (f *ipsetFormat) add(l *listReader, words [][]byte) error {
	set := f.sets[string(words[1])]
	if set == nil {
		return fmt.Errorf("%w: the set %.40q is not created before", ErrSyntax, words[1])
	}
	if !set.full {
		set.full = true
		f.full = append(f.full, string(words[1]))
	}
	if l.setNamed && l.setName != string(words[1]) || !l.setNamed && f.full[0] != string(words[1]) {
		l.report.Ignored++
		return nil
	}
	if set.refused != nil {
		return set.refused
	}
	nomatch, err := entryOptions(words[3:])
	if err != nil {
		return err
	}
	if nomatch && !set.nets {
		return fmt.Errorf("%w: nomatch is for hash:net", ErrSyntax)
	}
	e, err := l.entry(words[2])
	if err != nil {
		return err
	}
	if e.family != set.family {
		return fmt.Errorf("%w: the set is for %v", ErrSyntax, set.family)
	}
	if set.netmask >= 0 {
		if e, err = l.widen(e, set.netmask); err != nil {
			return err
		}
	}
	if !set.nets {
		l.take(e)
		return nil
	}
	return f.addNet(l, e, nomatch)
}

// addNet keeps an entry of a hash:net set until it is known whether there are exceptions. The kernel keeps a range as
// prefixes, so each of them is as specific as it is long.
func (f *ipsetFormat) addNet(l *listReader, e listEntry, nomatch bool) error {
	if e.family == V6 {
		if _, ok := e.s6.prefix(); !ok {
			return fmt.Errorf("%w: such a set holds no IPv6 range that is no prefix", ErrSyntax)
		}
		f.nets = append(f.nets, ipsetNet{l.n, e, nomatch})
	} else {
		for p := range e.s4.rng().Prefixes() {
			first := toKey4(p.Addr())
			part := listEntry{family: V4, s4: span4{first, first.fill(32 - p.Bits())}}
			f.nets = append(f.nets, ipsetNet{l.n, part, nomatch})
		}
	}
	l.count(e)
	return nil
}

// widen gives the networks of a length that an entry stands for.
func (l *listReader) widen(e listEntry, length int) (listEntry, error) {
	narrow := e
	if e.family == V4 {
		e.s4.hi = e.s4.hi.fill(32 - length)
		e.s4.lo = e.s4.lo.fill(32-length) - key4(0).fill(32-length)
	} else {
		e.s6.hi = e.s6.hi.fill(128 - length)
		e.s6.lo = e.s6.lo.fill(128 - length).minus(key6{}.fill(128 - length))
	}
	if narrow.s4.lo != e.s4.lo || narrow.s6.lo != e.s6.lo {
		if l.hostBits == RefuseHostBits {
			return listEntry{}, fmt.Errorf("%w: the set's netmask is %d; HostBits(MaskHostBits) would take the network",
				ErrHostBits, length)
		}
		e.masked = true
	}
	return e, nil
}

// entryOptions reads what follows an entry.
func entryOptions(words [][]byte) (nomatch bool, err error) {
	for i := 0; i < len(words); i++ {
		switch option := string(words[i]); option {
		case "nomatch":
			nomatch = true
		case "-exist", "-!":
		case "timeout", "comment", "packets", "bytes", "skbmark", "skbprio", "skbqueue":
			if i++; i == len(words) {
				return false, fmt.Errorf("%w: the option %s has no value", ErrSyntax, option)
			}
		default:
			return false, fmt.Errorf("%w: the option %.40q of an entry is not known", ErrSyntax, option)
		}
	}
	return nomatch, nil
}

// splitIPSet appends the words of a command to words. Double quotes may hold blanks.
func splitIPSet(words [][]byte, line []byte) ([][]byte, error) {
	for at := skipBlanks(line, 0); at < len(line); at = skipBlanks(line, at) {
		end := wordLength(line, at)
		if line[at] == '"' {
			n := bytes.IndexByte(line[at+1:], '"')
			if n < 0 {
				return nil, fmt.Errorf("%w: a quote is not closed", ErrSyntax)
			}
			end = at + n + 2
			words = append(words, line[at+1:end-1])
			if end < len(line) && !isBlank(line[end]) {
				return nil, fmt.Errorf("%w: a blank belongs after the closing quote", ErrSyntax)
			}
		} else {
			words = append(words, line[at:end])
		}
		at = end
	}
	return words, nil
}

func (f *ipsetFormat) end(l *listReader) error {
	switch {
	case l.setNamed && f.sets[l.setName] == nil:
		return fmt.Errorf("%w: IPSetName: there is no set %.40q, the file has %s", ErrOption, l.setName,
			joinNames(f.names))
	case !l.setNamed && len(f.full) > 1:
		return fmt.Errorf("%w: several sets hold entries: say with IPSetName which of %s is meant", ErrOption,
			joinNames(f.full))
	}
	if slices.ContainsFunc(f.nets, func(n ipsetNet) bool { return n.nomatch }) {
		return f.mostSpecific(l)
	}
	last := l.n
	for _, n := range f.nets {
		l.n = n.line
		l.add(n.e)
	}
	l.n = last
	return nil
}

// mostSpecific takes what the longest prefixes say.
func (f *ipsetFormat) mostSpecific(l *listReader) error {
	sorted := slices.Clone(f.nets)
	slices.SortStableFunc(sorted, func(a, b ipsetNet) int {
		return cmp.Or(cmp.Compare(a.e.s4.lo, b.e.s4.lo), cmp.Compare(a.e.s4.hi, b.e.s4.hi),
			a.e.s6.lo.compare(b.e.s6.lo), a.e.s6.hi.compare(b.e.s6.hi))
	})
	for i := 1; i < len(sorted); i++ {
		a, b := sorted[i-1], sorted[i]
		if a.e.s4 == b.e.s4 && a.e.s6 == b.e.s6 && a.nomatch != b.nomatch {
			return fmt.Errorf("line %d: %w: line %d has the same prefix, and only one of the two says nomatch", b.line,
				ErrSyntax, a.line)
		}
	}
	var m MapBuilder[bool]
	for _, n := range f.nets {
		if n.e.family == V4 {
			m.SetRange(n.e.s4.rng(), !n.nomatch)
		} else {
			m.SetRange(n.e.s6.rng(), !n.nomatch)
		}
	}
	resolved, err := m.Build(MostSpecific)
	if err != nil {
		return err
	}
	s := resolved.Where(func(match bool) bool { return match })
	for r := range s.Ranges() {
		if err := r.Check(); err != nil {
			return fmt.Errorf("the exceptions leave %w", err) // the block of IPv4-mapped addresses alone
		}
	}
	if l.b.trace == nil {
		l.addSet(s)
		return nil
	}
	// For a trace, what is left of each entry has the entry's line.
	last := l.n
	for _, n := range f.nets {
		if n.nomatch {
			continue
		}
		l.n = n.line
		if n.e.family == V4 {
			for _, sp := range intersect4([]span4{n.e.s4}, s.v4.meeting(n.e.s4)) {
				l.add4(sp.lo, sp.hi)
			}
		} else {
			for _, sp := range intersect6([]span6{n.e.s6}, s.v6.meeting(n.e.s6)) {
				l.add6(sp.lo, sp.hi)
			}
		}
	}
	l.n = last
	return nil
}

// joinNames lists names for a message, not more of them than a reader wants.
func joinNames(names []string) string {
	const most = 20
	var b strings.Builder
	for i, n := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.40q", n)
	}
	if len(names) == 0 {
		return "none"
	}
	return b.String()
}
