package programs

import (
	"fmt"
	"slices"
	"strings"
)

// A Program is a public module, how it is edited and what is measured of it.
type Program struct {
	Name            string // what a report calls it
	Module, Version string
	Replaced        string // which pools are replaced, and by what
	Edits           []Edit

	Packages []string // whose tests run, as directories of the module
	Tests    string   // which tests run, as go test's -run has them; empty: all
	Skip     string   // a test that does not, by its name
	SkipWhy  string   // what the test wants that no edit can give it
	FailWhy  string   // why tests fail of either side, if they do
	Clean    bool     // checked mode must report nothing
	Loads    []Load
	Procs    []int // values of GOMAXPROCS at which each load runs; empty: as many as there are processors
}

// A Load is what both variants of a program do in each round.
type Load struct {
	Name    string // what it does, in a few words; the key of the load's file
	Package string // a directory of the module, for whose tests the load is a file
	As      string // the name of the test's package
	File    string // in _loads
	Ops     int    // in a round
	Because string // what makes it better, if it is
	Work    string // what makes its CPU time worse, if it is
	Memory  string // what makes its memory worse, if it is
	Procs   int    // its GOMAXPROCS; 0: as many as there are processors
}

// The sides of a comparison.
const (
	Original = "original"
	Linked   = "linked" // as the original, with dewpond linked and one pool made, which the program does not use
	Migrated = "dewpond"
)

// At returns the program with each of its loads once for each value of GOMAXPROCS, which is in its name then. None
// leaves the program as it is.
func (p Program) At(procs []int) Program {
	if len(procs) == 0 {
		return p
	}
	var all []Load
	for _, n := range procs {
		for _, l := range p.Loads {
			l.Name, l.Procs = fmt.Sprintf("%s, GOMAXPROCS=%d", l.Name, n), n
			all = append(all, l)
		}
	}
	p.Loads = all
	return p
}

// All returns the programs, in the order of the report.
func All() []Program { return all }

// Tested returns all programs, and those whose tests alone are of use, without their loads.
func Tested() []Program {
	var tests []Program
	for _, p := range slices.Concat(all, testedOnly) {
		p.Loads = nil
		tests = append(tests, p)
	}
	return tests
}

// Find returns those of the programs that have these names, or all if there are no names.
func Find(of []Program, names []string) ([]Program, error) {
	if len(names) == 0 {
		return of, nil
	}
	var found []Program
	var known []string
	for _, p := range of {
		known = append(known, p.Name)
		if slices.Contains(names, p.Name) {
			found = append(found, p)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no program %q: the programs are %s", name, strings.Join(known, ", "))
		}
	}
	return found, nil
}
