package testnet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An injector sends frames from Outside to the Guard over packet sockets.
//
// The receiving end of a veth cable has a queue per processor, of some 1,000
// packets (net.core.netdev_max_backlog), and silently drops what does not fit. So
// the injector stays on one processor, and after each batch sends a frame of a
// protocol of its own and waits for it on the other side: when that has arrived,
// all before it have been through every hook.
type injector struct {
	out, in int    // packet sockets on Outside and on the Guard
	mac     []byte // of the Guard
	own     []byte // of Outside: barriers are no probes
	barrier uint64 // number of the last barrier frame
}

const (
	// injectBatch is how many frames are sent between two barriers.
	injectBatch = 400
	// barrierTimeout is how long to wait for one. It may be lost, too; then
	// the rounds of the probe make good what else was.
	barrierTimeout = 100 * time.Millisecond
	// etherBarrier is the Ethernet type set aside for local experiments.
	etherBarrier = 0x88b5
)

func newInjector(n *Net) (*injector, error) {
	in := &injector{out: -1, in: -1, mac: n.Guard().MAC, own: n.Outside.MAC}
	var err error
	// Protocol 0: this socket receives nothing.
	if in.out, err = packetSocket(n.Outside, 0); err != nil {
		return nil, err
	}
	if in.in, err = packetSocket(n.Guard(), etherBarrier); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// packetSocket opens a socket bound to the host's device.
func packetSocket(h *Host, etherType uint16) (fd int, err error) {
	err = h.Do(func() error {
		device, err := net.InterfaceByName(h.Device)
		if err != nil {
			return err
		}
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return os.NewSyscallError("socket", err)
		}
		networkOrder := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, etherType))
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: networkOrder, Ifindex: device.Index})
		if err != nil {
			unix.Close(fd)
			return os.NewSyscallError("bind", err)
		}
		return nil
	})
	if err != nil {
		return -1, fmt.Errorf("%s: %w", h.Name, err)
	}
	return fd, nil
}

func (in *injector) close() {
	for _, fd := range []int{in.out, in.in} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// inject sends the packet once from each source, and returns when the last has
// been dealt with.
func (in *injector) inject(packet Packet, target *Host, sources []netip.Addr) error {
	return onOneProcessor(func() error {
		var frame []byte
		for i, src := range sources {
			frame = packet.appendFrame(frame[:0], in.mac, probeMAC, src, packet.destination(target, src))
			if err := in.send(frame); err != nil {
				return err
			}
			if i%injectBatch == injectBatch-1 || i == len(sources)-1 {
				if err := in.drain(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// send sends a frame, waiting for room.
func (in *injector) send(frame []byte) error {
	for range 1000 {
		_, err := unix.Write(in.out, frame)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOBUFS):
			time.Sleep(time.Millisecond)
		default:
			return os.NewSyscallError("write", err)
		}
	}
	return errors.New("the packet socket takes no more packets")
}

// drain waits until everything sent has been received, or for barrierTimeout.
func (in *injector) drain() error {
	in.barrier++
	frame := append([]byte(nil), in.mac...)
	frame = append(frame, in.own...)
	frame = binary.BigEndian.AppendUint16(frame, etherBarrier)
	frame = binary.BigEndian.AppendUint64(frame, in.barrier)
	if err := in.send(frame); err != nil {
		return err
	}
	deadline := time.Now().Add(barrierTimeout)
	buf := make([]byte, 128)
	for {
		switch n, err := unix.Read(in.in, buf); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			left := time.Until(deadline)
			if left <= 0 {
				return nil
			}
			fds := []unix.PollFd{{Fd: int32(in.in), Events: unix.POLLIN}}
			if _, err := unix.Poll(fds, int(left.Milliseconds())+1); err != nil && !errors.Is(err, unix.EINTR) {
				return os.NewSyscallError("poll", err)
			}
		case err != nil:
			return os.NewSyscallError("read", err)
		case n >= 22 && binary.BigEndian.Uint64(buf[14:]) == in.barrier:
			return nil
		}
	}
}

// onOneProcessor calls f on a thread that stays on one processor.
func onOneProcessor(f func() error) error {
	return inThread(func() (err error) {
		var allowed, one unix.CPUSet
		if err := unix.SchedGetaffinity(0, &allowed); err != nil {
			return os.NewSyscallError("sched_getaffinity", err)
		}
		pick := rand.IntN(allowed.Count())
		for cpu := 0; ; cpu++ {
			if allowed.IsSet(cpu) {
				if pick == 0 {
					one.Set(cpu)
					break
				}
				pick--
			}
		}
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			return os.NewSyscallError("sched_setaffinity", err)
		}
		defer func() {
			if e := unix.SchedSetaffinity(0, &allowed); e != nil && err == nil {
				err = os.NewSyscallError("sched_setaffinity", e)
			}
		}()
		return f()
	})
}
