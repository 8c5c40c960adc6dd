package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/internal/mkdbip/packed"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	v4, v6 := filepath.Join(dir, "v4.csv"), filepath.Join(dir, "v6.csv")
	require.NoError(t, os.WriteFile(v4, []byte("192.0.2.0,192.0.2.200,IT\n"), 0o600))
	require.NoError(t, os.WriteFile(v6, []byte("2001:db8::,2001:db8::ff,FR\n"), 0o600))
	out := filepath.Join(dir, "country.bin")
	require.NoError(t, run(out, []string{v4, v6}))
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	m, err := packed.Decode(data)
	require.NoError(t, err)
	want, err := geo.ReadCSVFiles(v4, v6)
	require.NoError(t, err)
	require.True(t, want.Equal(m))

	require.NoError(t, run(out, []string{v6, v4}))
	again, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, data, again, "the same rows give the same file")

	require.ErrorIs(t, run(out, []string{filepath.Join(dir, "absent")}), os.ErrNotExist)
}
