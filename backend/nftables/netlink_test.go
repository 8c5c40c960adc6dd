package nftables_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/backend/nftables/nftest"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// inMemory returns a kernel and a backend that works on it.
func inMemory(o nftables.NetlinkOptions) (*nftest.Kernel, *nftables.Netlink) {
	k := nftest.NewKernel()
	o.Dial = k.Dial
	if o.InPlace == nil {
		o.InPlace = func() bool { return true }
	}
	return k, nftables.NewNetlink(o)
}

// Every program over every other, by Apply and by Update, whole and in parts.
func TestNetlinkInMemory(t *testing.T) {
	programs := goldenPrograms(t)
	for _, room := range []int{0, 10000} {
		k, nl := inMemory(nftables.NetlinkOptions{})
		k.SendBuffer(room)
		for _, a := range programs {
			for _, b := range programs {
				require.NoError(t, nl.Apply(t.Context(), a))
				requireInKernel(t, nl, a, "")
				_, err := nl.Update(t.Context(), a, b)
				require.NoError(t, err)
				requireInKernel(t, nl, b, "")
				require.Len(t, k.Sets("cidrc_geo"), len(b.Sets), "nothing is left over")
				require.Len(t, k.Chains("cidrc_geo"), len(b.Chains))
			}
		}
		require.Equal(t, []string{"cidrc_geo"}, k.Tables())
		require.NoError(t, nl.Remove(t.Context(), "geo"))
		require.NoError(t, nl.Remove(t.Context(), "geo"), "there being nothing is no error")
		require.Empty(t, k.Tables())
	}
}

// A failure of every kind: the old program stays, and the error says what and where.
func TestNetlinkErrors(t *testing.T) {
	old := compiled(t, blocking(cidr.MustParse("192.0.2.0/24")), compile.IntervalSet)
	policy := blocking(cidr.MustParse("198.51.100.0/24", "203.0.113.0/25", "2001:db8::/32", "240.0.0.0/4"))
	policy.Hooks = []compile.Hook{{Point: compile.Input}, {Point: compile.Forward}}
	next := compiled(t, policy, compile.IntervalSet)
	for _, test := range []struct {
		name    string
		refusal nftest.Refusal
		want    error
		says    string
	}{
		{"an element", nftest.Refusal{Errno: 17, Addr: netip.MustParseAddr("203.0.113.9")}, backend.ErrRefused, "203.0.113.0/25 in set drop4: refused: EEXIST"},
		{"an element up to the end", nftest.Refusal{Errno: 22, Addr: netip.MustParseAddr("255.0.0.1")}, backend.ErrRefused, "240.0.0.0/4 in set drop4: refused: EINVAL"},
		{"an IPv6 element", nftest.Refusal{Errno: 23, Addr: netip.MustParseAddr("2001:db8::1")}, backend.ErrRefused, "2001:db8::/32 in set drop6: refused: ENFILE: the set holds as many"},
		{"a set", nftest.Refusal{Errno: 95, Set: "drop6"}, backend.ErrMissing, "add set drop6"},
		{"a chain", nftest.Refusal{Errno: 95, Chain: "forward"}, backend.ErrMissing, "chain forward"},
		{"a table", nftest.Refusal{Errno: 1, Table: "cidrc_geo"}, backend.ErrPrivilege, "EPERM"},
		{"not there", nftest.Refusal{Errno: 2, Set: "drop4..1"}, backend.ErrRefused, "ENOENT"},
		{"in use", nftest.Refusal{Errno: 16, Set: "drop4..1"}, backend.ErrRefused, "EBUSY: other rules still use it"},
		{"no memory", nftest.Refusal{Errno: 12, Commit: true}, backend.ErrRefused, "the transaction: refused: ENOMEM"},
		{"too large", nftest.Refusal{Errno: 90, Commit: true}, backend.ErrBuffer, "EMSGSIZE"},
		{"no buffer", nftest.Refusal{Errno: 105, Commit: true}, backend.ErrBuffer, "ENOBUFS"},
		{"another writer", nftest.Refusal{Errno: 85, Commit: true}, nftables.ErrChanged, "ERESTART"},
		{"a stranger", nftest.Refusal{Errno: 77, Commit: true}, backend.ErrRefused, "errno 77"},
	} {
		t.Run(test.name, func(t *testing.T) {
			k, nl := inMemory(nftables.NetlinkOptions{KeepRejected: true})
			require.NoError(t, nl.Apply(t.Context(), old))
			k.Refuse(test.refusal)
			err := nl.Apply(t.Context(), next)
			require.ErrorIs(t, err, test.want)
			require.ErrorIs(t, err, test.refusal.Errno)
			require.ErrorContains(t, err, test.says)
			var e *backend.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, "apply", e.Op)
			require.Empty(t, e.Left)
			requireInKernel(t, nl, old, "")

			// The rejected batch can be sent again, and is in nobody's way.
			var rejected *nftables.MessageError
			require.ErrorAs(t, err, &rejected)
			c, dialErr := k.Dial()
			require.NoError(t, dialErr)
			sent := k.Transactions()
			require.NoError(t, c.Send(rejected.Batch))
			require.Equal(t, sent+1, k.Transactions())
			require.NoError(t, nl.Apply(t.Context(), next))
			requireInKernel(t, nl, next, "")
		})
	}
}

