//go:build linux

package testnet

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// A recorder is a testing.TB that records how a test ends.
type recorder struct {
	testing.TB
	skipped, failed string
	errors          []string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(args ...any) {
	r.skipped = fmt.Sprint(args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.failed = fmt.Sprint(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// record runs f as a test of its own and returns how it ended.
func record(t *testing.T, f func(t testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func TestRequireMet(t *testing.T) {
	Require(t)
	r := record(t, func(t testing.TB) { Require(t, Namespaces, Namespaces) })
	require.Empty(t, r.skipped)
	require.Empty(t, r.failed)
}

func TestRequireMissing(t *testing.T) {
	Require(t)
	t.Setenv(RequireVariable, "")
	r := record(t, func(t testing.TB) { Require(t, Need(99)) })
	require.Contains(t, r.skipped, "Need(99): no such need")
	require.Empty(t, r.failed)

	t.Setenv(RequireVariable, "1")
	r = record(t, func(t testing.TB) { Require(t, Need(99)) })
	require.Empty(t, r.skipped)
	require.Contains(t, r.failed, "Need(99): no such need")
	require.Contains(t, r.failed, RequireVariable)
}

func TestNeedMessages(t *testing.T) {
	Require(t)
	for _, n := range []Need{NFT, IPTablesLegacy, IPTablesNFT, IPSet, Conntrack} {
		t.Run(n.String(), func(t *testing.T) {
			t.Setenv("PATH", t.TempDir())
			require.ErrorContains(t, tryNeed(n), "is not in PATH; install it (the Debian package")
		})
	}

	h, err := newHost("here")
	require.NoError(t, err)
	defer h.close()
	err = h.try("a package", "CONFIG_SOMETHING", try{"", "false"})
	require.ErrorContains(t, err, "the kernel needs CONFIG_SOMETHING")
}

func TestNeedNames(t *testing.T) {
	for n := range needs {
		require.NotEmpty(t, n.String())
	}
	require.Equal(t, "FullBuffers", FullBuffers.String())
}
