package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/cidrc/cidrc/cidr"
)

type options struct {
	format, columns, ipset    string
	lenient, empty, cut, mask bool
	netmasks, more, v4, v6    bool
	ranges                    bool
	kind                      cidr.ListFormat
}

func (o *options) flags(stderr io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("cidrset", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, usage)
		f.PrintDefaults()
		fmt.Fprint(stderr, examples)
	}
	f.StringVar(&o.format, "format", "plain", "how the lists are written: plain, dat, p2p, ipset, rir or csv")
	f.StringVar(&o.columns, "columns", "", "with -format csv: the `column` that holds entries, or FIRST,LAST; by number, or by name in a header")
	f.StringVar(&o.ipset, "set", "", "with -format ipset: the `name` of the set, if the file holds several")
	f.BoolVar(&o.lenient, "lenient", false, "skip bad lines and name them on standard error")
	f.BoolVar(&o.empty, "allow-empty", false, "take a list without entries")
	f.BoolVar(&o.cut, "allow-cut", false, "take a list whose last line has no newline")
	f.BoolVar(&o.mask, "mask", false, "mask host bits away: 192.0.2.1/24 is 192.0.2.0/24")
	f.BoolVar(&o.netmasks, "netmasks", false, "take 192.0.2.0/255.255.255.0")
	f.BoolVar(&o.more, "more-text", false, "ignore text after an entry and blanks")
	f.BoolVar(&o.v4, "4", false, "IPv4 only")
	f.BoolVar(&o.v6, "6", false, "IPv6 only")
	f.BoolVar(&o.ranges, "ranges", false, "write ranges, FIRST-LAST, instead of prefixes")
	return f
}

func (o *options) check() (err error) {
	if o.v4 && o.v6 {
		return errors.New("-4 and -6 contradict each other; both families are the default")
	}
	if o.kind, err = cidr.ParseListFormat(o.format); err != nil {
		return err
	}
	switch {
	case o.kind == cidr.FormatCSV && o.columns == "":
		return errors.New("-format csv needs -columns: which column holds the entries, or which two hold first and last")
	case o.kind != cidr.FormatCSV && o.columns != "":
		return errors.New("-columns needs -format csv")
	case o.kind != cidr.FormatIPSet && o.ipset != "":
		return errors.New("-set needs -format ipset")
	}
	return nil
}

func (o *options) listOptions(report *cidr.ListReport) []cidr.ListOption {
	opts := []cidr.ListOption{cidr.Format(o.kind), cidr.Report(report)}
	add := func(on bool, opt cidr.ListOption) {
		if on {
			opts = append(opts, opt)
		}
	}
	add(o.columns != "", cidr.Columns(splitColumns(o.columns)...))
	add(o.ipset != "", cidr.IPSetName(o.ipset))
	add(o.lenient, cidr.Lenient(report))
	add(o.empty, cidr.AllowEmpty())
	add(o.cut, cidr.AllowCut())
	add(o.mask, cidr.HostBits(cidr.MaskHostBits))
	add(o.netmasks, cidr.Netmasks(cidr.TakeNetmasks))
	add(o.more, cidr.MoreText(cidr.IgnoreMoreText))
	return opts
}

// hints says how to give at a prompt what the library's errors name.
func hints(text string) string {
	return strings.NewReplacer(
		"AllowCut takes it all the same", "-allow-cut takes it all the same",
		"MoreText(IgnoreMoreText) would take the entry", "-more-text would take the entry",
		"HostBits(MaskHostBits) would take", "-mask would take",
		"Netmasks(TakeNetmasks)", "-netmasks",
		"say with IPSetName which", "say with -set which",
		"IPSetName:", "-set:", "Columns:", "-columns:",
	).Replace(text)
}

func splitColumns(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}
