package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Runner runs the commands of backends. Users who test without a kernel, or who run commands elsewhere, bring their own.
type Runner interface {
	// Run runs the command with the given standard input until it ends, and returns what it wrote. The error is nil only
	// if the command ran and exited with 0. It is an *ExitError if the command ran and exited with another code, and
	// wraps ErrNoTool if there is no such command.
	Run(ctx context.Context, stdin io.Reader, name string, args ...string) (stdout, stderr []byte, err error)
}

// ExitError is a command that ended with a code other than 0.
type ExitError struct {
	Command string
	Code    int // -1 if a signal ended it
}

func (e *ExitError) Error() string {
	if e.Code < 0 {
		return fmt.Sprintf("%s was killed", e.Command)
	}
	return fmt.Sprintf("%s exited with %d", e.Command, e.Code)
}

// Exec is the Runner that runs commands on this machine, with the C locale. The zero Exec is ready.
type Exec struct {
	// Prefix goes before every command, such as "ip", "netns", "exec", "name".
	Prefix []string
	// Env is added to the environment of the commands.
	Env []string
}

// Run implements Runner.
func (e Exec) Run(ctx context.Context, stdin io.Reader, name string, args ...string) (stdout, stderr []byte, err error) {
	words := append(append(append([]string{}, e.Prefix...), name), args...)
	path, err := findTool(words[0])
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: install it, or add its directory to PATH", words[0], ErrNoTool)
	}
	cmd := exec.CommandContext(ctx, path, words[1:]...)
	// A killed tool has sent its transaction as one message or not at all, and nobody knows which.
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append(append(os.Environ(), "LC_ALL=C"), e.Env...)
	cmd.Stdin = stdin
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if ctxErr := ctx.Err(); err != nil && ctxErr != nil {
		return out.Bytes(), errs.Bytes(), ctxErr
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = &ExitError{Command: strings.Join(words, " "), Code: exit.ExitCode()}
	}
	return out.Bytes(), errs.Bytes(), err
}

// findTool looks in PATH and then where administrators' tools live, which a user's PATH often lacks.
func findTool(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin/", "/sbin/", "/usr/local/sbin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoTool
}
