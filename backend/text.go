package backend

import (
	"net/netip"
	"os"
	"strings"

	"github.com/cidrc/cidrc/cidr"
)

// AppendPrefix appends the prefix as all tools read it: without the length if it is one address.
func AppendPrefix(b []byte, p netip.Prefix) []byte {
	if p.IsSingleIP() {
		return p.Addr().AppendTo(b)
	}
	return p.AppendTo(b)
}

// AppendRange appends the range as an address, a prefix or "first-last", whichever is the shortest that is exact.
func AppendRange(b []byte, r cidr.Range) []byte {
	if r.First == r.Last {
		return r.First.AppendTo(b)
	}
	if p, ok := r.Prefix(); ok {
		return p.AppendTo(b)
	}
	return r.Last.AppendTo(append(r.First.AppendTo(b), '-'))
}

// CommentText makes any text fit for a comment line of a payload: printable ASCII on one line, at most 200 bytes.
func CommentText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, s)
	return s[:min(len(s), 200)]
}

// KernelVersion returns the version of the running Linux kernel, such as "6.18.44", and "" where there is none.
func KernelVersion() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(b)), "-")
	return version
}

// ToolVersion returns the first version in what a tool says of itself, such as "1.0.6" in "nftables v1.0.6 (...)", and ""
// if there is none.
func ToolVersion(text string) string {
	for rest := text; ; {
		var ok bool
		if _, rest, ok = strings.Cut(rest, "v"); !ok {
			return ""
		}
		n := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if n < 0 {
			n = len(rest)
		}
		if version := strings.Trim(rest[:n], "."); version != "" {
			return version
		}
	}
}
