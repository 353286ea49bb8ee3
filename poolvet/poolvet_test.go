package poolvet_test

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/dewpond/dewpond/poolvet"
	"github.com/dewpond/dewpond/poolvet/missingput"
)

// all reports what every check does, so that what one check takes for right is held to be
// right by the others too.
var all = func() *analysis.Analyzer {
	checks := poolvet.Analyzers()
	a := &analysis.Analyzer{Name: "all", Doc: "every check", Requires: checks[0].Requires}
	a.Run = func(pass *analysis.Pass) (any, error) {
		for _, c := range checks {
			if _, err := c.Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return a
}()

func TestChecks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the go command")
	}
	if err := missingput.Analyzer.Flags.Set("sync", "true"); err != nil {
		t.Fatal(err)
	}
	analysistest.Run(t, analysistest.TestData(), all, "./src/...")
}

func TestAnalyzersAreValid(t *testing.T) {
	checks := poolvet.Analyzers()
	if err := analysis.Validate(checks); err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if c.URL == "" {
			t.Errorf("%s has no URL", c.Name)
		}
	}
}
