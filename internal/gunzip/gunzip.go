package gunzip

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// ErrTruncated: the data ends before it is complete.
var ErrTruncated = errors.New("the data ends early: was the download cut short?")

// bufferSize is large enough that a file costs few reads.
const bufferSize = 64 << 10

// NewReader returns the decompressed data of r if that starts with the magic number of gzip, whatever its name, and r's
// data as it is if not. Compressed data that stops early is an error that wraps ErrTruncated; data that is damaged, or is
// followed by something else, is an error from compress/gzip or compress/flate, wrapped.
func NewReader(r io.Reader) (io.Reader, error) {
	raw := bufio.NewReaderSize(r, bufferSize)
	magic, err := raw.Peek(2)
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b:
		return raw, nil
	}
	z, err := gzip.NewReader(raw)
	if err != nil {
		return nil, explain(err)
	}
	return reader{z}, nil
}

type reader struct{ z *gzip.Reader }

func (r reader) Read(p []byte) (int, error) {
	n, err := r.z.Read(p)
	if err != nil && err != io.EOF {
		err = explain(err)
	}
	return n, err
}

func explain(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("gzip: %w", ErrTruncated)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return fmt.Errorf("gzip: the data is damaged: %w", err)
	}
	return err // the source's own
}
