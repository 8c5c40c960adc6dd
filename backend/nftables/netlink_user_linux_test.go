package nftables_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// userChild is the environment variable by which TestUserNamespace starts this test binary once more.
const userChild = "CIDRC_NETLINK_USER_CHILD"

// Without privilege over socket buffers, as in a container, 120,000 ranges load, and at no moment is a part of them in
// force.
func TestUserNamespace(t *testing.T) {
	testnet.Require(t, testnet.NFT)
	if testing.Short() {
		t.Skip("left out by -short: large sets are read back some times")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestUserNamespaceChild$", "-test.v")
	cmd.Env = append(os.Environ(), userChild+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		t.Skip("no user namespace:", err)
	}
	require.NoError(t, err, string(out))
	t.Logf("%s", out)
}

// TestUserNamespaceChild is the process in the namespace.
func TestUserNamespaceChild(t *testing.T) {
	if os.Getenv(userChild) == "" {
		t.Skip("it is started by TestUserNamespace")
	}
	rng := rand.New(rand.NewPCG(9, 10))
	c, err := nftables.Dial()
	require.NoError(t, err)
	room, err := c.Room(64 << 20)
	require.NoError(t, err)
	require.Less(t, room, 64<<20, "this process has privilege over buffers")
	old := compiled(t, blocking(manyRanges(rng, cidr.V4, 500)), compile.IntervalSet)
	next := compiled(t, blocking(manyRanges(rng, cidr.V4, 120_000)), compile.IntervalSet)
	watcher := nftables.NewNetlink(nftables.NetlinkOptions{})
	inForce := func(p *compile.Program) bool {
		found, err := watcher.Verify(t.Context(), p)
		require.NoError(t, err)
		for _, d := range found {
			if !d.Stale {
				return false
			}
		}
		return true
	}
	for name, dial := range map[string]func() (nftables.Conn, error){
		"as much as the system allows": nftables.Dial,
		// What the usual net.core.wmem_max of 212992 allows.
		"the usual limit": crampedDial(nftables.Dial, 2*212992-32),
	} {
		stages, stop := 0, false
		nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dial, Progress: func(p nftables.Progress) {
			if p.Step == "stage" && !stop {
				stages++
				if !inForce(old) {
					stop = true
					require.True(t, inForce(next), "neither the old program nor the new one is in force after %d transactions", stages)
				}
			}
		}})
		require.NoError(t, watcher.Apply(t.Context(), old))
		start := time.Now()
		require.NoError(t, nl.Apply(t.Context(), next))
		took := time.Since(start)
		requireInKernel(t, watcher, next, "")
		t.Logf("%s: room for %d bytes, %d transactions, %v with looking at the old program after each", name, min(room, 2*212992-32), stages, took)
		require.Positive(t, stages)
	}
}
