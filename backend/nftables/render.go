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
	for _, c := range p.Chains {
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
	typ := "ipv4_addr"
	if s.Family == cidr.V6 {
		typ = "ipv6_addr"
	}
	fmt.Fprintf(w, "\tset %s {\n\t\ttype %s\n\t\tflags interval\n", s.Name, typ)
	var buf []byte
	first := true
	// Ascending, as Ranges gives them: the kernel takes a set that grows at its end much faster than any other.
	for r := range s.Addrs.Ranges() {
		if first {
			buf = append(buf[:0], "\t\telements = { "...)
		} else {
			buf = append(buf[:0], ",\n\t\t\t"...)
		}
		first = false
		w.Write(backend.AppendRange(buf, r))
	}
	if !first { // nft takes no empty list of elements
		w.WriteString(" }\n")
	}
	w.WriteString("\t}\n")
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
	side := "saddr"
	if c.Side == compile.Destination {
		side = "daddr"
	}
	ip := func(f cidr.Family) string {
		if f == cidr.V6 {
			return "ip6"
		}
		return "ip"
	}
	if r.Family != 0 {
		b = append(appendFamily(b, r.Family), ' ')
	}
	if p := r.Prefix; p.IsValid() {
		f := cidr.FamilyOf(p.Addr())
		if p.Bits() == 0 {
			b = append(appendFamily(b, f), ' ')
		} else {
			b = fmt.Appendf(b, "%s %s ", ip(f), side)
			b = append(backend.AppendPrefix(b, p), ' ')
		}
	}
	if r.Set != nil {
		not := ""
		if r.Not {
			not = "!= "
		}
		b = fmt.Appendf(b, "%s %s %s@%s ", ip(r.Set.Family), side, not, r.Set.Name)
	}
	if r.Match != nil {
		b = appendMatch(b, r.Match)
	}
	if r.Counter {
		b = append(b, "counter "...)
	}
	switch r.Do {
	case compile.DoPass, compile.DoAccept:
		b = append(b, "accept"...)
	case compile.DoDrop, compile.DoReject:
		b = append(b, r.Do.String()...)
	case compile.DoJump, compile.DoGoto:
		b = append(append(append(b, r.Do.String()...), ' '), r.Chain.Name...)
	default:
		return b, fmt.Errorf("%w: %v", backend.ErrOtherTarget, r.Do)
	}
	if r.Comment != "" {
		b = fmt.Appendf(b, " comment \"%s\"", r.Comment)
	}
	return b, nil
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
