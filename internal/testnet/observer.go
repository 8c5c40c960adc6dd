package testnet

// observerTable is the name of the nft table that watches probes.
const observerTable = "cidrc_testnet_observer"

// The observer has a base chain on each side of everything else in the hook.
type side int

const (
	early side = iota
	late
)

// String returns the name of the side's chain, with which its sets begin.
func (s side) String() string {
	if s == early {
		return "arrived"
	}
	return "passed"
}

// priority is that of the side's chain.
func (s side) priority() int32 {
	if s == early {
		return -2000
	}
	return 2000
}
