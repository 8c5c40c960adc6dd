package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/backend/iptables"
	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/geo"
)

const usage = `geoblock makes a firewall ruleset that lets in, or keeps out, whole countries.

usage:
  geoblock -allow COUNTRIES [options]   only these may reach this machine
  geoblock -block COUNTRIES [options]   these may not
  geoblock -remove [options]            take the ruleset away

COUNTRIES are codes (IT), groups (EU, EEA, Schengen, Europe, Asia, ...) or cc:EU for a
code that is a group as well, separated by commas. Replies to this machine's own
connections, loopback, and what DHCP and IPv6 need always pass.

The payload goes to standard output, unless -o or -apply is given; all else goes to
standard error.

options:
`

const usageEnd = `
exit codes: 0 done (-eval: the address passes), 1 -eval: the address is blocked,
2 bad options, names or data, nothing was changed, 3 the ruleset could not be written,
applied or removed, and the one before is in force unless standard error says otherwise.

Connections that are established stay so; conntrack -D ends them. Rules are gone after a
reboot: run geoblock -apply at boot. Overlay networks in 100.64.0.0/10 are not local
addresses: -keep 100.64.0.0/10 passes them. The backends do not know of each other: before you
change to another one, -remove with the old one.

examples:
  geoblock -allow IT -keep YOUR.OWN.ADDRESS -apply
  geoblock -allow EU,CH -keep 203.0.113.7 -explain -o rules.nft
  geoblock -block CN,RU -hook input,forward -backend iptables -apply
  geoblock -allow IT -eval 192.0.2.1 && echo may connect

The built-in country database: IP Geolocation by DB-IP, https://db-ip.com, CC BY 4.0.
Newer data for -db: https://db-ip.com/db/download/ip-to-country-lite
`

// errHelp: the user asked for help and got it.
var errHelp = errors.New("help")

// options is what the command line says.
type options struct {
	allow, block   geo.Selection
	allows, blocks bool
	unlisted       compile.Verdict // 0: what the policy does by itself
	dropLocal      bool
	keep           cidr.Set
	hooks          []compile.Hook
	backend        backend.Backend
	backendName    string
	db             []string
	layout         compile.Layout
	force          bool
	explain        bool
	eval           netip.Addr
	output         string
	apply, remove  bool
	owner          string
}

