package compile

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Point is a place in the kernel's packet path where rules can stand. The zero Point is none.
type Point uint8

const (
	// Input: packets to this machine, after routing.
	Input Point = iota + 1
	// Forward: packets routed through this machine, containers' published ports among them.
	Forward
	// Output: packets that this machine sends.
	Output
	// Prerouting: all packets that come in, before routing and after connection tracking.
	Prerouting
	// Raw: all packets that come in, before connection tracking. There is no connection state yet.
	Raw
	// Ingress: packets of one device, before everything else. There is no connection state yet. No target has it yet.
	Ingress
)

var pointNames = [...]string{"none", "input", "forward", "output", "prerouting", "raw", "ingress"}

// String returns the name of the hook in lower case.
func (p Point) String() string {
	if int(p) < len(pointNames) {
		return pointNames[p]
	}
	return "unknown hook"
}

// ParsePoint reads what String writes, in any case.
func ParsePoint(s string) (Point, error) {
	for i, name := range pointNames {
		if i > 0 && strings.EqualFold(s, name) {
			return Point(i), nil
		}
	}
	return 0, &NameError{Kind: "hook", Name: s, Why: "it is one of " + strings.Join(pointNames[1:], ", ")}
}

// conntrackPriority is where connection tracking sits in prerouting and output: NF_IP_PRI_CONNTRACK and
// NF_IP6_PRI_CONNTRACK in the kernel's include/uapi/linux/netfilter_ipv4.h and _ipv6.h.
const conntrackPriority = -200

// Hook says where a policy's rules stand.
type Hook struct {
	Point Point
	// Priority orders base chains at one hook, lower first. Nil is the usual one: 0 for input, forward and output,
	// -150 for prerouting (after connection tracking, which is at -200), -300 for raw.
	Priority *int
	// Device is the network device of an Ingress hook, and empty for all others.
	Device string
}

// EffectivePriority returns the priority at which the rules stand.
func (h Hook) EffectivePriority() int {
	switch {
	case h.Priority != nil:
		return *h.Priority
	case h.Point == Prerouting:
		return -150
	case h.Point == Raw:
		return -300
	}
	return 0
}

// seesState reports whether packets have a connection state at the hook, and if not, why.
func (h Hook) seesState() (bool, string) {
	switch h.Point {
	case Ingress:
		return false, "ingress comes before connection tracking"
	case Raw, Prerouting, Output:
		if p := h.EffectivePriority(); p <= conntrackPriority {
			return false, fmt.Sprintf("priority %d of %v comes before connection tracking, which is at %d",
				p, h.Point, conntrackPriority)
		}
	}
	return true, ""
}

// String names the hook, with its priority or device if they are not the usual ones.
func (h Hook) String() string {
	s := h.Point.String()
	if h.Device != "" {
		s += " on " + h.Device
	}
	if h.Priority != nil {
		s += fmt.Sprintf(" at priority %d", *h.Priority)
	}
	return s
}

// cloneHooks copies hooks with their priorities, so that a caller's later change does not reach them.
func cloneHooks(hooks []Hook) []Hook {
	out := slices.Clone(hooks)
	for i, h := range out {
		if h.Priority != nil {
			p := *h.Priority
			out[i].Priority = &p
		}
	}
	return out
}

func (h Hook) check() error {
	switch {
	case h.Priority != nil && (*h.Priority < math.MinInt32 || *h.Priority > math.MaxInt32):
		// The kernel's field has 32 bits, and nft wraps what is larger.
		return &PolicyError{Where: "hook " + h.Point.String(), Err: fmt.Errorf("%w: priority %d", ErrInvalid, *h.Priority)}
	case h.Point == 0 || int(h.Point) >= len(pointNames):
		return &PolicyError{Where: "hooks", Err: fmt.Errorf("%w: %v", ErrInvalid, h.Point)}
	case h.Point == Ingress && h.Device == "":
		return &PolicyError{Where: "hook ingress", Err: fmt.Errorf("%w: it needs a device", ErrInvalid)}
	case h.Point != Ingress && h.Device != "":
		return &PolicyError{Where: "hook " + h.Point.String(), Err: fmt.Errorf("%w: only ingress takes a device", ErrInvalid)}
	case h.Device != "":
		return checkInterface(h.Device)
	}
	return nil
}

// Side is the end of a packet that a rule's addresses are compared with. Layouts can compare the remote end only so far; a
// policy that compares the other does not compile.
type Side uint8

const (
	// Remote: the end that is not this machine, which is the destination at Output and the source everywhere else.
	Remote Side = iota
	// Source: the packet's source address.
	Source
	// Destination: the packet's destination address.
	Destination
)

var sideNames = [...]string{"remote end", "source", "destination"}

// String names the side.
func (s Side) String() string {
	if int(s) < len(sideNames) {
		return sideNames[s]
	}
	return "unknown side"
}

// at resolves Remote for a hook.
func (s Side) at(p Point) Side {
	switch {
	case s != Remote:
		return s
	case p == Output:
		return Destination
	}
	return Source
}
