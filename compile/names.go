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

// nftWords are the words that nft does not take where a bare name is expected, since they are tokens of its grammar: those
// that nft 1.0.6 refuses as the name of a set, and those that later versions have added (src/scanner.l).
var nftWords = []string{
	"accept", "add", "ah", "all", "and", "arp", "bridge", "cgroup", "chain", "comment", "comp", "continue",
	"counter", "cpu", "create", "ct", "day", "dccp", "define", "delete", "describe", "destroy", "device", "devices",
	"dnat", "drop", "dst", "dup", "dynamic", "ecn", "element", "elements", "eq", "esp", "ether", "exists",
	"expires", "export", "fib", "flags", "flow", "flowtable", "flush", "frag", "fwd", "ge", "geneve", "get", "goto",
	"gre", "gretap", "gt", "handle", "hbh", "hook", "hour", "ibriport", "ibrname", "icmp", "icmpv6", "igmp", "iif",
	"iifgroup", "iifname", "iiftype", "import", "include", "index", "inet", "inner", "insert", "interval", "ip",
	"ip6", "ipsec", "jhash", "jump", "last", "le", "limit", "list", "log", "lt", "map", "mark", "masquerade",
	"meta", "meter", "mh", "missing", "monitor", "ne", "netdev", "nftrace", "notrack", "numgen", "obriport",
	"obrname", "offload", "oif", "oifgroup", "oifname", "oiftype", "or", "osf", "pkttype", "policy", "position",
	"priority", "queue", "quota", "random", "redefine", "redirect", "reject", "rename", "replace", "reset",
	"return", "rt", "rt0", "rt2", "rtclassid", "rule", "ruleset", "sctp", "secmark", "set", "size", "skgid",
	"skuid", "snat", "socket", "srh", "symhash", "synproxy", "table", "tcp", "th", "time", "timeout", "tproxy",
	"type", "typeof", "udp", "udplite", "undefine", "update", "vlan", "vmap", "vxlan", "xor", "xt",
}
