package nftables_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/backend/backendtest"
	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// stages is by what the name of a set in the kernel differs from its name in the program.
var stages = regexp.MustCompile(`\.\.\d+\b`)

func TestNetlinkConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Config{
		New: func(m backendtest.Machine) backend.Backend {
			return nftables.NewNetlink(nftables.NetlinkOptions{Dial: dialIn(m.Do)})
		},
		Require: func(t testing.TB) { testnet.Require(t, testnet.NFT) },
		Snapshot: func(t testing.TB, h backendtest.Host) string {
			return stages.ReplaceAllString(tables(h.Ruleset(t)), "")
		},
		Unguarded: statements,
		Others:    func(t testing.TB, h backendtest.Host) { h.Run(t, others, "nft", "-f", "-") },
		Faults: []backendtest.Fault{
			{Name: "no socket", Want: backend.ErrPrivilege, New: func(backendtest.Machine) backend.Backend {
				return nftables.NewNetlink(nftables.NetlinkOptions{Dial: func() (nftables.Conn, error) { return nil, unix.EPERM }})
			}},
			meddled("nothing is sent", backend.ErrBuffer, func([]byte) error { return unix.ENOBUFS }),
			meddled("a table that is not there", backend.ErrRefused, func(b []byte) error {
				// The one that is deleted, in the second message.
				second := 20 + int(binary.NativeEndian.Uint32(b[20:]))
				copy(b[second+bytes.Index(b[second:], []byte("cidrc_")):], "xxxxx")
				return nil
			}),
			meddled("another family", backend.ErrMissing, func(b []byte) error {
				b[20+16] = 77
				return nil
			}),
			meddled("a last message without sense", backend.ErrRefused, func(b []byte) error {
				// A message that nf_tables does not have, before the end of the batch: found when all others are done.
				last := len(b)
				for at := 0; at < len(b)-20; {
					last = at
					at += int(binary.NativeEndian.Uint32(b[at:]))
				}
				b[last+4] = 200
				return nil
			}),
			meddled("an old generation", nftables.ErrChanged, nil),
		},
	})
}

// meddled is a fault in what is sent.
func meddled(name string, want error, change func(batch []byte) error) backendtest.Fault {
	return backendtest.Fault{Name: name, Want: want, New: func(m backendtest.Machine) backend.Backend {
		dial := dialIn(m.Do)
		return nftables.NewNetlink(nftables.NetlinkOptions{Dial: func() (nftables.Conn, error) {
			c, err := dial()
			return meddler{c, change}, err
		}})
	}}
}

// meddler changes batches before they are sent; without a change, it makes them for a generation that never was.
type meddler struct {
	nftables.Conn
	change func(batch []byte) error
}

func (m meddler) Send(b []byte) error {
	if binary.NativeEndian.Uint16(b[4:]) != 0x10 {
		return m.Conn.Send(b)
	}
	b = bytes.Clone(b)
	if m.change == nil {
		stale := slices.Concat(b[:20], []byte{8, 0, 1, 0, 0xff, 0xff, 0xff, 0xff}, b[20:])
		binary.NativeEndian.PutUint16(stale[20:], 8)
		binary.NativeEndian.PutUint16(stale[22:], 1)
		binary.NativeEndian.PutUint32(stale, 28)
		return m.Conn.Send(stale)
	}
	if err := m.change(b); err != nil {
		return err
	}
	return m.Conn.Send(b)
}

// A set of any size around those at which a message, or two, are full is read back exactly, and is what nft lists.
func TestSizesAroundLimits(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.FullBuffers)
	h := testnet.NewPair(t).Inside
	dial := dialIn(h.Do)
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dial})
	parts := nftables.NewNetlink(nftables.NetlinkOptions{Dial: crampedDial(dial, 70000)})
	for f, sizes := range map[cidr.Family][]int{
		cidr.V4: {1, 2, 818, 819, 820, 1637, 1638, 1639, 3275, 3276, 3277, 3300},
		cidr.V6: {1, 2, 1022, 1023, 1024, 1050, 2046, 2047, 2048, 2100},
	} {
		for _, n := range sizes {
			for _, top := range []string{"", "255.255.255.255", "240.0.0.0/4", "ffff::/16"} {
				if top != "" && n%2 == 1 {
					continue
				}
				set := isolated(f, n)
				if top != "" {
					set = set.Union(cidr.MustParse(top))
				}
				p := compiled(t, blocking(set), compile.IntervalSet)
				require.NoError(t, nl.Apply(t.Context(), p))
				requireInKernel(t, nl, p, "%v %d", f, n)
				if n > 1000 {
					require.NoError(t, parts.Apply(t.Context(), p))
					requireInKernel(t, nl, p, "%v %d in parts", f, n)
				}
			}
		}
	}
	// One transaction at the end of a send buffer, and beside it.
	p := compiled(t, blocking(isolated(cidr.V4, 3000)), compile.IntervalSet)
	var batch []byte
	require.NoError(t, nftables.NewNetlink(nftables.NetlinkOptions{Dial: func() (nftables.Conn, error) {
		c, err := dial()
		return batchRecorder{c, &batch}, err
	}}).Apply(t.Context(), p))
	for room := len(batch) - 2; room <= len(batch)+2; room++ {
		nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: crampedDial(dial, room)})
		require.NoError(t, nl.Apply(t.Context(), p))
		requireInKernel(t, nl, p, "")
	}
}

