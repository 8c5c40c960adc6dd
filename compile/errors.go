package compile

import (
	"errors"
	"fmt"
	"strconv"
)

// What can be wrong with a policy. Every error of this package wraps one of these.
var (
	// ErrInvalid: a value that is not set, not known or contradicts another.
	ErrInvalid = errors.New("not valid")
	// ErrEmptyPolicy: the policy has no rules.
	ErrEmptyPolicy = errors.New("the policy has no rules, so it would say nothing about any address")
	// ErrEmptyRule: a rule is about no address. See Rule.AllowEmpty.
	ErrEmptyRule = errors.New("the rule holds no address, which is more often a failed download than a wish; set AllowEmpty if it is meant")
	// ErrGuardHook: a guard cannot work at a hook of the policy.
	ErrGuardHook = errors.New("the guard cannot work at this hook")
	// ErrName: a name that the targets cannot hold, or that could be taken for something else.
	ErrName = errors.New("the name cannot be used")
	// ErrUnsupported: the policy asks for something that no layout, or the layout asked for, can do on the target.
	ErrUnsupported = errors.New("not supported")
	// ErrLimit: the program would go over a limit of the target.
	ErrLimit = errors.New("over a limit of the target")
	// ErrPacket: Eval was asked about a packet that cannot exist, or at a hook that the policy does not stand at.
	ErrPacket = errors.New("not a packet that the policy sees")
)

// A PolicyError says which part of a policy is wrong.
type PolicyError struct {
	Where string // the part: "owner", "hook raw", `rule "office"`
	Err   error
}

func (e *PolicyError) Error() string { return "policy: " + e.Where + ": " + e.Err.Error() }
func (e *PolicyError) Unwrap() error { return e.Err }

// A NameError is a name that cannot be used. It wraps ErrName.
type NameError struct {
	Kind string // what the name is for: "owner", "rule", "interface", ...
	Name string
	Why  string // what is wrong and what would be right
}

func (e *NameError) Error() string {
	name := e.Name
	if len(name) > 80 {
		name = name[:80] + "..."
	}
	return fmt.Sprintf("%s %s: %v: %s", e.Kind, strconv.QuoteToASCII(name), ErrName, e.Why)
}
func (e *NameError) Unwrap() error { return ErrName }

// An UnsupportedError names the feature that cannot be compiled. It wraps ErrUnsupported.
type UnsupportedError struct {
	Feature string // "logs", "rules limited to services", "hook ingress", ...
	Where   string // the rule, hook, layout or target
	Instead string // what to do; may be empty
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("%s: %s: %v", e.Where, e.Feature, ErrUnsupported)
	if e.Instead != "" {
		s += ": " + e.Instead
	}
	return s
}
func (e *UnsupportedError) Unwrap() error { return ErrUnsupported }

// A LimitError names the limit that a program would break. It wraps ErrLimit.
type LimitError struct {
	What  string // "rules of a linear layout", "bytes of chain name ...", ...
	Count int
	Limit int
	// Instead says what to do; may be empty.
	Instead string
}

func (e *LimitError) Error() string {
	s := fmt.Sprintf("%d %s, %v of %d", e.Count, e.What, ErrLimit, e.Limit)
	if e.Instead != "" {
		s += ": " + e.Instead
	}
	return s
}
func (e *LimitError) Unwrap() error { return ErrLimit }
