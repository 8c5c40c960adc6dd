package backend

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cidrc/cidrc/compile"
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

// Error is a failed operation. The ruleset that was in force before it is in force after it, unless Left says otherwise.
type Error struct {
	Backend string // "nftables", "iptables-legacy", ...
	Op      string // "apply", "remove", "probe", "render"
	Owner   string // empty if it is about none
	Err     error
	// Detail is what the tool said, cut to a sensible length; empty if it said nothing.
	Detail string
	// Left says what is not as it was before, if putting it back failed as well, or what may not be, if a tool was killed
	// and may have done its work before; empty otherwise.
	Left string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Backend + ": " + e.Op)
	if e.Owner != "" {
		b.WriteString(" " + quoteStrange(e.Owner))
	}
	b.WriteString(": " + e.Err.Error())
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Left != "" {
		b.WriteString("; and the state before may not be in force: " + e.Left)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// quoteStrange quotes what could not be an owner, so that it cannot pass for something else.
func quoteStrange(s string) string {
	if compile.CheckOwner(s) == nil {
		return s
	}
	return strconv.QuoteToASCII(s[:min(len(s), 80)])
}

// ClipDetail shortens what a tool said to its first lines, enough to see what is wrong and never a whole ruleset, and
// takes out what a terminal would not show as text.
func ClipDetail(s string) string {
	const most = 600
	cut := ""
	if s = strings.TrimSpace(s); len(s) > most {
		s, cut = s[:most], " ..."
	}
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	return s + cut
}
