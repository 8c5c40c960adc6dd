package backend

import (
	"errors"
	"strings"
)

// Why a program could not be rendered, applied or removed. Every error of a backend wraps one of these, one of package
// compile's, or the context's.
var (
	// ErrOtherTarget: the program was compiled for another backend or variant.
	ErrOtherTarget = errors.New("the program was compiled for another target")
	// ErrNoTool: a command that the backend runs is not installed.
	ErrNoTool = errors.New("the tool is not installed")
	// ErrPrivilege: the caller may not change the ruleset.
	ErrPrivilege = errors.New("not permitted: root, or CAP_NET_ADMIN in the network namespace, is needed")
	// ErrBuffer: the ruleset is larger than the socket buffer that the caller may have.
	ErrBuffer = errors.New("the ruleset is larger than the socket buffer allows: without privilege in the first user namespace, raise net.core.wmem_max and wmem_default, or run where that privilege is")
	// ErrLocked: another program holds the lock on the ruleset.
	ErrLocked = errors.New("another program holds the lock: try again")
	// ErrMissing: the kernel lacks a feature or a module.
	ErrMissing = errors.New("the kernel lacks a feature")
	// ErrRefused: the tool or the kernel did not take the ruleset, for a reason that only its own words tell.
	ErrRefused = errors.New("refused")
)

// Error is a failed operation. The ruleset that was in force before it is in force after it.
type Error struct {
	Backend string // "nftables", "iptables-legacy", ...
	Op      string // "apply", "remove", "probe", "render"
	Owner   string // empty if it is about none
	Err     error
	// Detail is what the tool said, cut to a sensible length; empty if it said nothing.
	Detail string
	// Left says what is not as it was before, if putting it back failed as well; empty otherwise.
	Left string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Backend + ": " + e.Op)
	if e.Owner != "" {
		b.WriteString(" " + e.Owner)
	}
	b.WriteString(": " + e.Err.Error())
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Left != "" {
		b.WriteString("; and the state before could not be put back: " + e.Left)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// ClipDetail shortens what a tool said to its first lines: enough to see what is wrong, never a whole ruleset.
func ClipDetail(s string) string {
	const most = 600
	s = strings.TrimSpace(s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + " ..."
	}
	return s
}
