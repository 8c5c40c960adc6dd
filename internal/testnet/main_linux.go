package testnet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// noUserNamespace is why the test binary could not be started in a user
// namespace of its own, if it was tried and failed.
var noUserNamespace error

// runAsNamespaceRoot runs this test binary once more as root of new user and
// network namespaces. It reports the exit status, and whether the tests did
// run: not when this process is root already, is itself the second run, or may
// not make namespaces.
func runAsNamespaceRoot() (code int, done bool) {
	if os.Geteuid() == 0 || os.Getenv(reexecuted) != "" {
		return 0, false
	}
	binary, err := os.Executable()
	if err != nil {
		noUserNamespace = err
		return 0, false
	}

	// The parent-death signal follows the thread that starts the child.
	runtime.LockOSThread()
	cmd := exec.Command(binary, os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), reexecuted+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	if err := cmd.Start(); err != nil {
		noUserNamespace = err
		return 0, false
	}

	// go test ends a test that hangs with SIGQUIT, to see its goroutines.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	go func() {
		for s := range signals {
			cmd.Process.Signal(s)
		}
	}()

	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, "testnet: running the tests in a user namespace:", err)
		return 1, true
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		fmt.Fprintln(os.Stderr, "testnet: the tests were ended by signal:", status.Signal())
		return 128 + int(status.Signal()), true
	}
	return cmd.ProcessState.ExitCode(), true
}
