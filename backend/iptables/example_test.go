package iptables_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"

	"github.com/cidrc/cidrc/backend/iptables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// A payload for a machine elsewhere.
func ExampleBackend_Render() {
	var b cidr.Builder
	b.AddPrefix(netip.MustParsePrefix("192.0.2.0/24"))
	b.AddPrefix(netip.MustParsePrefix("2001:db8::/32"))
	blocked, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	program, err := compile.Compile(context.Background(), compile.Policy{
		Owner:         "geo",
		Rules:         []compile.Rule{{Name: "blocked", Addrs: blocked, Action: compile.Action{Verdict: compile.Drop}}},
		Default:       compile.Action{Verdict: compile.Pass},
		WithoutGuards: []compile.Guard{compile.GuardICMPv6, compile.GuardDHCP, compile.GuardDHCPv6},
	}, iptables.Target(iptables.Default), compile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	artifacts, err := iptables.New(iptables.Default, nil).Render(program)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range artifacts {
		fmt.Println(a.Name, a.Loads)
		if err := a.Render(os.Stdout); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// geo.iptables [[iptables-restore -w 5 --noflush] [ip6tables-restore -w 5 --noflush]]
	// *filter
	// # cidrc: policy of owner "geo" for iptables, layout linear; load with iptables-restore --noflush and ip6tables-restore --noflush
	// # load it once: a second time adds a second jump to each built-in chain
	// :cidrc-geo-in-v6 - [0:0]
	// -6 -A cidrc-geo-in-v6 -s 2001:db8::/32 -j DROP
	// -4 -X cidrc-geo-in-v6
	// :cidrc-geo-in-v4 - [0:0]
	// -4 -A cidrc-geo-in-v4 -s 192.0.2.0/24 -j DROP
	// -6 -X cidrc-geo-in-v4
	// :cidrc-geo-in - [0:0]
	// -A cidrc-geo-in -i lo -m comment --comment "guard: loopback" -j RETURN
	// -A cidrc-geo-in -m conntrack --ctstate RELATED,ESTABLISHED -m comment --comment "guard: established" -j RETURN
	// -4 -A cidrc-geo-in -g cidrc-geo-in-v4
	// -6 -A cidrc-geo-in -g cidrc-geo-in-v6
	// -I INPUT 1 -m comment --comment "cidrc: policy of owner geo" -j cidrc-geo-in
	// COMMIT
}
