//go:build linux

package testnet

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

// insideVariable tells the tests named TestInner... what to do when another test
// runs this binary as a user without privilege.
const insideVariable = "CIDRC_TESTNET_INNER"

func TestMainWithoutRoot(t *testing.T) {
	status, out := runAsNobody(t, "probe", nil)
	require.Zero(t, status, out)
	require.Contains(t, out, "--- PASS: TestInnerProbe")
	require.Contains(t, out, "inner: 2 of 3 passed as uid 0", "standard output passes through")
	require.NotContains(t, out, "SKIP: TestInnerProbe")
}

func TestMainPassesFailureThrough(t *testing.T) {
	status, out := runAsNobody(t, "fail", nil)
	require.Equal(t, 1, status, out)
	require.Contains(t, out, "--- FAIL: TestInnerFail")

	status, out = runAsNobody(t, "exit", nil)
	require.Equal(t, 7, status, out)

	status, out = runAsNobody(t, "kill", nil)
	require.Equal(t, 128+int(syscall.SIGKILL), status, out)
}

func TestMainSkipsWithoutUserNamespaces(t *testing.T) {
	// A user namespace of its own has its own limit on further ones.
	forbid := func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"sh", "-c",
			`echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$0" "$@"`},
			cmd.Args...)
		path, err := exec.LookPath("sh")
		require.NoError(t, err)
		cmd.Path = path
		all := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}}
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWUSER, UidMappings: all, GidMappings: all,
			GidMappingsEnableSetgroups: true,
		}
	}
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip("needs setpriv, of the package util-linux")
	}
	status, out := runAsNobody(t, "probe", forbid)
	require.Zero(t, status, out)
	require.Contains(t, out, "--- SKIP: TestInnerProbe")
	require.Contains(t, out, "user.max_user_namespaces", "the message says what to do")
	require.Contains(t, out, "a user namespace was refused")
}

// runAsNobody runs this test binary as a user without privilege, and returns its
// exit status and output.
func runAsNobody(t *testing.T, inner string, change func(*exec.Cmd)) (status int, out string) {
	t.Helper()
	var id uint32 = 65534
	if data, err := os.ReadFile("/proc/self/uid_map"); os.Geteuid() != 0 || err != nil ||
		!bytes.Contains(data, []byte("4294967295")) {
		t.Skip("needs root of the machine, to become somebody else")
	}
	dir, err := os.MkdirTemp("", "cidrc-testnet-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	binary := filepath.Join(dir, "testnet.test")
	copyExecutable(t, binary)

	cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.run=^TestInner")
	cmd.Dir = dir
	// Without the system directories: Main has to find nft all the same.
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", insideVariable + "=" + inner}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	if change != nil {
		change(cmd)
	}
	output, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode(), string(output)
}

func copyExecutable(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(f, from)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// The tests below do something only when run by one of those above.

func TestInnerProbe(t *testing.T) {
	if os.Getenv(insideVariable) != "probe" {
		t.Skip("run by TestMainWithoutRoot")
	}
	Require(t, NFT, Conntrack)
	n := NewPair(t)
	n.Inside.Run(t, blockDocumentation, "nft", "-f", "-")
	passed := 0
	for _, o := range n.Probe(t, Input, UDP(53), addrs("198.51.100.7", "203.0.113.7", "2001:db8:9::7")) {
		require.True(t, o.Arrived)
		if o.Passed {
			passed++
		}
	}
	fmt.Printf("inner: %d of 3 passed as uid %d\n", passed, os.Getuid())
	require.Equal(t, 2, passed)
}

func TestInnerFail(t *testing.T) {
	switch os.Getenv(insideVariable) {
	case "fail":
		t.Error("as asked")
	case "exit":
		os.Exit(7)
	case "kill":
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
	default:
		t.Skip("run by TestMainPassesFailureThrough")
	}
}
