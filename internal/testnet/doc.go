// Package testnet builds small networks of test hosts out of Linux network
// namespaces, so that a test can load a firewall ruleset into a real kernel
// and ask, packet by packet, what it lets through.
//
// A test package calls [Main] from its TestMain once, and each test says with
// [Require] what it needs of the machine. [NewPair] then gives two hosts joined
// by a cable, [NewLine] three in a row:
//
//	func TestMain(m *testing.M) { testnet.Main(m) }
//
//	func TestBlocked(t *testing.T) {
//		testnet.Require(t, testnet.NFT)
//		net := testnet.NewPair(t)
//		net.Inside.Run(t, ruleset, "nft", "-f", "-")
//		for _, o := range net.Probe(t, testnet.Input, testnet.UDP(53), sources) {
//			require.True(t, o.Arrived, o.Addr)
//			require.Equal(t, want(o.Addr), o.Passed, o.Addr)
//		}
//	}
//
// Everything lives in anonymous namespaces: nothing is visible in
// /var/run/netns, the machine's own network is neither read nor changed, and
// all of it is gone when the test ends, however it ends.
//
// What belongs here: hosts, links, sockets and processes in a namespace, and
// exact verdicts. What does not: the rulesets of a back end, expected verdicts,
// and timing of packets.
package testnet
