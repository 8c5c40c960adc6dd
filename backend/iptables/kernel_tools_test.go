//go:build linux

package iptables

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// A lock that another program holds is waited for, for the time that was asked for, and then an error of its own.
func TestKernelLock(t *testing.T) {
	testnet.Require(t, testnet.IPTablesLegacy, testnet.Conntrack)
	h := testnet.NewPair(t).Guard()
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := os.Create(path)
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))

	runner := &onHost{h: h, exec: backend.Exec{Env: []string{"XTABLES_LOCKFILE=" + path}}}
	prog := compiled(t, block(t), Legacy, compile.Linear)
	start := time.Now()
	err = New(Legacy, runner, WithLockWait(time.Second)).Apply(t.Context(), prog)
	require.ErrorIs(t, err, backend.ErrLocked)
	require.Less(t, time.Since(start), 4*time.Second)
	require.NotContains(t, saved(t, h, Legacy)[1], "cidrc")

	done := make(chan error)
	go func() { done <- New(Legacy, runner).Apply(t.Context(), prog) }()
	time.Sleep(200 * time.Millisecond)
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_UN))
	require.NoError(t, <-done)
}

func TestKernelPrivilege(t *testing.T) {
	eachVariant(t, func(t *testing.T, v Variant, n *testnet.Net) {
		if err := exec.Command("unshare", "--user", "true").Run(); err != nil {
			t.Skip("needs unshare, and user namespaces: ", err)
		}
		b := New(v, &onHost{h: n.Guard(), exec: backend.Exec{Prefix: []string{"unshare", "--user"}}})
		_, err := b.Probe(t.Context())
		require.ErrorIs(t, err, backend.ErrPrivilege)
		prog := compiled(t, block(t), v, compile.Linear)
		require.ErrorIs(t, b.Apply(t.Context(), prog), backend.ErrPrivilege)
		require.NoError(t, New(v, &onHost{h: n.Guard()}).Apply(t.Context(), prog))
		require.ErrorIs(t, b.Apply(t.Context(), prog), backend.ErrPrivilege)
		require.ErrorIs(t, b.Remove(t.Context(), "geo"), backend.ErrPrivilege)
	})
}

// The limits of the targets are the kernel's.
func TestKernelLimits(t *testing.T) {
	eachVariant(t, func(t *testing.T, v Variant, n *testnet.Net) {
		load := func(text string) error {
			_, err := n.Guard().Output(t.Context(), "*filter\n"+text+"COMMIT\n", v.tool(4, "restore"), "-w", "5", "--noflush")
			return err
		}
		below := func(depth int) string {
			text := ""
			for i := range depth + 1 {
				text += fmt.Sprintf(":c%d - [0:0]\n", i)
			}
			for i := range depth {
				text += fmt.Sprintf("-A c%d -g c%d\n", i, i+1)
			}
			return text + "-I INPUT 1 -j c0\n"
		}
		limits := Target(v).Limits
		if limits.JumpDepth > 0 {
			require.NoError(t, load(below(limits.JumpDepth)))
			require.Error(t, load(below(limits.JumpDepth+1)))
		} else {
			require.NoError(t, load(below(200)))
		}
		require.NoError(t, load(":"+strings.Repeat("x", limits.ChainName)+" - [0:0]\n"))
		require.Error(t, load(":"+strings.Repeat("x", limits.ChainName+1)+" - [0:0]\n"))
		comment := strings.Repeat("x", limits.Comment)
		require.NoError(t, load("-A c0 -m comment --comment "+comment+" -j RETURN\n"))
		require.Contains(t, saved(t, n.Guard(), v)[0], " "+comment+" ")
	})
}

func TestKernelMixed(t *testing.T) {
	testnet.Require(t, testnet.IPTablesLegacy, testnet.IPTablesNFT)
	h := testnet.NewPair(t).Guard()
	for _, v := range []Variant{Legacy, NFT} {
		b := New(v, &onHost{h: h})
		other, mixed, err := b.Mixed(t.Context())
		require.NoError(t, err)
		require.False(t, mixed)
		h.Run(t, "*mangle\n-A PREROUTING -i lo -j ACCEPT\nCOMMIT\n", other.tool(6, "restore"), "--noflush")
		_, mixed, err = b.Mixed(t.Context())
		require.NoError(t, err)
		require.True(t, mixed)
		h.Run(t, "", strings.TrimSuffix(other.tool(6, "save"), "-save"), "-t", "mangle", "-F")
		_, _, err = b.Mixed(t.Context())
		require.NoError(t, err)

		target, err := b.Probe(t.Context())
		require.NoError(t, err)
		require.Regexp(t, `^1\.\d+`, target.Tool)
		require.Equal(t, string(v), target.Variant)
	}
}

func TestKernelNoTool(t *testing.T) {
	testnet.Require(t)
	b := New("nft", &onHost{h: testnet.NewPair(t).Guard(), exec: backend.Exec{Prefix: []string{"no-such-tool"}}})
	_, err := b.Probe(t.Context())
	require.ErrorIs(t, err, backend.ErrNoTool)
}
