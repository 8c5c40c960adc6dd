package compile

import (
	"context"
	"errors"
	"iter"
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

// Traffic says which packets to expect, for choosing among layouts and for putting first what is asked most. The zero
// Traffic is packets of new flows whose source is in a random range of the policy, which is nearer to real traffic than a
// random address: most ranges of country data lie where countries mix.
type Traffic struct {
	// Sources gives the ranges that new flows come from, or go to where a hook compares destinations, each with its weight
	// relative to the others of its family. Within a range all addresses are as likely. Ranges must not overlap, and
	// weights must be above zero. nil, or no range of a family: every range of the policy.
	//
	// The rows of a country database are such ranges: (cidr.Map).All gives them, with values to turn into weights.
	Sources iter.Seq2[cidr.Range, float64]
	// Established is the share of packets, from 0 to 1, that belong to established flows and never meet the look-up.
	Established float64
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
	if e := o.Traffic.Established; e < 0 || e > 1 || math.IsNaN(e) {
		return nil, &PolicyError{Where: "traffic", Err: ErrInvalid}
	}
	plan, err := newPlan(d, t)
	if err != nil {
		return nil, err
	}
	for i := range plan.split {
		if plan.split[i].shares, err = o.Traffic.shares(&plan.split[i]); err != nil {
			return nil, err
		}
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

// measure runs sample packets of the expected traffic through the program, the same ones each time.
func (c *Candidate) measure(p *Program, plan *plan, share float64) {
	c.Sets, c.Chains = len(p.Sets)+len(p.Maps), len(p.Chains)
	var largest [2]int
	count := func(f cidr.Family, n int) {
		c.Ranges += n
		at := &largest[0]
		if f == cidr.V6 {
			at = &largest[1]
		}
		*at = max(*at, n)
	}
	for _, s := range p.Sets {
		count(s.Family, s.Addrs.NumRanges())
	}
	for _, m := range p.Maps {
		count(m.Family, m.Entries.NumRanges())
	}
	for _, chain := range p.Chains {
		c.Rules += len(chain.Rules)
	}
	costs := p.Target.Costs
	for i := range plan.split {
		probe := costs.Probe + costs.Step*math.Log2(float64(max(largest[i], 1)))
		n := 0
		var sum Cost
		for a := range plan.split[i].shares.sample(samples) {
			ruling, err := p.Eval(Packet{Source: a, Destination: a, Protocol: TCP, DestinationPort: 443})
			if err != nil {
				continue
			}
			n++
			sum.Rules += float64(ruling.Rules)
			sum.Probes += float64(ruling.Probes)
		}
		if n == 0 {
			continue
		}
		per := &c.PerPacket[i]
		per.Rules, per.Probes = sum.Rules/float64(n), sum.Probes/float64(n)
		per.Nanoseconds = share * (per.Rules*costs.Rule + per.Probes*probe)
		c.Nanoseconds += per.Nanoseconds / 2
	}
}
