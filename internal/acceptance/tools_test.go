package acceptance

import (
	"context"
	"io"
	"testing"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/backend/iptables"
	"github.com/cidrc/cidrc/backend/nftables"
	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/internal/testnet"
)

func TestMain(m *testing.M) { testnet.Main(m) }

// tool is one way into the kernel.
type tool struct {
	name    string
	needs   []testnet.Need
	layouts []compile.Layout // that large policies can have
	on      func(*testnet.Host) backend.Backend
}

var (
	nft = tool{
		"nftables", []testnet.Need{testnet.NFT, testnet.Conntrack, testnet.FullBuffers},
		[]compile.Layout{compile.IntervalSet, compile.ChainSplit},
		func(h *testnet.Host) backend.Backend { return nftables.NewScript(runner{h}) },
	}
	iptablesLegacy = tool{
		"iptables-legacy", []testnet.Need{testnet.NFT, testnet.IPTablesLegacy, testnet.Conntrack},
		[]compile.Layout{compile.ChainSplit},
		func(h *testnet.Host) backend.Backend { return iptables.New(iptables.Legacy, runner{h}) },
	}
	iptablesNFT = tool{
		"iptables-nft", []testnet.Need{testnet.NFT, testnet.IPTablesNFT, testnet.Conntrack, testnet.FullBuffers},
		[]compile.Layout{compile.ChainSplit},
		func(h *testnet.Host) backend.Backend { return iptables.New(iptables.NFT, runner{h}) },
	}
)

func tools() []tool { return []tool{nft, iptablesLegacy, iptablesNFT} }

// usedLayouts returns the tool's layouts, and with -short the first of them.
func (u tool) usedLayouts() []compile.Layout {
	if testing.Short() {
		return u.layouts[:1]
	}
	return u.layouts
}

// runner runs a backend's commands on a test host.
type runner struct{ host *testnet.Host }

// Run implements backend.Runner.
func (r runner) Run(ctx context.Context, stdin io.Reader, name string, args ...string) (stdout, stderr []byte, err error) {
	if e := r.host.Do(func() error {
		stdout, stderr, err = backend.Exec{}.Run(ctx, stdin, name, args...)
		return nil
	}); e != nil {
		return nil, nil, e
	}
	return stdout, stderr, err
}
