package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"

	"github.com/cidrc/cidrc/cidr"
)

// Exit codes.
const (
	exitOK     = 0
	exitDiffer = 1 // diff: the lists differ; why: no list holds the address
	exitWrong  = 2 // bad options or a bad list; nothing was written
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

const usage = `usage: cidrset [options] COMMAND FILE...

Commands; a FILE of "-" is standard input:
  union FILE...             the addresses of any of the lists
  subtract FILE FILE...     those of the first that no other has
  intersect FILE FILE...    those that all have
  diff OLD NEW              what changed: "+" new, "-" gone; exit status 1 if anything did
  count FILE...             ranges, prefixes and addresses of each list
  why ADDRESS FILE...       the lists and lines that hold the address; exit status 1 if none does

Exit status 2 means that something was wrong, and nothing was written. Options come first,
and hold for all files of the command.

Options:
`

const examples = `
Examples:
  cidrset subtract feed.txt own.txt
  cidrset -format csv -columns "IP Range" union feed.csv
  cidrset -format ipset -set blocked union saved.ipset | cidrset diff - feed.txt
`

// command is what a word on the command line does.
type command struct {
	least, most int // files that it takes; most 0: any number
	run         func(*program, []string) (int, error)
}

func commands() map[string]command {
	return map[string]command{
		"union":     {1, 0, (*program).union},
		"subtract":  {2, 0, (*program).subtract},
		"intersect": {2, 0, (*program).intersect},
		"diff":      {2, 2, (*program).diff},
		"count":     {1, 0, (*program).count},
		"why":       {1, 0, (*program).why},
	}
}

// program is one run of the command.
type program struct {
	options
	stdin  io.Reader
	stdout *bufio.Writer
	stderr io.Writer
	addr   netip.Addr // of why
	stdins int        // how many files are standard input
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: bufio.NewWriterSize(stdout, 64<<10), stderr: stderr}
	flags := p.flags(stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitWrong
	}
	code, err := p.run(flags.Args())
	if err == nil {
		err = p.stdout.Flush()
	}
	if err != nil {
		fmt.Fprintln(stderr, "cidrset:", hints(err.Error()))
		return exitWrong
	}
	return code
}

func (p *program) run(args []string) (int, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	if len(args) == 0 {
		return 0, errors.New("which command? see cidrset -help")
	}
	name, files := args[0], args[1:]
	c, ok := commands()[name]
	if !ok {
		return 0, fmt.Errorf("there is no command %q; see cidrset -help", name)
	}
	if name == "why" {
		if len(files) < 2 {
			return 0, errors.New("why ADDRESS FILE...: it needs an address and the lists to look in")
		}
		addr, err := cidr.ParseAddr(files[0])
		if err != nil {
			return 0, fmt.Errorf("why ADDRESS FILE...: %q is not one address: %w", files[0], err)
		}
		p.addr, files = addr, files[1:]
	}
	for _, f := range files {
		if len(f) > 1 && f[0] == '-' {
			return 0, fmt.Errorf("%q: options come before the command; a file of that name is ./%s", f, f)
		}
	}
	switch {
	case c.most > 0 && (len(files) < c.least || len(files) > c.most):
		return 0, fmt.Errorf("%s takes %d files, not %d", name, c.least, len(files))
	case len(files) < c.least:
		return 0, fmt.Errorf("%s needs at least %d, of FILE..., and has %d", name, c.least, len(files))
	}
	return c.run(p, files)
}

// read reads one list, and reports skipped lines.
func (p *program) read(file string) (cidr.Set, error) {
	var b cidr.Builder
	if err := p.add(&b, file, false); err != nil {
		return cidr.Set{}, err
	}
	s, err := b.Build()
	return p.only(s), err
}

