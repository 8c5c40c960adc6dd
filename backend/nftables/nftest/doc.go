// Package nftest is a kernel in memory for tests of programs that use nftables.Netlink: it takes the same netlink messages,
// keeps tables, chains, sets and rules, answers questions about them, and refuses what the kernel refuses, without root
// and on every system.
//
//	kernel := nftest.NewKernel()
//	nft := nftables.NewNetlink(nftables.NetlinkOptions{Dial: kernel.Dial})
//	err := nft.Apply(ctx, program)
//
// Failures are ordered beforehand: a message or an element that is refused (Refuse), a small send buffer (SendBuffer),
// replies that get lost (LoseReplies), another program that changes rules meanwhile (Interfere).
//
// # What belongs here
//
// What the netlink backend needs of nf_tables. The kernel looks at no packets: verdicts are compile.Program.Eval's, which
// the tests of this module compare with those of real kernels.
package nftest
