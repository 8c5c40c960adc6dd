package cidr

import (
	"fmt"
	"iter"
	"net/netip"
)

// Trace remembers where the entries of a Builder or a MapBuilder came from: see Builder.Trace. It is complete once Build
// has been called, and any number of goroutines may then use it at once.
//
// It takes 12 bytes for each IPv4 entry and 40 for each IPv6 entry.
type Trace struct {
	sources []string
	known   map[string]uint32 // places in sources
	at      origin            // of what is added now
	v4      trail4
	v6      trail6
	how     Precedence
}

// origin is a source, as a place in Trace.sources, and a line of it. removes is set in the source of a removal.
type origin struct{ source, line uint32 }

const removes = 1 << 31

// groupSize is how many entries of a trail are skipped at once.
const groupSize = 256

func newTrace() *Trace { return &Trace{sources: []string{""}, known: map[string]uint32{"": 0}} }

// from says where the entries come from that follow.
func (t *Trace) from(source string, line int) {
	at := t.at.source
	if t.sources[at] != source {
		var ok bool
		if at, ok = t.known[source]; !ok {
			at = uint32(len(t.sources))
			t.sources = append(t.sources, source)
			t.known[source] = at
		}
	}
	t.at = origin{at, uint32(min(max(line, 0), 1<<32-1))}
}

func (t *Trace) origin(remove bool) origin {
	o := t.at
	if remove {
		o.source |= removes
	}
	return o
}

// A Cause is an entry that holds an address, and where it came from.
type Cause struct {
	Source  string // as it was given, empty if none was
	Line    int    // from 1, and 0 if none was given
	Range   Range  // the whole entry; of a list with exceptions of its own, see FormatIPSet, a part that is left of it
	Removed bool   // the entry took its addresses out
}

// String returns the cause as "source:line: entry", with "removed" after it if that is what it did.
func (c Cause) String() string {
	s := c.Range.String()
	switch {
	case c.Line > 0:
		s = fmt.Sprintf("%s:%d: %s", c.Source, c.Line, s)
	case c.Source != "":
		s = c.Source + ": " + s
	}
	if c.Removed {
		s += " removed"
	}
	return s
}

// Causes gives all entries that hold the address, in the order of addition; none for the zero Addr. A zone is ignored,
// IPv4-mapped is taken as IPv4. O(n) in the entries, of which those that came sorted are passed over 256 at a time.
func (t *Trace) Causes(a netip.Addr) iter.Seq[Cause] {
	return func(yield func(Cause) bool) {
		switch FamilyOf(a) {
		case V4:
			t.v4.each(toKey4(a), func(s span4, o origin) bool { return yield(t.cause(s.rng(), o)) })
		case V6:
			t.v6.each(toKey6(a), func(s span6, o origin) bool { return yield(t.cause(s.rng(), o)) })
		}
	}
}

func (t *Trace) cause(r Range, o origin) Cause {
	return Cause{t.sources[o.source&^removes], int(o.line), r, o.source&removes != 0}
}

// Why returns the entry that decided what the address got: in a set, the last one that holds it; in a map, the one that won
// by the map's Precedence. It is false when no entry holds the address. True does not say that the address is in the set:
// if the Cause is Removed, that is why it is not. O(n), see Causes.
func (t *Trace) Why(a netip.Addr) (Cause, bool) {
	var best Cause
	found := false
	for c := range t.Causes(a) {
		if found && t.how == MostSpecific && best.Range.NumAddrs().Cmp(c.Range.NumAddrs()) < 0 {
			continue
		}
		best, found = c, true
	}
	return best, found
}

// Trace makes the builder remember where its entries come from, and returns what can be asked about it once Build has
// been called. Call it before the first entry; entries that came before it are not remembered. It adds at most as much
// memory and time as building takes without it.
func (b *Builder) Trace() *Trace {
	if b.trace == nil {
		b.trace = newTrace()
		b.slow = true
	}
	return b.trace
}

// From says where the entries that follow come from, for Trace: a source, such as the name of a file, and a line of it,
// 0 for none. Without Trace it does nothing.
func (b *Builder) From(source string, line int) {
	if b.trace != nil {
		b.trace.from(source, line)
	}
}

// Trace makes the builder remember where its entries come from, as Builder.Trace does.
func (b *MapBuilder[V]) Trace() *Trace {
	if b.trace == nil {
		b.trace = newTrace()
	}
	return b.trace
}

// From says where the entries that follow come from, as Builder.From does.
func (b *MapBuilder[V]) From(source string, line int) {
	if b.trace != nil {
		b.trace.from(source, line)
	}
}
