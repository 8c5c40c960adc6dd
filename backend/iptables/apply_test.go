package iptables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/compile"
)

// inhabited is a fake with other people's chains and rules, among them those of an owner with a longer name.
func inhabited(t *testing.T) *fake {
	f := newFake(t)
	for _, table := range f.tables {
		table.chains = []string{"DOCKER", "cidrc-geo2-in"}
		table.rules = map[string][]fakeRule{
			"INPUT": {
				{"[1:1] ", "-i lo -j ACCEPT"},
				{"[2:2] ", `-m comment --comment "cidrc: policy of owner geo2" -j cidrc-geo2-in`},
				{"[3:3] ", `-m comment --comment "not -j cidrc-geo-in" -j ACCEPT`},
			},
			"DOCKER":        {{"[4:4] ", "-j RETURN"}},
			"cidrc-geo2-in": {{"[5:5] ", "-s 192.0.2.0/24 -j DROP"}},
		}
	}
	return f
}

func (f *fake) saved() [2]string {
	return [2]string{f.tables["iptables"].save(), f.tables["ip6tables"].save()}
}

func TestApplyAndRemove(t *testing.T) {
	f := inhabited(t)
	empty := f.saved()
	b := New(NFT, f)
	first := compiled(t, block(t), NFT, compile.ChainSplit)
	require.NoError(t, b.Apply(t.Context(), first))
	applied := f.saved()
	require.Contains(t, applied[0], "[0:0] -A INPUT -m comment --comment \"cidrc: policy of owner geo\" -j cidrc-geo-in\n[1:1] -A INPUT -i lo")
	require.Contains(t, applied[0], ":cidrc-geo-in-192 ")
	require.NotContains(t, applied[0], "icmp6")
	require.NotContains(t, applied[1], ":cidrc-geo-in-v4 ")
	require.Equal(t, []string{
		"ip6tables-nft-save --counters --table filter", "iptables-nft-save --counters --table filter",
		"ip6tables-nft-restore -w 5 --noflush", "iptables-nft-restore -w 5 --noflush",
	}, f.ran)

	require.NoError(t, b.Apply(t.Context(), first))
	require.Equal(t, applied, f.saved())

	// A jump that was moved stays where it is, and its counters with it; a copy goes.
	in := f.tables["iptables"].rules["INPUT"]
	in[0].counters = "[9:9] "
	f.tables["iptables"].rules["INPUT"] = []fakeRule{in[1], in[0], in[2], in[3]}
	moved := f.saved()
	require.NoError(t, b.Apply(t.Context(), first))
	require.Equal(t, moved, f.saved())
	f.tables["iptables"].rules["INPUT"] = []fakeRule{in[1], in[0], in[2], in[0], in[3], in[0]}
	require.NoError(t, b.Apply(t.Context(), first))
	require.Equal(t, strings.Replace(moved[0], "[9:9]", "[0:0]", 1), f.saved()[0])

	// Another layout at other hooks leaves nothing of the first.
	p := allow(t)
	p.Owner = "geo"
	p.Hooks = hooks(compile.Forward, compile.Output)
	require.NoError(t, b.Apply(t.Context(), compiled(t, p, NFT, compile.Linear)))
	require.NotContains(t, f.saved()[0], "cidrc-geo-in ")
	require.NotContains(t, f.saved()[0], "-192")
	require.Contains(t, f.saved()[0], "-A OUTPUT -m comment")

	require.NoError(t, b.Remove(t.Context(), "geo"))
	require.Equal(t, empty, f.saved())
	ran := len(f.ran)
	require.NoError(t, b.Remove(t.Context(), "geo"))
	require.Len(t, f.ran, ran+2, "nothing is loaded where there is nothing to do")
}

// A payload that was loaded by hand, twice, can be taken over and removed.
func TestOverPayload(t *testing.T) {
	f := inhabited(t)
	empty := f.saved()
	prog := compiled(t, block(t), NFT, compile.Linear)
	b := New(NFT, f)
	require.NoError(t, b.Apply(t.Context(), prog))
	applied := f.saved()
	jump := f.tables["iptables"].rules["INPUT"][0]
	f.tables["iptables"].rules["INPUT"] = slices.Insert(f.tables["iptables"].rules["INPUT"], 0, jump)
	twice := f.saved()
	require.NoError(t, b.Apply(t.Context(), prog))
	require.Equal(t, applied, f.saved())
	f.tables["iptables"].rules["INPUT"] = slices.Insert(f.tables["iptables"].rules["INPUT"], 0, jump)
	require.Equal(t, twice, f.saved())
	require.NoError(t, b.Remove(t.Context(), "geo"))
	require.Equal(t, empty, f.saved())
}

