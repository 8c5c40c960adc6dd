package testnet

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// A Need is something that a test needs of the machine it runs on.
type Need int

const (
	// Namespaces: this process can create network namespaces and set them up.
	// Every test needs that; [Require] always checks it.
	Namespaces Need = iota
	// NFT: the nft command, and nf_tables in the kernel.
	NFT
	// IPTablesLegacy: iptables-legacy and ip6tables-legacy with their save and
	// restore commands, and ip_tables in the kernel.
	IPTablesLegacy
	// IPTablesNFT: iptables-nft and ip6tables-nft with their save and restore
	// commands, and nf_tables with nft_compat in the kernel.
	IPTablesNFT
	// IPSet: the ipset command, and ip_set in the kernel.
	IPSet
	// Conntrack: connection tracking that rules can match on.
	Conntrack
	// FullBuffers: the privilege to raise a socket buffer over the system's
	// limit. Without it one nft transaction holds some 2,000 to 10,000
	// elements. Root of a user namespace does not have it.
	FullBuffers

	needs // how many there are
)

var needNames = [needs]string{
	"Namespaces", "NFT", "IPTablesLegacy", "IPTablesNFT", "IPSet", "Conntrack", "FullBuffers",
}

// String returns the need's name, as in the source.
func (n Need) String() string {
	if n < 0 || n >= needs {
		return fmt.Sprintf("Need(%d)", int(n))
	}
	return needNames[n]
}

// RequireVariable is the environment variable that, when it is set and not
// empty, turns a skip of [Require] into a failure: for machines where all the
// kernel tests must run.
const RequireVariable = "CIDRC_REQUIRE_KERNEL"

// Require skips the test unless the machine meets all the needs, which always
// include [Namespaces]. The message names everything that is missing and how to
// get it. With [RequireVariable] set the test fails instead.
//
// Each need is tried out in a namespace made for that, once per process.
func Require(t testing.TB, needs ...Need) {
	t.Helper()
	prepareEnvironment()
	var missing []string
	if err := Namespaces.met(); err != nil {
		missing = append(missing, err.Error()) // Nothing else can be tried.
	} else {
		for _, n := range needs {
			if err := n.met(); err != nil {
				missing = append(missing, fmt.Sprintf("%v: %v", n, err))
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	message := "this machine lacks what the test needs: " + strings.Join(missing, "; ")
	if os.Getenv(RequireVariable) != "" {
		t.Fatalf("%s (%s is set)", message, RequireVariable)
	}
	t.Skip(message)
}

var needResults [needs]struct {
	once sync.Once
	err  error
}

// met returns nil if the machine meets the need, otherwise what is missing.
func (n Need) met() error {
	if n < 0 || n >= needs {
		return fmt.Errorf("no such need")
	}
	r := &needResults[n]
	r.once.Do(func() { r.err = tryNeed(n) })
	return r.err
}
