package cidr_test

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
	"go4.org/netipx"
)

func TestIPSetRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 9))
	for range 10 {
		s, err := cidr.Of(randomPrefixes(rnd, 500)...)
		require.NoError(t, err)
		for _, s := range []cidr.Set{s, s.Complement(cidr.V4).Union(s.Complement(cidr.V6))} {
			x, err := s.IPSet()
			require.NoError(t, err)
			requireSameAsNetipx(t, x, s)
			again, err := cidr.FromIPSet(x)
			require.NoError(t, err)
			require.True(t, again.Equal(s))
			nets, err := cidr.FromIPNets(s.IPNets()...)
			require.NoError(t, err)
			require.True(t, nets.Equal(s))
		}
	}
	for r := range cidr.MustParse("192.0.2.1-192.0.2.9", "::/0").Ranges() {
		require.Equal(t, r, cidr.RangeFromIPRange(r.IPRange()))
	}
}

func TestFromIPSetMapped(t *testing.T) {
	from := func(entries ...string) (cidr.Set, error) {
		var b netipx.IPSetBuilder
		for _, e := range entries {
			r, err := netipx.ParseIPRange(e)
			require.NoError(t, err)
			b.AddRange(r)
		}
		x, err := b.IPSet()
		require.NoError(t, err)
		return cidr.FromIPSet(x)
	}
	s, err := from("::ffff:1.2.3.0-::ffff:1.2.3.255", "1.2.3.0-1.2.3.255", "2001:db8::-2001:db8::1")
	require.NoError(t, err)
	require.Equal(t, "{1.2.3.0/24 2001:db8::/127}", s.String())
	_, err = from("::fffe:0:0-::ffff:1.2.3.4")
	require.ErrorIs(t, err, cidr.ErrMapped)
	_, err = from("::ffff:0:0-::ffff:255.255.255.255")
	require.ErrorIs(t, err, cidr.ErrMapped, "it must not become all of IPv4")
}

func TestFromIPNets(t *testing.T) {
	v4, v6 := net.ParseIP("192.0.2.0"), net.ParseIP("2001:db8::") // both of 16 bytes
	tests := []struct {
		name string
		in   net.IPNet
		want string
		err  error
	}{
		{"4 bytes", net.IPNet{IP: v4.To4(), Mask: net.CIDRMask(24, 32)}, "{192.0.2.0/24}", nil},
		{"16 bytes, short mask", net.IPNet{IP: v4, Mask: net.CIDRMask(24, 32)}, "{192.0.2.0/24}", nil},
		{"16 bytes, long mask", net.IPNet{IP: v4, Mask: net.CIDRMask(120, 128)}, "{192.0.2.0/24}", nil},
		{"4 bytes, long mask", net.IPNet{IP: v4.To4(), Mask: net.CIDRMask(120, 128)}, "{192.0.2.0/24}", nil},
		{"all of IPv4", net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}, "{0.0.0.0/0}", nil},
		{"IPv6", net.IPNet{IP: v6, Mask: net.CIDRMask(32, 128)}, "{2001:db8::/32}", nil},
		{"all of IPv6", net.IPNet{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}, "{::/0}", nil},
		{"IPv6 with a mask of IPv4", net.IPNet{IP: v6, Mask: net.CIDRMask(24, 32)}, "", cidr.ErrLength},
		{"mapped block", net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(96, 128)}, "", cidr.ErrMapped},
		{"mask cuts mapped", net.IPNet{IP: v4, Mask: net.CIDRMask(64, 128)}, "", cidr.ErrMapped},
		{"mask with a hole", net.IPNet{IP: v4.To4(), Mask: net.IPv4Mask(255, 0, 255, 0)}, "", cidr.ErrMask},
		{"no mask", net.IPNet{IP: v4.To4()}, "", cidr.ErrMask},
		{"no address", net.IPNet{Mask: net.CIDRMask(24, 32)}, "", cidr.ErrInvalid},
		{"5 bytes", net.IPNet{IP: make(net.IP, 5), Mask: net.CIDRMask(24, 32)}, "", cidr.ErrInvalid},
		{"host bits", net.IPNet{IP: net.ParseIP("192.0.2.1"), Mask: net.CIDRMask(24, 32)}, "", cidr.ErrHostBits},
		{"host bits of mapped", net.IPNet{IP: net.ParseIP("192.0.2.1"), Mask: net.CIDRMask(120, 128)}, "", cidr.ErrHostBits},
	}
	good := &net.IPNet{IP: net.ParseIP("10.0.0.0"), Mask: net.CIDRMask(8, 32)}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := cidr.FromIPNets(&tt.in)
			if tt.err == nil {
				require.NoError(t, err)
				require.Equal(t, tt.want, s.String())
				return
			}
			require.ErrorIs(t, err, tt.err)
			_, err = cidr.FromIPNets(good, &tt.in, good)
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, "network 1", "the error says which")
		})
	}
	_, err := cidr.FromIPNets(good, nil)
	require.ErrorIs(t, err, cidr.ErrInvalid)
	require.ErrorContains(t, err, "network 1")
}

func TestIPNets(t *testing.T) {
	s := cidr.MustParse("192.0.2.0-192.0.2.2", "2001:db8::/32")
	var got []string
	for _, n := range s.IPNets() {
		got = append(got, n.String())
	}
	require.Equal(t, []string{"192.0.2.0/31", "192.0.2.2/32", "2001:db8::/32"}, got)
	require.Equal(t, len(slices.Collect(s.Prefixes())), len(got))
	require.Equal(t, netip.MustParsePrefix("2001:db8::/32"), slices.Collect(s.Only(cidr.V6).Prefixes())[0])
}
