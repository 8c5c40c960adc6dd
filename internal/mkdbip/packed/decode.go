package packed

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
)

// ErrCorrupt: the data is not what Encode returned.
var ErrCorrupt = errors.New("packed country map: the data is damaged")

// maxPayload bounds what damaged data can decompress to.
const maxPayload = 64 << 20

// Decode returns the map of a packed form. Data that Encode cannot have returned is ErrCorrupt, wrapped; the checksum is
// looked at first, so that damage by accident never gets further.
func Decode(data []byte) (cidr.Map[geo.Country], error) {
	head := len(magic) + sha256.Size
	if len(data) < head || string(data[:len(magic)]) != magic {
		return cidr.Map[geo.Country]{}, fmt.Errorf("%w: not this format", ErrCorrupt)
	}
	if sha256.Sum256(data[head:]) != [sha256.Size]byte(data[len(magic):head]) {
		return cidr.Map[geo.Country]{}, fmt.Errorf("%w: the checksum does not match", ErrCorrupt)
	}
	return decompress(data[head:])
}

func decompress(compressed []byte) (cidr.Map[geo.Country], error) {
	source := bytes.NewReader(compressed)
	var payload bytes.Buffer
	payload.Grow(4 * len(compressed)) // the databases grow three- to fourfold
	switch _, err := payload.ReadFrom(io.LimitReader(flate.NewReader(source), maxPayload+1)); {
	case err != nil:
		return cidr.Map[geo.Country]{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	case payload.Len() > maxPayload:
		return cidr.Map[geo.Country]{}, fmt.Errorf("%w: the payload is too large", ErrCorrupt)
	case source.Len() > 0:
		return cidr.Map[geo.Country]{}, fmt.Errorf("%w: something follows", ErrCorrupt)
	}
	return decode(payload.Bytes())
}

func decode(payload []byte) (cidr.Map[geo.Country], error) {
	d := decoder{rest: payload}
	d.countries()
	var families [2]columns
	for i, f := range cidr.Families() {
		families[i] = d.columns(f.Bits())
	}
	if len(d.rest) > 0 {
		d.fail("something follows")
	}
	d.b.Grow(len(families[0].t), len(families[1].t))
	for _, f := range families {
		d.steps(f)
	}
	if d.err != nil {
		return cidr.Map[geo.Country]{}, d.err
	}
	return d.b.Build(cidr.LastWins)
}

// decoder takes a payload apart. After an error all its methods do nothing.
type decoder struct {
	rest    []byte
	numbers []geo.Country // numbers[n] is the n-th country; numbers[0] is none
	b       cidr.MapBuilder[geo.Country]
	err     error
}

// columns are the three columns of one family.
type columns struct {
	bits      int
	t, odd, c []byte
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrCorrupt, what)
	}
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n > len(d.rest) {
		d.fail("it ends early")
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

// length reads a number that cannot be larger than what is left.
func (d *decoder) length() int {
	u, n := readVarint(d.rest)
	if n == 0 || u.hi != 0 || u.lo > uint64(len(d.rest)) {
		d.fail("a length is out of bounds")
		return 0
	}
	d.take(n)
	return int(u.lo)
}

func (d *decoder) countries() {
	n := d.length()
	if n > 255 {
		d.fail("too many countries")
	}
	letters := d.take(2 * n)
	d.numbers = make([]geo.Country, 1, n+1)
	for i := 0; i+1 < len(letters); i += 2 {
		c, err := geo.ParseCountry(string(letters[i : i+2]))
		if err != nil || c.String() != string(letters[i:i+2]) || c <= d.numbers[len(d.numbers)-1] {
			d.fail("the countries are wrong")
			return
		}
		d.numbers = append(d.numbers, c)
	}
}

func (d *decoder) columns(bits int) columns {
	steps, odd := d.length(), d.length()
	return columns{bits, d.take(steps), d.take(odd), d.take(steps)}
}

// steps walks up the addresses of a family.
func (d *decoder) steps(f columns) {
	if d.err != nil {
		return
	}
	top := uint128{0, 1}.shiftLeft(uint(f.bits)).minus(uint128{0, 1})
	var at uint128
	full := false // the last step ended at top
	odd, before := f.odd, -1
	for i, zeros := range f.t {
		half, n := readVarint(odd)
		if n == 0 {
			d.fail("a size is no number")
			return
		}
		odd = odd[n:]
		m := half.shiftLeft(1)
		m.lo |= 1
		size := m.shiftLeft(uint(zeros))
		fits := m.shiftRight(1) == half && size.shiftRight(uint(zeros)) == m
		if int(zeros) == f.bits && f.bits == 128 {
			fits = half == uint128{} // all there is: 2^128 addresses
		}
		last := at.plus(size).minus(uint128{0, 1})
		number := int(f.c[i])
		if full || !fits || last.less(at) || top.less(last) || number >= len(d.numbers) || number == before {
			d.fail("a step is out of bounds")
			return
		}
		if number > 0 {
			r := cidr.Range{First: at.addr(f.bits), Last: last.addr(f.bits)}
			if at.hi == 0 && f.bits == 128 && r.Family() != cidr.V6 {
				d.fail("a range cuts through the IPv4-mapped addresses")
				return
			}
			d.b.SetRange(r, d.numbers[number])
		}
		before, full, at = number, last == top, last.plus(uint128{0, 1})
	}
	if len(odd) > 0 || before == 0 {
		d.fail("the columns do not match")
	}
}
