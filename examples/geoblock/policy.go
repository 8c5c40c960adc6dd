package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/geo/dbip"
)

// loadCountries reads the database from the files, or takes the one that is built in if there are none.
func loadCountries(paths []string) (cidr.Map[geo.Country], compile.Origin, error) {
	if len(paths) > 0 {
		m, err := geo.ReadCSVFiles(paths...)
		if err != nil {
			err = fmt.Errorf("the country database cannot be used: %w", err)
		}
		return m, compile.Origin{Name: "country database from a file"}, err
	}
	m, err := dbip.Load()
	return m, compile.Origin{
		Name: "DB-IP Lite", Date: dbip.Date(), Licence: dbip.Licence,
		Attribution: dbip.Attribution + ", " + dbip.AttributionURL,
	}, err
}

// policy makes the policy that the options ask for.
func (o *options) policy(countries cidr.Map[geo.Country], origin compile.Origin, stderr io.Writer) (compile.Policy, error) {
	chosen, verb, build := o.allow, "allow", compile.AllowOnly
	if o.blocks {
		chosen, verb, build = o.block, "block", compile.Block
	}
	set := countries.Where(chosen.Contains)
	if set.IsEmpty() {
		return compile.Policy{}, fmt.Errorf("-%s %v: %w: the database has no address of it", verb, chosen, cidr.ErrEmpty)
	}
	o.report(countries, chosen, set, origin, stderr)

	p := build(ruleName(verb, chosen), set, countries.Set())
	p.Owner, p.Hooks, p.Keep, p.Origins = o.owner, o.hooks, o.keep, []compile.Origin{origin}
	p.PassLocal = !o.dropLocal
	if o.unlisted != 0 {
		p.Default.Verdict = o.unlisted
	}
	return p, nil
}

// ruleName names the rule by the countries, as far as a name may be long.
func ruleName(verb string, chosen geo.Selection) string {
	name := verb + " " + chosen.String()
	if len(name) > compile.MaxRuleName {
		name = fmt.Sprintf("%s %d countries", verb, len(chosen.Countries()))
	}
	return name
}

// report says what the database holds of the chosen countries.
func (o *options) report(countries cidr.Map[geo.Country], chosen geo.Selection, set cidr.Set, origin compile.Origin, stderr io.Writer) {
	var missing []string
	for _, c := range chosen.Countries() {
		if countries.Where(func(v geo.Country) bool { return v == c }).IsEmpty() {
			missing = append(missing, c.String())
		}
	}
	if len(missing) > 0 {
		fmt.Fprintf(stderr, "geoblock: note: the database has no address of %s\n", strings.Join(missing, ", "))
	}
	for _, f := range cidr.Families() {
		if countries.Only(f).NumRanges() == 0 {
			fmt.Fprintf(stderr, "geoblock: warning: the database holds no %v at all, so all of it counts as unlisted\n", f)
		}
	}
	v4, v6 := set.Only(cidr.V4), set.Only(cidr.V6)
	fmt.Fprintf(stderr, "geoblock: %v: %d IPv4 ranges (%d prefixes), %d IPv6 ranges (%d prefixes), from %v\n",
		chosen, v4.NumRanges(), v4.NumPrefixes(), v6.NumRanges(), v6.NumPrefixes(), origin)
	if age := time.Since(origin.Date); !origin.Date.IsZero() && age > 90*24*time.Hour {
		fmt.Fprintf(stderr, "geoblock: note: the data is %d days old; -db reads newer data, see geoblock -h\n", int(age.Hours()/24))
	}
}

// parseKeep reads the never-block lists: entries as in an address list, or names of files that hold such lists.
func parseKeep(lists []string) (cidr.Set, error) {
	var b cidr.Builder
	for _, list := range lists {
		for part := range strings.SplitSeq(list, ",") {
			part = strings.TrimSpace(part)
			r, err := cidr.ParseRange(part)
			if err == nil {
				b.AddRange(r)
				continue
			}
			file, openErr := os.Open(part)
			if openErr != nil {
				return cidr.Set{}, fmt.Errorf("%q is no file that can be read, and as an address: %w", part, err)
			}
			set, err := cidr.ReadList(file, part)
			file.Close()
			if err != nil {
				return cidr.Set{}, err
			}
			b.AddSet(set)
		}
	}
	return b.Build()
}
