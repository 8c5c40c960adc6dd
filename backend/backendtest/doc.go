// Package backendtest holds every backend to the contract of package backend, on real kernels: it renders, applies,
// replaces and removes programs on test hosts, lets each step fail in every way that a machine can make it fail, and asks
// with packets what is in force afterwards.
//
// A backend's tests call Run once for each variant:
//
//	func TestMain(m *testing.M) { testnet.Main(m) }
//
//	func TestConformance(t *testing.T) {
//		backendtest.Run(t, backendtest.Config{
//			New:      func(m backendtest.Machine) backend.Backend { return nftables.NewScript(m.Runner) },
//			Require:  func(t testing.TB) { testnet.Require(t, testnet.NFT) },
//			Snapshot: func(t testing.TB, h backendtest.Host) string { return h.Ruleset(t) },
//			Others:   func(t testing.TB, h backendtest.Host) { h.Run(t, others, "nft", "-f", "-") },
//		})
//	}
//
// Verdicts are those of packets of both families, from the first and last address of every range of a policy, from those
// beside them and from random ones, and they are compared with what the program and the decision say
// (compile.Program.Eval, compile.Decision.Eval).
//
// # What belongs here
//
// What every backend promises. What one tool prints or refuses is tested in the backend's own package.
package backendtest
