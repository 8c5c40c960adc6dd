package nftables

import "errors"

// Conn carries netlink messages to nf_tables and back. Dial makes the one of this machine; package nftest has one whose
// kernel is in memory. A Conn is used by one goroutine at a time, for one operation.
//
// The kernel does what a message says while it is sent: when Send returns, all replies are there.
type Conn interface {
	// Room asks for a send buffer of n bytes and returns how many bytes Send can carry in one piece: fewer than n if the
	// caller may not have that many.
	Room(n int) (int, error)

	// Send hands messages over in one piece. Its error says that the kernel has not looked at them.
	Send(b []byte) error

	// Receive reads the next datagram into b and returns its length, which is more than that of b if it was cut.
	// It is ErrNoReply if there is none, and ErrRepliesLost, once, if the kernel had to throw replies away.
	Receive(b []byte) (int, error)

	Close() error
}

var (
	// ErrNoReply: a Conn has nothing to receive.
	ErrNoReply = errors.New("no reply")
	// ErrRepliesLost: the kernel had more replies than the receive buffer holds (ENOBUFS). It says nothing about whether a
	// transaction is in force.
	ErrRepliesLost = errors.New("replies were lost")
)
