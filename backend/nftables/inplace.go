package nftables

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/cidrc/cidrc/backend"
)

// changesInPlace reports whether the running kernel finds the addresses of an interval set while a transaction changes
// it. Kernels since early 2026, and the stable ones that have taken it over, search a sorted array, which is replaced when
// a transaction is committed. Kernels before walk the tree that transactions work on, and may miss.
//
// Versions known to have the array are taken at their word; of others the list of symbols is asked, which takes a twentieth
// of a second.
func changesInPlace() bool {
	if hasArray(backend.KernelVersion()) {
		return true
	}
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return false
	}
	defer f.Close()
	return contains(f, []byte(" nft_array_lookup_cmp"))
}

// hasArray knows versions. Of Linux 6.18, 6.18.44 is the first in which it was seen.
func hasArray(version string) bool {
	var major, minor, patch int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); n < 2 {
		return false
	}
	return major > 7 || major == 7 && minor >= 1 || major == 6 && minor == 18 && patch >= 44
}

// contains reports whether r gives the text before it ends.
func contains(r io.Reader, text []byte) bool {
	buf := make([]byte, 1<<16)
	kept := 0
	for {
		n, err := r.Read(buf[kept:])
		all := buf[:kept+n]
		if bytes.Contains(all, text) {
			return true
		}
		if err != nil {
			return false
		}
		kept = copy(buf, all[max(0, len(all)-len(text)):])
	}
}
