package nftables_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

// stressPrograms are two programs that agree about 198.51.100.0/24, which is dropped, and 203.0.113.0/24, which passes, and
// about not much else; the second of them in two layouts.
func stressPrograms(t testing.TB) []*compile.Program {
	rng := rand.New(rand.NewPCG(5, 6))
	set := func() cidr.Set {
		return manyRanges(rng, cidr.V4, 4000).Union(cidr.MustParse("198.51.100.0/24")).Union(manyRanges(rng, cidr.V6, 1000))
	}
	one, two := set(), set()
	some := one.Difference(manyRanges(rng, cidr.V4, 20))
	return []*compile.Program{
		compiled(t, blocking(one), compile.IntervalSet), compiled(t, blocking(some), compile.IntervalSet),
		compiled(t, blocking(two), compile.IntervalSet), compiled(t, blocking(two.Only(cidr.V4)), compile.IntervalSet),
	}
}

// While programs follow each other, by Apply and by Update, in one transaction and in parts, no packet gets a verdict that
// neither the one before nor the one after gives.
func TestTrafficDuringChanges(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	packets, rounds := 1_000_000, 100
	if testing.Short() {
		packets, rounds = 50_000, 10
	}
	n := testnet.NewPair(t)
	h := n.Inside
	// What came to the machine, and what was left of it after our chain.
	h.Run(t, `table inet watch {
	counter before_drop { }
	counter before_pass { }
	counter after_drop { }
	counter after_pass { }
	chain before {
		type filter hook input priority -100;
		ip saddr 198.51.100.7 udp dport 7777 counter name before_drop
		ip saddr 203.0.113.7 udp dport 7777 counter name before_pass
	}
	chain after {
		type filter hook input priority 100;
		ip saddr 198.51.100.7 udp dport 7777 counter name after_drop
		ip saddr 203.0.113.7 udp dport 7777 counter name after_pass
	}
}
`, "nft", "-f", "-")
	listener := h.ListenPacket(t, "udp4", ":7777")
	defer listener.Close()
	dial := dialIn(h.Do)
	backends := []*nftables.Netlink{
		nftables.NewNetlink(nftables.NetlinkOptions{Dial: dial}),
		nftables.NewNetlink(nftables.NetlinkOptions{Dial: dial, InPlace: func() bool { return false }}),
		nftables.NewNetlink(nftables.NetlinkOptions{Dial: crampedDial(dial, 60_000)}),
	}
	programs := stressPrograms(t)
	require.NoError(t, backends[0].Apply(t.Context(), programs[0]))

	var sent atomic.Int64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for _, source := range []string{"198.51.100.7", "203.0.113.7"} {
		addr := netip.MustParseAddr(source)
		n.Outside.AddAddress(t, addr)
		c, err := n.Outside.DialFrom(t.Context(), netip.AddrPortFrom(addr, 0), "udp4", netip.AddrPortFrom(h.V4.Addr(), 7777).String())
		require.NoError(t, err)
		defer c.Close()
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := c.Write([]byte("x")); err == nil {
					sent.Add(1)
				}
			}
		}()
	}
	applies, updates, inPlace := 0, 0, 0
	for i := 1; applies < rounds || updates < rounds || sent.Load() < int64(packets); i++ {
		p := programs[i%len(programs)]
		b := backends[i%len(backends)]
		if i%2 == 0 {
			require.NoError(t, b.Apply(t.Context(), p))
			applies++
			continue
		}
		plan, err := b.Update(t.Context(), nil, p)
		require.NoError(t, err)
		updates++
		if !plan.Whole {
			inPlace++
		}
	}
	close(stop)
	wg.Wait()
	time.Sleep(100 * time.Millisecond) // for those under way
	counts := map[string]int{}
	var all struct {
		Nftables []struct {
			Counter struct {
				Name    string `json:"name"`
				Packets int    `json:"packets"`
			} `json:"counter"`
		} `json:"nftables"`
	}
	require.NoError(t, json.Unmarshal([]byte(h.Run(t, "", "nft", "-j", "list", "counters")), &all))
	for _, o := range all.Nftables {
		counts[o.Counter.Name] = o.Counter.Packets
	}
	t.Logf("%d applies and %d updates, %d of them by difference, during %d packets: %v", applies, updates, inPlace, sent.Load(), counts)
	require.NotZero(t, inPlace)
	require.Greater(t, counts["before_drop"], packets/4)
	require.Greater(t, counts["before_pass"], packets/4)
	require.Zero(t, counts["after_drop"], "packets that both programs drop have passed")
	require.Equal(t, counts["before_pass"], counts["after_pass"], "packets that both programs pass were dropped")
}

