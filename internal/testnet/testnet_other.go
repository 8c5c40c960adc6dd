//go:build !linux

package testnet

import (
	"errors"
	"net/netip"
	"testing"
)

var errNotLinux = errors.New("network namespaces and netfilter exist on Linux only")

func runAsNamespaceRoot() (code int, done bool) { return 0, false }

func tryNeed(Need) error { return errNotLinux }

type namespace struct{}

// NewPair fails the test: there are no test hosts on this system.
func NewPair(t testing.TB) *Net {
	t.Helper()
	t.Fatalf("testnet: %v", errNotLinux)
	return nil
}

// NewLine fails the test: there are no test hosts on this system.
func NewLine(t testing.TB) *Net {
	t.Helper()
	return NewPair(t)
}

// Do returns an error: there are no test hosts on this system.
func (h *Host) Do(func() error) error { return errNotLinux }

// Sysctl fails the test: there are no test hosts on this system.
func (h *Host) Sysctl(t testing.TB, name, value string) {
	t.Helper()
	t.Fatalf("testnet: %v", errNotLinux)
}

// SetForwarding fails the test: there are no test hosts on this system.
func (h *Host) SetForwarding(t testing.TB, on bool) {
	t.Helper()
	t.Fatalf("testnet: %v", errNotLinux)
}

// AddAddress fails the test: there are no test hosts on this system.
func (h *Host) AddAddress(t testing.TB, addr netip.Addr) {
	t.Helper()
	t.Fatalf("testnet: %v", errNotLinux)
}

type observer struct{}

func newObserver(*Host, Hook, int) (*observer, error) { return nil, errNotLinux }

func (*observer) read(side) (map[netip.Addr]bool, error) { return nil, errNotLinux }

func (*observer) close() error { return nil }

type injector struct{}

func newInjector(*Net) (*injector, error) { return nil, errNotLinux }

func (*injector) inject(Packet, *Host, []netip.Addr) error { return errNotLinux }

func (*injector) close() {}
