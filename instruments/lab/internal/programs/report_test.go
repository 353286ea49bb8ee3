package programs

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

var update = flag.Bool("update", false, "write the golden document")

// madeUp is a report of a program with a load of each kind, of so many pairs: one better, one worse
// than the aims allow, one level.
func madeUp(pairs int) Report {
	environment := result.Environment{Machine: "a machine", OS: "linux", Arch: "amd64", CPUs: 2, GoVersion: "go1.26.8", LoadAverage: [3]float64{1.5, 1, 1}, Time: "2026-11-25T17:00:00Z"}
	o := Outcome{
		Program: "fixture", Version: "v1.2.3", Commit: "abc1234", Environment: environment, Lines: Lines{3, 2},
		Before:  Tests{Passed: 10, Failures: []string{"TestFlaky"}, Again: 1, Of: 5},
		After:   Tests{Passed: 11, Again: 2, Of: 5},
		Checked: Tests{Passed: 9, Failures: []string{"TestSecret"}, Reports: 4},
	}
	p := Program{Name: "fixture", Replaced: "its pools by others", Skip: "TestPools", SkipWhy: "it wants its pools", FailWhy: "It wants a quiet machine."}
	for _, l := range []struct {
		name      string
		cpu, peak float64
		because   string
		work      string
		memory    string
	}{
		{"better", 0.5, 1, "it boxes nothing", "this is not said", "nor this"}, {"worse", 1.2, 1.3, "", "it does more", "it is larger"},
		{"level", 1.001, 1.01, "this is not said", "nor this", "nor this"}, {"undecided", 1.2, 1, "", "", ""},
	} {
		p.Loads = append(p.Loads, Load{Name: l.name, Because: l.because, Work: l.work, Memory: l.memory})
		for round := range pairs {
			for side, by := range map[string][2]float64{Original: {1, 0.5}, Linked: {1, 1}, Migrated: {l.cpu, l.peak}} {
				if side == Linked && l.name == "undecided" {
					continue // as in figures from before it was measured
				}
				if side == Original && l.name == "undecided" {
					by[1] = 1
				}
				f := map[string]float64{
					cpu: (1000 + float64(round)) * by[0], peak: 16e6 * by[1],
					allocs: 2 * by[0], bytesEach: 64, collections: 10,
				}
				if l.name == "undecided" && side == Migrated && round%3 == 0 {
					f[cpu] = 900
				}
				if l.name == "level" {
					f[p99], f[allocs] = 1e6, 0.0001
				}
				o.Rounds = append(o.Rounds, result.Round{Scenario: l.name, Contender: side, Round: round, Ops: 1000, Figures: f})
			}
		}
	}
	return Report{Command: "go run ./instruments/lab programs", Programs: []Program{p, {Name: "later", Version: "v2.0.0"}}, Outcomes: []Outcome{o}}
}

func TestDocument(t *testing.T) {
	var got bytes.Buffer
	if err := Markdown(&got, madeUp(6)); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/adoption.md"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the document differs from %s; go test -run Document -update writes it:\n%s", golden, got.String())
	}
	if strings.Contains(got.String(), "TestSecret") {
		t.Error("the document names a test that fails under checks")
	}
	var text bytes.Buffer
	if err := Text(&text, madeUp(6)); err != nil || !strings.Contains(text.String(), "fixture, worse") || strings.Contains(text.String(), "TestSecret") {
		t.Errorf("%v: the text is\n%s", err, text.String())
	}
}

// A program without figures has a reason.
func TestNotMeasured(t *testing.T) {
	r := madeUp(6)
	for _, c := range []struct {
		failed []string
		want   string
	}{{nil, "later 2.0.0 is not measured: the run was not asked for it."}, {[]string{"later"}, "later 2.0.0 is not measured: the run that was asked for it came to no end."}} {
		r.Failed = c.failed
		var got bytes.Buffer
		if err := Markdown(&got, r); err != nil || !strings.Contains(got.String(), c.want) {
			t.Errorf("%v failed: the document lacks %q (%v)", c.failed, c.want, err)
		}
	}
}