// killChild is the environment variable by which TestKilledAtRandom starts this test binary once more.
const killChild = "CIDRC_NETLINK_KILL_CHILD"

// TestKillChild is the process that TestKilledAtRandom kills: it applies and updates for ever.
func TestKillChild(t *testing.T) {
	if os.Getenv(killChild) == "" {
		t.Skip("it is started by TestKilledAtRandom")
	}
	dial := nftables.Dial
	if os.Getenv(killChild) == "parts" {
		dial = crampedDial(dial, 60_000)
	}
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dial})
	programs := stressPrograms(t)
	fmt.Println("ready")
	for i := 0; ; i++ {
		p := programs[i%len(programs)]
		var err error
		if i%2 == 0 {
			_, err = nl.Update(t.Context(), nil, p)
		} else {
			err = nl.Apply(t.Context(), p)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
	}
}

// A process that is killed at any moment leaves one of its programs in force, wholly, and the next Apply works.
func TestKilledAtRandom(t *testing.T) {
	testnet.Require(t, testnet.NFT, testnet.Conntrack)
	kills := 200
	if testing.Short() {
		kills = 10
	}
	h := testnet.NewPair(t).Inside
	dial := dialIn(h.Do)
	programs := stressPrograms(t)
	nl := nftables.NewNetlink(nftables.NetlinkOptions{Dial: dial})
	parts := nftables.NewNetlink(nftables.NetlinkOptions{Dial: crampedDial(dial, 60_000)})
	rng := rand.New(rand.NewPCG(7, 8))
	require.NoError(t, nl.Apply(t.Context(), programs[0]))
	inForce, stale := map[int]int{}, 0
	for i := range kills {
		way := []string{"whole", "parts"}[i%2]
		cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$")
		cmd.Env = append(os.Environ(), killChild+"="+way)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, h.Do(cmd.Start))
		ready := make([]byte, 6)
		_, err = out.Read(ready)
		require.NoError(t, err)
		require.Equal(t, "ready\n", string(ready))
		time.Sleep(time.Duration(rng.IntN(40_000)) * time.Microsecond)
		require.NoError(t, cmd.Process.Kill())
		err = cmd.Wait()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.True(t, exit.Sys().(syscall.WaitStatus).Signaled(), "it was not killed: %v", err)

		found := -1
		for j, p := range programs {
			differences, err := nl.Verify(t.Context(), p)
			require.NoError(t, err)
			whole := true
			for _, d := range differences {
				if d.Stale {
					stale++
					continue
				}
				whole = false
			}
			if whole {
				found = j
				break
			}
		}
		require.GreaterOrEqual(t, found, 0, "none of the programs is in force after kill %d", i)
		inForce[found]++
		if i%5 == 0 {
			b := []*nftables.Netlink{nl, parts}[i/5%2]
			require.NoError(t, b.Apply(t.Context(), programs[i%len(programs)]))
			requireInKernel(t, nl, programs[i%len(programs)], "")
		}
	}
	t.Logf("%d kills, programs in force afterwards %v, sets that were being staged %d", kills, inForce, stale)
	require.Greater(t, len(inForce), 1)
}