// One element of 100,000 that the kernel refuses: nothing has changed, and the error names it.
func TestFailingElementIsNamed(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.FullBuffers)
	h := testnet.NewPair(t).Inside
	dial := dialIn(h.Do)
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dial})
	old := compiled(t, blocking(cidr.MustParse("192.0.2.0/24")), compile.IntervalSet)
	require.NoError(t, nl.Apply(t.Context(), old))
	before := h.Ruleset(t)
	for _, f := range []cidr.Family{cidr.V4, cidr.V6} {
		set := isolated(f, 100_000)
		ranges := slices.Collect(set.Ranges())
		for _, i := range []int{1, 1637, 1638, 50_000, 99_999} {
			// Its end becomes the end of the range before, with which it then overlaps or ends before it starts.
			end, wrong := ranges[i].Last.Next().AsSlice(), ranges[i].First.Prev().AsSlice()
			bad := meddled("", nil, func(b []byte) error {
				mark := append(binary.NativeEndian.AppendUint16(binary.NativeEndian.AppendUint16(nil, uint16(4+len(end))), 1), end...)
				at := bytes.Index(b, mark)
				require.Positive(t, at)
				copy(b[at+4:], wrong)
				return nil
			}).New(backendtest.Machine{Do: h.Do})
			err := bad.Apply(t.Context(), compiled(t, blocking(set), compile.IntervalSet))
			require.ErrorIs(t, err, backend.ErrRefused)
			var e *nftables.MessageError
			require.ErrorAs(t, err, &e)
			require.Equal(t, "element", e.Kind)
			require.Contains(t, []netip.Addr{ranges[i].First, ranges[i-1].First}, e.Range.First, "%v", err)
			require.Equal(t, before, h.Ruleset(t))
		}
	}
}

// A connection whose number is above what select can do works like any other.
func TestManyFiles(t *testing.T) {
	testnet.Require(t, testnet.NFT)
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	if limit.Cur < 1300 {
		t.Skip("no more than", limit.Cur, "files can be open")
	}
	h := testnet.NewPair(t).Inside
	for range 1100 {
		f, err := os.Open(os.DevNull)
		require.NoError(t, err)
		defer f.Close()
	}
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dialIn(h.Do)})
	p := compiled(t, blocking(cidr.MustParse("192.0.2.0/24")), compile.IntervalSet)
	require.NoError(t, nl.Apply(t.Context(), p))
	requireInKernel(t, nl, p, "")
}

// listing is what nft lists on the host as JSON, without what differs from one load to the next: handles, and the version
// of nft.
func listing(t testing.TB, h *testnet.Host) []any {
	t.Helper()
	var all struct {
		Nftables []any `json:"nftables"`
	}
	require.NoError(t, json.Unmarshal([]byte(h.Run(t, "", "nft", "-j", "list", "ruleset")), &all))
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "handle")
			for _, in := range v {
				strip(in)
			}
		case []any:
			for _, in := range v {
				strip(in)
			}
		}
	}
	strip(all.Nftables)
	require.NotEmpty(t, all.Nftables)
	return all.Nftables[1:]
}

// What netlink makes is what nft makes of the script, by nft's own list of it.
func TestNetlinkMakesWhatNFTMakes(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	h := testnet.NewPair(t).Inside
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dialIn(h.Do)})
	for name, p := range goldenPrograms(t) {
		h.Run(t, script(t, p), "nft", "-f", "-")
		want := listing(t, h)
		found, err := nl.Verify(t.Context(), p)
		require.NoError(t, err)
		require.Empty(t, found, "%s: what nft has loaded is what the program says", name)
		require.NoError(t, nl.Remove(t.Context(), "geo"))
		require.Empty(t, h.Ruleset(t))
		require.NoError(t, nl.Apply(t.Context(), p))
		require.Equal(t, want, listing(t, h), name)
		found, err = nl.Verify(t.Context(), p)
		require.NoError(t, err)
		require.Empty(t, found, name)
	}
}
