package cidr_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

// The inputs below testdata/cases are small models of lists that made other tools fail. cover.txt is the right answer:
// the fewest prefixes, IPv4 before IPv6, ascending. Where a list holds bad lines, cover.txt is what the
// good lines alone would give.

func readCase(t *testing.T, name, file string, opts ...cidr.ListOption) (cidr.Set, error) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "cases", name, file))
	require.NoError(t, err)
	defer f.Close()
	return cidr.ReadList(f, file, opts...)
}

func coverOf(t *testing.T, name string) []string { return answer(t, name, "cover.txt") }

func answer(t *testing.T, name, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cases", name, file))
	require.NoError(t, err)
	return strings.Fields(string(text))
}

func prefixStrings(s cidr.Set) []string {
	var out []string
	for p := range s.Prefixes() {
		out = append(out, p.String())
	}
	return out
}

func TestCasesThatHaveAnAnswer(t *testing.T) {
	tests := map[string]string{
		"nested-and-duplicate": "a feed with a prefix, a part of it, the same again and two halves of another",
		"semicolon-comment":    "comments with a semicolon, after entries too, and a trailing blank",
		"crlf":                 "line ends of Windows",
		"mixed-families":       "both families in one list, and an IPv6 host that ends in a double colon",
		"mapped-host":          "IPv4 clients as a dual-stack socket shows them",
		"range-to-last":        "a range up to 255.255.255.255, where an exclusive end would wrap",
	}
	for name, fault := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := readCase(t, name, "input.txt")
			require.NoError(t, err, fault)
			require.Equal(t, coverOf(t, name), prefixStrings(s), fault)
			require.Equal(t, len(coverOf(t, name)), s.NumPrefixes())
			requireNormal(t, s)
		})
	}
}

func TestCaseMappedHostsAreIPv4(t *testing.T) {
	s, err := readCase(t, "mapped-host", "input.txt")
	require.NoError(t, err)
	require.True(t, s.Only(cidr.V6).IsEmpty())
}

func TestCaseTwoListsInOneSet(t *testing.T) {
	a, err := readCase(t, "two-lists", "aa.txt")
	require.NoError(t, err)
	b, err := readCase(t, "two-lists", "bb.txt")
	require.NoError(t, err)
	require.Equal(t, coverOf(t, "two-lists"), prefixStrings(a.Union(b)))
	require.Equal(t, coverOf(t, "two-lists"), prefixStrings(cidr.Union(b, a, b)))
	require.Equal(t, a.Union(b).Digest(), b.Union(a).Digest())
}

func TestCaseExceptOneHost(t *testing.T) {
	deny, err := readCase(t, "except-one-host", "deny.txt")
	require.NoError(t, err)
	except, err := readCase(t, "except-one-host", "except.txt")
	require.NoError(t, err)
	s := deny.Difference(except)
	require.Equal(t, coverOf(t, "except-one-host"), prefixStrings(s))
	require.EqualValues(t, 255, s.NumAddrs().Int64())
	for addr, in := range map[string]bool{"198.51.100.76": true, "198.51.100.77": false, "198.51.100.78": true} {
		a, err := cidr.ParseAddr(addr)
		require.NoError(t, err)
		require.Equal(t, in, s.Contains(a), addr)
	}
}

func TestCasesThatAreRefused(t *testing.T) {
	type line struct {
		line int
		text string
		err  error
	}
	tests := []struct {
		name, fault string
		lines       []line
	}{
		{"host-bits", "a prefix with a bit set below its length", []line{
			{2, "2001:db8:401::/40", cidr.ErrHostBits},
		}},
		{"leading-zero", "octets that some tools read as octal", []line{
			{2, "192.0.2.010", cidr.ErrLeadingZero},
			{3, "192.0.2.08", cidr.ErrLeadingZero},
			{4, "203.0.113.001", cidr.ErrLeadingZero},
		}},
		{"octet-over-255", "a bad octet far down a merged file", []line{
			{3, "942.51.100.4", cidr.ErrOctet},
			{6, "203.0.113.256/32", cidr.ErrOctet},
		}},
		{"netmask", "netmasks, with holes and turned over too", []line{
			{1, "192.0.2.0/255.255.255.0", cidr.ErrMask},
			{2, "198.51.100.0/255.0.255.0", cidr.ErrMask},
			{3, "203.0.113.0/0.0.0.255", cidr.ErrMask},
		}},
		{"host-name", "names, which other tools look up and block the answer", []line{
			{2, "localhost", cidr.ErrName},
			{3, "bad.example", cidr.ErrName},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := readCase(t, tt.name, "input.txt")
			require.True(t, s.IsEmpty(), tt.fault)
			var list *cidr.ListError
			require.ErrorAs(t, err, &list)
			require.Equal(t, "input.txt", list.Source)
			require.Equal(t, len(tt.lines), list.Total)
			require.Len(t, list.Lines, len(tt.lines))
			for i, want := range tt.lines {
				got := list.Lines[i]
				require.Equal(t, want.line, got.Line)
				require.Equal(t, 1, got.Column)
				require.Equal(t, want.text, got.Text)
				require.ErrorIs(t, got, want.err)
				require.ErrorIs(t, err, want.err)
				require.Contains(t, err.Error(), want.text)
			}
		})
	}
	_, err := readCase(t, "p2p", "input.txt")
	var list *cidr.ListError
	require.ErrorAs(t, err, &list)
	require.Equal(t, 3, list.Total, "rows of another format are errors, never partly read")
	_, err = readCase(t, "host-bits", "input.txt")
	require.ErrorContains(t, err, "the network is 2001:db8:400::/40")
}

