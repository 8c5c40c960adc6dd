package cidr_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/cidrc/cidrc/cidr"
)

func ExampleMustParse() {
	s := cidr.MustParse("192.0.2.0/25", "192.0.2.128/25", "192.0.2.7", "198.51.100.1-198.51.100.3", "2001:db8::/32")
	fmt.Println(s)
	for p := range s.Prefixes() {
		fmt.Println(p)
	}
	// Output:
	// {192.0.2.0/24 198.51.100.1-198.51.100.3 2001:db8::/32}
	// 192.0.2.0/24
	// 198.51.100.1/32
	// 198.51.100.2/31
	// 2001:db8::/32
}

func ExampleReadList() {
	list := `# office
192.0.2.0/24
198.51.100.7 - 198.51.100.9 ; printers
2001:db8::/48
`
	s, err := cidr.ReadList(strings.NewReader(list), "office.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.NumRanges(), "ranges,", s.NumPrefixes(), "prefixes,", s.Only(cidr.V4).NumAddrs(), "IPv4 addresses")
	// Output: 3 ranges, 4 prefixes, 259 IPv4 addresses
}

// A bad line is an error that says where it is. Nothing is taken from such a list.
func ExampleReadList_error() {
	_, err := cidr.ReadList(strings.NewReader("192.0.2.1\n192.0.2.010\nexample.org\n"), "feed.txt")
	fmt.Println(err)

	var bad *cidr.LineError
	if errors.As(err, &bad) {
		fmt.Println("first in line", bad.Line)
	}
	fmt.Println(errors.Is(err, cidr.ErrLeadingZero))
	// Output:
	// feed.txt: 2 bad lines
	// feed.txt:2:1: "192.0.2.010": octet 010: a number has a leading zero, which some tools read as octal: write it without, or LeadingZeros(DecimalLeadingZeros) if it is decimal
	// feed.txt:3:1: "example.org": a name, not an address; names are never resolved: write the addresses
	// first in line 2
	// true
}

// Where a feed is known to hold bad lines, they can be skipped. Each is counted and described.
func ExampleLenient() {
	feed := "192.0.2.0/24\n192.0.2.010\n198.51.100.256\n203.0.113.7\n"
	var report cidr.ListReport
	s, err := cidr.ReadList(strings.NewReader(feed), "feed.txt", cidr.Lenient(&report))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s, "from", report.Entries, "of", report.Lines, "lines")
	for _, bad := range report.Bad.Lines {
		fmt.Println("skipped line", bad.Line, bad.Text)
	}
	// Output:
	// {192.0.2.0/24 203.0.113.7} from 2 of 4 lines
	// skipped line 2 192.0.2.010
	// skipped line 3 198.51.100.256
}

