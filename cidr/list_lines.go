package cidr

import (
	"bytes"
	"errors"
	"io"

	"github.com/cidrc/cidrc/internal/gunzip"
)

// lineReader cuts data into lines in one buffer.
type lineReader struct {
	in         io.Reader
	buf        []byte
	start, end int // what is in the buffer and not yet given out
	err        error
}

// listBuffer is how much of a list is in memory at once. It is a multiple of MaxLine, so that moving the rest of a line
// to the front is rare.
const listBuffer = 16 * MaxLine

// maxEmptyReads is how often a reader may give nothing before it is taken for broken.
const maxEmptyReads = 100

type lineEnd uint8

const (
	endOfList  lineEnd = iota // there is no line any more
	endNewline                // the line ended with LF or CRLF
	endNone                   // the data ended without
	endTooLong                // the line is longer than MaxLine; only its start is given
)

// decompress looks at the first bytes, and reads what is in them if they are gzip's.
func (r *lineReader) decompress() error {
	for r.end < len(gzipMagic) && r.err == nil {
		r.fill()
	}
	if !bytes.HasPrefix(r.buffered(), []byte(gzipMagic)) {
		return nil
	}
	rest := r.in
	if r.err != nil {
		rest = failed{r.err}
	}
	in, err := gunzip.NewReader(io.MultiReader(bytes.NewReader(bytes.Clone(r.buffered())), rest))
	if err != nil {
		return err
	}
	*r = lineReader{in: in, buf: r.buf}
	return nil
}

const gzipMagic = "\x1f\x8b"

// failed is a reader that has nothing but an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// next gives the next line without its line end. It is good until the next call of next or skip.
func (r *lineReader) next() ([]byte, lineEnd, error) {
	for searched := 0; ; {
		if i := bytes.IndexByte(r.buf[r.start+searched:r.end], '\n'); i >= 0 {
			line := r.buf[r.start : r.start+searched+i]
			r.start += len(line) + 1
			return finishLine(line, endNewline)
		}
		searched = r.end - r.start
		if searched > MaxLine+len("\r") {
			return r.skipLine()
		}
		if r.err == nil {
			r.fill()
			continue
		}
		if r.err != io.EOF {
			return nil, endOfList, r.err
		}
		line := r.buf[r.start:r.end]
		if r.start = r.end; len(line) == 0 {
			return nil, endOfList, nil
		}
		return finishLine(line, endNone)
	}
}

func finishLine(line []byte, end lineEnd) ([]byte, lineEnd, error) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) > MaxLine {
		return line[:MaxLine], endTooLong, nil
	}
	return line, end, nil
}

// skipLine passes over a line that is too long for the buffer to hold.
func (r *lineReader) skipLine() ([]byte, lineEnd, error) {
	head := bytes.Clone(r.buf[r.start : r.start+MaxLine])
	for {
		if i := bytes.IndexByte(r.buf[r.start:r.end], '\n'); i >= 0 {
			r.start += i + 1
			return head, endTooLong, nil
		}
		r.start = r.end
		if r.err == io.EOF {
			return head, endTooLong, nil
		}
		if r.err != nil {
			return nil, endOfList, r.err
		}
		r.fill()
	}
}

// fill reads more, after moving what is left to the front.
func (r *lineReader) fill() {
	if r.buf == nil {
		r.buf = make([]byte, listBuffer)
	}
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	for range maxEmptyReads {
		n, err := r.in.Read(r.buf[r.end:])
		if n < 0 || n > len(r.buf)-r.end {
			r.err = errors.New("the reader gave an impossible count")
			return
		}
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// buffered gives what is read already.
func (r *lineReader) buffered() []byte { return r.buf[r.start:r.end] }

func (r *lineReader) skip(n int) { r.start += n }
