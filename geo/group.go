package geo

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Group is a named list of countries. Who belongs to it is a matter of definition and changes over time, so a Group says
// by which definition and as of which day.
type Group struct {
	Name       string    // as one writes it in a selection; case, "-" and "_" do not matter there
	Title      string    // as one writes it in a text
	Definition string    // what makes a country a member
	Source     string    // who says so
	Date       time.Time // as of which day the members are these
	Members    []Country // ascending
}

// Groups returns all groups: EU, EEA and Schengen, then the continents, by name. The continents have no country in
// common and hold every country between them, except the registry codes EU and AP, which name none.
//
// The members of EU, EEA and Schengen are states, by their own codes. Parts of a state that have codes of their own in
// ISO 3166-1, such as AX (of Finland) or GF, GP, MQ, MF, RE and YT (of France), are not counted in with it: databases
// list their networks apart, and the treaties do not treat them alike. Name them if they are meant.
func Groups() []Group {
	all := slices.Clone(loadGroups().all)
	for i := range all {
		all[i].Members = slices.Clone(all[i].Members)
	}
	return all
}

// FindGroup returns the group of that name, in either case and with or without hyphens. An unknown name is an
// *UnknownError that wraps ErrUnknownTerm.
func FindGroup(name string) (Group, error) {
	g, ok := loadGroups().find(name)
	if !ok {
		return Group{}, unknown(name, ErrUnknownTerm, nearestTerms(name))
	}
	g.Members = slices.Clone(g.Members)
	return g, nil
}

const (
	eu27 = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"
	// schengen holds no CY and IE, which are in the Union only, and holds the four of the free trade association.
	schengen = "AT BE BG CH CZ DE DK EE ES FI FR GR HR HU IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK"
)

// unions are the groups that treaties make.
func unions() []Group {
	return []Group{
		{
			Name: "EU", Title: "European Union", Date: day(2020, time.February, 1), Members: members(eu27),
			Definition: "the 27 member states, after the United Kingdom left",
			Source:     "Treaty on European Union, article 52",
		},
		{
			Name: "EEA", Title: "European Economic Area", Date: day(2020, time.February, 1),
			Members:    members(eu27 + " IS LI NO"),
			Definition: "the member states of the European Union, Iceland, Liechtenstein and Norway",
			Source:     "Agreement on the European Economic Area",
		},
		{
			Name: "Schengen", Title: "Schengen area", Date: day(2025, time.January, 1), Members: members(schengen),
			Definition: "the 29 states that have abolished checks at the borders between them, Bulgaria and Romania at all of them",
			Source:     "Council Decision (EU) 2024/3212",
		},
	}
}

// continents are the groups that geography makes, by the definition of GeoNames, which databases with a continent code
// commonly follow. Russia and Cyprus are in Europe; Turkey, the Caucasus and Kazakhstan in Asia; Egypt in Africa;
// Greenland, the Caribbean and Central America in North America; the islands around the South Pole in Antarctica.
var continents = [...]struct{ code, name, title string }{
	{"AF", "Africa", "Africa"},
	{"AN", "Antarctica", "Antarctica"},
	{"AS", "Asia", "Asia"},
	{"EU", "Europe", "Europe"},
	{"NA", "North-America", "North America"},
	{"OC", "Oceania", "Oceania"},
	{"SA", "South-America", "South America"},
}

// groupIndex is the groups and how to find them.
type groupIndex struct {
	all         []Group
	byName      map[string]int  // by folded name
	byContinent map[Country]int // by continent code, which is two letters as well
}

var loadGroups = sync.OnceValue(func() *groupIndex {
	t := &groupIndex{all: unions(), byName: map[string]int{}, byContinent: map[Country]int{}}
	for _, c := range continents {
		t.byContinent[letters(c.code)] = len(t.all)
		t.all = append(t.all, Group{
			Name: c.name, Title: c.title, Date: day(2026, time.January, 1), Members: loadCodes().continents[c.code],
			Definition: "the countries and territories with the continent code " + c.code,
			Source:     "GeoNames, country information",
		})
	}
	for i, g := range t.all {
		t.byName[fold(g.Name)] = i
	}
	return t
})

// find returns the group of a name. Hyphens may be left out or be underlines, but not be added: "EE-A" is no name.
func (t *groupIndex) find(name string) (Group, bool) {
	i, ok := t.byName[fold(name)]
	if !ok || strings.Trim(name, "-_ ") != name {
		return Group{}, false
	}
	if g := t.all[i]; strings.Contains(g.Name, "-") || !strings.ContainsAny(name, "-_ ") {
		return g, true
	}
	return Group{}, false
}

func members(codes string) []Country {
	var cs []Country
	for code := range strings.FieldsSeq(codes) {
		cs = append(cs, letters(code))
	}
	slices.Sort(cs)
	return cs
}

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}
