package cidr_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/cidrc/cidrc/cidr"
	"github.com/stretchr/testify/require"
)

// values is the slow twin of a Map: a value for each address of a window, empty for none.
type values [windowSize]string

func (v values) mapTo(f func(string) string) values {
	for i := range v {
		v[i] = f(v[i])
	}
	return v
}

func requireValues(t *testing.T, w window, want values, got cidr.Map[string], context string) {
	t.Helper()
	addrs := w.addrs()
	for i, a := range addrs {
		v, ok := got.Get(a)
		if v != want[i] || ok != (want[i] != "") {
			require.Equal(t, want[i], v, "%v: %s", a, context)
			require.Equal(t, want[i] != "", ok, "%v: %s", a, context)
		}
	}
	// The ranges are the maximal runs of one value, ascending, and Find agrees with them.
	at := 0
	n := 0
	for r, v := range got.All() {
		for at < windowSize && want[at] == "" {
			at++
		}
		require.Less(t, at, windowSize, context)
		require.Equal(t, addrs[at], r.First, context)
		for at < windowSize-1 && want[at+1] == want[at] {
			at++
		}
		require.Equal(t, cidr.Range{First: r.First, Last: addrs[at]}, r, context)
		require.Equal(t, want[at], v, context)
		fr, fv, ok := got.Find(addrs[at])
		require.True(t, ok)
		require.Equal(t, r, fr)
		require.Equal(t, v, fv)
		at++
		n++
	}
	require.Equal(t, n, got.NumRanges(), context)
	for ; at < windowSize; at++ {
		require.Empty(t, want[at], context)
	}
}

func TestMapBuilderAgainstTwin(t *testing.T) {
	for _, how := range []cidr.Precedence{cidr.LastWins, cidr.MostSpecific} {
		t.Run(fmt.Sprint("precedence ", how), func(t *testing.T) {
			eachTwin(t, 60, func(t *testing.T, w window, rnd *rand.Rand) {
				m, want, steps := randomMap(t, w, rnd, how)
				requireValues(t, w, want, m, steps)

				// Where and Set.
				isA := func(v string) bool { return v == "a" }
				var a, all twin
				for i, v := range want {
					a[i], all[i] = isA(v), v != ""
				}
				requireTwin(t, w, a, m.Where(isA), "where: "+steps)
				requireTwin(t, w, all, m.Set(), "set: "+steps)

				// Transform: one value goes, two become one.
				rename := map[string]string{"a": "x", "b": "x", "c": "y"}
				got := cidr.Transform(m, func(v string) (string, bool) { x, ok := rename[v]; return x, ok })
				requireValues(t, w, want.mapTo(func(v string) string { return rename[v] }), got, "transform: "+steps)

				same := cidr.Transform(m, func(v string) (string, bool) { return v, true })
				require.True(t, same.Equal(m))
				require.True(t, m.Only(w.family).Equal(m))
			})
		})
	}
}

func randomMap(t *testing.T, w window, rnd *rand.Rand, how cidr.Precedence) (cidr.Map[string], values, string) {
	var (
		b     cidr.MapBuilder[string]
		want  values
		size  [windowSize]int
		steps []string
		addrs = w.addrs()
	)
	for range rnd.IntN(25) {
		i := rnd.IntN(windowSize)
		j := i + rnd.IntN(min(windowSize-i, 1+rnd.IntN(windowSize)))
		v := string(rune('a' + rnd.IntN(4)))
		r := cidr.Range{First: addrs[i], Last: addrs[j]}
		switch p, ok := r.Prefix(); rnd.IntN(3) {
		case 0:
			b.SetAll(cidr.MustParse(r.String()), v)
		case 1:
			if ok {
				b.SetPrefix(p, v)
				break
			}
			fallthrough
		default:
			b.SetRange(r, v)
		}
		steps = append(steps, fmt.Sprintf("%d-%d=%s", i, j, v))
		for k := i; k <= j; k++ {
			if how == cidr.LastWins || want[k] == "" || j-i <= size[k] {
				want[k], size[k] = v, j-i
			}
		}
	}
	m, err := b.Build(how)
	require.NoError(t, err)
	return m, want, strings.Join(steps, "; ")
}

