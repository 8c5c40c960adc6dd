package compile

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/cidrc/cidrc/cidr"
)

// Options are what a caller can say about how to compile. The zero Options let the compiler choose.
type Options struct {
	// Layout is the layout to use; Auto chooses the one that costs a packet least.
	Layout Layout
	// Force lets a layout go over the target's limits that are there for speed's sake (Limits.LinearRules), not because
	// the target refuses.
	Force bool
	// Traffic is what packets to expect.
	Traffic Traffic
}

// Traffic says which packets to expect, for choosing among layouts. The zero Traffic is packets of new flows whose source
// is in a random range of the policy, which is nearer to real traffic than a random address: most ranges of country data
// lie where countries mix.
type Traffic struct {
	// Sources are weighted sources; none means the default. No layout's cost can be told for others yet.
	Sources []Weight
	// Established is the share of packets, from 0 to 1, that belong to established flows and never meet the look-up.
	Established float64
}

// Weight is a set of sources and how much of the traffic comes from it, relative to the others.
type Weight struct {
	Addrs  cidr.Set
	Weight float64
}

// Compile decides the policy and turns it into a program for the target. The program's layout is the one asked for, or
// the one that costs a packet least; Program.Candidates and Program.Explain say what the others would have cost.
//
// Errors wrap one of this package's sentinels. A policy that asks for anything that no layout can do on the target does
// not compile: the *UnsupportedError names it.
func Compile(ctx context.Context, p Policy, t Target, o Options) (*Program, error) {
	d, err := Decide(p)
	if err != nil {
		return nil, err
	}
	return d.Compile(ctx, t, o)
}

// Compile turns the decision into a program for the target, as the function Compile does for a policy.
func (d *Decision) Compile(ctx context.Context, t Target, o Options) (*Program, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	t.Hooks = slices.Clone(t.Hooks)
	if o.Layout != Auto && !slices.Contains(Layouts(), o.Layout) {
		return nil, &UnsupportedError{Where: "options", Feature: o.Layout.String()}
	}
	if len(o.Traffic.Sources) > 0 {
		return nil, &UnsupportedError{Where: "traffic", Feature: "weighted sources"}
	}
	if e := o.Traffic.Established; e < 0 || e > 1 || math.IsNaN(e) {
		return nil, &PolicyError{Where: "traffic", Err: ErrInvalid}
	}
	plan, err := newPlan(d, t)
	if err != nil {
		return nil, err
	}
	var all []Candidate
	var best *Program
	for _, l := range Layouts() {
		if o.Layout != Auto && o.Layout != l {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := Candidate{Layout: l}
		var prog *Program
		prog, c.Refused = lower(ctx, plan, l, o.Force)
		if c.Refused == nil {
			c.measure(prog, plan, 1-o.Traffic.Established)
			if best == nil || c.Nanoseconds < best.choice.chosen.Nanoseconds {
				best = prog
				best.choice.chosen = c
			}
		}
		all = append(all, c)
	}
	if best == nil {
		var errs []error
		for _, c := range all {
			errs = append(errs, c.Refused)
		}
		if len(errs) == 1 {
			return nil, errs[0]
		}
		return nil, errors.Join(errs...)
	}
	best.choice.asked = o.Layout != Auto
	best.choice.all = all
	return best, nil
}

// choice is how a program's layout came about.
type choice struct {
	asked  bool // the caller named the layout
	chosen Candidate
	all    []Candidate
}

// Candidate is a layout that was considered, with its figures.
type Candidate struct {
	Layout Layout
	// Refused says why the layout is not possible; the figures are zero then.
	Refused error

	Sets   int // named sets
	Ranges int // elements of all sets, as ranges
	Chains int
	Rules  int // in all chains

	// Per packet of the expected traffic, IPv4 and IPv6, each an average.
	PerPacket [2]Cost
	// Nanoseconds a packet, the mean of both families: an estimate by the target's Costs.
	Nanoseconds float64
}

// Cost is what one packet costs on average.
type Cost struct {
	Rules       float64 // rules met
	Probes      float64 // sets asked
	Nanoseconds float64
}

// Candidates returns the layouts that were considered for the program, the chosen one among them.
func (p *Program) Candidates() []Candidate { return slices.Clone(p.choice.all) }

// samples is how many packets of each family the cost of a layout is estimated from.
const samples = 300

// measure runs sample packets through the program. They come from the first addresses of ranges of the decision, evenly
// spread over them, so that the estimate is the same each time.
func (c *Candidate) measure(p *Program, plan *plan, share float64) {
	c.Sets, c.Chains = len(p.Sets), len(p.Chains)
	for _, s := range p.Sets {
		c.Ranges += s.Addrs.NumRanges()
	}
	for _, chain := range p.Chains {
		c.Rules += len(chain.Rules)
	}
	costs := p.Target.Costs
	for i := range plan.split {
		f := &plan.split[i]
		largest := 1
		for _, s := range p.Sets {
			if s.Family == f.family {
				largest = max(largest, s.Addrs.NumRanges())
			}
		}
		probe := costs.Probe + costs.Step*math.Log2(float64(largest))
		n := f.classes.NumRanges()
		step := max(1, n/samples)
		at, count := 0, 0
		var sum Cost
		for r := range f.classes.All() {
			if at++; at%step != 0 {
				continue
			}
			ruling, err := p.Eval(Packet{Source: r.First, Destination: r.First, Protocol: TCP, DestinationPort: 443})
			if err != nil {
				continue
			}
			count++
			sum.Rules += float64(ruling.Rules)
			sum.Probes += float64(ruling.Probes)
		}
		if count == 0 {
			continue
		}
		per := &c.PerPacket[i]
		per.Rules, per.Probes = sum.Rules/float64(count), sum.Probes/float64(count)
		per.Nanoseconds = share * (per.Rules*costs.Rule + per.Probes*probe)
		c.Nanoseconds += per.Nanoseconds / 2
	}
}
