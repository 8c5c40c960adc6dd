package compile

import (
	"slices"
	"strings"
)

// MaxOwner is the longest owner in bytes. It leaves room for chain names within the 28 bytes that iptables allows.
const MaxOwner = 12

// MaxRuleName is the longest name of a rule in bytes.
const MaxRuleName = 100

// CheckOwner returns a *NameError unless s can be an owner: a lower-case letter, then lower-case letters, digits and
// underscores, at most MaxOwner bytes, and no word that nft keeps for itself. The names of all objects in the kernel are
// made of it, and no owner's names can be another's.
func CheckOwner(s string) error {
	bad := func(why string) error { return &NameError{Kind: "owner", Name: s, Why: why} }
	switch {
	case s == "":
		return bad("a policy needs an owner, the name under which its objects live, such as \"geo\"")
	case len(s) > MaxOwner:
		return bad("it is longer than 12 bytes")
	case s[0] < 'a' || s[0] > 'z':
		return bad("it must start with a letter from a to z")
	case strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
		return bad("only letters from a to z, digits and underscores can be used")
	case slices.Contains(nftWords, s):
		return bad("nft keeps this word for itself; add something to it")
	}
	return nil
}

// checkRuleName refuses what could end a comment or a line in any target's syntax.
func checkRuleName(s string) error {
	bad := func(why string) error { return &NameError{Kind: "rule", Name: s, Why: why} }
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,:+-/@()="
	switch {
	case s == "":
		return bad("each rule needs a name, since verdicts are explained by it")
	case len(s) > MaxRuleName:
		return bad("it is longer than 100 bytes")
	case strings.Trim(s, allowed) != "":
		return bad("only letters, digits, blanks and _.,:+-/@()= can be used")
	case strings.TrimSpace(s) != s:
		return bad("it starts or ends with a blank")
	case slices.Contains(ownNames, s):
		return bad("the compiler uses this name itself")
	}
	return nil
}

// checkInterface accepts what dev_valid_name in the kernel's net/core/dev.c accepts, less what any tool could misread.
func checkInterface(s string) error {
	if s == "" || len(s) > 15 || s == "." || s == ".." ||
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@-") != "" {
		return &NameError{Kind: "interface", Name: s, Why: "1 to 15 letters, digits and _.@- can be used"}
	}
	return nil
}

// Names by which Eval and Explain call what decides besides the policy's own rules.
const (
	NameKeep    = "never block"
	NameLocal   = "local space"
	NameDefault = "default"
)

var ownNames = []string{NameKeep, NameLocal, NameDefault}

// nftWords are the words that nft 1.0.6 does not take where a bare name is expected, for they are tokens of its grammar
// (src/scanner.l).
var nftWords = []string{
	"accept", "add", "addr", "ah", "all", "allow", "and", "arp", "at", "auth", "base", "bridge", "bytes", "cgroup",
	"chain", "chains", "comment", "comp", "continue", "counter", "counters", "create", "ct", "cwr", "day", "dccp",
	"define", "delete", "describe", "destroy", "device", "devices", "dnat", "drop", "dscp", "dst", "dup", "dynamic",
	"ecn", "element", "elements", "eq", "esp", "ether", "export", "fib", "flags", "flow", "flowtable", "flowtables",
	"flush", "for", "forever", "frag", "fwd", "ge", "geneve", "get", "goto", "gre", "gretap", "gt", "handle",
	"hash", "hbh", "helper", "hook", "hour", "ibriport", "icmp", "icmpv6", "icmpx", "id", "igmp", "iif", "iifgroup",
	"iifname", "iiftype", "import", "include", "index", "inet", "inner", "insert", "integer", "interval", "ip", "ip6",
	"ipcomp", "ipsec", "jhash", "jump", "keepalive", "key", "label", "last", "le", "length", "level", "limit", "limits",
	"list", "lladdr", "log", "lt", "map", "maps", "mark", "masquerade", "mdl", "memory", "meta", "meter", "meters", "mh",
	"mod", "monitor", "netdev", "neq", "ne", "nexthop", "nfproto", "nftrace", "notrack", "num", "numgen", "obriport",
	"offload", "oif", "oifgroup", "oifname", "oiftype", "options", "or", "osf", "over", "packet", "packets",
	"performance", "persistent", "pkttype", "policy", "position", "prefix", "priority", "protocol", "queue", "quota",
	"quotas", "random", "redefine", "redirect", "reject", "rename", "replace", "reset", "return", "rt", "rtclassid",
	"ruleset", "saddr", "daddr", "sctp", "secmark", "secmarks", "seconds", "set", "sets", "size", "skgid", "skuid",
	"snat", "socket", "sport", "dport", "src", "state", "stateless", "string", "synproxy", "synproxys", "table",
	"tables", "tcp", "terse", "th", "time", "timeout", "timeouts", "to", "tproxy", "type", "typeof", "udp", "udplite",
	"undefine", "until", "update", "using", "version", "vlan", "vmap", "vxlan", "weekly", "wildcard", "with", "xml",
	"json", "xor", "xt", "year",
}
