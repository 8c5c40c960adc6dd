package acceptance

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/compile"
	"github.com/cidrc/cidrc/geo"
	"github.com/cidrc/cidrc/internal/testnet"
)

// policy is what a person wants, to be said twice: to the library (build), and by the twin (verdict).
type policy struct {
	name      string
	countries string          // as a person writes them
	codes     string          // the same countries, written out
	blocks    bool            // they are blocked; otherwise only they are allowed
	unlisted  compile.Verdict // zero: as usual for the kind of policy
	dropLocal bool            // local space is like any other
}

// owner is the name under which the programs live.
const owner = "countries"

// europeCodes is geography by hand, so that the tests do not take the library's word for it.
const europeCodes = "AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC " +
	"MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK"

var (
	europe = policy{name: "Europe", countries: "Europe", codes: europeCodes}
	italy  = policy{name: "Italy", countries: "IT", codes: "IT"}
)

// mainPolicies are the two that all combinations are tried with, and with -short the small one alone.
func mainPolicies() []policy {
	if testing.Short() {
		return []policy{italy}
	}
	return []policy{europe, italy}
}

func TestEuropeIsTheSame(t *testing.T) {
	var codes []string
	for _, c := range geo.MustParseSelection(europe.countries).Countries() {
		codes = append(codes, c.String())
	}
	require.Len(t, codes, 53)
	require.Equal(t, europeCodes, strings.Join(codes, " "))
}

// build says the policy to the library.
func (p policy) build(t testing.TB, db *database) compile.Policy {
	chosen, err := geo.ParseSelection(p.countries)
	require.NoError(t, err)
	make := compile.AllowOnly
	if p.blocks {
		make = compile.Block
	}
	built := make("countries", db.countries.Where(chosen.Contains), db.countries.Set())
	built.Owner = owner
	built.PassLocal = !p.dropLocal
	if p.unlisted != 0 {
		built.Default.Verdict = p.unlisted
	}
	return built
}

// program compiles the policy for the target's hook.
func (p policy) program(t testing.TB, db *database, target compile.Target, l compile.Layout, hook testnet.Hook) *compile.Program {
	built := p.build(t, db)
	point, err := compile.ParsePoint(hook.String())
	require.NoError(t, err)
	built.Hooks = []compile.Hook{{Point: point}}
	program, err := compile.Compile(t.Context(), built, target, compile.Options{Layout: l})
	require.NoError(t, err)
	require.Equal(t, l, program.Layout)
	return program
}

// verdict is the twin: what the policy does with a new connection from the address. It may be Any.
func (p policy) verdict(db *database, a netip.Addr) compile.Verdict {
	country := db.lookUp(a)
	switch {
	case !p.dropLocal && isLocal(a):
		return compile.Pass
	case country == "" && p.unlisted != 0:
		return p.unlisted
	case country == "" && p.blocks:
		return compile.Pass
	case country == "":
		return compile.Drop
	case containsCode(p.codes, country) == p.blocks:
		return compile.Drop
	}
	return compile.Pass
}

// containsCode reports whether a code is among codes that are separated by blanks.
func containsCode(codes, code string) bool { return strings.Contains(codes, code) }
