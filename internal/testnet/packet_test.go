package testnet

import (
	"encoding/hex"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChecksum(t *testing.T) {
	// The example of RFC 1071, section 3.
	require.Equal(t, ^uint16(0xddf2), checksum([]byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}))
	require.Equal(t, ^uint16(0x0300), checksum([]byte{3}))
	require.Equal(t, uint16(0xffff), checksum(nil))
}

func TestFrame(t *testing.T) {
	to, from := net.HardwareAddr{2, 0, 0, 0, 0, 1}, net.HardwareAddr{2, 0, 0, 0, 0, 2}
	frame := UDP(53).From(67).appendFrame(nil, to, from,
		netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("192.0.2.3"))
	require.Equal(t, "020000000001"+"020000000002"+"0800"+
		"45000024"+"00004000"+"4011"+"68b6"+"08080808"+"c0000203"+
		"00430035"+"0010", hex.EncodeToString(frame[:40]))
	require.Zero(t, checksum(frame[14:34]), "a right checksum sums up to zero")
	require.Equal(t, "testnet\n", string(frame[42:]))
	require.Len(t, frame, 50)

	for _, test := range []struct {
		packet   Packet
		src, dst string
	}{
		{UDP(53), "8.8.8.8", "192.0.2.3"},
		{UDP(53), "2a00::1", "2001:db8::3"},
		{TCP(53), "8.8.8.8", "192.0.2.3"},
		{TCP(53), "2a00::1", "2001:db8::3"},
		{ICMPv6(135), "2a00::1", "2001:db8::3"},
	} {
		src, dst := netip.MustParseAddr(test.src), netip.MustParseAddr(test.dst)
		payload := test.packet.payload(src, dst)
		sum := append(src.AsSlice(), dst.AsSlice()...)
		sum = append(sum, 0, test.packet.protocol, 0, byte(len(payload)))
		require.Zero(t, checksum(append(sum, payload...)), test.packet)
	}
}

func TestPacketString(t *testing.T) {
	require.Equal(t, "udp 67 -> 68", UDP(68).From(67).String())
	require.Equal(t, "tcp syn 40000 -> 22", TCP(22).String())
	require.Equal(t, "icmp type 8", ICMP(8).String())
	require.Equal(t, "icmpv6 type 135 to ff02::1", ICMPv6(135).To(netip.MustParseAddr("ff02::1")).String())
}
