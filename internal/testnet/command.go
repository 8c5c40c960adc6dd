package testnet

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// CommandTimeout is how long a command of [Host.Run] may take.
const CommandTimeout = 5 * time.Minute

// A CommandError is a command that could not be started or did not succeed.
type CommandError struct {
	Host   string   // the host's name
	Args   []string // the command, name first
	Stderr string   // what it wrote to standard error
	Err    error    // from os/exec
}

// Error returns host, command, cause and standard error.
func (e *CommandError) Error() string {
	s := fmt.Sprintf("%s: %s: %v", e.Host, strings.Join(e.Args, " "), e.Err)
	if stderr := strings.TrimSpace(e.Stderr); stderr != "" {
		s += ": " + stderr
	}
	return s
}

// Unwrap returns the cause, often an [exec.ExitError].
func (e *CommandError) Unwrap() error { return e.Err }

// Run runs a command on the host and returns its standard output. The test
// fails at once, with the command's standard error, if it does not succeed.
// It may be used in t.Cleanup.
func (h *Host) Run(t testing.TB, stdin, name string, args ...string) (stdout string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), CommandTimeout)
	defer cancel()
	stdout, err := h.Output(ctx, stdin, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return stdout
}

// Output runs a command on the host and returns its standard output, which is
// what it has written until then if it does not succeed. The error then is a
// [CommandError].
func (h *Host) Output(ctx context.Context, stdin, name string, args ...string) (stdout string, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	// Whatever a killed command left running must not hold up the test.
	cmd.WaitDelay = 5 * time.Second
	if err := h.Do(cmd.Run); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w (%w)", ctx.Err(), err)
		}
		return out.String(), &CommandError{
			Host: h.Name, Args: append([]string{name}, args...), Stderr: errOut.String(), Err: err,
		}
	}
	return out.String(), nil
}
