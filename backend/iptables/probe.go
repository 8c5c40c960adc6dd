package iptables

import (
	"context"
	"errors"
	"strings"

	"github.com/cidrc/cidrc/backend"
	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// Probe implements backend.Backend. For Default it finds out which variant the machine's is, and gives its target; that
// backend takes programs for it. It reads each family's table, which may make the kernel load it.
func (b *Backend) Probe(ctx context.Context) (compile.Target, error) {
	t := b.Target()
	variant, version, err := b.version(ctx)
	if err != nil {
		return t, b.fail("probe", "", err)
	}
	t = Target(variant)
	t.Tool = version
	t.Kernel = backend.KernelVersion()
	for _, f := range b.families {
		if _, err := b.read(ctx, f, "probe", true); err != nil {
			return t, b.fail("probe", "", err)
		}
	}
	return t, nil
}

// version asks the tool which variant it is; before 1.8 there was only one, and it does not say.
func (b *Backend) version(ctx context.Context) (Variant, string, error) {
	tool := b.variant.tool(cidr.V4, "restore")
	stdout, stderr, err := b.run.Run(ctx, nil, tool, "--version")
	if err != nil {
		return b.variant, "", classify(cidr.V4, tool, nil, stderr, err)
	}
	number := backend.ToolVersion(string(stdout))
	if number == "" {
		return b.variant, "", nil
	}
	variant := b.variant
	if variant == Default {
		variant = Legacy
		if strings.Contains(string(stdout), "(nf_tables)") {
			variant = NFT
		}
	}
	return variant, number, nil
}

// Mixed reports whether the machine has rules of the other variant as well, in any table, and which that is. Packets go
// through both, and neither shows the other's: what passes here may be dropped there. It is for warnings; nothing else in
// this package depends on it. A machine that lacks the other variant's tools counts as one without such rules.
func (b *Backend) Mixed(ctx context.Context) (other Variant, mixed bool, err error) {
	variant, _, err := b.version(ctx)
	other = Legacy
	if variant == Legacy {
		other = NFT
	}
	for _, f := range b.families {
		if err != nil {
			break
		}
		var stdout, stderr []byte
		tool := other.tool(f, "save")
		stdout, stderr, err = b.run.Run(ctx, nil, tool)
		switch {
		case errors.Is(err, backend.ErrNoTool):
			err = nil
		case err != nil:
			err = classify(f, tool, nil, stderr, err)
		}
		mixed = mixed || hasRules(string(stdout))
	}
	if err != nil {
		return other, false, b.fail("probe", "", err)
	}
	return other, mixed, nil
}

// hasRules reports whether a saved table does anything to a packet.
func hasRules(saved string) bool {
	for line := range strings.Lines(saved) {
		if strings.HasPrefix(line, "-A ") || strings.HasPrefix(line, ":") && strings.Contains(line, " DROP ") {
			return true
		}
	}
	return false
}