// Lists in other forms are read by naming the form. A command line can give the name, see ParseListFormat.
func ExampleFormat() {
	feed := `name,range,seen
"Example, Inc",192.0.2.0/24,2026
Another,198.51.100.4 - 198.51.100.7,2026
`
	s, err := cidr.ReadList(strings.NewReader(feed), "feed.csv", cidr.Format(cidr.FormatCSV), cidr.Columns("range"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	// Output: {192.0.2.0/24 198.51.100.4/30}
}

func ExampleSet_Contains() {
	s := cidr.MustParse("192.0.2.0/24", "2001:db8::/32")
	fmt.Println(s.Contains(netip.MustParseAddr("192.0.2.200")))
	fmt.Println(s.Contains(netip.MustParseAddr("::ffff:192.0.2.200"))) // an IPv4 client on a dual-stack socket
	fmt.Println(s.Contains(netip.MustParseAddr("192.0.3.1")))
	// Output:
	// true
	// true
	// false
}

func ExampleSet_Difference() {
	deny := cidr.MustParse("198.51.100.0/24")
	mine := cidr.MustParse("198.51.100.77")
	for p := range deny.Difference(mine).Prefixes() {
		fmt.Println(p)
	}
	// Output:
	// 198.51.100.0/26
	// 198.51.100.64/29
	// 198.51.100.72/30
	// 198.51.100.76/32
	// 198.51.100.78/31
	// 198.51.100.80/28
	// 198.51.100.96/27
	// 198.51.100.128/25
}

func ExampleSet_Union() {
	a := cidr.MustParse("198.51.100.0/25", "2001:db8:a::/48")
	b := cidr.MustParse("198.51.100.128/25", "2001:db8:b::/48")
	fmt.Println(a.Union(b))
	// Output: {198.51.100.0/24 2001:db8:a::/47}
}

func ExampleSet_Complement() {
	fmt.Println(cidr.MustParse("128.0.0.0/1", "2001:db8::/32").Complement(cidr.V4))
	// Output: {0.0.0.0/1}
}

func ExampleSet_Find() {
	s := cidr.MustParse("192.0.2.0/24", "192.0.3.0/28")
	r, ok := s.Find(netip.MustParseAddr("192.0.3.1"))
	fmt.Println(r, ok)
	// Output: 192.0.2.0-192.0.3.15 true
}

func ExampleBuilder() {
	var b cidr.Builder
	b.AddPrefix(netip.MustParsePrefix("10.0.0.0/8"))
	b.RemovePrefix(netip.MustParsePrefix("10.1.0.0/16"))
	b.AddAddr(netip.MustParseAddr("10.1.2.3")) // the later call wins
	s, err := b.Build()                        // the first mistake of all the calls above would come out here
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	// Output: {10.0.0.0/16 10.1.2.3 10.2.0.0-10.255.255.255}
}

func ExampleMapBuilder() {
	var b cidr.MapBuilder[string]
	b.SetPrefix(netip.MustParsePrefix("198.18.2.0/23"), "RO")
	b.SetPrefix(netip.MustParsePrefix("198.18.0.0/21"), "UA")
	m, err := b.Build(cidr.MostSpecific)
	if err != nil {
		fmt.Println(err)
		return
	}
	for r, country := range m.All() {
		fmt.Println(r, country)
	}
	fmt.Println(m.Get(netip.MustParseAddr("198.18.3.4")))
	// Output:
	// 198.18.0.0/23 UA
	// 198.18.2.0/23 RO
	// 198.18.4.0/22 UA
	// RO true
}

func ExampleMap_Where() {
	var b cidr.MapBuilder[int]
	b.SetPrefix(netip.MustParsePrefix("192.0.2.0/25"), 64500)
	b.SetPrefix(netip.MustParsePrefix("192.0.2.128/25"), 64501)
	b.SetPrefix(netip.MustParsePrefix("198.51.100.0/24"), 64511)
	m, err := b.Build(cidr.LastWins)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Where(func(asn int) bool { return asn < 64510 }))
	// Output: {192.0.2.0/24}
}

func ExampleTransform() {
	var b cidr.MapBuilder[string]
	b.SetPrefix(netip.MustParsePrefix("192.0.2.0/25"), "IT")
	b.SetPrefix(netip.MustParsePrefix("192.0.2.128/25"), "FR")
	b.SetPrefix(netip.MustParsePrefix("198.51.100.0/24"), "CA")
	m, err := b.Build(cidr.LastWins)
	if err != nil {
		fmt.Println(err)
		return
	}
	europe := map[string]bool{"IT": true, "FR": true}
	for r, in := range cidr.Transform(m, func(country string) (bool, bool) { return europe[country], true }).All() {
		fmt.Println(r, in)
	}
	// Output:
	// 192.0.2.0/24 true
	// 198.51.100.0/24 false
}

func ExampleRange_Prefixes() {
	r, err := cidr.ParseRange("192.0.2.5-192.0.2.16")
	if err != nil {
		fmt.Println(err)
		return
	}
	for p := range r.Prefixes() {
		fmt.Println(p)
	}
	// Output:
	// 192.0.2.5/32
	// 192.0.2.6/31
	// 192.0.2.8/29
	// 192.0.2.16/32
}

func ExampleLocal() {
	customers := cidr.MustParse("0.0.0.0/0", "::/0").Difference(cidr.Local())
	for _, a := range []string{"192.168.1.1", "fe80::1", "100.64.0.1", "192.0.2.1"} {
		fmt.Println(a, customers.Contains(netip.MustParseAddr(a)))
	}
	// Output:
	// 192.168.1.1 false
	// fe80::1 false
	// 100.64.0.1 true
	// 192.0.2.1 true
}

func ExampleSpecialBlocks() {
	for b := range cidr.SpecialBlocks(cidr.V4) {
		if b.GloballyReachable == cidr.FlagTrue {
			fmt.Println(b.Prefix, b.Name, b.Reference)
		}
	}
	// Output:
	// 192.0.0.9/32 Port Control Protocol Anycast RFC 7723
	// 192.0.0.10/32 Traversal Using Relays around NAT Anycast RFC 8155
	// 192.31.196.0/24 AS112-v4 RFC 7535
	// 192.52.193.0/24 AMT RFC 7450
	// 192.175.48.0/24 Direct Delegation AS112 Service RFC 7534
}

// To write a list out, one prefix a line, append to a buffer: nothing is allocated for each prefix.
func ExampleSet_Prefixes() {
	var line []byte
	for p := range cidr.MustParse("192.0.2.0-192.0.2.2", "2001:db8::/32").Prefixes() {
		line = append(p.AppendTo(line[:0]), '\n')
		os.Stdout.Write(line)
	}
	// Output:
	// 192.0.2.0/31
	// 192.0.2.2/32
	// 2001:db8::/32
}
