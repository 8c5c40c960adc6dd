package testnet

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// reexecuted marks, in the environment, a test binary that [Main] started
// inside a new user namespace. Such a process never starts another one.
const reexecuted = "CIDRC_TESTNET_REEXECUTED"

// Main runs the tests of a package and exits. It is all that a TestMain needs:
//
//	func TestMain(m *testing.M) { testnet.Main(m) }
//
// As root it runs the tests in this process. Without root it starts the test
// binary once more, with the same arguments, in a new user namespace, where the
// user is root, and a new network namespace: tests can make namespaces and load
// rulesets there without any privilege on the machine. Output, exit status and
// the signals that go test sends pass through. If the system refuses such a
// namespace, the tests run in this process, and those that call [Require] skip,
// saying why.
//
// Main appends the system directories (/usr/sbin, /sbin) to PATH, where they
// are often missing for users other than root.
func Main(m *testing.M) {
	prepareEnvironment()
	code, done := runAsNamespaceRoot()
	if !done {
		code = m.Run()
	}
	removeEnvironment()
	os.Exit(code)
}

// lockFile is the file that XTABLES_LOCKFILE names, if this process made it.
var lockFile string

// prepareEnvironment lets this process and its children find the firewall
// tools, and gives iptables a lock file of this process's own. The lock guards
// one network namespace; test hosts share none with the machine or with the
// tests of another package, whereas /run/xtables.lock is shared with both, and
// not writable in a user namespace.
var prepareEnvironment = sync.OnceFunc(func() {
	path := filepath.SplitList(os.Getenv("PATH"))
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		path = appendMissing(path, dir)
	}
	os.Setenv("PATH", strings.Join(path, string(filepath.ListSeparator)))

	if os.Getenv("XTABLES_LOCKFILE") != "" {
		return
	}
	f, err := os.CreateTemp("", "cidrc-xtables-*.lock")
	if err != nil {
		return // iptables will say what it misses.
	}
	f.Close()
	lockFile = f.Name()
	os.Setenv("XTABLES_LOCKFILE", lockFile)
})

func removeEnvironment() {
	if lockFile != "" {
		os.Remove(lockFile)
	}
}

func appendMissing(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}