func TestForeignRuleHolds(t *testing.T) {
	f := inhabited(t)
	b := New(NFT, f)
	prog := compiled(t, block(t), NFT, compile.Linear)
	require.NoError(t, b.Apply(t.Context(), prog))
	f.tables["iptables"].rules["DOCKER"] = append(f.tables["iptables"].rules["DOCKER"], fakeRule{"[0:0] ", "-i eth0 -j cidrc-geo-in"})
	before := f.saved()
	require.NoError(t, b.Apply(t.Context(), prog), "the chain stays, and so can the rule")
	require.Equal(t, before, f.saved())
	err := b.Remove(t.Context(), "geo")
	require.ErrorIs(t, err, backend.ErrRefused)
	require.ErrorContains(t, err, "-A DOCKER -i eth0 -j cidrc-geo-in")
	require.Equal(t, before, f.saved())
}

// Whatever happens to a family, both are as they were, counters included.
func TestOneFamilyFails(t *testing.T) {
	old := block(t)
	old.Hooks = hooks(compile.Input, compile.Forward)
	exit := func(code int) error { return &backend.ExitError{Command: "iptables-nft-restore", Code: code} }
	for _, test := range []struct {
		name, family, stderr string
		err, want            error
		late                 bool // it fails after its commit
	}{
		{"second refused", "iptables-", "iptables-restore: line 3 failed", exit(1), backend.ErrRefused, false},
		{"second locked", "iptables-", "", exit(4), backend.ErrLocked, false},
		{"second without tool", "iptables-", "", backend.ErrNoTool, backend.ErrNoTool, false},
		{"second killed", "iptables-", "", exit(-1), backend.ErrRefused, false},
		{"second killed late", "iptables-", "", exit(-1), backend.ErrRefused, true},
		{"first refused", "ip6tables-", "", exit(1), backend.ErrRefused, false},
		{"first killed late", "ip6tables-", "", context.DeadlineExceeded, context.DeadlineExceeded, true},
	} {
		for _, there := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, earlier program %v", test.name, there), func(t *testing.T) {
				f := inhabited(t)
				b := New(NFT, f)
				if there {
					require.NoError(t, b.Apply(t.Context(), compiled(t, old, NFT, compile.ChainSplit)))
					for _, table := range f.tables {
						in := table.rules["INPUT"]
						in[0].counters = "[77:78] "
						table.rules["INPUT"] = []fakeRule{in[1], in[0], in[2], in[0], in[3]} // loaded twice, moved
						table.rules["cidrc-geo-in"][0].counters = "[79:80] "
					}
				}
				before := f.saved()
				failed := false
				fail := func(tool string, _ []string) (string, error) {
					if failed || !strings.HasPrefix(tool, test.family) || !strings.HasSuffix(tool, "restore") {
						return "", nil
					}
					failed = true
					return test.stderr, test.err
				}
				if test.late {
					f.after = fail
				} else {
					f.before = fail
				}
				p := allow(t)
				p.Owner = "geo"
				err := b.Apply(t.Context(), compiled(t, p, NFT, compile.Linear))
				require.ErrorIs(t, err, test.want)
				var e *backend.Error
				require.ErrorAs(t, err, &e)
				require.Empty(t, e.Left)
				require.Equal(t, before, f.saved())
			})
		}
	}
}

func TestPutBackFails(t *testing.T) {
	f := inhabited(t)
	before := f.saved()
	f.before = func(tool string, _ []string) (string, error) {
		if strings.HasSuffix(tool, "-restore") && len(f.ran) > 3 {
			return "Another app is currently holding the xtables lock.", &backend.ExitError{Command: tool, Code: 4}
		}
		return "", nil
	}
	err := New(NFT, f).Apply(t.Context(), compiled(t, block(t), NFT, compile.Linear))
	require.ErrorIs(t, err, backend.ErrLocked)
	var e *backend.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, e.Left, "of IPv6: another program holds the lock")
	require.Contains(t, f.saved()[1], ":cidrc-geo-in ")
	require.Equal(t, before[0], f.saved()[0])
}