// add reads one list into a builder, to be removed from it or added.
func (p *program) add(b *cidr.Builder, file string, remove bool) error {
	in, name := p.stdin, "standard input"
	if file == "-" {
		if p.stdins++; p.stdins > 1 {
			return errors.New("standard input can be read only once")
		}
	} else {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		in, name = f, file
	}
	var report cidr.ListReport
	read := b.AddList
	if remove {
		read = b.RemoveList
	}
	if err := read(in, name, p.listOptions(&report)...); err != nil {
		return err
	}
	for _, bad := range report.Bad.Lines {
		fmt.Fprintln(p.stderr, "cidrset: skipped:", hints(bad.Error()))
	}
	if more := report.Bad.Total - len(report.Bad.Lines); more > 0 {
		fmt.Fprintf(p.stderr, "cidrset: skipped: %s: %d more lines\n", name, more)
	}
	return nil
}

func (p *program) union(files []string) (int, error) {
	var b cidr.Builder
	for _, f := range files {
		if err := p.add(&b, f, false); err != nil {
			return 0, err
		}
	}
	return p.build(&b)
}

func (p *program) subtract(files []string) (int, error) {
	var b cidr.Builder
	for i, f := range files {
		if err := p.add(&b, f, i > 0); err != nil {
			return 0, err
		}
	}
	return p.build(&b)
}

func (p *program) build(b *cidr.Builder) (int, error) {
	s, err := b.Build()
	if err != nil {
		return 0, err
	}
	p.write("", p.only(s))
	return exitOK, nil
}

func (p *program) intersect(files []string) (int, error) {
	s, err := p.read(files[0])
	for _, f := range files[1:] {
		if err != nil {
			break
		}
		var t cidr.Set
		t, err = p.read(f)
		s = s.Intersection(t)
	}
	if err != nil {
		return 0, err
	}
	p.write("", s)
	return exitOK, nil
}

func (p *program) diff(files []string) (int, error) {
	before, err := p.read(files[0])
	if err != nil {
		return 0, err
	}
	after, err := p.read(files[1])
	if err != nil {
		return 0, err
	}
	added, removed := before.Diff(after)
	p.write("-", removed)
	p.write("+", added)
	if added.IsEmpty() && removed.IsEmpty() {
		return exitOK, nil
	}
	return exitDiffer, nil
}

func (p *program) count(files []string) (int, error) {
	var out bytes.Buffer // nothing is written before all lists are read
	fmt.Fprintln(&out, "family\tranges\tprefixes\taddresses\tlist")
	for _, file := range files {
		s, err := p.read(file)
		if err != nil {
			return 0, err
		}
		for _, f := range cidr.Families() {
			if part := s.Only(f); !part.IsEmpty() || s.IsEmpty() {
				fmt.Fprintf(&out, "%v\t%d\t%d\t%v\t%s\n", f, part.NumRanges(), part.NumPrefixes(), part.NumAddrs(), file)
			}
		}
	}
	p.stdout.Write(out.Bytes())
	return exitOK, nil
}

func (p *program) why(files []string) (int, error) {
	var b cidr.Builder
	trace := b.Trace()
	for _, f := range files {
		if err := p.add(&b, f, false); err != nil {
			return 0, err
		}
	}
	if _, err := b.Build(); err != nil {
		return 0, err
	}
	code := exitDiffer
	for cause := range trace.Causes(p.addr) {
		fmt.Fprintln(p.stdout, cause)
		code = exitOK
	}
	if code == exitDiffer {
		fmt.Fprintf(p.stderr, "cidrset: no list holds %v\n", p.addr)
	}
	return code, nil
}

// write writes a set, each line with a sign before it.
func (p *program) write(sign string, s cidr.Set) {
	if p.ranges {
		for r := range s.Ranges() {
			line := append(p.stdout.AvailableBuffer(), sign...)
			line = append(r.First.AppendTo(line), '-')
			p.stdout.Write(append(r.Last.AppendTo(line), '\n'))
		}
		return
	}
	for prefix := range s.Prefixes() {
		line := append(p.stdout.AvailableBuffer(), sign...)
		p.stdout.Write(append(prefix.AppendTo(line), '\n'))
	}
}

// only leaves out what the options do not ask for.
func (p *program) only(s cidr.Set) cidr.Set {
	switch {
	case p.v4:
		return s.Only(cidr.V4)
	case p.v6:
		return s.Only(cidr.V6)
	}
	return s
}