// When the replies are lost, the backend looks for itself.
func TestNetlinkLostReplies(t *testing.T) {
	old := compiled(t, blocking(cidr.MustParse("192.0.2.0/24")), compile.IntervalSet)
	next := compiled(t, blocking(cidr.MustParse("198.51.100.0/24")), compile.IntervalSet)
	for _, room := range []int{0, 12000} {
		for _, update := range []bool{false, true} {
			k, nl := inMemory(nftables.NetlinkOptions{})
			k.SendBuffer(room)
			do := func(p *compile.Program) error {
				if update {
					_, err := nl.Update(t.Context(), nil, p)
					return err
				}
				return nl.Apply(t.Context(), p)
			}
			require.NoError(t, nl.Apply(t.Context(), old))
			early := func(l nftest.Loss) {
				if !update {
					k.LoseReplies(l) // to the sets
				}
			}
			early(nftest.Delivered)
			k.LoseReplies(nftest.Committed)
			before := k.Transactions()
			require.NoError(t, do(next), "%d %v %d", room, update, k.Transactions()-before)
			requireInKernel(t, nl, next, "")
			early(nftest.Delivered)
			k.LoseReplies(nftest.Dropped)
			require.ErrorIs(t, do(old), backend.ErrBuffer)
			requireInKernel(t, nl, next, "")
			if !update {
				for _, l := range []nftest.Loss{nftest.Committed, nftest.Dropped} {
					k.LoseReplies(l)
					err := do(old)
					require.ErrorIs(t, err, backend.ErrBuffer)
					var e *backend.Error
					require.ErrorAs(t, err, &e)
					require.Empty(t, e.Left)
					requireInKernel(t, nl, next, "")
				}
			}
			k.LoseReplies(nftest.Dropped)
			require.ErrorIs(t, nl.Remove(t.Context(), "geo"), backend.ErrBuffer)
			requireInKernel(t, nl, next, "")
			k.LoseReplies(nftest.Committed)
			require.NoError(t, nl.Remove(t.Context(), "geo"))
			require.Empty(t, k.Tables())
		}
	}
}

// Somebody else changes the same table between Update's reading and its writing.
func TestUpdateNoticesOthers(t *testing.T) {
	old := compiled(t, blocking(cidr.MustParse("192.0.2.0/24", "203.0.113.0/24")), compile.IntervalSet)
	next := compiled(t, blocking(cidr.MustParse("198.51.100.0/24", "203.0.113.0/24")), compile.IntervalSet)
	for _, known := range []*compile.Program{nil, old} {
		k, nl := inMemory(nftables.NetlinkOptions{})
		require.NoError(t, nl.Apply(t.Context(), old))
		k.Interfere(func() { k.DeleteAddrs("cidrc_geo", "drop4", cidr.MustParse("192.0.2.0/24")) })
		plan, err := nl.Update(t.Context(), known, next)
		require.NoError(t, err)
		require.False(t, plan.Whole, plan)
		requireInKernel(t, nl, next, "")

		// Again and again: in the end everything is replaced.
		for range 20 {
			k.Interfere(func() {})
		}
		plan, err = nl.Update(t.Context(), nil, old)
		require.NoError(t, err)
		require.True(t, plan.Whole)
		require.Contains(t, plan.String(), "others keep changing")
		requireInKernel(t, nl, old, "")
	}
}

