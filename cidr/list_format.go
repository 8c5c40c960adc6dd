package cidr

import (
	"fmt"
	"strings"
)

// ListFormat is how the lines of a list are written.
type ListFormat uint8

const (
	// FormatPlain has one entry a line, see ReadList.
	FormatPlain ListFormat = iota
	// FormatDAT is the ipfilter.dat of eMule and PeerGuardian, IPv4 only:
	//
	//	001.002.003.004 - 001.002.003.255 , 000 , description
	//
	// Numbers are decimal and may have leading zeros. The second field is the access level: below 128 the range is taken;
	// from 128 to 255 it is one that the list allows, and is ignored. Lines that start with "#", ";" or "//" are comments.
	FormatDAT
	// FormatP2P is the text form of PeerGuardian, IPv4 only:
	//
	//	name:198.51.100.10-198.51.100.77
	//
	// The name is all before the last colon, so that it may hold colons and dashes. Lines that start with "#" are comments.
	FormatP2P
	// FormatIPSet is what "ipset save" writes, for one set of the types hash:ip, hash:net and bitmap:ip, see IPSetName.
	// Timeouts and counters are ignored. In a set with a netmask an entry is its network. Entries with nomatch are
	// exceptions as the kernel sees them: of the entries that hold an address, the one with the longest prefix decides.
	// Both kinds count as entries. A prefix that occurs both with and without nomatch is an error. Entries of sets that
	// were not asked for are ignored, and not checked.
	FormatIPSet
	// FormatRIR is the statistics file of a regional Internet registry (delegated and delegated-extended), or several of
	// them one after the other:
	//
	//	registry|cc|ipv4|start|count|date|status
	//
	// All IPv4 and IPv6 rows that are allocated or assigned are taken; the version, summaries, rows of AS numbers and rows
	// that are available or reserved are ignored. Where there are summaries, their counts must be right (ErrCut). The end
	// date of the version line is a date of the list's header.
	FormatRIR
	// FormatCSV has comma-separated columns as in RFC 4180, see Columns; a row must not go over a line end. Lines that
	// start with "#" are comments.
	FormatCSV
)

var formatNames = [...]string{"plain", "dat", "p2p", "ipset", "rir", "csv"}

func (f ListFormat) valid() bool { return int(f) < len(formatNames) }

// String returns the name of the format, as ParseListFormat reads it.
func (f ListFormat) String() string {
	if !f.valid() {
		return "no list format"
	}
	return formatNames[f]
}

// ParseListFormat returns the format of that name: plain, dat, p2p, ipset, rir or csv, in lower case. Any other name is an
// error (ErrOption) that lists them.
func ParseListFormat(name string) (ListFormat, error) {
	for i, n := range formatNames {
		if n == name {
			return ListFormat(i), nil
		}
	}
	return 0, fmt.Errorf("%w: %.40q is no list format: there are %s", ErrOption, name, strings.Join(formatNames[:], ", "))
}

func newLineFormat(l *listReader) lineFormat {
	switch l.kind {
	case FormatDAT:
		return datFormat{}
	case FormatP2P:
		return p2pFormat{}
	case FormatIPSet:
		return newIPSetFormat()
	case FormatRIR:
		return &rirFormat{}
	case FormatCSV:
		return newCSVFormat(l)
	default:
		return &plainFormat{}
	}
}