// The good lines of a refused list are still good: taken by a lenient read, or with the bad ones taken out by hand, they
// give the same. cover.txt is that unless an option makes the bad lines good.
func TestCasesWithoutTheirBadLines(t *testing.T) {
	for name, bad := range map[string][]int{"octet-over-255": {3, 6}, "host-name": {2, 3}, "leading-zero": {2, 3, 4}} {
		text, err := os.ReadFile(filepath.Join("testdata", "cases", name, "input.txt"))
		require.NoError(t, err)
		var report cidr.ListReport
		s, err := readCase(t, name, "input.txt", cidr.Lenient(&report))
		require.NoError(t, err)
		require.Equal(t, coverOf(t, name), prefixStrings(s))
		require.Equal(t, len(bad), report.Bad.Total)
		lines := strings.Split(string(text), "\n")
		for i, l := range slices.Backward(report.Bad.Lines) {
			require.Equal(t, bad[i], l.Line)
			lines = slices.Delete(lines, l.Line-1, l.Line)
		}
		s, err = cidr.ReadList(strings.NewReader(strings.Join(lines, "\n")), name)
		require.NoError(t, err)
		require.Equal(t, coverOf(t, name), prefixStrings(s))
	}
}

func TestCasesWithOptions(t *testing.T) {
	tests := []struct {
		name, answer string
		opts         []cidr.ListOption
		want         cidr.ListReport
	}{
		{"host-bits", "cover.txt", []cidr.ListOption{cidr.HostBits(cidr.MaskHostBits)}, cidr.ListReport{
			Lines: 3, Entries: 3, Masked: 1,
		}},
		{"leading-zero", "decimal.txt", []cidr.ListOption{cidr.LeadingZeros(cidr.DecimalLeadingZeros)}, cidr.ListReport{
			Lines: 4, Entries: 4,
		}},
		{"mapped-host", "cover.txt", nil, cidr.ListReport{Lines: 3, Entries: 3, Mapped: 2}},
		{"p2p", "cover.txt", []cidr.ListOption{cidr.Format(cidr.FormatP2P)}, cidr.ListReport{Lines: 4, Entries: 3}},
		{"stale", "cover.txt", nil, cidr.ListReport{
			Lines: 10, Entries: 2, Date: time.Date(2025, 1, 7, 10, 0, 0, 0, time.UTC),
		}},
		{"rir-counts", "cover.txt", []cidr.ListOption{cidr.Format(cidr.FormatRIR)}, cidr.ListReport{
			Lines: 4, Entries: 2, Ignored: 2, Date: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		}},
		{"rir-status", "cover.txt", []cidr.ListOption{cidr.Format(cidr.FormatRIR)}, cidr.ListReport{
			Lines: 14, Entries: 5, Ignored: 8, Date: time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Source, tt.want.Bad.Source = "input.txt", "input.txt"
			for _, how := range []func(*cidr.ListReport) cidr.ListOption{cidr.Report, cidr.Lenient} {
				var report cidr.ListReport
				s, err := readCase(t, tt.name, "input.txt", append(tt.opts, how(&report))...)
				require.NoError(t, err)
				require.Equal(t, answer(t, tt.name, tt.answer), prefixStrings(s))
				require.Equal(t, tt.want, report)
			}
		})
	}
}

func TestCaseNetmask(t *testing.T) {
	take := cidr.Netmasks(cidr.TakeNetmasks)
	_, err := readCase(t, "netmask", "input.txt", take)
	var list *cidr.ListError
	require.ErrorAs(t, err, &list)
	require.Equal(t, []int{2, 3}, []int{list.Lines[0].Line, list.Lines[1].Line})
	require.Equal(t, 2, list.Total)
	var report cidr.ListReport
	s, err := readCase(t, "netmask", "input.txt", take, cidr.Lenient(&report))
	require.NoError(t, err)
	require.Equal(t, 2, report.Bad.Total)
	require.Equal(t, coverOf(t, "netmask"), prefixStrings(s))
	_, err = readCase(t, "netmask", "input.txt", cidr.Lenient(&report))
	require.ErrorIs(t, err, cidr.ErrMask, "no line is good")
}

func TestCaseStale(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err := readCase(t, "stale", "input.txt", cidr.MaxAge(30*24*time.Hour, time.Time{}, now))
	require.ErrorIs(t, err, cidr.ErrStale)
	require.ErrorContains(t, err, "input.txt: ")
	require.ErrorContains(t, err, "358 days old, more than 30 days")
}

func TestCaseExceptOneHostInOneBuilder(t *testing.T) {
	var b cidr.Builder
	for _, step := range []struct {
		file string
		read func(io.Reader, string, ...cidr.ListOption) error
	}{{"deny.txt", b.AddList}, {"except.txt", b.RemoveList}} {
		text, err := os.ReadFile(filepath.Join("testdata", "cases", "except-one-host", step.file))
		require.NoError(t, err)
		require.NoError(t, step.read(strings.NewReader(string(text)), step.file))
	}
	s, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, coverOf(t, "except-one-host"), prefixStrings(s))
}
