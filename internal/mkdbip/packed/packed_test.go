package packed

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
)

func build(t testing.TB, entries ...string) cidr.Map[geo.Country] {
	var b cidr.MapBuilder[geo.Country]
	for i := 0; i < len(entries); i += 2 {
		r, err := cidr.ParseRange(entries[i])
		require.NoError(t, err)
		b.SetRange(r, geo.MustParseCountry(entries[i+1]))
	}
	m, err := b.Build(cidr.LastWins)
	require.NoError(t, err)
	return m
}

func requireRoundTrip(t *testing.T, m cidr.Map[geo.Country]) []byte {
	data, err := Encode(m)
	require.NoError(t, err)
	back, err := Decode(data)
	require.NoError(t, err)
	require.True(t, m.Equal(back))
	again, err := Encode(back)
	require.NoError(t, err)
	require.Equal(t, data, again, "the same map gives the same bytes")
	return data
}

func TestRoundTrip(t *testing.T) {
	for _, entries := range [][]string{
		nil,
		{"0.0.0.0/0", "IT"},
		{"::/0", "IT"},
		{"::/0", "IT", "0.0.0.0/0", "FR"},
		{"0.0.0.0", "IT", "255.255.255.255", "FR", "::", "DE", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "US"},
		{"::/1", "IT", "8000::/1", "FR"},
		{"::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", "IT"},
		{"1.0.0.0/24", "AU", "1.0.1.0-1.0.3.200", "EU", "1.0.3.201", "XK", "2001:db8::/32", "AP"},
	} {
		requireRoundTrip(t, build(t, entries...))
	}
}

func TestRandomRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	all := geo.Countries()
	for range 300 {
		var b cidr.MapBuilder[geo.Country]
		for range rnd.IntN(200) {
			var a [16]byte
			for i := range a {
				a[i] = byte(rnd.Uint32())
			}
			a[0] |= 0x20 // above the IPv4-mapped addresses
			if rnd.IntN(2) == 0 {
				b.SetPrefix(netip.PrefixFrom(netip.AddrFrom4([4]byte(a[:4])), rnd.IntN(33)).Masked(), all[rnd.IntN(len(all))])
			} else {
				b.SetPrefix(netip.PrefixFrom(netip.AddrFrom16(a), 1+rnd.IntN(128)).Masked(), all[rnd.IntN(len(all))])
			}
		}
		m, err := b.Build(cidr.MostSpecific)
		require.NoError(t, err)
		requireRoundTrip(t, m)
	}
}

func TestEncodeRefuses(t *testing.T) {
	var b cidr.MapBuilder[geo.Country]
	b.SetPrefix(netip.MustParsePrefix("10.0.0.0/8"), geo.Country(7))
	m, err := b.Build(cidr.LastWins)
	require.NoError(t, err)
	_, err = Encode(m)
	require.ErrorContains(t, err, "no valid country")
}

// TestDamage changes every bit of a packed map, and cuts it at every byte.
func TestDamage(t *testing.T) {
	data := requireRoundTrip(t, build(t, "1.0.0.0/24", "AU", "1.0.2.0-1.0.3.200", "EU", "2001:db8::/32", "AP"))
	for i := range data {
		for bit := range 8 {
			damaged := bytes.Clone(data)
			damaged[i] ^= 1 << bit
			m, err := Decode(damaged)
			require.ErrorIs(t, err, ErrCorrupt)
			require.Zero(t, m)
		}
		_, err := Decode(data[:i])
		require.ErrorIs(t, err, ErrCorrupt)
	}
	_, err := Decode(append(bytes.Clone(data), 0))
	require.ErrorIs(t, err, ErrCorrupt)
}

// seal makes valid packed data of any payload.
func seal(payload []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression)
	_, _ = w.Write(payload)
	_ = w.Close()
	sum := sha256.Sum256(b.Bytes())
	return append(append([]byte(magic), sum[:]...), b.Bytes()...)
}

func TestBomb(t *testing.T) {
	_, err := Decode(seal(make([]byte, maxPayload+1)))
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "too large")
}

// FuzzDecode gives the decoder payloads whose checksum is right. What it takes, Encode gives back byte for byte, so there
// is no payload that is read as a map it does not stand for.
func FuzzDecode(f *testing.F) {
	for _, entries := range [][]string{
		nil, {"0.0.0.0/0", "IT", "::/0", "FR"}, {"1.0.0.0/24", "AU", "1.0.2.0-1.0.3.200", "EU", "2001:db8::/32", "AP", "::7", "AU"},
	} {
		data, err := Encode(build(f, entries...))
		require.NoError(f, err)
		payload, err := io.ReadAll(flate.NewReader(bytes.NewReader(data[len(magic)+sha256.Size:])))
		require.NoError(f, err)
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		m, err := Decode(seal(payload))
		if err != nil {
			require.True(t, errors.Is(err, ErrCorrupt))
			require.Zero(t, m)
			return
		}
		again, err := Encode(m)
		require.NoError(t, err)
		require.Equal(t, seal(payload), again)
	})
}
