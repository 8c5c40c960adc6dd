package geo

import (
	"fmt"
	"io"
	"net/netip"
	"os"

	"github.com/cidrc/cidrc/cidr"
)

// MaxRows is how many rows a Builder takes, over all its sources: several times what the large databases hold, and few
// enough that a small file which decompresses without end does not fill the memory.
const MaxRows = 1 << 22

// Builder collects the rows of one or more sources for one map, for databases that come in parts, such as a file for
// each family. The zero Builder is ready. It is not safe for concurrent use.
//
// Rows may come in any order, and rows of the same country may overlap; rows that give an address to two countries are an
// error (ErrOverlap), whether they come from one source or from two. Sorted rows cost the least time and memory.
//
// Rows with the code ZZ, "unknown", are checked as any other row, and then their addresses are left without a country. A
// database that writes such rows and one that leaves them out mean the same, and give the same map.
//
// After an error every further call returns that error, up to and including Build.
type Builder struct {
	inOrder cidr.MapBuilder[Country] // rows that came in ascending order and overlap no row before them
	late    []row                    // the others
	ends    [2]end
	sources []string
	rows    int
	unknown bool // some row has the code ZZ
	err     error
}

// end is how far the rows in order have come, in one family.
type end struct {
	last netip.Addr
	rows int
}

// row is a row that came out of order, with what an error about it has to say.
type row struct {
	cidr.Range
	country Country
	source  uint16 // index in Builder.sources
	line    uint32 // 0 for a row that came in order
}

// ReadCSV reads one source of rows as Builder.AddCSV does, and returns its map.
func ReadCSV(r io.Reader, source string) (cidr.Map[Country], error) {
	var b Builder
	if err := b.AddCSV(r, source); err != nil {
		return cidr.Map[Country]{}, err
	}
	return b.Build()
}

// ReadCSVFiles reads files as Builder.AddCSV does, and returns one map of them all. The source of a row is its file's
// path.
func ReadCSVFiles(paths ...string) (cidr.Map[Country], error) {
	var b Builder
	for _, path := range paths {
		if err := b.AddCSVFile(path); err != nil {
			return cidr.Map[Country]{}, err
		}
	}
	return b.Build()
}

// AddCSVFile is AddCSV for a file. The source is its path.
func (b *Builder) AddCSVFile(path string) error {
	if b.err != nil {
		return b.err
	}
	f, err := os.Open(path)
	if err != nil {
		b.err = err
		return err
	}
	defer f.Close() // only read from
	return b.AddCSV(f, path)
}

// Build returns the map of all rows. Rows that touch and have the same country are one range of the map. It is an error
// when no row names a country (cidr.ErrEmpty), when rows contradict each other (ErrOverlap, in a *cidr.LineError for one
// of the two rows), or when a call before it failed (the same error again). The Builder is empty and ready again
// afterwards.
func (b *Builder) Build() (cidr.Map[Country], error) {
	m, err := b.build()
	*b = Builder{}
	if err != nil {
		return cidr.Map[Country]{}, err
	}
	return m, nil
}

func (b *Builder) build() (cidr.Map[Country], error) {
	if b.err != nil {
		return cidr.Map[Country]{}, b.err
	}
	m, err := b.inOrder.Build(cidr.LastWins)
	if err != nil {
		return m, err
	}
	if len(b.late) > 0 {
		if m, err = join(m, b.late, b.sources); err != nil {
			return m, err
		}
	}
	if b.unknown {
		m = cidr.Transform(m, func(c Country) (Country, bool) { return c, c != codeZZ })
	}
	if m.NumRanges() == 0 {
		return m, fmt.Errorf("no row names a country: %w", cidr.ErrEmpty)
	}
	return m, nil
}

// add takes a valid range from a line of the last source.
func (b *Builder) add(r cidr.Range, c Country, line int) {
	b.rows++
	b.unknown = b.unknown || c == codeZZ
	e := &b.ends[0]
	if r.First.Is6() {
		e = &b.ends[1]
	}
	if !e.last.Less(r.First) { // the zero Addr is less than any other
		b.late = append(b.late, row{r, c, uint16(len(b.sources) - 1), uint32(line)})
		return
	}
	// Room is doubled: how many rows will come is not known, and append would copy large slices many times.
	if n := e.rows; n >= minRoom && n&(n-1) == 0 {
		if r.First.Is4() {
			b.inOrder.Grow(n, 0)
		} else {
			b.inOrder.Grow(0, n)
		}
	}
	e.rows++
	e.last = r.Last
	b.inOrder.SetRange(r, c)
}

// minRoom is from how many rows on room is doubled; a power of two.
const minRoom = 1 << 10
