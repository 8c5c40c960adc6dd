package nftables

import (
	"testing"

	"github.com/cidrc/cidrc/internal/testnet"
)

func TestMain(m *testing.M) { testnet.Main(m) }