func TestVerifyAndRepair(t *testing.T) {
	k, nl := inMemory(nftables.NetlinkOptions{})
	p := compiled(t, blocking(cidr.MustParse("192.0.2.0/24", "203.0.113.0/24", "2001:db8::/32")), compile.IntervalSet)
	found, err := nl.Verify(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "table cidrc_geo: missing: table inet cidrc_geo", found[0].String())
	found, err = nl.Repair(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, found, 1)
	requireInKernel(t, nl, p, "")

	k.DeleteAddrs("cidrc_geo", "drop4", cidr.MustParse("192.0.2.7"))
	found, err = nl.Verify(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "set drop4: 1 ranges missing: 192.0.2.0/24", found[0].String())
	require.True(t, found[0].Missing.Equal(cidr.MustParse("192.0.2.0/24")))
	require.True(t, found[0].Extra.IsEmpty())
	found, err = nl.Repair(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, found, 1)
	requireInKernel(t, nl, p, "")

	// Against another program, each thing that differs is named.
	other := blocking(cidr.MustParse("203.0.113.0/24", "198.51.100.0/24"))
	other.Hooks = []compile.Hook{{Point: compile.Forward}}
	found, err = nl.Verify(t.Context(), compiled(t, other, compile.IntervalSet))
	require.NoError(t, err)
	var texts []string
	for _, d := range found {
		texts = append(texts, d.String())
	}
	require.Equal(t, []string{
		"set drop4: 1 ranges missing: 198.51.100.0/24: 1 ranges extra: 192.0.2.0/24",
		"set drop6: not in the program: set of IPv6 ranges",
		"chain forward: missing: base chain at forward priority 0 policy accept",
		"chain input: not in the program: base chain at input priority 0 policy accept",
	}, texts)
}

// A plan says what would be sent.
func TestPlan(t *testing.T) {
	k, nl := inMemory(nftables.NetlinkOptions{})
	old := compiled(t, blocking(cidr.MustParse("192.0.2.0/24", "203.0.113.0/24")), compile.IntervalSet)
	next := compiled(t, blocking(cidr.MustParse("198.51.100.0/24", "198.51.102.0/24", "203.0.113.0/24", "2001:db8::/32")), compile.IntervalSet)
	plan, err := nl.Plan(t.Context(), nil, old)
	require.NoError(t, err)
	require.True(t, plan.Whole)
	require.Contains(t, plan.String(), "geo: everything is replaced: there is nothing yet\nadd table cidrc_geo\ndelete table cidrc_geo\nadd table cidrc_geo\nadd chain input\nadd set drop4\nadd 2 elements in set drop4\nadd rule 1 of chain input\n")
	require.Empty(t, k.Tables(), "nothing has changed")
	require.NoError(t, nl.Apply(t.Context(), old))
	sent := k.Transactions()
	plan, err = nl.Plan(t.Context(), old, next)
	require.NoError(t, err)
	require.Equal(t, sent+1, k.Transactions(), "the kernel has checked it")
	requireInKernel(t, nl, old, "")
	require.Regexp(t, `^geo: only what differs is sent
add set drop6
add 1 elements in set drop6
add rule 7 of chain input
delete 1 elements in set drop4
add 2 elements in set drop4
\d+ bytes
$`, plan.String())
	added, deleted := plan.Elements()
	require.Equal(t, 3, added)
	require.Equal(t, 1, deleted)
	plan, err = nl.Plan(t.Context(), old, old)
	require.NoError(t, err)
	require.True(t, plan.Empty())
	require.Equal(t, "geo: nothing to do\n", plan.String())
}

