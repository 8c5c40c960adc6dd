package gunzip

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func pack(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func readAll(r io.Reader) ([]byte, error) {
	u, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(u)
}

func TestToldByMagic(t *testing.T) {
	for _, data := range [][]byte{{}, {'a'}, {0x1f}, {0x1f, 0x8a, 0}, []byte("1.0.0.0"), bytes.Repeat([]byte("row\n"), 1<<16)} {
		for _, raw := range [][]byte{data, pack(t, data)} {
			got, err := readAll(bytes.NewReader(raw))
			require.NoError(t, err)
			require.Equal(t, string(data), string(got))
			got, err = readAll(iotest.OneByteReader(bytes.NewReader(raw)))
			require.NoError(t, err)
			require.Equal(t, string(data), string(got))
		}
	}
}

func TestTruncated(t *testing.T) {
	whole := pack(t, []byte("some data that is long enough to be compressed, some data that is long enough"))
	for n := 2; n < len(whole); n++ {
		_, err := readAll(bytes.NewReader(whole[:n]))
		require.ErrorIs(t, err, ErrTruncated, n)
	}
}

func TestDamaged(t *testing.T) {
	whole := pack(t, []byte("some data"))
	_, err := readAll(bytes.NewReader(append(whole, "and something that is not gzip"...)))
	require.ErrorIs(t, err, gzip.ErrHeader)
	whole[len(whole)-8] ^= 1
	_, err = readAll(bytes.NewReader(whole))
	require.ErrorIs(t, err, gzip.ErrChecksum)
}

func TestReadError(t *testing.T) {
	broken := errors.New("the cable is out")
	_, err := readAll(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	whole := pack(t, []byte("some data"))
	_, err = readAll(io.MultiReader(bytes.NewReader(whole[:12]), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
}
