package cidrc_test

import (
	"context"
	"fmt"
	"log"
	"net/netip"
	"os"
	"strings"

	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/geo/dbip"
)

// The whole way, from a country database to a script for nft -f.
func Example() {
	countries, err := dbip.Load()
	if err != nil {
		log.Fatal(err)
	}
	italy := countries.Where(geo.MustParseSelection("IT").Contains)
	policy := compile.AllowOnly("allow IT", italy, countries.Set())
	policy.Owner = "geo"

	nft := nftables.NewScript(nil)
	program, err := compile.Compile(context.Background(), policy, nft.Target(), compile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	artifacts, err := nft.Render(program)
	if err != nil {
		log.Fatal(err)
	}
	text, err := artifacts[0].Text()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(program.Layout, len(strings.Split(text, "\n")) > 8000)
	// nft.Apply(ctx, program) would put it in force, and nft.Remove(ctx, "geo") take it away.
	// Output: interval true
}

// A policy is tested where it is written, without a kernel and without privilege.
func Example_verdict() {
	office := cidr.MustParse("192.0.2.0/24", "2001:db8::/32")
	policy := compile.Policy{
		Owner:   "office",
		Rules:   []compile.Rule{{Name: "office", Addrs: office, Action: compile.Action{Verdict: compile.Pass}}},
		Default: compile.Action{Verdict: compile.Drop},
	}
	program, err := compile.Compile(context.Background(), policy, nftables.Target(), compile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, packet := range []compile.Packet{
		{Source: netip.MustParseAddr("192.0.2.7")},
		{Source: netip.MustParseAddr("198.51.100.1")},
		{Source: netip.MustParseAddr("198.51.100.1"), State: compile.Established},
	} {
		means, err := program.Decision().Eval(packet)
		if err != nil {
			log.Fatal(err)
		}
		does, err := program.Eval(packet)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(packet.Source, packet.State, means.Verdict, does.Verdict, "by", means.Rule)
	}
	// Output:
	// 192.0.2.7 new pass pass by office
	// 198.51.100.1 new drop drop by default
	// 198.51.100.1 established pass pass by guard established
}

// A small policy as nft reads it.
func Example_script() {
	blocked, err := cidr.ReadList(strings.NewReader("192.0.2.0/24 # a feed\n198.51.100.7\n"), "feed.txt")
	if err != nil {
		log.Fatal(err)
	}
	policy := compile.Block("feed", blocked, cidr.Set{})
	policy.Owner = "feed"
	policy.WithoutGuards = []compile.Guard{compile.GuardDHCP, compile.GuardDHCPv6}
	nft := nftables.NewScript(nil)
	program, err := compile.Compile(context.Background(), policy, nft.Target(), compile.Options{Layout: compile.IntervalSet})
	if err != nil {
		log.Fatal(err)
	}
	artifacts, err := nft.Render(program)
	if err != nil {
		log.Fatal(err)
	}
	if err := artifacts[0].Render(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// # cidrc: policy of owner "feed" for nftables, layout interval; load with nft -f
	// add table inet cidrc_feed; delete table inet cidrc_feed; table inet cidrc_feed {
	// 	set drop4 {
	// 		type ipv4_addr
	// 		flags interval
	// 		elements = { 192.0.2.0/24,
	// 			198.51.100.7 }
	// 	}
	// 	chain input {
	// 		type filter hook input priority filter; policy accept;
	// 		iif "lo" accept comment "guard: loopback"
	// 		ct state established,related accept comment "guard: established"
	// 		meta nfproto ipv6 icmpv6 type { 1, 2, 3, 4, 130, 131, 132, 133, 134, 135, 136, 143 } accept comment "guard: icmpv6"
	// 		ip saddr @drop4 drop
	// 	}
	// }
}
