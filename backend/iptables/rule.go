package iptables

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// builtin returns the built-in chain at the hook, and "" if the table filter has none there.
func builtin(p compile.Point) string {
	switch p {
	case compile.Input:
		return "INPUT"
	case compile.Forward:
		return "FORWARD"
	case compile.Output:
		return "OUTPUT"
	}
	return ""
}

// jumpRule is the rule in a built-in chain that goes to the owner's, as iptables -S writes it, without -A and the name of
// the built-in chain.
func jumpRule(owner, chain string) string {
	return fmt.Sprintf("-m comment --comment %s -j %s", quote("cidrc: policy of owner "+owner), chain)
}

// appendRule appends the rule as iptables -S writes it, so that what is loaded and what is listed can be compared. f is
// the family that the line is for, and zero if it is the same for both; that is never so for a rule that rejects.
func appendRule(b []byte, c *compile.Chain, r *compile.ChainRule, f cidr.Family) ([]byte, error) {
	b = append(append(b, "-A "...), c.Name...)
	if r.Map != nil {
		return b, fmt.Errorf("%w: it asks map %s", backend.ErrOtherTarget, r.Map.Name)
	}
	if r.Set != nil {
		return b, fmt.Errorf("%w: it asks set %s", backend.ErrOtherTarget, r.Set.Name)
	}
	if p := r.Prefix; p.IsValid() && p.Bits() > 0 {
		if c.Side == compile.Destination {
			b = append(b, " -d "...)
		} else {
			b = append(b, " -s "...)
		}
		b = appendPrefix(b, p)
	}
	if r.Match != nil {
		var err error
		if b, err = appendMatch(b, r.Match); err != nil {
			return b, err
		}
	}
	if r.Comment != "" {
		b = append(append(b, " -m comment --comment "...), quote(r.Comment)...)
	}
	switch r.Do {
	case compile.DoPass:
		b = append(b, " -j RETURN"...)
	case compile.DoAccept:
		b = append(b, " -j ACCEPT"...)
	case compile.DoDrop:
		b = append(b, " -j DROP"...)
	case compile.DoReject:
		with := "icmp-port-unreachable"
		if f == cidr.V6 {
			with = "icmp6-port-unreachable"
		}
		b = append(append(b, " -j REJECT --reject-with "...), with...)
	case compile.DoJump:
		b = append(append(b, " -j "...), r.Chain.Name...)
	case compile.DoGoto:
		b = append(append(b, " -g "...), r.Chain.Name...)
	default:
		return b, fmt.Errorf("%w: %v", backend.ErrOtherTarget, r.Do)
	}
	return b, nil
}

// appendPrefix writes the length always, as iptables does, and addresses as inet_ntop does: as netip, but for ::/96,
// whose last 32 bits stand in dotted form.
func appendPrefix(b []byte, p netip.Prefix) []byte {
	a := p.Addr()
	if raw := a.As16(); a.Is6() && [12]byte(raw[:12]) == [12]byte{} && (raw[12] != 0 || raw[13] != 0) {
		b = netip.AddrFrom4([4]byte(raw[12:])).AppendTo(append(b, "::"...))
	} else {
		b = a.AppendTo(b)
	}
	return strconv.AppendInt(append(b, '/'), int64(p.Bits()), 10)
}

func appendMatch(b []byte, m *compile.Match) ([]byte, error) {
	if m.In != "" {
		b = append(append(b, " -i "...), m.In...)
	}
	if m.Out != "" {
		b = append(append(b, " -o "...), m.Out...)
	}
	proto := protocolName(m.Protocol)
	if m.Protocol != 0 {
		b = append(append(b, " -p "...), proto...)
	}
	if m.SourcePort != 0 || m.DestinationPort != 0 {
		switch m.Protocol {
		case compile.TCP, compile.UDP, compile.SCTP:
		default:
			return b, fmt.Errorf("%w: %v has no ports", backend.ErrOtherTarget, m.Protocol)
		}
		b = append(append(b, " -m "...), proto...)
		if m.SourcePort != 0 {
			b = fmt.Appendf(b, " --sport %d", m.SourcePort)
		}
		if m.DestinationPort != 0 {
			b = fmt.Appendf(b, " --dport %d", m.DestinationPort)
		}
	}
	switch {
	case len(m.ICMPTypes) == 0:
	case len(m.ICMPTypes) > 1:
		return b, fmt.Errorf("%w: a rule matches several ICMP types", backend.ErrOtherTarget)
	case m.Protocol == compile.ICMP:
		b = fmt.Appendf(b, " -m icmp --icmp-type %d", m.ICMPTypes[0])
	case m.Protocol == compile.ICMPv6:
		b = fmt.Appendf(b, " -m icmp6 --icmpv6-type %d", m.ICMPTypes[0])
	default:
		return b, fmt.Errorf("%w: %v has no ICMP types", backend.ErrOtherTarget, m.Protocol)
	}
	if m.States != 0 {
		b = append(append(b, " -m conntrack --ctstate "...), stateNames(m.States)...)
	}
	return b, nil
}

// protocolName is the name that iptables lists the protocol by.
func protocolName(p compile.Protocol) string {
	switch p {
	case compile.TCP, compile.UDP, compile.SCTP, compile.ICMP:
		return p.String()
	case compile.ICMPv6:
		return "ipv6-icmp"
	}
	return strconv.Itoa(int(p))
}

// stateNames lists states in the order in which iptables does (state_print in extensions/libxt_conntrack.c).
func stateNames(s compile.States) string {
	var names []string
	for _, state := range []compile.State{compile.Invalid, compile.New, compile.Related, compile.Established, compile.Untracked} {
		if s.Has(state) {
			names = append(names, strings.ToUpper(state.String()))
		}
	}
	return strings.Join(names, ",")
}

// quote writes a word as xtables_save_string in iptables' libxtables/xtables.c does.
func quote(s string) string {
	const plain = "_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, `'`, `\'`).Replace(s) + `"`
}
