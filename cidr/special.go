package cidr

import (
	"iter"
	"net/netip"
)

// IANA's special-purpose address registries, as this package holds them.
const (
	// SpecialIPv4Updated is the date of the IPv4 registry's last change that the table of this package has seen.
	SpecialIPv4Updated = "2025-10-09"
	// SpecialIPv6Updated is the same for the IPv6 registry.
	SpecialIPv6Updated = "2025-10-09"
)

// Registry says which of IANA's registries a SpecialBlock comes from.
type Registry uint8

const (
	// RegistrySpecial: iana-ipv4-special-registry or iana-ipv6-special-registry (RFC 6890, RFC 8190).
	RegistrySpecial Registry = iota
	// RegistryMulticast: the multicast blocks, which are not rows of the registries above but registries of their own
	// (RFC 5771, RFC 4291). IANA states no flags for them.
	RegistryMulticast
)

// A Flag is what a registry says about a block.
type Flag uint8

const (
	// FlagUnstated: the registry says "N/A" or nothing, as it does for terminated blocks.
	FlagUnstated Flag = iota
	// FlagFalse: the registry says no.
	FlagFalse
	// FlagTrue: the registry says yes.
	FlagTrue
)

// String returns "N/A", "False" or "True", the words of the registries.
func (f Flag) String() string {
	switch f {
	case FlagFalse:
		return "False"
	case FlagTrue:
		return "True"
	}
	return "N/A"
}

// SpecialBlock is one block of addresses that IANA has set apart for a purpose. Blocks nest; where they disagree, the
// most specific one holds.
type SpecialBlock struct {
	Prefix     netip.Prefix
	Registry   Registry
	Name       string // as the registry writes it
	Reference  string // RFCs, such as "RFC 1122, section 3.2.1.3"
	Allocated  string // year and month, such as "1996-02"; empty for multicast
	Terminated string // year and month; empty for a block that is in force

	// The flags have the meanings of RFC 6890, section 2.2.1, and RFC 8190, section 2.1.

	Source             Flag // may stand as the source of a packet that crosses two devices
	Destination        Flag // may stand as its destination
	Forwardable        Flag // a router may forward packets to it between external interfaces
	GloballyReachable  Flag // packets to it may go beyond a given administrative domain
	ReservedByProtocol Flag // IP itself treats it specially
}

// SpecialBlocks gives the blocks of a family in the order of their first addresses, a block before those that it holds;
// none for no family. The block ::ffff:0:0/96 is among them, though no Set holds it: see "IPv4-mapped IPv6 addresses" in
// the package comment.
func SpecialBlocks(f Family) iter.Seq[SpecialBlock] {
	return func(yield func(SpecialBlock) bool) {
		var rows []specialRow
		switch f {
		case V4:
			rows = specialRows4()
		case V6:
			rows = specialRows6()
		}
		for _, r := range rows {
			if !yield(r.block()) {
				return
			}
		}
	}
}

// SpecialPurpose returns the addresses of all SpecialBlocks of both families, multicast and terminated blocks included
// and ::ffff:0:0/96 left out.
func SpecialPurpose() Set { return specialSet(func(SpecialBlock) Flag { return FlagTrue }) }

// NotGloballyReachable returns the addresses that the registries call not globally reachable, in both families. The most
// specific block that says yes or no decides; one that says nothing leaves it to the block around it. So 192.0.0.9, an
// anycast address, is reachable although 192.0.0.0/24 is not, and Teredo (2001::/32) is not since 2001::/23 is not,
// whereas 6to4 (2002::/16), for which the registry says nothing either way, is left out. So is multicast, of which some
// is meant to go far; ::ffff:0:0/96 is left out as in SpecialPurpose.
func NotGloballyReachable() Set {
	return specialSet(func(b SpecialBlock) Flag {
		switch b.GloballyReachable {
		case FlagFalse:
			return FlagTrue
		case FlagTrue:
			return FlagFalse
		}
		return FlagUnstated
	})
}

// specialSet collects the blocks for which in says yes and takes out those for which it says no. A block comes before
// those that it holds, so that the most specific one has the last word.
func specialSet(in func(SpecialBlock) Flag) Set {
	var b Builder
	for _, f := range Families() {
		for block := range SpecialBlocks(f) {
			if block.Prefix.Addr().Is4In6() {
				continue
			}
			switch in(block) {
			case FlagTrue:
				b.AddPrefix(block.Prefix)
			case FlagFalse:
				b.RemovePrefix(block.Prefix)
			}
		}
	}
	return must(b.Build())
}

// Local returns the addresses that belong to the machine, its links and its site, in both families, whatever country
// stands around them: policies by country let them pass unless told otherwise. It holds
//
//	0.0.0.0/32          this host, the source of DHCP discovery      ::/128     unspecified, the source of duplicate
//	                    (RFC 1122, RFC 2131)                                    address detection (RFC 4862)
//	10.0.0.0/8          private (RFC 1918)                           fc00::/7   unique local (RFC 4193)
//	127.0.0.0/8         loopback (RFC 1122)                          ::1/128    loopback (RFC 4291)
//	169.254.0.0/16      link local (RFC 3927)                        fe80::/10  link local (RFC 4291)
//	172.16.0.0/12       private
//	192.168.0.0/16      private
//	224.0.0.0/4         multicast (RFC 5771)                         ff00::/8   multicast (RFC 4291)
//	255.255.255.255/32  limited broadcast (RFC 919)
//
// It is not all that is NotGloballyReachable. Documentation, benchmarking and reserved space has no real hosts: a packet
// that claims to come from there is forged or astray, and passing it would only open a door. 100.64.0.0/10 is the
// customers of somebody's carrier, see SharedSpace.
func Local() Set {
	return MustParse(
		"0.0.0.0", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/4",
		"255.255.255.255",
		"::", "::1", "fc00::/7", "fe80::/10", "ff00::/8",
	)
}

// SharedSpace returns 100.64.0.0/10, the addresses between a carrier's translators and its customers (RFC 6598). Behind
// such a carrier they are strangers, so Local leaves them out. Who runs an overlay network that takes its addresses from
// there, or is the carrier, adds them: cidr.Local().Union(cidr.SharedSpace()).
func SharedSpace() Set { return MustParse("100.64.0.0/10") }

// must is for sets made of constants.
func must(s Set, err error) Set {
	if err != nil {
		panic("cidr: " + err.Error())
	}
	return s
}
