package nftables_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/netip"
	"os"
	"strings"

	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/backend/nftables/nftest"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// examplePolicy drops a feed's addresses. It leaves out some guards to keep the examples short.
func examplePolicy() compile.Policy {
	p := compile.Block("feed", cidr.MustParse("198.51.100.0/24", "2001:db8:bad::/48"), cidr.Set{})
	p.Owner = "feed"
	p.PassLocal = false
	p.WithoutGuards = []compile.Guard{compile.GuardICMPv6, compile.GuardDHCP, compile.GuardDHCPv6}
	return p
}

// A policy becomes a script for nft -f. Nothing runs.
func ExampleScript_Render() {
	nft := nftables.NewScript(nil)
	program, err := compile.Compile(context.Background(), examplePolicy(), nft.Target(), compile.Options{Layout: compile.IntervalSet})
	if err != nil {
		log.Fatal(err)
	}
	artifacts, err := nft.Render(program)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range artifacts {
		fmt.Println(a.Name, "is loaded with", strings.Join(a.Loads[0], " "))
		if err := a.Render(os.Stdout); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// feed.nft is loaded with nft -f -
	// # cidrc: policy of owner "feed" for nftables, layout interval; load with nft -f
	// add table inet cidrc_feed; delete table inet cidrc_feed; table inet cidrc_feed {
	// 	set drop4 {
	// 		type ipv4_addr
	// 		flags interval
	// 		elements = { 198.51.100.0/24 }
	// 	}
	// 	set drop6 {
	// 		type ipv6_addr
	// 		flags interval
	// 		elements = { 2001:db8:bad::/48 }
	// 	}
	// 	chain input {
	// 		type filter hook input priority filter; policy accept;
	// 		iif "lo" accept comment "guard: loopback"
	// 		ct state established,related accept comment "guard: established"
	// 		ip saddr @drop4 drop
	// 		ip6 saddr @drop6 drop
	// 	}
	// }
}

// What a ruleset does to packets can be asserted without a kernel and without privilege.
func Example_verdicts() {
	program, err := compile.Compile(context.Background(), examplePolicy(), nftables.Target(), compile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, packet := range []compile.Packet{
		{Source: netip.MustParseAddr("192.0.2.1"), Protocol: compile.TCP, DestinationPort: 22},
		{Source: netip.MustParseAddr("198.51.100.9"), Protocol: compile.TCP, DestinationPort: 22},
		{Source: netip.MustParseAddr("198.51.100.9"), Protocol: compile.UDP, SourcePort: 53, State: compile.Established},
	} {
		ruling, err := program.Eval(packet)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(packet.Source, packet.State, ruling.Verdict)
	}
	// Output:
	// 192.0.2.1 new pass
	// 198.51.100.9 new drop
	// 198.51.100.9 established pass
}

// recorder is a backend.Runner that runs nothing.
type recorder struct{}

func (recorder) Run(_ context.Context, stdin io.Reader, name string, args ...string) (stdout, stderr []byte, err error) {
	script, err := io.ReadAll(stdin)
	if err != nil {
		return nil, nil, err
	}
	fmt.Printf("%s %s reads %d lines\n", name, strings.Join(args, " "), strings.Count(string(script), "\n"))
	return nil, nil, nil
}

// A program that applies policies can be tested with a Runner of its own.
func ExampleScript_Apply() {
	nft := nftables.NewScript(recorder{})
	program, err := compile.Compile(context.Background(), examplePolicy(), nft.Target(), compile.Options{Layout: compile.IntervalSet})
	if err != nil {
		log.Fatal(err)
	}
	if err := nft.Apply(context.Background(), program); err != nil {
		log.Fatal(err)
	}
	if err := nft.Remove(context.Background(), "feed"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// nft -f - reads 20 lines
	// nft -f - reads 1 lines
}

// An update sends only what differs. This one goes to a kernel in memory, as a test would have it.
func ExampleNetlink_Update() {
	kernel := nftest.NewKernel()
	nft := nftables.NewNetlink(nftables.NetlinkOptions{Dial: kernel.Dial, InPlace: func() bool { return true }})
	ctx := context.Background()
	policy := examplePolicy()
	old, err := compile.Compile(ctx, policy, nft.Target(), compile.Options{Layout: compile.IntervalSet})
	if err != nil {
		log.Fatal(err)
	}
	if err := nft.Apply(ctx, old); err != nil {
		log.Fatal(err)
	}
	policy.Rules[0].Addrs = policy.Rules[0].Addrs.Union(cidr.MustParse("203.0.113.0/24"))
	program, err := compile.Compile(ctx, policy, nft.Target(), compile.Options{Layout: compile.IntervalSet})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := nft.Update(ctx, old, program)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(plan)
	differences, err := nft.Verify(ctx, program)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(differences), "differences:", kernel.Addrs("cidrc_feed", "drop4"))
	// Output:
	// feed: only what differs is sent
	// add 1 elements in set drop4
	// 140 bytes
	// 0 differences: {198.51.100.0/24 203.0.113.0/24}
}
