package nftables

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// socket is a netlink socket of nf_tables.
type socket struct {
	fd   int
	room int // bytes that the send buffer takes; 0: not asked yet
}

// receiveBuffer is what a socket asks for: room for the errors of a transaction in which every message fails.
const receiveBuffer = 4 << 20

// Dial opens a socket to the nf_tables of the network namespace that the calling thread is in; the socket stays there.
func Dial() (Conn, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	s := &socket{fd: fd}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		s.Close()
		return nil, os.NewSyscallError("bind", err)
	}
	// Without the first, the kernel's errors do not say which element; without the second, each repeats its message.
	for _, option := range []int{unix.NETLINK_EXT_ACK, unix.NETLINK_CAP_ACK} {
		if err := unix.SetsockoptInt(fd, unix.SOL_NETLINK, option, 1); err != nil && !errors.Is(err, unix.ENOPROTOOPT) {
			s.Close()
			return nil, os.NewSyscallError("setsockopt", err)
		}
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
		// As much as the system allows: net.core.rmem_max cuts it.
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer); err != nil {
			s.Close()
			return nil, os.NewSyscallError("setsockopt", err)
		}
	}
	return s, nil
}

// bufferOverhead is what netlink_sendmsg in the kernel's net/netlink/af_netlink.c keeps of a send buffer.
const bufferOverhead = 32

// Room implements Conn. The kernel doubles what is asked for.
func (s *socket) Room(n int) (int, error) {
	if s.room >= n && s.room > 0 {
		return s.room, nil
	}
	half := n/2 + bufferOverhead
	if now, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF); err != nil || now-bufferOverhead < n {
		if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, half) != nil {
			// Not more than net.core.wmem_max, and not an error beyond.
			if err := unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, half); err != nil {
				return 0, os.NewSyscallError("setsockopt", err)
			}
		}
	}
	now, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	if err != nil {
		return 0, os.NewSyscallError("getsockopt", err)
	}
	s.room = now - bufferOverhead
	return s.room, nil
}

// Send implements Conn.
func (s *socket) Send(b []byte) error {
	for {
		err := unix.Sendto(s.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("sendmsg", err)
		}
	}
}

// Receive implements Conn.
func (s *socket) Receive(b []byte) (int, error) {
	for {
		n, from, err := unix.Recvfrom(s.fd, b, unix.MSG_DONTWAIT|unix.MSG_TRUNC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return 0, ErrNoReply
		case errors.Is(err, unix.ENOBUFS):
			return 0, ErrRepliesLost
		case err != nil:
			return 0, os.NewSyscallError("recvmsg", err)
		}
		if a, ok := from.(*unix.SockaddrNetlink); !ok || a.Pid != 0 {
			continue // not from the kernel
		}
		return n, nil
	}
}

// Close implements Conn.
func (s *socket) Close() error { return os.NewSyscallError("close", unix.Close(s.fd)) }
