package cidr_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

func TestListsLeaveTheirLinesInATrace(t *testing.T) {
	var b cidr.Builder
	trace := b.Trace()
	require.NoError(t, b.AddList(strings.NewReader("198.51.100.0/24\n# x\n2001:db8::/32\n"), "deny.txt"))
	require.NoError(t, b.RemoveList(strings.NewReader("198.51.100.77\n"), "except.txt"))
	s, err := b.Build()
	require.NoError(t, err)
	require.EqualValues(t, 255, s.Only(cidr.V4).NumAddrs().Int64())
	for addr, want := range map[string]string{
		"198.51.100.76": "deny.txt:1: 198.51.100.0/24", "2001:db8::5": "deny.txt:3: 2001:db8::/32",
		"198.51.100.77": "except.txt:1: 198.51.100.77 removed",
	} {
		a, err := cidr.ParseAddr(addr)
		require.NoError(t, err)
		c, ok := trace.Why(a)
		require.True(t, ok)
		require.Equal(t, want, c.String())
	}

	// Half a list never becomes a set.
	require.Error(t, b.AddList(strings.NewReader("192.0.2.1\nbad\n"), "x"))
	require.NoError(t, b.AddList(strings.NewReader("192.0.2.2\n"), "y"))
	s, err = b.Build()
	require.ErrorIs(t, err, cidr.ErrName)
	require.True(t, s.IsEmpty())
}

// The kernel's rule for exceptions, the longest prefix decides, asked for each address of a window.
func TestIPSetExceptionsInATrace(t *testing.T) {
	eachTwin(t, 30, func(t *testing.T, w window, rnd *rand.Rand) {
		if !w.aligned() || !w.base.Is4() {
			return
		}
		var text strings.Builder
		text.WriteString("create s hash:net family inet\n")
		var want twin
		longest := [windowSize]int{}
		seen := map[string]bool{}
		for range 1 + rnd.IntN(20) {
			bits := 24 + rnd.IntN(9)
			at := rnd.IntN(windowSize) >> (32 - bits) << (32 - bits)
			p := fmt.Sprintf("%v/%d", w.addr(at), bits)
			if seen[p] {
				continue
			}
			seen[p] = true
			except := rnd.IntN(2) == 0
			fmt.Fprintf(&text, "add s %s%s\n", p, map[bool]string{true: " nomatch"}[except])
			for i := at; i < at+1<<(32-bits); i++ {
				if bits >= longest[i] {
					longest[i], want[i] = bits, !except
				}
			}
		}
		s, err := read(text.String(), cidr.Format(cidr.FormatIPSet), cidr.AllowEmpty())
		require.NoError(t, err)
		requireTwin(t, w, want, s, text.String())
		// A trace gives the same set, and a line for each address that is in it.
		var b cidr.Builder
		trace := b.Trace()
		require.NoError(t, b.AddList(strings.NewReader(text.String()), "s", cidr.Format(cidr.FormatIPSet), cidr.AllowEmpty()))
		traced, err := b.Build()
		require.NoError(t, err)
		require.True(t, traced.Equal(s))
		for i, in := range want {
			c, ok := trace.Why(w.addr(i))
			require.Equal(t, in, ok)
			require.Equal(t, in, c.Line > 1)
		}
	})
}

// Only the line that starts with a version is one.
func TestRegistryWithADigitInItsName(t *testing.T) {
	var report cidr.ListReport
	s, err := read("2.3|x|20260101|2|19830613|20251231|+0000\n1x|DE|ipv4|192.0.2.0|256|20200101|allocated\n", cidr.Format(cidr.FormatRIR), cidr.Report(&report))
	require.NoError(t, err)
	require.Equal(t, []string{"192.0.2.0/24"}, prefixStrings(s))
	require.Equal(t, 1, report.Ignored)
}
