package iptables

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// payload writes the program as one transaction that the restore tools of both families take.
//
// Everything but comments stands between the table's line, which is the first, and COMMIT, which is the last: a payload
// that was cut short anywhere is refused. A line that declares a chain cannot be limited to a family, so each family
// gets the other's chains as well, empty, and deletes them in the same transaction.
//
// Each chain is declared just before its rules, and before the rules that go to it. The order matters to iptables-nft-restore too, which keeps two sorted lists of the
// names that it has met, and goes through each from the start for every line (nft-cache.c, cache_chain_list_insert, and
// nft-chain.c, nft_chain_list_insert, of iptables 1.8.9): a name that comes before all others is found at once, while
// 20,000 chains that are declared ascending, and first of all, take a minute.
func payload(w *bufio.Writer, p *compile.Program) error {
	header(w, p, "layout "+p.Layout.String())
	w.WriteString("# load it once: a second time adds a second jump to each built-in chain\n")
	for _, c := range ordered(p) {
		declare(w, c)
		if err := rules(w, c); err != nil {
			return err
		}
		switch c.Family {
		case cidr.V4:
			fmt.Fprintf(w, "%s-X %s\n", only(cidr.V6), c.Name)
		case cidr.V6:
			fmt.Fprintf(w, "%s-X %s\n", only(cidr.V4), c.Name)
		}
	}
	for _, c := range p.Chains {
		if c.Hook != nil {
			fmt.Fprintf(w, "-I %s 1 %s\n", builtin(c.Hook.Point), jumpRule(p.Owner, c.Name))
		}
	}
	_, err := w.WriteString("COMMIT\n")
	return err
}

func rules(w *bufio.Writer, c *compile.Chain) error {
	var line []byte
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
	return nil
}

// removal writes the transaction that takes away what payload puts in force, for both families: it declares all chains
// once more, which empties them, or makes them where they were not, so that all can be deleted.
func removal(w *bufio.Writer, p *compile.Program) error {
	header(w, p, "removal")
	for _, c := range p.Chains {
		declare(w, c)
	}
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

// ordered returns the program's chains by name, the last first, if each then stands before those that go to it, and
// otherwise as they stand in the program.
func ordered(p *compile.Program) []*compile.Chain {
	chains := slices.SortedFunc(slices.Values(p.Chains), func(a, b *compile.Chain) int { return strings.Compare(b.Name, a.Name) })
	known := make(map[*compile.Chain]bool, len(chains))
	for _, c := range chains {
		for i := range c.Rules {
			if to := c.Rules[i].Chain; to != nil && !known[to] {
				return p.Chains
			}
		}
		known[c] = true
	}
	return chains
}

// declare makes a chain, or empties it if it is there.
func declare(w io.Writer, c *compile.Chain) { fmt.Fprintf(w, ":%s - [0:0]\n", c.Name) }

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
