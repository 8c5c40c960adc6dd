package iptables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
)

// toolError is a command that failed: why, in the words of package backend, and what it said.
type toolError struct {
	reason error
	detail string
	// ran: the command was there, and may have done anything before it failed.
	ran bool
}

func (e *toolError) Error() string {
	if e.detail == "" {
		return e.reason.Error()
	}
	return e.reason.Error() + ": " + e.detail
}

func (e *toolError) Unwrap() error { return e.reason }

// fail makes the error of an operation.
func (b *Backend) fail(op, owner string, err error) *backend.Error {
	e := &backend.Error{Backend: b.variant.name(), Op: op, Owner: owner, Err: err}
	var t *toolError
	if errors.As(err, &t) {
		e.Err, e.Detail = t.reason, t.detail
	}
	return e
}

// hasRun reports whether a command has run at all before it failed.
func hasRun(err error) bool {
	var t *toolError
	return errors.As(err, &t) && t.ran
}

// reasons are what the tools write, and what it means; the first that is found counts. Texts in parentheses are the
// kernel's errno as the C locale writes it.
var reasons = []struct {
	text string
	err  error
}{
	{"xtables lock", backend.ErrLocked},
	{"Permission denied", backend.ErrPrivilege},
	{"Operation not permitted", backend.ErrPrivilege},
	{"you must be root", backend.ErrPrivilege},
	{"can't open lock file", backend.ErrRefused},            // XTABLES_LOCKFILE names another
	{"Resource temporarily unavailable", backend.ErrLocked}, // another program has changed the table meanwhile
	{"Message too long", backend.ErrBuffer},
	{"No buffer space available", backend.ErrBuffer},
	{"Address family not supported", backend.ErrMissing},
	{"Protocol not supported", backend.ErrMissing},
	{"Operation not supported", backend.ErrMissing},
	{"do you need to insmod", backend.ErrMissing},
	{"missing kernel module", backend.ErrMissing},
	{"not supported", backend.ErrMissing},
	{"unable to initialize table", backend.ErrMissing},
	{"Couldn't load match", backend.ErrMissing},
	{"Couldn't load target", backend.ErrMissing},
}

// exitResource is the exit status RESOURCE_PROBLEM of iptables' include/xtables.h: the lock, and in the nft variant
// whatever the kernel refuses.
const exitResource = 4

// classify finds the reason in what a tool wrote. payload is what it read, or nil.
func classify(f cidr.Family, tool string, payload, stderr []byte, err error) error {
	t := &toolError{reason: err, detail: said(stderr), ran: true}
	var exit *backend.ExitError
	switch {
	case errors.Is(err, backend.ErrNoTool):
		t.reason, t.detail, t.ran = backend.ErrNoTool, err.Error(), false
	case errors.As(err, &exit) && exit.Code >= 0:
		t.reason = nil
		for _, r := range reasons {
			if strings.Contains(string(stderr), r.text) {
				t.reason = r.err
				break
			}
		}
		line := namedLine(payload, stderr)
		switch {
		case t.reason != nil:
		case exit.Code == exitResource && line == "" && !strings.Contains(t.detail, " failed"):
			t.reason = backend.ErrLocked
		default:
			t.reason = fmt.Errorf("%w: %w", backend.ErrRefused, err)
			if line != "" {
				t.detail += "; the line is: " + line
			}
		}
	default:
		// Killed, by the context or by somebody, or the runner's own failure.
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			t.reason = fmt.Errorf("%w: %w", backend.ErrRefused, err)
		}
	}
	if !strings.Contains(t.detail, tool) {
		t.detail = strings.TrimSuffix(tool+": "+t.detail, ": ")
	}
	if f == cidr.V6 && (errors.Is(t.reason, backend.ErrNoTool) || errors.Is(t.reason, backend.ErrMissing)) {
		t.detail += "; if this machine is to do without IPv6, say so: WithoutIPv6 leaves the policy to IPv4 alone"
	}
	return t
}

// said is what a tool wrote, on one line, without what is no part of the reason: the pointer to its manual, and the warning
// of the nft variant that the other one has tables, which it gives at every call.
func said(stderr []byte) string {
	var parts []string
	for line := range strings.Lines(string(stderr)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "Try `") && !strings.HasPrefix(line, "# Warning: ") {
			parts = append(parts, line)
		}
	}
	return backend.ClipDetail(strings.Join(parts, " "))
}

// namedLine returns the line of the payload by whose number the tool complains. The nft variant notices some errors at
// COMMIT only; that line says nothing, and "" is returned for it.
func namedLine(payload, stderr []byte) string {
	n := lineNumber(string(stderr))
	if n < 1 || n > bytes.Count(payload, []byte{'\n'}) {
		return ""
	}
	for range n - 1 {
		_, payload, _ = bytes.Cut(payload, []byte{'\n'})
	}
	line, _, _ := bytes.Cut(payload, []byte{'\n'})
	if string(line) == "COMMIT" {
		return ""
	}
	return backend.ClipDetail(string(line))
}

// lineNumber finds the number in "Error occurred at line: 7", "line 7: ..." and "...: line 7 failed", and 0 if there is
// none.
func lineNumber(stderr string) int {
	for _, before := range []string{"at line: ", "\nline ", ": line "} {
		_, rest, ok := strings.Cut("\n"+stderr, before)
		if !ok {
			continue
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if n, err := strconv.Atoi(rest[:digits]); err == nil {
			return n
		}
	}
	return 0
}
