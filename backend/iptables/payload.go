package iptables

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// payload writes the program as one transaction that the restore tools of both families take.
//
// Everything but comments stands between the table's line, which is the first, and COMMIT, which is the last: a payload
// that was cut short anywhere is refused. A line that declares a chain cannot be limited to a family, so each family
// gets the other's chains as well, empty, and deletes them at the end of the same transaction.
func payload(w *bufio.Writer, p *compile.Program) error {
	header(w, p, "layout "+p.Layout.String())
	w.WriteString("# load it once: a second time adds a second jump to each built-in chain\n")
	declare(w, p)
	var line []byte
	for _, c := range p.Chains {
		for i := range c.Rules {
			r := &c.Rules[i]
			families := []cidr.Family{r.FamilyIn(c)}
			if families[0] == 0 && r.Do == compile.DoReject {
				families = []cidr.Family{cidr.V4, cidr.V6}
			}
			for _, f := range families {
				var err error
				if line, err = appendRule(append(line[:0], only(f)...), c, r, f); err != nil {
					return fmt.Errorf("chain %s rule %d: %w", c.Name, i+1, err)
				}
				w.Write(append(line, '\n'))
			}
		}
	}
	for _, c := range p.Chains {
		if c.Hook != nil {
			fmt.Fprintf(w, "-I %s 1 %s\n", builtin(c.Hook.Point), jumpRule(p.Owner, c.Name))
		}
	}
	for _, c := range p.Chains {
		switch c.Family {
		case cidr.V4:
			fmt.Fprintf(w, "%s-X %s\n", only(cidr.V6), c.Name)
		case cidr.V6:
			fmt.Fprintf(w, "%s-X %s\n", only(cidr.V4), c.Name)
		}
	}
	_, err := w.WriteString("COMMIT\n")
	return err
}

// removal writes the transaction that takes away what payload puts in force, for both families: it declares all chains
// once more, which empties them, or makes them where they were not, so that all can be deleted.
func removal(w *bufio.Writer, p *compile.Program) error {
	header(w, p, "removal")
	declare(w, p)
	for _, c := range p.Chains {
		if c.Hook != nil {
			fmt.Fprintf(w, "-D %s %s\n", builtin(c.Hook.Point), jumpRule(p.Owner, c.Name))
		}
	}
	for _, c := range p.Chains {
		fmt.Fprintf(w, "-X %s\n", c.Name)
	}
	_, err := w.WriteString("COMMIT\n")
	return err
}

// header says in comments what the payload is and where its data come from.
func header(w *bufio.Writer, p *compile.Program, what string) {
	fmt.Fprintf(w, "*filter\n# cidrc: policy of owner %q for %s, %s; load with iptables-restore --noflush and ip6tables-restore --noflush\n",
		p.Owner, p.Target.String(), what)
	for _, o := range p.Decision().Policy().Origins {
		fmt.Fprintf(w, "# data: %s\n", backend.CommentText(o.String()))
	}
}

// declare makes all chains, or empties them if they are there.
func declare(w *bufio.Writer, p *compile.Program) {
	for _, c := range p.Chains {
		fmt.Fprintf(w, ":%s - [0:0]\n", c.Name)
	}
}

// only starts a line that the tool of the other family skips.
func only(f cidr.Family) string {
	switch f {
	case cidr.V4:
		return "-4 "
	case cidr.V6:
		return "-6 "
	}
	return ""
}

// isOwn reports whether the chain is the owner's.
func isOwn(owner, chain string) bool { return strings.HasPrefix(chain, compile.ChainPrefix(owner)) }
