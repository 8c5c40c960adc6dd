package cidr_test

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

func TestSpecialBlocksAreWellFormed(t *testing.T) {
	month := regexp.MustCompile(`^(19[89]\d|20[0-2]\d)-(0[1-9]|1[0-2])$`)
	reference := regexp.MustCompile(`^RFC (Errata )?\d+(, section [\d.]+)?(; RFC (Errata )?\d+(, section [\d.]+)?)*$`)
	for _, f := range cidr.Families() {
		blocks := slices.Collect(cidr.SpecialBlocks(f))
		require.True(t, slices.IsSortedFunc(blocks, func(a, b cidr.SpecialBlock) int {
			return cmp.Or(a.Prefix.Addr().Compare(b.Prefix.Addr()), a.Prefix.Bits()-b.Prefix.Bits())
		}), "ascending, a block before its parts")
		for i, b := range blocks {
			require.Equal(t, b.Prefix.Masked(), b.Prefix)
			require.Equal(t, f.Bits(), b.Prefix.Addr().BitLen())
			require.True(t, i == 0 || blocks[i-1].Prefix != b.Prefix)
			require.NotEmpty(t, b.Name)
			require.Regexp(t, reference, b.Reference, b.Name)
			if b.Registry == cidr.RegistryMulticast {
				require.Empty(t, b.Allocated)
				continue
			}
			require.Regexp(t, month, b.Allocated, b.Name)
			flags := []cidr.Flag{b.Source, b.Destination, b.Forwardable, b.GloballyReachable, b.ReservedByProtocol}
			if b.Terminated != "" {
				require.Regexp(t, month, b.Terminated)
				require.Less(t, b.Allocated, b.Terminated)
				require.Equal(t, make([]cidr.Flag, 5), flags, b.Name)
				continue
			}
			for i, f := range flags {
				require.True(t, f != cidr.FlagUnstated || i == 3, "%v: only reachability is left open", b.Prefix)
			}
			// RFC 6890, section 2.2.1: no destination, then neither forwardable nor global.
			if b.Destination == cidr.FlagFalse {
				require.Equal(t, cidr.FlagFalse, b.Forwardable, b.Name)
				require.Equal(t, cidr.FlagFalse, b.GloballyReachable, b.Name)
			}
		}
	}
	require.Empty(t, slices.Collect(cidr.SpecialBlocks(0)))
	for range cidr.SpecialBlocks(cidr.V6) {
		break // stopping early is fine
	}
	// The registry's rows, of which one holds two blocks, and multicast.
	require.Len(t, slices.Collect(cidr.SpecialBlocks(cidr.V4)), 25+1+1)
	require.Len(t, slices.Collect(cidr.SpecialBlocks(cidr.V6)), 25+1)
}

func TestFlagString(t *testing.T) {
	require.Equal(t, "N/A", cidr.FlagUnstated.String())
	require.Equal(t, "False", cidr.FlagFalse.String())
	require.Equal(t, "True", cidr.FlagTrue.String())
	require.Equal(t, "N/A", cidr.Flag(9).String())
}

// The list that Python's ipaddress module (3.13) goes by for is_global, brought together from its private networks, their
// exceptions and shared space, is a second source. It lags behind the registries; the differences are written out.
func TestNotGloballyReachableAgainstPython(t *testing.T) {
	python := cidr.MustParse(
		"0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.0.170/31",
		"192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"255.255.255.255/32", "100.64.0.0/10",
		"::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
		"fc00::/7", "fe80::/10",
	).Difference(cidr.MustParse(
		"192.0.0.9/32", "192.0.0.10/32",
		"2001:1::1/128", "2001:1::2/128", "2001:3::/32", "2001:4:112::/48", "2001:20::/28", "2001:30::/28",
	))
	ours := cidr.NotGloballyReachable()
	require.Equal(t, []string{
		"192.88.99.2/32", // 6a44 relays, which Python passes over
		"100:0:0:1::/64", // of 2025
		"5f00::/16",      // of 2024
	}, prefixStrings(ours.Difference(python)))
	require.Equal(t, []string{
		"2001:1::3/128", // of 2024, reachable
		"2002::/16",     // 6to4: "N/A" in the registry, a no in Python "to be safe"
	}, prefixStrings(python.Difference(ours)))
}

func TestNotGloballyReachableMostSpecificDecides(t *testing.T) {
	ours := cidr.NotGloballyReachable()
	for a, want := range map[string]bool{
		"192.0.0.8": true, "192.0.0.9": false, "192.0.0.10": false, "192.0.0.11": true,
		"192.88.99.1": false, "192.88.99.2": true, "192.88.99.3": false,
		"224.0.0.1": false, "ff02::1": false,
		"2001::1": true, "2001:1::": true, "2001:1::1": false, "2001:1::4": true, "2001:10::": true, "2001:20::": false,
		"2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff": true, "2001:200::": false,
		"64:ff9b::1": false, "64:ff9b:1::": true, "8.8.8.8": false, "::ffff:8.8.8.8": false, "::ffff:10.0.0.1": true,
	} {
		require.Equal(t, want, ours.Contains(netip.MustParseAddr(a)), a)
	}
}

func TestLocal(t *testing.T) {
	local := cidr.Local()
	require.Equal(t, []string{
		"0.0.0.0/32", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/4",
		"255.255.255.255/32", "::/127", "fc00::/7", "fe80::/10", "ff00::/8",
	}, prefixStrings(local))
	all := cidr.SpecialPurpose()
	require.True(t, local.Difference(all).IsEmpty(), "local space is special-purpose space")
	multicast := cidr.MustParse("224.0.0.0/4", "ff00::/8")
	require.True(t, local.Difference(multicast).Difference(cidr.NotGloballyReachable()).IsEmpty())
	for _, a := range []string{
		"0.0.0.1", "100.64.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "240.0.0.1", "255.255.255.254",
		"::2", "64:ff9b::1", "100::1", "2001:db8::1", "3fff::1", "5f00::1", "fec0::1", "9.255.255.255", "11.0.0.0",
	} {
		require.False(t, local.Contains(netip.MustParseAddr(a)), a)
	}
	require.Equal(t, "{100.64.0.0/10}", cidr.SharedSpace().String())
	require.False(t, local.Overlaps(cidr.SharedSpace()))
}

func TestSpecialPurpose(t *testing.T) {
	all := cidr.SpecialPurpose()
	requireNormal(t, all)
	for _, f := range cidr.Families() {
		for b := range cidr.SpecialBlocks(f) {
			if b.Prefix.Addr().Is4In6() {
				continue
			}
			require.True(t, all.ContainsPrefix(b.Prefix), "%v", b.Prefix)
			if b.GloballyReachable == cidr.FlagFalse {
				require.True(t, cidr.NotGloballyReachable().OverlapsPrefix(b.Prefix), "%v", b.Prefix)
			}
		}
	}
	require.True(t, cidr.NotGloballyReachable().Difference(all).IsEmpty())
	require.False(t, all.Contains(netip.MustParseAddr("8.8.8.8")))
	require.False(t, all.Contains(netip.MustParseAddr("::ffff:8.8.8.8")), "the mapped block is not taken for IPv4")
	require.False(t, all.Contains(netip.MustParseAddr("2606:4700::1")))
}
