package geo_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImportsNoDatabase keeps the embedded database out of programs that do not ask for it.
func TestImportsNoDatabase(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go tool is absent")
	}
	out, err := exec.Command(tool, "list", "-deps", "github.com/cidrc/cidrc/geo").CombinedOutput()
	require.NoError(t, err, string(out))
	deps := strings.Fields(string(out))
	require.Contains(t, deps, "github.com/cidrc/cidrc/cidr")
	for _, dep := range deps {
		require.NotContains(t, dep, "dbip")
		require.NotEqual(t, "embed", dep)
	}
}
