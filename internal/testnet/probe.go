package testnet

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// An Outcome is what happened to the probe from one source address.
type Outcome struct {
	Addr netip.Addr
	// Arrived says that the packet reached the hook. It did not if the kernel
	// refuses the source (see [Deliverable]) or an earlier hook dropped it.
	Arrived bool
	// Passed says that the packet came out of the hook behind all rulesets.
	Passed bool
}

// String returns the address and "passed", "dropped" or "did not arrive".
func (o Outcome) String() string {
	switch {
	case o.Passed:
		return o.Addr.String() + " passed"
	case o.Arrived:
		return o.Addr.String() + " dropped"
	}
	return o.Addr.String() + " did not arrive"
}

// MaxSources is how many addresses one [Net.Probe] takes.
const MaxSources = 1 << 20

// probeRounds is how often a packet is sent that does not arrive.
const probeRounds = 5

// partSize is how many sources are probed in one go. The time to read a dynamic
// set grows with the square of its size.
const partSize = 16384

// probeMAC is the source hardware address of probes, by which the observer knows
// them, and of nothing else.
var probeMAC = net.HardwareAddr{0x02, 0xc1, 0xd7, 0x0b, 0x5e, 0x01}

// Probe sends the packet from each of the sources, out of Outside towards the
// host under test (see [Net.Guard]), and says for each whether it arrived at the
// hook and whether it passed all that is loaded there: nft base chains of any
// priority above -2000 and below 2000, iptables of either variant, policies
// included. Outcomes are in the order of the sources, which may be of both
// families and may repeat; each address is probed once.
//
// The packet goes to the Guard's own address, or through it to Inside for
// [Forward], unless it says otherwise ([Packet.To]). Packets lost on the way are
// sent again a few times. The verdict is that of the very first packet of a
// connection: a probe that passes ends behind the hook, so that no host answers
// it and connection tracking forgets it, and its state is new each time.
//
// While it runs there is a table cidrc_testnet_observer on the host; a ruleset
// that is replaced meanwhile leaves it alone, unless by "flush ruleset". Probe
// fails the test on any error, also if the observation is not complete to the
// last packet.
func (n *Net) Probe(t testing.TB, hook Hook, packet Packet, sources []netip.Addr) []Outcome {
	t.Helper()
	outcomes, err := n.probe(hook, packet, sources)
	if err != nil {
		t.Fatalf("testnet: probing %v with %v: %v", hook, packet, err)
	}
	return outcomes
}

func (n *Net) probe(hook Hook, packet Packet, sources []netip.Addr) (_ []Outcome, err error) {
	n.probing.Lock()
	defer n.probing.Unlock()

	target := n.Guard()
	if hook == Forward {
		if n.Router == nil {
			return nil, fmt.Errorf("a pair of hosts does not forward; use NewLine")
		}
		target = n.Inside
	}
	if len(sources) > MaxSources {
		return nil, fmt.Errorf("%d sources are more than %d", len(sources), MaxSources)
	}
	unique := make([]netip.Addr, 0, len(sources))
	known := make(map[netip.Addr]bool, len(sources))
	for _, src := range sources {
		if known[src] {
			continue
		}
		known[src] = true
		if err := packet.check(src, packet.destination(target, src)); err != nil {
			return nil, err
		}
		unique = append(unique, src)
	}

	in, err := newInjector(n)
	if err != nil {
		return nil, fmt.Errorf("opening packet sockets: %w", err)
	}
	defer in.close()
	arrived := make(map[netip.Addr]bool, len(unique))
	passed := make(map[netip.Addr]bool, len(unique))
	for part := range slices.Chunk(unique, partSize) {
		if err := n.probePart(in, hook, packet, target, part, arrived, passed); err != nil {
			return nil, err
		}
	}

	outcomes := make([]Outcome, len(sources))
	for i, src := range sources {
		outcomes[i] = Outcome{Addr: src, Arrived: arrived[src], Passed: passed[src]}
	}
	return outcomes, nil
}

// probePart probes unique sources, and notes those that arrived and passed.
func (n *Net) probePart(in *injector, hook Hook, packet Packet, target *Host, sources []netip.Addr,
	arrived, passed map[netip.Addr]bool) (err error) {
	o, err := newObserver(n.Guard(), hook, len(sources))
	if err != nil {
		return fmt.Errorf("setting up the observer: %w", err)
	}
	defer func() {
		if e := o.close(); e != nil && err == nil {
			err = fmt.Errorf("removing the observer: %w", e)
		}
	}()

	missing := slices.Clone(sources)
	for round := 0; round < probeRounds && len(missing) > 0; round++ {
		if err := in.inject(packet, target, missing); err != nil {
			return err
		}
		seen, err := o.read(early)
		if err != nil {
			return err
		}
		maps.Copy(arrived, seen)
		missing = slices.DeleteFunc(missing, func(src netip.Addr) bool { return seen[src] })
	}
	seen, err := o.read(late)
	if err != nil {
		return err
	}
	maps.Copy(passed, seen)
	return nil
}

// destination returns where a probe from src goes.
func (p Packet) destination(target *Host, src netip.Addr) netip.Addr {
	if p.to.IsValid() {
		return p.to
	}
	return target.addr(src)
}

// Check probes the sources and reports an error to the test, naming the first
// few addresses, if the verdict on any is not as wanted: want says whether a
// packet from the address should pass. Sources that the kernel does not deliver
// to the hook (see [Deliverable]) are left out; any other has to arrive.
func (n *Net) Check(t testing.TB, hook Hook, packet Packet, sources []netip.Addr, want func(netip.Addr) bool) {
	t.Helper()
	var deliverable []netip.Addr
	for _, src := range sources {
		if Deliverable(src, hook) {
			deliverable = append(deliverable, src)
		}
	}
	wrong := Wrong(n.Probe(t, hook, packet, deliverable), want)
	if len(wrong) == 0 {
		return
	}
	var b strings.Builder
	for i, o := range wrong {
		if i == 10 {
			b.WriteString("\n  ...")
			break
		}
		fmt.Fprintf(&b, "\n  %v, but should have %s", o, map[bool]string{true: "passed", false: "been dropped"}[want(o.Addr)])
	}
	t.Errorf("%v at %v: %d of %d verdicts are wrong:%s", packet, hook, len(wrong), len(deliverable), b.String())
}

// Wrong returns the outcomes that are not as wanted: that did not arrive, or
// passed although want is false, or the reverse.
func Wrong(outcomes []Outcome, want func(netip.Addr) bool) []Outcome {
	var wrong []Outcome
	for _, o := range outcomes {
		if !o.Arrived || o.Passed != want(o.Addr) {
			wrong = append(wrong, o)
		}
	}
	return wrong
}