// What was found of one program takes the place of what was found of it before, and of nothing else.
func TestReplace(t *testing.T) {
	var all []Outcome
	for _, name := range []string{"zap", "dns", "fasttemplate"} {
		all = Replace(all, Outcome{Program: name, Version: "v1"})
	}
	all = Replace(all, Outcome{Program: "dns", Version: "v2"})
	var got []string
	for _, o := range all {
		got = append(got, o.Program+" "+o.Version)
	}
	if want := []string{"fasttemplate v1", "dns v2", "zap v1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A night fails for an aim that is missed, and for tests that fail with dewpond alone, in each run.
func TestFaults(t *testing.T) {
	r := madeUp(6)
	p, o := r.Programs[0], r.Outcomes[0]
	faults := o.Faults(p)
	if len(faults) != 2 || !strings.Contains(faults[0].Error(), "fixture, worse: CPU time is 1.20x") || !strings.Contains(faults[1].Error(), "fixture, worse: peak RSS is 1.30x") {
		t.Errorf("%q", faults)
	}
	if missed := o.Missed(p); len(missed) != 1 || missed[0].Name != "worse" {
		t.Errorf("%+v miss an aim", missed)
	}
	few := madeUp(5).Outcomes[0]
	if faults := few.Faults(p); faults != nil {
		t.Errorf("of five pairs: %q", faults)
	}
	o.Procs = []int{1}
	if missed := o.Missed(p); missed != nil {
		t.Errorf("at a GOMAXPROCS at which nothing was measured: %+v", missed)
	}
	o.Rounds = slices.Clone(o.Rounds)
	for i := range o.Rounds {
		o.Rounds[i].Scenario += ", GOMAXPROCS=1"
	}
	if faults := o.Faults(p); len(faults) != 2 || !strings.HasPrefix(faults[0].Error(), "fixture, worse, GOMAXPROCS=1: ") {
		t.Errorf("at a GOMAXPROCS: %q", faults)
	}
	o = r.Outcomes[0]
	o.Before.Again, o.After.Again = 0, 4
	if n := len(o.Faults(p)); n != 2 {
		t.Errorf("%d faults where a test fails in 4 runs of 5", n)
	}
	o.After.Again = 5
	if n := len(o.Faults(p)); n != 3 {
		t.Errorf("%d faults where a test fails with dewpond alone", n)
	}
	o.Before.Again = 1
	if n := len(o.Faults(p)); n != 2 {
		t.Errorf("%d faults where a test fails without dewpond too", n)
	}
	o.Checked.Reports = 7
	if n := len(o.Faults(p)); n != 2 {
		t.Errorf("%d faults where checked mode reports misuse of a program that may have some", n)
	}
	p.Clean = true
	if faults := o.Faults(p); len(faults) != 3 || !strings.Contains(faults[2].Error(), "have 7 reports") {
		t.Errorf("where checked mode reports misuse of a program that has none: %q", faults)
	}
}

// Each load runs at each value of GOMAXPROCS, and its name says at which.
func TestAt(t *testing.T) {
	p := Program{Loads: []Load{{Name: "a", Ops: 3}, {Name: "b"}}}
	if same := p.At(nil); len(same.Loads) != 2 || same.Loads[0] != p.Loads[0] {
		t.Errorf("%+v", same.Loads)
	}
	at := p.At([]int{2, 8}).Loads
	if want := (Load{Name: "a, GOMAXPROCS=8", Ops: 3, Procs: 8}); len(at) != 4 || at[2] != want || p.Loads[0].Procs != 0 {
		t.Errorf("%+v", at)
	}
}

func TestFind(t *testing.T) {
	if found, err := Find(All(), []string{"zap", "dns"}); err != nil || len(found) != 2 || found[0].Name != "dns" {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := Find(All(), nil); err != nil || len(found) != len(All()) {
		t.Errorf("%d programs, %v", len(found), err)
	}
	if _, err := Find(All(), []string{"zip"}); err == nil || !strings.Contains(err.Error(), "the programs are fasttemplate, ") {
		t.Errorf("of a name that none has: %v", err)
	}
	if _, err := Find(All(), []string{"bytebufferpool"}); err == nil {
		t.Error("a program without loads is measured")
	}
	found, err := Find(Tested(), []string{"dns", "bytebufferpool"})
	if err != nil || len(found) != 2 || found[0].Loads != nil || len(all[2].Loads) == 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
