package packed

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
)

const magic = "cidrcgeo1"

// Encode returns the packed form of a map. A map with more than 255 countries is an error.
func Encode(m cidr.Map[geo.Country]) ([]byte, error) {
	numbers := map[geo.Country]byte{}
	for _, c := range m.All() {
		numbers[c] = 0
	}
	if len(numbers) > 255 {
		return nil, fmt.Errorf("packed: %d countries are more than fit", len(numbers))
	}
	payload := uint128{0, uint64(len(numbers))}.appendVarint(nil)
	n := byte(0)
	for _, c := range geo.Countries() {
		if _, ok := numbers[c]; ok {
			n++
			numbers[c] = n
			payload = append(payload, c.String()...)
		}
	}
	if int(n) != len(numbers) {
		return nil, fmt.Errorf("packed: a range of the map has no valid country")
	}
	for _, f := range cidr.Families() {
		payload = appendFamily(payload, m.Only(f), numbers)
	}

	var compressed bytes.Buffer
	w, err := flate.NewWriter(&compressed, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(payload); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(compressed.Bytes())
	return append(append([]byte(magic), sum[:]...), compressed.Bytes()...), nil
}

func appendFamily(payload []byte, m cidr.Map[geo.Country], numbers map[geo.Country]byte) []byte {
	var t, odd, c []byte
	step := func(size uint128, number byte) {
		zeros := size.trailingZeros()
		t = append(t, byte(zeros))
		odd = size.shiftRight(uint(zeros)).shiftRight(1).appendVarint(odd)
		c = append(c, number)
	}
	var at uint128
	for r, country := range m.All() {
		first, last := fromAddr(r.First), fromAddr(r.Last)
		if at != first {
			step(first.minus(at), 0)
		}
		at = last.plus(uint128{0, 1})
		step(at.minus(first), numbers[country])
	}
	payload = uint128{0, uint64(len(t))}.appendVarint(payload)
	payload = uint128{0, uint64(len(odd))}.appendVarint(payload)
	return append(append(append(payload, t...), odd...), c...)
}
