package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// Exit codes.
const (
	exitOK      = 0 // done; with -eval: the address passes
	exitBlocked = 1 // with -eval: the address does not pass
	exitUsage   = 2 // bad options, names, lists or data; nothing was changed
	exitFailed  = 3 // the ruleset could not be written, applied or removed; the one before is in force, or stderr says otherwise
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program. Nothing is written to stdout before everything that can fail has succeeded.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	switch {
	case errors.Is(err, errHelp):
		return exitOK
	case err != nil:
		return complain(stderr, exitUsage, err)
	}
	if o.remove {
		if err := o.backend.Remove(ctx, o.owner); err != nil {
			return complain(stderr, exitFailed, err)
		}
		fmt.Fprintf(stderr, "geoblock: owner %q has nothing in %s now\n", o.owner, o.backendName)
		return exitOK
	}

	countries, origin, err := loadCountries(o.db)
	if err != nil {
		return complain(stderr, exitUsage, err)
	}
	policy, err := o.policy(countries, origin, stderr)
	if err != nil {
		return complain(stderr, exitUsage, err)
	}
	program, err := compile.Compile(ctx, policy, o.backend.Target(), compile.Options{Layout: o.layout, Force: o.force})
	if err != nil {
		return complain(stderr, exitUsage, err)
	}
	if o.eval.IsValid() {
		country, _ := countries.Get(o.eval)
		return eval(program, o.eval, country.String(), stdout, stderr)
	}
	artifacts, err := o.backend.Render(program)
	if err != nil {
		return complain(stderr, exitUsage, err)
	}
	var payload bytes.Buffer
	for _, a := range artifacts {
		if err := a.Render(&payload); err != nil {
			return complain(stderr, exitFailed, err)
		}
	}

	if o.explain {
		if err := program.Explain(stderr); err != nil {
			return exitFailed
		}
	}
	if o.apply && !o.force {
		if err := keepsLogin(program, login()); err != nil {
			return complain(stderr, exitUsage, err)
		}
	}
	if err := o.deliver(ctx, program, artifacts, payload.Bytes(), stdout, stderr); err != nil {
		return complain(stderr, exitFailed, err)
	}
	return exitOK
}

// deliver brings the payload where the options say: a file, the kernel, or standard output if neither.
func (o *options) deliver(ctx context.Context, p *compile.Program, artifacts []backend.Artifact, payload []byte, stdout, stderr io.Writer) error {
	toStdout := o.output == "-" || o.output == "" && !o.apply && !(o.explain && isTerminal(stdout))
	if o.output != "" && o.output != "-" {
		if err := writeFile(o.output, payload); err != nil {
			return err
		}
		fmt.Fprintf(stderr, "geoblock: wrote %d bytes to %s\n", len(payload), o.output)
	}
	if o.apply {
		if err := o.backend.Apply(ctx, p); err != nil {
			return err
		}
		fmt.Fprintf(stderr, "geoblock: in force under owner %q; geoblock -remove -owner %s -backend %s takes it away\n", o.owner, o.owner, o.backendName)
	}
	if toStdout {
		if _, err := stdout.Write(payload); err != nil {
			return fmt.Errorf("write the payload: %w", err)
		}
	}
	if !o.apply {
		var loads []string
		for _, a := range artifacts {
			for _, command := range a.Loads {
				loads = append(loads, strings.Join(command, " ")+" < FILE")
			}
		}
		fmt.Fprintf(stderr, "geoblock: load it with: %s\n", strings.Join(loads, " && "))
	}
	return nil
}

// keepsLogin finds out whether the address from which the user is logged in could log in again. ssh is the variable
// SSH_CONNECTION, as the SSH server sets it: the client's address comes first.
func keepsLogin(p *compile.Program, ssh string) error {
	text, _, _ := strings.Cut(ssh, " ")
	text, _, _ = strings.Cut(text, "%") // a link-local peer comes with its interface
	peer, err := cidr.ParseAddr(text)
	if err != nil || !slices.ContainsFunc(p.Decision().Hooks(), func(h compile.Hook) bool { return h.Point == compile.Input }) {
		return nil
	}
	ruling, err := p.Eval(compile.Packet{Hook: compile.Input, Source: peer, Protocol: compile.TCP, DestinationPort: 22})
	if err != nil || ruling.Verdict == compile.Pass || ruling.Verdict == compile.Accept {
		return nil
	}
	return fmt.Errorf("you are logged in from %v, which could not log in again: add -keep %v, or -force if that is meant", peer, peer)
}

// eval says what becomes of a new connection from (at output: to) the address.
func eval(p *compile.Program, a netip.Addr, country string, stdout, stderr io.Writer) int {
	packet := compile.Packet{Source: a, Destination: a, Protocol: compile.TCP, DestinationPort: 443}
	means, err := p.Decision().Eval(packet)
	if err != nil {
		return complain(stderr, exitUsage, err)
	}
	does, err := p.Eval(packet)
	if err != nil {
		return complain(stderr, exitUsage, err)
	}
	if country == "" {
		country = "in no country of the database"
	}
	if _, err := fmt.Fprintf(stdout, "%v\n", does.Verdict); err != nil {
		return complain(stderr, exitFailed, err)
	}
	fmt.Fprintf(stderr, "geoblock: a new connection from %v (%s): %v, by %q of the policy, by %s of the ruleset\n", a, country, does.Verdict, means.Rule, does.Rule)
	if means.Verdict == compile.Any {
		fmt.Fprintln(stderr, "geoblock: the policy says \"any\" about this address, so another layout may treat it otherwise")
	}
	if does.Verdict == compile.Pass || does.Verdict == compile.Accept {
		return exitOK
	}
	return exitBlocked
}

// complain writes the error, each of its lines marked as geoblock's.
func complain(stderr io.Writer, code int, err error) int {
	for line := range bytes.Lines([]byte(err.Error())) {
		fmt.Fprintf(stderr, "geoblock: %s\n", bytes.TrimRight(line, "\n"))
	}
	return code
}