// A context that is cancelled between the families does not keep the first from being put back.
func TestCancelled(t *testing.T) {
	f := inhabited(t)
	before := f.saved()
	ctx, cancel := context.WithCancel(t.Context())
	f.after = func(string, []string) (string, error) { cancel(); return "", nil }
	err := New(NFT, f).Apply(ctx, compiled(t, block(t), NFT, compile.Linear))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, f.saved())

	ran := len(f.ran)
	require.ErrorIs(t, New(NFT, f).Apply(ctx, compiled(t, block(t), NFT, compile.Linear)), context.Canceled)
	require.Len(t, f.ran, ran)
}

func TestWithoutIPv6(t *testing.T) {
	f := inhabited(t)
	f.before = func(tool string, _ []string) (string, error) {
		if strings.HasPrefix(tool, "ip6tables") {
			return "", backend.ErrNoTool
		}
		return "", nil
	}
	prog := compiled(t, block(t), NFT, compile.Linear)
	before := f.saved()
	err := New(NFT, f).Apply(t.Context(), prog)
	require.ErrorIs(t, err, backend.ErrNoTool)
	require.ErrorContains(t, err, "WithoutIPv6")
	require.Equal(t, before, f.saved())
	_, err = New(NFT, f).Probe(t.Context())
	require.ErrorContains(t, err, "WithoutIPv6")

	b := New(NFT, f, WithoutIPv6())
	require.NoError(t, b.Apply(t.Context(), prog))
	require.Contains(t, f.saved()[0], "cidrc-geo-in")
	require.Equal(t, before[1], f.saved()[1])
	require.NoError(t, b.Remove(t.Context(), "geo"))
	require.Equal(t, before, f.saved())
}

func TestListing(t *testing.T) {
	f := inhabited(t)
	require.NoError(t, New(NFT, f).Apply(t.Context(), compiled(t, block(t), NFT, compile.Linear)))
	whole := f.saved()[0]
	s, err := parseState([]byte(whole), "geo", true)
	require.NoError(t, err)
	require.Equal(t, []string{"cidrc-geo-in", "cidrc-geo-in-v4"}, s.chains)
	require.Equal(t, map[string][]jump{"INPUT": {{at: 1, chain: "cidrc-geo-in", counters: "[0:0] "}}}, s.jumps)
	for cut := 1; cut < len(whole); cut++ {
		_, err := parseState([]byte(whole[:cut]), "geo", true)
		require.ErrorIs(t, err, errSaved, whole[:cut])
		_, err = parseState([]byte(whole[:cut]), "geo", false)
		require.ErrorIs(t, err, errSaved, whole[:cut])
	}

	for _, saved := range []string{
		"# Table `filter' is incompatible, use 'nft' tool.\n",
		"Segmentation fault\n", "\n\n", "*filter\n-A\nCOMMIT\n", "*filter\n[0:0] -X x\nCOMMIT\n", "*filter\n*nat\nCOMMIT\n", "COMMIT\n",
		":INPUT ACCEPT [0:0]\n", "*filter\nCOMMIT2\n",
	} {
		_, err := parseState([]byte(saved), "geo", false)
		require.ErrorIs(t, err, errSaved, saved)
	}
	for _, saved := range []string{"", "*nat\n:cidrc-geo-in - [0:0]\nCOMMIT\n# Table `nat' is incompatible, use 'nft' tool.\n"} {
		s, err = parseState([]byte(saved), "geo", false)
		require.NoError(t, err)
		require.True(t, s.isEmpty())
		_, err = parseState([]byte(saved), "geo", true)
		require.ErrorIs(t, err, errSaved)
	}
	_, err = parseState([]byte("# Table `filter' contains incompatible base-chains, use 'nft' tool to list them.\n*filter\nCOMMIT\n"), "geo", true)
	require.NoError(t, err)
}

func TestTarget(t *testing.T) {
	for spec, want := range map[string]string{
		"-j cidrc-geo-in":                             "cidrc-geo-in",
		"-i eth0 -g cidrc-geo-in":                     "cidrc-geo-in",
		`-m comment --comment "a -j x" -j y`:          "y",
		`-m comment --comment "a \" -j x" -j REJECT`:  "REJECT",
		`-j LOG --log-prefix "go -j cidrc-geo-in"`:    "LOG",
		"-p tcp -m tcp --dport 22":                    "",
		`-m comment --comment "not closed -j x`:       "",
		"-m comment --comment -j -j cidrc-geo-in --x": "cidrc-geo-in",
	} {
		require.Equal(t, want, target(spec), spec)
	}
}

