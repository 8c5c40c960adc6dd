package nftables

import (
	"encoding/binary"
	"fmt"
	"strings"
	"syscall"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
)

// ErrChanged: somebody else changed the kernel's rules between reading and writing.
var ErrChanged = fmt.Errorf("%w: the rules were changed by somebody else in the meantime: try again", backend.ErrRefused)

// Errors of Linux that nf_tables gives, by the numbers that they have on all of its architectures that Go runs on but mips.
const (
	errnoPerm         = syscall.Errno(1)
	errnoNoEntry      = syscall.Errno(2)
	errnoInterrupted  = syscall.Errno(4)
	errnoNoMemory     = syscall.Errno(12)
	errnoAccess       = syscall.Errno(13)
	errnoBusy         = syscall.Errno(16)
	errnoExists       = syscall.Errno(17)
	errnoInvalid      = syscall.Errno(22)
	errnoFileTable    = syscall.Errno(23)
	errnoMany         = syscall.Errno(31)
	errnoRange        = syscall.Errno(34)
	errnoRestart      = syscall.Errno(85)
	errnoMessageSize  = syscall.Errno(90)
	errnoNotSupported = syscall.Errno(95)
	errnoFamily       = syscall.Errno(97)
	errnoNoBuffer     = syscall.Errno(105)
)

// meanings say of each errno by which reason of package backend it is known, its name, and what to do.
var meanings = map[syscall.Errno]struct {
	reason     error
	name, help string
}{
	errnoPerm:         {backend.ErrPrivilege, "EPERM", ""},
	errnoAccess:       {backend.ErrPrivilege, "EACCES", ""},
	errnoNoEntry:      {backend.ErrRefused, "ENOENT", "what it names is not there; the ruleset is not what it was taken for: read it again, or apply anew"},
	errnoInterrupted:  {backend.ErrRefused, "EINTR", "the rules changed while they were read: try again"},
	errnoNoMemory:     {backend.ErrRefused, "ENOMEM", "the kernel has no memory left for it"},
	errnoBusy:         {backend.ErrRefused, "EBUSY", "other rules still use it"},
	errnoExists:       {backend.ErrRefused, "EEXIST", "it overlaps with what is there, or something else has its name: read it again, or apply anew"},
	errnoInvalid:      {backend.ErrRefused, "EINVAL", "this kernel does not take it"},
	errnoFileTable:    {backend.ErrRefused, "ENFILE", "the set holds as many elements as it was declared for"},
	errnoMany:         {backend.ErrRefused, "EMLINK", "jumps go deeper than the kernel allows"},
	errnoRange:        {backend.ErrRefused, "ERANGE", "a name or a number is too long"},
	errnoRestart:      {ErrChanged, "ERESTART", ""},
	errnoMessageSize:  {backend.ErrBuffer, "EMSGSIZE", ""},
	errnoNotSupported: {backend.ErrMissing, "EOPNOTSUPP", "it needs CONFIG_NF_TABLES and CONFIG_NF_TABLES_INET, built in or as modules"},
	errnoFamily:       {backend.ErrMissing, "EAFNOSUPPORT", "it needs CONFIG_NF_TABLES_INET"},
	errnoNoBuffer:     {backend.ErrBuffer, "ENOBUFS", ""},
}

// MessageError is what the kernel has against a message of a transaction. It wraps a reason of package backend and the
// errno (syscall.Errno).
type MessageError struct {
	Op   string // "add", "delete", "replace"; empty if it is the transaction as a whole
	Kind string // "table", "chain", "set", "element", "rule"
	Name string // of the table, the chain or the set, as in the program; of the chain of a rule
	Rule int    // number of the rule in its chain, from 1
	// Range is the range, of a set's elements, of which one was refused; the zero Range if the kernel did not say.
	Range cidr.Range
	// Feature is the kernel's name of an expression that it does not have, such as "ct".
	Feature string
	Errno   syscall.Errno
	// Text is what the kernel said besides; mostly nothing.
	Text string
	// Batch is the transaction as it was sent, if NetlinkOptions.KeepRejected asked for it.
	Batch []byte
}

func (e *MessageError) reason() error {
	if e.Feature != "" {
		return backend.ErrMissing
	}
	if m, ok := meanings[e.Errno]; ok {
		return m.reason
	}
	return backend.ErrRefused
}

