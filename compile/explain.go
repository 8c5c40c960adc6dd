package compile

import (
	"bufio"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/cidrc/cidrc/cidr"
)

// Explain writes what the policy means and why the program looks as it does: where it stands, what is asked in which
// order, how many ranges and prefixes that is, which layouts were considered and what they cost. It is for people; the
// text may change with any version.
func (p *Program) Explain(w io.Writer) error {
	out := bufio.NewWriter(w)
	d := p.decision
	fmt.Fprintf(out, "policy of owner %q for %s", p.Owner, p.Target.String())
	for i, h := range d.policy.Hooks {
		fmt.Fprintf(out, "%s %v", map[bool]string{true: ", at", false: " and"}[i == 0], h)
	}
	fmt.Fprintln(out)
	for _, o := range d.policy.Origins {
		fmt.Fprintf(out, "data: %s\n", o)
	}
	if err := d.explainOrder(out); err != nil {
		return err
	}
	p.explainLayouts(out)
	p.explainScope(out)
	return out.Flush()
}

// String gives the origin in one line.
func (o Origin) String() string {
	s := o.Name
	if !o.Date.IsZero() {
		s += " of " + o.Date.Format("2006-01-02")
	}
	if o.Licence != "" {
		s += ", " + o.Licence
	}
	if o.Attribution != "" {
		s += ", " + o.Attribution
	}
	return s
}

// explainOrder lists what is asked, in the order in which it decides. The figures are of the addresses that each line
// decides about, overlaps resolved.
func (d *Decision) explainOrder(w io.Writer) error {
	fmt.Fprintf(w, "\nasked in this order, the first that applies decides:\n")
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "what\tverdict\tv4 ranges\tv4 prefixes\tv6 ranges\tv6 prefixes\t")
	for _, g := range Guards() {
		if g == GuardKeep {
			continue
		}
		verdict := Pass.String()
		if !d.policy.guardOn(g) {
			verdict = "turned off"
		}
		fmt.Fprintf(t, "guard %v\t%s\t\t\t\t\t\n", g, verdict)
	}
	m, err := d.Map(d.policy.Hooks[0].Point)
	for i, x := range d.deciders {
		fmt.Fprintf(t, "%s\t%v", x.name, x.action.Verdict)
		var s cidr.Set
		if err == nil {
			s = m.Where(func(v int) bool { return v == i })
		} else {
			s = x.addrs
		}
		for _, f := range cidr.Families() {
			part := s.Only(f)
			fmt.Fprintf(t, "\t%d\t%d", part.NumRanges(), part.NumPrefixes())
		}
		fmt.Fprintln(t, "\t")
	}
	return t.Flush()
}

func (p *Program) explainLayouts(w io.Writer) {
	how := "chosen, since it costs a packet least by the estimate"
	if p.choice.asked {
		how = "asked for"
	}
	fmt.Fprintf(w, "\nlayout: %v (%s)\n", p.Layout, how)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "layout\tsets\tranges in sets\tchains\trules\tv4 rules+probes a packet\tv6 rules+probes a packet\tns a packet\t")
	for _, c := range p.choice.all {
		if c.Refused != nil {
			continue
		}
		fmt.Fprintf(t, "%v\t%d\t%d\t%d\t%d\t%.1f+%.1f\t%.1f+%.1f\t%.0f\t\n", c.Layout, c.Sets, c.Ranges, c.Chains, c.Rules,
			c.PerPacket[0].Rules, c.PerPacket[0].Probes, c.PerPacket[1].Rules, c.PerPacket[1].Probes, c.Nanoseconds)
	}
	t.Flush()
	for _, c := range p.choice.all {
		if c.Refused != nil {
			fmt.Fprintf(w, "%v: not possible: %v\n", c.Layout, c.Refused)
		}
	}
	fmt.Fprintln(w, "a packet: the first of a flow, from a random range of the policy; nanoseconds are estimates for comparing layouts")
}

// explainScope says what the policy does not do, where people have expected it to.
func (p *Program) explainScope(w io.Writer) {
	has := map[Point]bool{}
	for _, h := range p.decision.policy.Hooks {
		has[h.Point] = true
	}
	fmt.Fprintln(w)
	if has[Input] && !has[Forward] {
		fmt.Fprintln(w, "note: packets to containers and to other machines behind this one do not come by here; they need the forward hook")
	}
	if p.Target.Features.PassReturns {
		fmt.Fprintln(w, "note: a packet that passes goes on to the rules that stand after the jump, which may still drop it")
	} else {
		fmt.Fprintln(w, "note: a packet that passes is still seen by every other base chain of its hook, which may drop it;")
		fmt.Fprintln(w, "      an accept in another base chain does not save a packet that this one drops")
	}
}