// What a staging that was killed has left is neither in force nor in the way, and the next operation sweeps it.
func TestStaleStages(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	old := compiled(t, blocking(manyRanges(rng, cidr.V4, 1000)), compile.IntervalSet)
	next := compiled(t, blocking(manyRanges(rng, cidr.V4, 1000)), compile.IntervalSet)
	for _, sweep := range []string{"apply", "apply in parts", "update", "remove"} {
		for cut := range 4 {
			k, nl := inMemory(nftables.NetlinkOptions{})
			require.NoError(t, nl.Apply(t.Context(), old))
			k.SendBuffer(16000)
			dying := nftables.NewNetlink(nftables.NetlinkOptions{Dial: func() (nftables.Conn, error) {
				c, err := k.Dial()
				return &mortal{Conn: c, left: cut + 1}, err
			}})
			require.Error(t, dying.Apply(t.Context(), next), cut)
			require.True(t, k.Addrs("cidrc_geo", "drop4").Equal(old.Sets[0].Addrs), "the old program is in force")
			found, err := nl.Verify(t.Context(), old)
			require.NoError(t, err)
			if cut > 0 {
				require.Len(t, found, 1)
				require.Equal(t, "set drop4..1: not in the program: set of IPv4 ranges", found[0].String())
				require.Len(t, k.Sets("cidrc_geo"), 2)
			}
			if sweep != "apply in parts" {
				k.SendBuffer(0)
			}
			switch sweep {
			case "remove":
				require.NoError(t, nl.Remove(t.Context(), "geo"))
				require.Empty(t, k.Tables())
				continue
			case "update":
				_, err = nl.Update(t.Context(), nil, next)
				require.NoError(t, err)
			default:
				require.NoError(t, nl.Apply(t.Context(), next))
			}
			requireInKernel(t, nl, next, "")
			require.Len(t, k.Sets("cidrc_geo"), 1)
		}
	}
}

var errDead = errors.New("dead")

// mortal is a connection that sends so many transactions and then nothing more.
type mortal struct {
	nftables.Conn
	left int
}

func (m *mortal) Send(b []byte) error {
	if b[4] == 0x10 && b[5] == 0 { // a batch begins
		m.left--
	}
	if m.left <= 0 {
		return errDead
	}
	return m.Conn.Send(b)
}

// Progress is told, and a context that ends stops an operation before the kernel has it.
func TestProgressAndContext(t *testing.T) {
	p := compiled(t, blocking(cidr.MustParse("192.0.2.0/24")), compile.IntervalSet)
	ctx, cancel := context.WithCancel(t.Context())
	var steps []string
	k, nl := inMemory(nftables.NetlinkOptions{Progress: func(p nftables.Progress) {
		steps = append(steps, p.Op+" "+p.Owner+" "+p.Step)
		if p.Step == "encode" && len(steps) > 3 {
			cancel()
		}
	}})
	require.NoError(t, nl.Apply(ctx, p))
	require.Equal(t, []string{"apply geo encode", "apply geo stage", "apply geo stage", "apply geo done"}, steps)
	sent := k.Transactions()
	require.ErrorIs(t, nl.Apply(ctx, p), context.Canceled)
	require.Equal(t, sent, k.Transactions())
	require.ErrorIs(t, nl.Remove(ctx, "geo"), context.Canceled)
	_, err := nl.Read(ctx, "geo")
	require.ErrorIs(t, err, context.Canceled)
	requireInKernel(t, nl, p, "")
}

func TestNetlinkRefusesOtherTargets(t *testing.T) {
	target := nftables.Target()
	target.Backend = "iptables"
	p, err := compile.Compile(t.Context(), blocking(cidr.MustParse("192.0.2.0/24")), target, compile.Options{})
	require.NoError(t, err)
	k, nl := inMemory(nftables.NetlinkOptions{})
	require.ErrorIs(t, nl.Apply(t.Context(), p), backend.ErrOtherTarget)
	_, err = nl.Update(t.Context(), nil, p)
	require.ErrorIs(t, err, backend.ErrOtherTarget)
	_, err = nl.Verify(t.Context(), p)
	require.ErrorIs(t, err, backend.ErrOtherTarget)
	_, err = nl.Read(t.Context(), "geo; drop")
	require.ErrorIs(t, err, compile.ErrName)
	require.Zero(t, k.Transactions())
	require.NotErrorIs(t, err, syscall.Errno(1))
}