func (e *MessageError) Error() string {
	var b strings.Builder
	switch {
	case e.Kind == "":
		b.WriteString("the transaction")
	case e.Kind == "element" && e.Range.First.IsValid():
		fmt.Fprintf(&b, "%s %v in set %s", e.Op, e.Range, e.Name)
	case e.Kind == "element":
		fmt.Fprintf(&b, "%s elements in set %s", e.Op, e.Name)
	case e.Kind == "rule" && e.Rule == 0:
		fmt.Fprintf(&b, "%s rules of chain %s", e.Op, e.Name)
	case e.Kind == "rule":
		fmt.Fprintf(&b, "%s rule %d of chain %s", e.Op, e.Rule, e.Name)
	default:
		fmt.Fprintf(&b, "%s %s %s", e.Op, e.Kind, e.Name)
	}
	m, known := meanings[e.Errno]
	if !known {
		m.name = fmt.Sprintf("errno %d", int(e.Errno))
	}
	fmt.Fprintf(&b, ": %v: %s", e.reason(), m.name)
	switch {
	case e.Feature != "":
		fmt.Fprintf(&b, ": this kernel has no expression %q: it needs CONFIG_NFT_%s, built in or as a module", e.Feature, strings.ToUpper(e.Feature))
	case m.help != "":
		b.WriteString(": " + m.help)
	}
	if e.Text != "" {
		b.WriteString(": the kernel says: " + backend.ClipDetail(e.Text))
	}
	return b.String()
}

// Unwrap returns the reason and the errno.
func (e *MessageError) Unwrap() []error { return []error{e.reason(), e.Errno} }

// ack is an answer of the kernel to a message.
type ack struct {
	seq    uint32
	errno  syscall.Errno // 0: done
	text   string
	offset int // of what is wrong in the message; 0: not said
}

// parseAck reads the body of an NLMSG_ERROR.
func parseAck(m *message) (a ack, ok bool) {
	if len(m.body) < 4+netlinkHeader {
		return a, false
	}
	a.errno = syscall.Errno(uint32(-int32(binary.NativeEndian.Uint32(m.body))))
	original := m.body[4:]
	a.seq = binary.NativeEndian.Uint32(original[8:])
	if m.flags&flagAckExtended == 0 {
		return a, true
	}
	skip := netlinkHeader
	if m.flags&flagAckCapped == 0 && a.errno != 0 {
		skip = int(min(uint64(binary.NativeEndian.Uint32(original)+3)&^3, uint64(len(original))))
	}
	for in := (attrs{rest: original[max(skip, netlinkHeader):]}); in.next(); {
		switch {
		case in.typ == ackMessage:
			a.text = str(in.data)
		case in.typ == ackOffset && len(in.data) == 4:
			a.offset = int(binary.NativeEndian.Uint32(in.data))
		}
	}
	return a, true
}

// errorOf says what the kernel's answer is about.
func (t *transaction) errorOf(a ack) *MessageError {
	e := &MessageError{Errno: a.errno, Text: a.text}
	if a.seq == 0 || int(a.seq) > len(t.about) {
		return e
	}
	what := t.about[a.seq-1]
	e.Op, e.Kind, e.Name, e.Rule = what.op, what.kind, logicalName(what.name), what.rule
	m, _, ok := nextMessage(t.buf[what.start:])
	if !ok || a.offset <= 0 || a.offset >= len(m.raw) {
		return e
	}
	switch {
	case what.list != 0:
		e.Range = t.rangeAt(m.raw, what.list, a.offset)
	case what.kind == "rule" && a.errno == errnoNoEntry:
		// What is wrong is the name of an expression, if the kernel has no such expression.
		if in := (attrs{rest: m.raw[a.offset:]}); in.next() && in.typ == exprName {
			if name := str(in.data); isExpression(name) {
				e.Feature = name
			}
		}
	}
	return e
}

func isExpression(name string) bool {
	switch name {
	case "meta", "cmp", "payload", "bitwise", "lookup", "ct", "counter", "immediate", "reject":
		return true
	}
	return false
}

// rangeAt returns the range of whose elements one stands at the offset of a message.
func (t *transaction) rangeAt(raw []byte, list, offset int) cidr.Range {
	var r cidr.Range
	at := list + attrHeader
	for in := (attrs{rest: raw[min(at, len(raw)):]}); in.next(); {
		size := (attrHeader + len(in.data) + 3) &^ 3
		key, isAddr := keyAddr(find(find(in.data, elemKey), dataValue))
		if !isAddr {
			return cidr.Range{}
		}
		end := number(find(in.data, elemFlags))&elemEnd != 0
		found := offset < at+size
		switch {
		case !end:
			if found && r.First.IsValid() && r.Last.IsValid() {
				return r
			}
			r = cidr.Range{First: key}
			if found {
				// Its end is the next element, unless it has none.
				if next := in; next.next() && number(find(next.data, elemFlags))&elemEnd != 0 {
					if past, ok := keyAddr(find(find(next.data, elemKey), dataValue)); ok {
						r.Last = past.Prev()
						return r
					}
				}
				for p := range cidr.Everything(cidr.FamilyOf(key)).Ranges() {
					r.Last = p.Last
				}
				return r
			}
		case found:
			r.Last = key.Prev()
			return r
		}
		at += size
	}
	return cidr.Range{}
}
