package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/internal/mkdbip/packed"
)

func main() {
	out := flag.String("o", "country.bin", "the file to write")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: mkdbip [-o file] database.csv[.gz] ...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mkdbip:", err)
		os.Exit(1)
	}
}

func run(out string, paths []string) error {
	m, err := geo.ReadCSVFiles(paths...)
	if err != nil {
		return err
	}
	data, err := packed.Encode(m)
	if err != nil {
		return err
	}
	// What cannot be read back is not written.
	if back, err := packed.Decode(data); err != nil || !back.Equal(m) {
		return fmt.Errorf("the packed form does not give the map back: %w", err)
	}
	if err := os.WriteFile(out, data, 0o644); err != nil {
		return err
	}
	for _, f := range cidr.Families() {
		fmt.Printf("%v: %d ranges\n", f, m.Only(f).NumRanges())
	}
	fmt.Printf("%s: %d bytes\n", out, len(data))
	return nil
}
