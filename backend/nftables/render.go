package nftables

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// script writes the program as an nft script.
//
// The script is one transaction that works whether or not the table is there: it adds the table, which does nothing if
// it exists, deletes it with all that it holds, and makes it anew. The three commands share a line and everything else
// stands inside the last one's braces: a script that was cut short at the end of any line is a syntax error, never a
// table that is deleted and not made again. Cut short inside that one line, before its brace, nft takes it for a whole
// script; its syntax has nothing that could prevent that.
func script(w io.Writer, p *compile.Program) error {
	out := bufio.NewWriterSize(w, 1<<16)
	table := tableName(p.Owner)
	header(out, p)
	fmt.Fprintf(out, "add table inet %[1]s; delete table inet %[1]s; table inet %[1]s {\n", table)
	for _, s := range p.Sets {
		writeSet(out, s)
	}
	written := map[*compile.VerdictMap]bool{}
	for _, c := range p.Chains {
		// nft takes a map only after the chains that it goes to, and a chain only after the maps that it asks.
		for i := range c.Rules {
			if m := c.Rules[i].Map; m != nil && !written[m] {
				if err := writeMap(out, m); err != nil {
					return err
				}
				written[m] = true
			}
		}
		if err := writeChain(out, c); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// header says in comments what the script is and where its data come from.
func header(w io.Writer, p *compile.Program) {
	fmt.Fprintf(w, "# cidrc: policy of owner %q for nftables, layout %v; load with nft -f\n", p.Owner, p.Layout)
	for _, o := range p.Decision().Policy().Origins {
		fmt.Fprintf(w, "# data: %s\n", backend.CommentText(o.String()))
	}
}

// removeScript is the script that deletes the owner's table, whether or not it is there.
func removeScript(owner string) string {
	return fmt.Sprintf("add table inet %[1]s; delete table inet %[1]s\n", tableName(owner))
}

func writeSet(w *bufio.Writer, s *compile.Set) {
	fmt.Fprintf(w, "\tset %s {\n\t\t%s\n", s.Name, keyType(s.Family, s.Lead))
	if s.Lead == 0 {
		w.WriteString("\t\tflags interval\n")
	}
	list := elementList{w: w}
	for r := range s.Addrs.Ranges() {
		list.add(r, s.Lead, "")
	}
	list.end()
	w.WriteString("\t}\n")
}

func writeMap(w *bufio.Writer, m *compile.VerdictMap) error {
	fmt.Fprintf(w, "\tmap %s {\n\t\t%s : verdict\n", m.Name, keyType(m.Family, m.Lead))
	if m.Lead == 0 {
		w.WriteString("\t\tflags interval\n")
	}
	targets := make([]string, len(m.Targets))
	for i, t := range m.Targets {
		b, err := appendDo([]byte(" : "), t.Do, t.Chain)
		if err != nil {
			return fmt.Errorf("map %s: %w", m.Name, err)
		}
		targets[i] = string(b)
	}
	list := elementList{w: w}
	for r, to := range m.Entries.All() {
		list.add(r, m.Lead, targets[to])
	}
	list.end()
	_, err := w.WriteString("\t}\n")
	return err
}

// keyType is the type of the elements of a set: addresses, or their leading bits as they stand in the packet. The side
// does not matter for the type.
func keyType(f cidr.Family, lead int) string {
	switch {
	case lead > 0:
		return "typeof " + rawKey(f, compile.Source, lead)
	case f == cidr.V6:
		return "type ipv6_addr"
	}
	return "type ipv4_addr"
}

// rawKey is the leading bits of an address in the network header (RFC 791, section 3.1; RFC 8200, section 3).
func rawKey(f cidr.Family, side compile.Side, lead int) string {
	at := 96
	switch {
	case f == cidr.V4 && side == compile.Destination:
		at = 128
	case f == cidr.V6 && side == compile.Destination:
		at = 192
	case f == cidr.V6:
		at = 64
	}
	return fmt.Sprintf("@nh,%d,%d", at, lead)
}

// elementList writes elements, ascending, as it is given them: the kernel takes a set that grows at its end much faster
// than any other.
type elementList struct {
	w    *bufio.Writer
	some bool
	buf  []byte
}

func (l *elementList) add(r cidr.Range, lead int, target string) {
	if lead == 0 {
		l.buf = append(backend.AppendRange(l.next(), r), target...)
		l.w.Write(l.buf)
		return
	}
	last, _ := r.Last.Prefix(lead)
	for at := r.First; ; {
		key := at.AsSlice()[:lead/8]
		l.buf = append(fmt.Appendf(l.next(), "0x%x", key), target...)
		l.w.Write(l.buf)
		if at == last.Addr() {
			return
		}
		block, _ := at.Prefix(lead)
		at = cidr.RangeOf(block).Last.Next()
	}
}

func (l *elementList) next() []byte {
	if l.some {
		return append(l.buf[:0], ",\n\t\t\t"...)
	}
	l.some = true
	return append(l.buf[:0], "\t\telements = { "...)
}

// end closes the list. nft takes no empty one.
func (l *elementList) end() {
	if l.some {
		l.w.WriteString(" }\n")
	}
}

func writeChain(w *bufio.Writer, c *compile.Chain) error {
	fmt.Fprintf(w, "\tchain %s {\n", c.Name)
	if c.Hook != nil {
		fmt.Fprintf(w, "\t\ttype filter hook %s priority %s; policy accept;\n", hookName(c.Hook.Point), priority(c.Hook))
	}
	var buf []byte
	for i := range c.Rules {
		var err error
		if buf, err = appendRule(append(buf[:0], "\t\t"...), c, &c.Rules[i]); err != nil {
			return fmt.Errorf("chain %s rule %d: %w", c.Name, i+1, err)
		}
		w.Write(append(buf, '\n'))
	}
	_, err := w.WriteString("\t}\n")
	return err
}

// hookName is the netfilter hook; raw is prerouting at an earlier priority.
func hookName(p compile.Point) string {
	if p == compile.Raw {
		return compile.Prerouting.String()
	}
	return p.String()
}

// priority uses nft's names for the usual priorities, as nft itself lists them.
func priority(h *compile.Hook) string {
	switch p := h.EffectivePriority(); p {
	case 0:
		return "filter"
	case -150:
		return "mangle"
	case -300:
		return "raw"
	default:
		return fmt.Sprint(p)
	}
}

func appendRule(b []byte, c *compile.Chain, r *compile.ChainRule) ([]byte, error) {
	if r.Family != 0 {
		b = append(appendFamily(b, r.Family), ' ')
	}
	if p := r.Prefix; p.IsValid() {
		f := cidr.FamilyOf(p.Addr())
		if p.Bits() == 0 {
			b = append(appendFamily(b, f), ' ')
		} else {
			b = appendKey(b, c, f, 0)
			b = append(backend.AppendPrefix(b, p), ' ')
		}
	}
	if r.Set != nil {
		not := ""
		if r.Not {
			not = "!= "
		}
		b = appendKey(b, c, r.Set.Family, r.Set.Lead)
		b = fmt.Appendf(b, "%s@%s ", not, r.Set.Name)
	}
	if r.Match != nil {
		b = appendMatch(b, r.Match)
	}
	if r.Counter {
		b = append(b, "counter "...)
	}
	if r.Do == compile.DoMap {
		b = fmt.Appendf(appendKey(b, c, r.Map.Family, r.Map.Lead), "vmap @%s", r.Map.Name)
	} else {
		var err error
		if b, err = appendDo(b, r.Do, r.Chain); err != nil {
			return b, err
		}
	}
	if r.Comment != "" {
		b = fmt.Appendf(b, " comment \"%s\"", r.Comment)
	}
	return b, nil
}

// appendKey writes what is compared with a prefix or asked in a set: the address at the chain's side, or its leading bits.
func appendKey(b []byte, c *compile.Chain, f cidr.Family, lead int) []byte {
	if lead > 0 {
		if c.Family == 0 {
			b = append(appendFamily(b, f), ' ')
		}
		return append(append(b, rawKey(f, c.Side, lead)...), ' ')
	}
	if f == cidr.V6 {
		b = append(b, "ip6 "...)
	} else {
		b = append(b, "ip "...)
	}
	if c.Side == compile.Destination {
		return append(b, "daddr "...)
	}
	return append(b, "saddr "...)
}

func appendDo(b []byte, do compile.Do, to *compile.Chain) ([]byte, error) {
	switch do {
	case compile.DoPass, compile.DoAccept:
		return append(b, "accept"...), nil
	case compile.DoDrop, compile.DoReject:
		return append(b, do.String()...), nil
	case compile.DoJump, compile.DoGoto:
		return append(append(append(b, do.String()...), ' '), to.Name...), nil
	}
	return b, fmt.Errorf("%w: %v", backend.ErrOtherTarget, do)
}

func appendFamily(b []byte, f cidr.Family) []byte {
	if f == cidr.V6 {
		return append(b, "meta nfproto ipv6"...)
	}
	return append(b, "meta nfproto ipv4"...)
}

func appendMatch(b []byte, m *compile.Match) []byte {
	if m.Family != 0 {
		b = append(appendFamily(b, m.Family), ' ')
	}
	b = appendInterface(b, "iif", m.In)
	b = appendInterface(b, "oif", m.Out)
	if m.States != 0 {
		b = fmt.Appendf(b, "ct state %v ", m.States)
	}
	switch {
	case len(m.ICMPTypes) > 0:
		var types []string
		for _, t := range m.ICMPTypes {
			types = append(types, fmt.Sprint(t))
		}
		b = fmt.Appendf(b, "%v type { %s } ", m.Protocol, strings.Join(types, ", "))
	case m.SourcePort != 0 || m.DestinationPort != 0:
		if m.SourcePort != 0 {
			b = fmt.Appendf(b, "%v sport %d ", m.Protocol, m.SourcePort)
		}
		if m.DestinationPort != 0 {
			b = fmt.Appendf(b, "%v dport %d ", m.Protocol, m.DestinationPort)
		}
	case m.Protocol != 0:
		b = fmt.Appendf(b, "meta l4proto %d ", uint8(m.Protocol))
	}
	return b
}

// appendInterface compares the loopback interface by its index, which is cheaper and the same on every machine, and
// others by name, which works before they exist.
func appendInterface(b []byte, key, name string) []byte {
	switch name {
	case "":
		return b
	case "lo":
		return fmt.Appendf(b, "%s \"lo\" ", key)
	}
	return fmt.Appendf(b, "%sname \"%s\" ", key, name)
}
