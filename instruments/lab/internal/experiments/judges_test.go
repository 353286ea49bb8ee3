package experiments

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// figures are made up: by case and name.
type figures = map[string]map[string]float64

// judges hands a claim's judge figures that are made up, and wants a verdict. It wants too that
// without any figures there is none.
func judges(t *testing.T, claim string, noise float64, made figures, want experiment.Verdict) {
	t.Helper()
	judgesBy(t, claim, claimOf(t, claim).Judge, noise, made, want)
}

// judgesBy does the same with the claim's judge for other published numbers: where those of the
// publication contradict each other, no figures can confirm them.
func judgesBy(t *testing.T, claim string, judge func(experiment.Measured) experiment.Finding, noise float64, made figures, want experiment.Verdict) {
	t.Helper()
	judged[claim] = append(judged[claim], want)
	f := judge(experiment.MadeUp(noise, made))
	if f.Verdict != want {
		t.Errorf("%s of %v with noise %v is %q (%s), want %q", claim, made, noise, f.Verdict, f.Why, want)
	}
	if f.Why == "" || f.Do == "" || f.Measured == "" || f.Control == "" {
		t.Errorf("%s says too little: %+v", claim, f)
	}
	if f := judge(experiment.Measured{}); f.Verdict != experiment.CannotTell {
		t.Errorf("%s of nothing is %q", claim, f.Verdict)
	}
}

// judged are the verdicts that tests have wanted, by claim.
var judged = map[string][]experiment.Verdict{}

// TestMain runs the tests, and fails if one of all claims has a judge that was not seen to
// confirm, and to refuse: such a judge would say the same of anything.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			os.Exit(code) // not all tests have run
		}
	}
	for _, e := range All() {
		for _, c := range e.Claims {
			if !slices.Contains(judged[c.ID], experiment.Reproduced) {
				fmt.Printf("no test has the judge of %s confirm it\n", c.ID)
				code = 1
			}
			if !slices.Contains(judged[c.ID], experiment.NotReproduced) && !slices.Contains(judged[c.ID], experiment.Impossible) {
				fmt.Printf("no test has the judge of %s refuse it\n", c.ID)
				code = 1
			}
		}
	}
	os.Exit(code)
}

func claimOf(t *testing.T, id string) experiment.Claim {
	t.Helper()
	for _, e := range All() {
		for _, c := range e.Claims {
			if c.ID == id {
				return c
			}
		}
	}
	t.Fatalf("there is no claim %s", id)
	return experiment.Claim{}
}

func TestIdentifiers(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		for _, c := range e.Claims {
			if seen[c.ID] || !strings.HasPrefix(c.ID, e.ID+"/") {
				t.Errorf("the claim %s of %s: its name must be its own, and begin with that of its experiment", c.ID, e.ID)
			}
			seen[c.ID] = true
			if p := c.Publication; p.Title == "" || p.Address == "" && p.Translation == "" && p != experiment.Folklore {
				t.Errorf("the publication of %s has a title, and an address or a translation: %+v", c.ID, p)
			}
		}
		if e.Question == "" || len(e.Claims) == 0 || len(e.Cases) == 0 || len(e.Plots) == 0 {
			t.Errorf("%s has no question, claim, case or plot", e.ID)
		}
	}
	if _, err := Find([]string{"hit-rate", "nothing"}); err == nil || !strings.Contains(err.Error(), "nothing") || !strings.Contains(err.Error(), "hit-rate") {
		t.Errorf("the error of an unknown name is %v", err)
	}
}
