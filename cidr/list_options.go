package cidr

import (
	"fmt"
	"slices"
)

// ListOption changes how ReadList, AddList and RemoveList read. Where the same one is given twice, the later counts. A
// wrong option is an error of the call that reads (ErrOption).
type ListOption func(*listReader)

type listOptions struct {
	allowEmpty, allowCut bool
	lenient              bool
	reports              []*ListReport
	kind                 ListFormat
	columns              []string
	setName              string
	setNamed             bool
	hostBits             HostBitsPolicy
	mappedAddrs          MappedPolicy
	leadingZeros         LeadingZerosPolicy
	netmasks             NetmaskPolicy
	moreText             MoreTextPolicy
	age                  *ageLimit
	shrink               *shrinkLimit
	wrong                error
}

func (o *listOptions) refuseOption(format string, args ...any) {
	if o.wrong == nil {
		o.wrong = fmt.Errorf("%w: %s", ErrOption, fmt.Sprintf(format, args...))
	}
}

func (l *listReader) checkOptions() error {
	for _, p := range []struct {
		name   string
		value  uint8
		values uint8
	}{
		{"HostBits", uint8(l.hostBits), 2},
		{"MappedAddrs", uint8(l.mappedAddrs), 2},
		{"LeadingZeros", uint8(l.leadingZeros), 2},
		{"Netmasks", uint8(l.netmasks), 2},
		{"MoreText", uint8(l.moreText), 2},
	} {
		if p.value >= p.values {
			l.refuseOption("%s: there is no policy %d", p.name, p.value)
		}
	}
	switch {
	case l.kind == FormatCSV && len(l.columns) == 0:
		l.refuseOption("FormatCSV needs Columns: say which column holds the entries, or which two hold first and last")
	case l.kind != FormatCSV && len(l.columns) > 0:
		l.refuseOption("Columns are for FormatCSV")
	case l.kind != FormatIPSet && l.setNamed:
		l.refuseOption("IPSetName is for FormatIPSet")
	}
	l.format = newLineFormat(l)
	return l.wrong
}

// AllowEmpty lets a list without entries be the empty set. By default it is ErrEmpty: an empty file is far more often a
// failed download than a wish.
func AllowEmpty() ListOption { return func(l *listReader) { l.allowEmpty = true } }

// AllowCut takes a last line that has no newline although others have one. By default that is ErrCut, since "10.0.0.0/24"
// may have been cut to "10.0.0.0/2". Other signs of a cut list stay errors: compressed data that ends early, and fewer
// rows than the list itself says.
func AllowCut() ListOption { return func(l *listReader) { l.allowCut = true } }

// Report has r filled in with what reading found, whether it succeeds or not, see ListReport. Lenient does this too. A nil
// r is an error.
func Report(r *ListReport) ListOption {
	return func(l *listReader) {
		if r == nil {
			l.refuseOption("Report needs somewhere to put it, not nil")
			return
		}
		l.reports = append(l.reports, r)
	}
}

// Lenient skips bad lines, counts them and describes the first MaxReported of them in r, instead of refusing the list. A
// nil r is an error: skipped lines must not go unreported. If no line is good and at least one is bad, that is a
// *ListError even with AllowEmpty. What makes a list wrong as a whole stays an error: a web page, UTF-16, damaged
// compressed data, a count that disagrees.
func Lenient(r *ListReport) ListOption {
	return func(l *listReader) {
		if r == nil {
			l.refuseOption("Lenient needs a report, not nil")
			return
		}
		l.lenient = true
		l.reports = append(l.reports, r)
	}
}

// HostBitsPolicy says what becomes of a prefix with bits set below its length, such as 192.0.2.1/24.
type HostBitsPolicy uint8

const (
	RefuseHostBits HostBitsPolicy = iota // an error, ErrHostBits; the default
	MaskHostBits                         // the network is taken, and counted in ListReport.Masked
)

// HostBits sets the policy for prefixes with host bits.
func HostBits(p HostBitsPolicy) ListOption { return func(l *listReader) { l.hostBits = p } }

// MappedPolicy says what becomes of IPv4-mapped IPv6 addresses, such as ::ffff:192.0.2.1, and of prefixes of more than 96
// bits and ranges of them. Prefixes of 96 bits and fewer that start in the block are ErrMapped in any case.
type MappedPolicy uint8

const (
	TakeMapped   MappedPolicy = iota // taken as the IPv4 that is meant, and counted in ListReport.Mapped; the default
	RefuseMapped                     // an error, ErrMapped
)

// MappedAddrs sets the policy for IPv4-mapped addresses.
func MappedAddrs(p MappedPolicy) ListOption { return func(l *listReader) { l.mappedAddrs = p } }

// LeadingZerosPolicy says what becomes of numbers with leading zeros in IPv4 addresses, prefix lengths and netmasks, such
// as 192.0.2.010. They are never read as octal.
type LeadingZerosPolicy uint8

const (
	RefuseLeadingZeros  LeadingZerosPolicy = iota // an error, ErrLeadingZero; the default
	DecimalLeadingZeros                           // read as decimal: 192.0.2.010 is 192.0.2.10
)

// LeadingZeros sets the policy for numbers with leading zeros. In FormatDAT they are decimal by definition.
func LeadingZeros(p LeadingZerosPolicy) ListOption { return func(l *listReader) { l.leadingZeros = p } }

// NetmaskPolicy says what becomes of a netmask where a prefix length belongs, such as 192.0.2.0/255.255.255.0. Masks with
// holes and wildcard masks (0.0.0.255) are ErrMask in any case. 0.0.0.0 after another address than 0.0.0.0 is
// ErrHostBits in any case: it would be everything, while as a wildcard mask it would be one host.
type NetmaskPolicy uint8

const (
	RefuseNetmasks NetmaskPolicy = iota // an error, ErrMask; the default
	TakeNetmasks                        // taken as the prefix length that is meant
)

// Netmasks sets the policy for netmasks.
func Netmasks(p NetmaskPolicy) ListOption { return func(l *listReader) { l.netmasks = p } }

// MoreTextPolicy says what becomes of text that follows an entry after blanks in a plain list. Where it looks like an
// address, a prefix, a range or a netmask, or could go on with the entry, it is ErrSyntax in any case.
type MoreTextPolicy uint8

const (
	RefuseMoreText MoreTextPolicy = iota // an error, ErrSyntax; the default
	IgnoreMoreText                       // ignored
)

// MoreText sets the policy for text after entries.
func MoreText(p MoreTextPolicy) ListOption { return func(l *listReader) { l.moreText = p } }

// Format says what the list looks like. The default is FormatPlain.
func Format(f ListFormat) ListOption {
	return func(l *listReader) {
		if !f.valid() {
			l.refuseOption("Format: there is no format %d", f)
			return
		}
		l.kind = f
	}
}

// Columns says where entries stand in FormatCSV: in one column, or from a column of first addresses to a column of last
// ones. A column is a number, from 1, or a name; where there is a name, the first row is the header that has it, and is
// not read as an entry.
func Columns(columns ...string) ListOption {
	columns = slices.Clone(columns)
	return func(l *listReader) {
		if len(columns) < 1 || len(columns) > 2 {
			l.refuseOption("Columns: one or two are needed, not %d", len(columns))
			return
		}
		l.columns = columns
	}
}

// IPSetName says which set of a file in FormatIPSet is meant. Without it, the file may hold entries of one set only.
func IPSetName(name string) ListOption {
	return func(l *listReader) { l.setName, l.setNamed = name, true }
}
