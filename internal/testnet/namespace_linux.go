package testnet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/vishvananda/netns"
)

// A namespace is an anonymous network namespace. It exists as long as its
// handle is open or a socket or process is in it.
type namespace struct {
	mu     sync.RWMutex // held for reading while a thread is on its way in
	handle netns.NsHandle
	closed bool
}

// newHost makes a namespace, sets it up for strange packets, and leaves it
// without devices other than loopback.
func newHost(name string) (*Host, error) {
	h := &Host{Name: name}
	err := inThread(func() error {
		handle, err := netns.New() // The thread is in it now.
		h.handle = handle
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := h.configure(); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// inThread runs f on a locked thread whose network namespace f may change, and
// brings the thread back to where it was.
func inThread(f func() error) error {
	runtime.LockOSThread()
	home, err := netns.Get()
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("opening the thread's network namespace: %w", err)
	}
	// Deferred, since f may end the goroutine (t.FailNow) or panic.
	defer func() {
		defer home.Close()
		// Without privilege the thread cannot have left, nor could it return.
		now, err := netns.Get()
		if err == nil {
			defer now.Close()
			if !now.Equal(home) {
				err = netns.Set(home)
			}
		}
		if err != nil {
			// Nothing after this would run where it believes it does.
			panic(fmt.Sprintf("testnet: returning to the thread's network namespace: %v", err))
		}
		runtime.UnlockOSThread()
	}()
	return f()
}

// Do calls f on a thread that is inside the host's namespace, and returns what f
// returns. Sockets that f opens belong to the host for good, and processes that
// it starts run there. Goroutines that f starts do not: they run on other
// threads, outside. f may call t.FailNow. It is an error to call Do after the
// test has ended.
func (h *Host) Do(f func() error) error {
	return inThread(func() error {
		if err := h.enter(); err != nil {
			return err
		}
		return f()
	})
}

// enter moves the calling thread, which must be locked, into the namespace.
func (h *Host) enter() error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.closed {
		return fmt.Errorf("the test host %q is gone: its test has ended", h.Name)
	}
	if err := netns.Set(h.handle); err != nil {
		return fmt.Errorf("entering the network namespace of %q: %w", h.Name, err)
	}
	return nil
}

// close gives the namespace up.
func (h *Host) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	return h.handle.Close()
}

// Sysctl sets a kernel parameter on the host, and nowhere else, for instance
// "net.ipv4.ip_forward" to "1". It refuses names outside "net.". Slashes may
// stand for dots, as they must for devices with a dot in the name. It fails the
// test on error.
func (h *Host) Sysctl(t testing.TB, name, value string) {
	t.Helper()
	if err := h.sysctl(name, value); err != nil {
		t.Fatalf("%s: %v", h.Name, err)
	}
}

func (h *Host) sysctl(name, value string) error {
	if !strings.Contains(name, "/") {
		name = strings.ReplaceAll(name, ".", "/")
	}
	name = filepath.Clean(name)
	if !strings.HasPrefix(name, "net/") {
		return fmt.Errorf("the parameter %q is not of one network namespace only", name)
	}
	return h.Do(func() error {
		return os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0)
	})
}

// SetForwarding switches routing between the host's devices on or off, for both
// families. It is on in the router of a line and off in all other hosts.
func (h *Host) SetForwarding(t testing.TB, on bool) {
	t.Helper()
	if err := h.setForwarding(on); err != nil {
		t.Fatalf("%s: %v", h.Name, err)
	}
}

func (h *Host) setForwarding(on bool) error {
	value := "0"
	if on {
		value = "1"
	}
	return errors.Join(
		h.sysctl("net.ipv4.ip_forward", value),
		h.sysctl("net.ipv6.conf.all.forwarding", value))
}
