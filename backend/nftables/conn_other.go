//go:build !linux

package nftables

import (
	"fmt"
	"runtime"

	"github.com/cidrc/cidrc/backend"
)

// Dial opens a socket to nf_tables, which only Linux has.
func Dial() (Conn, error) {
	return nil, fmt.Errorf("%w: nf_tables needs Linux, and this is %s", backend.ErrMissing, runtime.GOOS)
}