func TestMapNestedCountries(t *testing.T) {
	// A prefix and a part of it with another value, in both orders: the part stays, whichever comes first.
	type row struct{ prefix, value string }
	rows := []row{{"198.18.0.0/21", "UA"}, {"198.18.2.0/23", "RO"}, {"::/0", "ZZ"}, {"::/1", "AA"}, {"0.0.0.0/0", "ZZ"}}
	for i := range 2 {
		var b cidr.MapBuilder[string]
		b.Grow(3, 2)
		for k := range rows {
			r := rows[(k*(1+3*i))%len(rows)] // two orders of the same rows
			b.SetPrefix(netip.MustParsePrefix(r.prefix), r.value)
		}
		m, err := b.Build(cidr.MostSpecific)
		require.NoError(t, err)
		var got []string
		for r, v := range m.All() {
			got = append(got, r.String()+" "+v)
		}
		require.Equal(t, []string{
			"0.0.0.0-198.17.255.255 ZZ", "198.18.0.0/23 UA", "198.18.2.0/23 RO", "198.18.4.0/22 UA",
			"198.18.8.0-255.255.255.255 ZZ", "::/1 AA", "8000::/1 ZZ",
		}, got)
	}
}

func TestMapOfValuesAndSetAgree(t *testing.T) {
	// A set is the one-value case of a map.
	rnd := rand.New(rand.NewPCG(5, 6))
	prefixes := randomPrefixes(rnd, 2000)
	var b cidr.MapBuilder[bool]
	for _, p := range prefixes {
		b.SetPrefix(p, true)
	}
	m, err := b.Build(cidr.MostSpecific)
	require.NoError(t, err)
	s, err := cidr.Of(prefixes...)
	require.NoError(t, err)
	require.True(t, m.Set().Equal(s))
	require.Equal(t, s.NumRanges(), m.NumRanges())
	require.True(t, m.Where(func(v bool) bool { return !v }).IsEmpty())
}

func TestMapBuilderRemembersFirstError(t *testing.T) {
	var b cidr.MapBuilder[int]
	b.SetPrefix(netip.MustParsePrefix("192.0.2.0/24"), 1)
	b.SetPrefix(netip.MustParsePrefix("192.0.2.1/24"), 2)
	b.SetRange(cidr.Range{}, 3)
	m, err := b.Build(cidr.LastWins)
	require.ErrorIs(t, err, cidr.ErrHostBits)
	require.Zero(t, m.NumRanges())

	m, err = b.Build(cidr.LastWins)
	require.NoError(t, err, "the builder is ready again")
	require.Zero(t, m.NumRanges())

	b.SetRange(cidr.Range{}, 3)
	_, err = b.Build(cidr.MostSpecific)
	require.ErrorIs(t, err, cidr.ErrInvalid)
}

func TestMapMappedAndZone(t *testing.T) {
	var b cidr.MapBuilder[string]
	b.SetPrefix(netip.MustParsePrefix("::ffff:192.0.2.0/120"), "v4")
	b.SetPrefix(netip.MustParsePrefix("fe80::/10"), "link")
	m, err := b.Build(cidr.LastWins)
	require.NoError(t, err)
	for a, want := range map[string]string{
		"192.0.2.7": "v4", "::ffff:192.0.2.7": "v4", "fe80::1": "link", "fe80::1%eth0": "link", "::192.0.2.7": "",
	} {
		v, ok := m.Get(netip.MustParseAddr(a))
		require.Equal(t, want, v, a)
		require.Equal(t, want != "", ok, a)
	}
}
