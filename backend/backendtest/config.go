package backendtest

import (
	"testing"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/internal/testnet"
)

// OthersPort is the UDP port that Config.Others closes.
const OthersPort = 9999

// Config says what is under test and how to look at what it does. New, Require, Snapshot and Others have to be set.
type Config struct {
	// New returns a backend that works on the machine. Backends that run commands do so through the machine's Runner, by
	// which the suite makes them fail.
	New func(m Machine) backend.Backend

	// Require skips the test unless this machine has what the backend needs; see testnet.Require.
	Require func(t testing.TB)

	// Snapshot lists everything on the host that the backend or anybody beside it may own. Two snapshots are equal, byte
	// for byte, if and only if the rules are; counters are no part of it.
	Snapshot func(t testing.TB, h Host) string

	// Others loads rules that belong to other people: tables or chains whose names are like those of the owners geo and
	// geo2, and at the hook input, after the place where the backend's rules will stand, a rule that drops UDP to
	// OthersPort of both families. All other packets have to pass. It makes whatever the backend makes on an empty machine
	// and does not take away again.
	Others func(t testing.TB, h Host)

	// Unguarded returns the part of a payload that is known not to be protected: a payload that ends after from and not
	// after to may be taken for a whole one by the tool. Nil: there is no such part. It can be a part of one line only, and
	// each one is a weakness of the backend that its documentation has to name.
	Unguarded func(payload []byte) (from, to int)

	// Faults are failures besides those of commands, which the suite makes by itself.
	Faults []Fault

	// RenderOnly: the backend cannot apply. Only what Render gives is tested, loaded by hand.
	RenderOnly bool
}

// Fault is a way in which a backend can fail that has nothing to do with commands, such as a netlink message that the
// kernel refuses.
type Fault struct {
	Name string
	// New is as Config.New, of a backend whose next Apply and Remove fail like that.
	New func(m Machine) backend.Backend
	// Want is what the error has to wrap.
	Want error
}

// Machine is where a backend under test works.
type Machine struct {
	// Runner runs commands on the machine.
	Runner backend.Runner
	// Do calls f on a thread that is on the machine; sockets that f opens belong to it for good.
	Do func(f func() error) error
}

// Host is a test host, as far as Config's functions need it. Each method fails the test on error.
type Host interface {
	// Run runs a command and returns what it writes.
	Run(t testing.TB, stdin, name string, args ...string) (stdout string)
	// Ruleset returns the nft ruleset of the host, without the values of counters.
	Ruleset(t testing.TB) string
	// Saved returns the output of a save command, split at blanks, without comments and the values of counters.
	Saved(t testing.TB, command string) string
}

var _ Host = (*testnet.Host)(nil)

// Run tests the backend. Each part is a subtest on test hosts of its own, at the same time as others: most of the time is
// spent waiting for packets that do not come. With -short the parts are left out that take long and in which one call
// follows another.
func Run(t *testing.T, c Config) {
	t.Helper()
	t.Run("render", c.testRender)
	c.Require(t)
	testnet.Require(t, testnet.Conntrack)
	for _, part := range []struct {
		name string
		long bool
		test func(*testing.T)
	}{
		{"by hand", false, c.testByHand},
		{"probe", false, c.testProbe},
		{"apply", false, c.testApply},
		{"guards", true, c.testGuards},
		{"output", false, c.testOutput},
		{"reject", false, c.testReject},
		{"pass and accept", false, c.testPassAndAccept},
		{"again", true, c.testAgain},
		{"remove", true, c.testRemove},
		{"owners", false, c.testOwners},
		{"failing commands", true, c.testFailingCommands},
		{"other faults", false, c.testFaults},
		{"cut input", true, c.testCutInput},
		{"cut by hand", true, c.testCutByHand},
		{"cancelled", false, c.testCancelled},
		{"killed", false, c.testKilled},
		{"garbled state", false, c.testGarbledState},
		{"concurrent", false, c.testConcurrent},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			if part.long && testing.Short() {
				t.Skip("left out by -short")
			}
			part.test(t)
		})
		if c.RenderOnly {
			return // by hand is the first
		}
	}
}