// parseOptions reads the command line. Help that was asked for goes to help.
func parseOptions(args []string, help io.Writer) (*options, error) {
	var o options
	f := flag.NewFlagSet("geoblock", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are returned, and so is help
	allow := f.String("allow", "", "pass only these `COUNTRIES`")
	block := f.String("block", "", "drop these `COUNTRIES`")
	unlisted := f.String("unlisted", "", "`VERDICT` for addresses that no country has: drop, pass or any (whichever makes the\nruleset smaller, so any may let them in); -allow drops them by default, -block passes them")
	local := f.String("local", "pass", "`VERDICT` for private, link-local and other local addresses: pass or drop")
	var keep []string
	f.Func("keep", "never block this `LIST` of addresses, prefixes, ranges or files of them, separated by commas;\nagain for more", func(s string) error {
		keep = append(keep, s)
		return nil
	})
	hook := f.String("hook", "input", "`HOOKS` where the rules stand: input, or forward, or input,forward;\ncontainers' traffic comes by forward")
	backendName := f.String("backend", "nftables", "`BACKEND` to use: nftables, netlink (the same rules, without the nft program), iptables,\niptables-legacy or iptables-nft")
	layout := f.String("layout", "auto", "`LAYOUT` of the rules: auto, linear, interval, chain-split or chain-tree")
	evalAddr := f.String("eval", "", "say what becomes of a new connection from this `ADDRESS`, and change nothing")
	f.Func("db", "read the country database from `FILE` (CSV start,end,country; plain or gzip); again for a second file", func(s string) error {
		o.db = append(o.db, s)
		return nil
	})
	f.BoolVar(&o.force, "force", false, "let -layout linear be as long as it gets, and -apply shut out the address that you are logged in from")
	f.BoolVar(&o.explain, "explain", false, "say on standard error what the policy means and why the rules look as they do")
	f.StringVar(&o.output, "o", "", "write the payload to `FILE`, all of it or nothing; - is standard output")
	f.BoolVar(&o.apply, "apply", false, "put the ruleset in force, in place of the one before (needs root)")
	f.BoolVar(&o.remove, "remove", false, "take the ruleset away (needs root)")
	f.StringVar(&o.owner, "owner", "geoblock", "the `NAME` under which the ruleset lives; two names do not touch each other")

	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		f.SetOutput(help)
		fmt.Fprint(help, usage)
		f.PrintDefaults()
		fmt.Fprint(help, usageEnd)
		return nil, errHelp
	} else if err != nil {
		return nil, fmt.Errorf("%w; geoblock -h lists the options", err)
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is no option; lists of countries are separated by commas without blanks, or quoted", f.Arg(0))
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.allows, o.blocks = given["allow"], given["block"]
	if err := o.checkTask(given); err != nil {
		return nil, err
	}

	// Everything else that can be wrong is reported at once.
	var errs []error
	take := func(name string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("-%s: %w", name, err))
		}
	}
	var err error
	if o.allows {
		o.allow, err = geo.ParseSelection(*allow)
		take("allow", err)
	}
	if o.blocks {
		o.block, err = geo.ParseSelection(*block)
		take("block", err)
	}
	if given["unlisted"] {
		o.unlisted, err = oneOf(*unlisted, compile.Drop, compile.Pass, compile.Any)
		take("unlisted", err)
	}
	verdict, err := oneOf(*local, compile.Pass, compile.Drop)
	take("local", err)
	o.dropLocal = verdict == compile.Drop
	o.keep, err = parseKeep(keep)
	take("keep", err)
	o.hooks, err = parseHooks(*hook)
	take("hook", err)
	o.layout, err = compile.ParseLayout(*layout)
	take("layout", err)
	if given["eval"] {
		o.eval, err = cidr.ParseAddr(*evalAddr)
		take("eval", err)
	}
	take("owner", compile.CheckOwner(o.owner))
	o.backendName = *backendName
	o.backend, err = newBackend(*backendName)
	take("backend", err)
	if given["o"] && o.output == "" {
		take("o", errors.New("the name of the file is missing"))
	}
	return &o, errors.Join(errs...)
}

// checkTask finds options that contradict each other.
func (o *options) checkTask(given map[string]bool) error {
	switch {
	case o.remove:
		for name := range given {
			if name != "remove" && name != "owner" && name != "backend" {
				return fmt.Errorf("-remove takes away all that an owner has; it goes with -owner and -backend, not with -%s", name)
			}
		}
		return nil
	case o.allows && o.blocks:
		return errors.New("-allow and -block exclude each other: allow what may connect, or block what may not")
	case !o.allows && !o.blocks:
		return errors.New("say which countries: -allow IT,EU or -block CN,RU; geoblock -h lists the options")
	case given["eval"] && (o.apply || given["o"]):
		return errors.New("-eval changes and writes nothing, so it does not go with -apply or -o")
	}
	return nil
}

func oneOf(s string, allowed ...compile.Verdict) (compile.Verdict, error) {
	var names []string
	for _, v := range allowed {
		if strings.EqualFold(s, v.String()) {
			return v, nil
		}
		names = append(names, v.String())
	}
	return 0, fmt.Errorf("%q is none of %s", s, strings.Join(names, ", "))
}

// parseHooks reads where the rules are to stand. Other hooks need a policy that is made for them.
func parseHooks(text string) ([]compile.Hook, error) {
	var hooks []compile.Hook
	for name := range strings.SplitSeq(text, ",") {
		point, err := compile.ParsePoint(strings.TrimSpace(name))
		if err != nil || point != compile.Input && point != compile.Forward {
			return nil, fmt.Errorf("%q is none of input, forward and input,forward", text)
		}
		hooks = append(hooks, compile.Hook{Point: point})
	}
	return hooks, nil
}

func newBackend(name string) (backend.Backend, error) {
	switch name {
	case "nftables":
		return nftables.NewScript(nil), nil
	case "netlink":
		return nftables.NewNetlink(nftables.NetlinkOptions{}), nil
	case "iptables":
		return iptables.New(iptables.Default, nil), nil
	case "iptables-legacy":
		return iptables.New(iptables.Legacy, nil), nil
	case "iptables-nft":
		return iptables.New(iptables.NFT, nil), nil
	}
	return nil, fmt.Errorf("%q is none of nftables, netlink, iptables, iptables-legacy, iptables-nft", name)
}
