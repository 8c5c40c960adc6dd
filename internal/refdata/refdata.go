package refdata

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Variable is the environment variable that names the directory of the reference data. Without it, the directory is
// shared/data beside the module's own.
const Variable = "CIDRC_DATA"

// File returns the path of a file of the reference data, and skips the test, naming the file, where it is absent.
func File(tb testing.TB, name string) string {
	tb.Helper()
	dir := os.Getenv(Variable)
	if dir == "" {
		_, here, _, ok := runtime.Caller(0)
		if !ok || !filepath.IsAbs(here) {
			tb.Skipf("reference data is absent: %s is not set, and where the module lies is not known", Variable)
		}
		dir = filepath.Join(filepath.Dir(here), "..", "..", "..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("reference data is absent: %v", err)
	}
	return path
}

// DBIP returns the paths of the country database that package dbip embeds, IPv4 and IPv6, as File does.
func DBIP(tb testing.TB) []string {
	tb.Helper()
	return []string{File(tb, "dbip-country-ipv4.csv.gz"), File(tb, "dbip-country-ipv6.csv.gz")}
}