func TestClassify(t *testing.T) {
	exit := func(code int) error { return &backend.ExitError{Command: "x", Code: code} }
	payload := []byte("*filter\n:a - [0:0]\n-A a -s 192.0.2.0/24 -j DROP\nCOMMIT\n")
	for _, test := range []struct {
		stderr string
		code   int
		want   error
		detail string
	}{
		{"Another app is currently holding the xtables lock. Stopped waiting after 1s.\n", 4, backend.ErrLocked, "holding"},
		{"", 4, backend.ErrLocked, ""},
		{"Fatal: can't open lock file /run/xtables.lock: Permission denied\n", 4, backend.ErrPrivilege, "/run/xtables.lock"},
		{"Fatal: can't open lock file /run/xtables.lock: Read-only file system\n", 4, backend.ErrRefused, "Read-only"},
		{"iptables-nft-save v1.8.9 (nf_tables): Could not fetch rule set generation id: Permission denied (you must be root)\n", 4, backend.ErrPrivilege, ""},
		{"iptables-nft-restore v1.8.9 (nf_tables): \nline 3: RULE_APPEND failed (Too many links): rule in chain INPUT\n", 4, backend.ErrRefused, "the line is: -A a -s 192.0.2.0/24 -j DROP"},
		{"iptables-restore: line 3 failed\n", 1, backend.ErrRefused, "the line is: -A a -s 192.0.2.0/24 -j DROP"},
		{"invalid mask `99' specified\nError occurred at line: 3\nTry `iptables-restore -h'\n", 2, backend.ErrRefused, "the line is: -A a -s"},
		{"Chain 'y' does not exist\nError occurred at line: 4\n", 2, backend.ErrRefused, "does not exist"},
		{"iptables-restore: line 99 failed\n", 1, backend.ErrRefused, "line 99"},
		{"can't initialize ip6tables table `filter': Address family not supported by protocol\n", 3, backend.ErrMissing, ""},
		{"Couldn't load match `conntrack':No such file or directory\n", 2, backend.ErrMissing, "conntrack"},
	} {
		var e *toolError
		require.ErrorAs(t, classify(4, "iptables-restore", payload, []byte(test.stderr), exit(test.code)), &e)
		require.ErrorIs(t, e, test.want, test.stderr)
		require.Contains(t, e.detail, test.detail)
		require.Contains(t, e.detail, "iptables-restore")
		require.NotContains(t, e.detail, "Try")
		require.NotContains(t, e.detail, "\n")
		require.True(t, e.ran)
	}
	err := classify(4, "iptables-restore", payload, nil, exit(-1))
	require.ErrorIs(t, err, backend.ErrRefused)
	require.True(t, hasRun(err))
	err = classify(4, "iptables-restore", payload, nil, context.Canceled)
	require.NotErrorIs(t, err, backend.ErrRefused)
	require.True(t, hasRun(err))
	require.False(t, hasRun(classify(6, "ip6tables-restore", payload, nil, backend.ErrNoTool)))
	require.False(t, hasRun(context.Canceled))
}

// Calls come one after the other, and one that waits for its turn gives up when its context does.
func TestSerialised(t *testing.T) {
	f := newFake(t)
	var mu sync.Mutex
	running, most := 0, 0
	f.before = func(string, []string) (string, error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		running--
		mu.Unlock()
		return "", nil
	}
	b := New(NFT, f)
	prog := compiled(t, block(t), NFT, compile.Linear)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := errors.Join(b.Apply(context.Background(), prog), b.Remove(context.Background(), "geo")); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	require.Equal(t, 1, most)

	b.busy <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, b.Remove(ctx, "geo"), context.DeadlineExceeded)
}

func TestProbe(t *testing.T) {
	f := newFake(t)
	got, err := New(Default, f).Probe(t.Context())
	require.NoError(t, err)
	require.Equal(t, "nft", got.Variant)
	require.Equal(t, "1.8.9", got.Tool)
	require.NoError(t, New(Default, f).variant.takes(got))

	other, mixed, err := New(NFT, f).Mixed(t.Context())
	require.NoError(t, err)
	require.Equal(t, Legacy, other)
	require.True(t, mixed, "the policy of FORWARD is DROP")

	err = New(NFT, f).Remove(t.Context(), "geo\nCOMMIT")
	require.ErrorIs(t, err, compile.ErrName)
}
