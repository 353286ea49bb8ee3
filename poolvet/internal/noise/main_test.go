package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/poolvet/internal/others"
)

func TestMergeKeepsVerdicts(t *testing.T) {
	known := []row{
		{"m", "v1", "a.go:1:1", "doubleput", "right", "it is"},
		{"m", "v1", withheld, "useafterput", "right", withheld},
		{"m", "v1", "b.go:2:2", "doubleput", "wrong", "not so"},
	}
	found := []row{
		{"m", "v1", "a.go:1:1", "doubleput", "", ""},
		{"m", "v1", "secret.go:9:9", "useafterput", "", ""},
		{"m", "v1", "c.go:3:3", "unfit", "", ""},
	}
	merged, news, gone := merge(known, found)
	if len(news) != 1 || news[0].place != "c.go:3:3" || len(gone) != 1 || gone[0].place != "b.go:2:2" {
		t.Errorf("new %v, gone %v", news, gone)
	}
	if slices.ContainsFunc(merged, func(r row) bool { return r.place == "secret.go:9:9" }) {
		t.Error("what is withheld has its place in the table")
	}
	if merged[0].verdict != "right" || merged[0].why != "it is" {
		t.Errorf("%v has lost its verdict", merged[0])
	}
}

// A line that is no row is an error, for the next -update would drop it. What is written is what was read.
func TestTables(t *testing.T) {
	name := filepath.Join(t.TempDir(), "table.tsv")
	two := table{[]string{"a", "b"}}
	for text, want := range map[string]string{
		"a\tb\n1\t2\n3\t4\n": "", "a\tb\n": "", "a\tb\n1\n": `"1" has not`, "a\tb\n1\t2\t3\n": `"1\t2\t3" has not`, "a\tb\n\n": `"" has not`,
		"a\tc\n1\t2\n": "the first line", "1\t2\n": "the first line",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := two.read(name)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q is read as %q (%v), want an error with %s", text, rows, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if err := two.write(name, rows); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(name); err != nil || string(again) != text {
			t.Errorf("%q is written as %q (%v)", text, again, err)
		}
	}
	if _, err := two.read(name + ".none"); !os.IsNotExist(err) {
		t.Errorf("a table that is not there: %v", err)
	}
}

func TestTheTableIsJudged(t *testing.T) {
	rows, err := readFindings("findings.tsv")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := others.Lines("modules.txt")
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	asked := map[string]int{} // the findings on request, by verdict
	for _, r := range rows {
		if r.verdict != "right" && r.verdict != "wrong" || r.why == "" || r.why == "?" {
			t.Errorf("%s %s: %s %s has no verdict with a reason", r.module, r.version, r.place, r.check)
		}
		if r.check == onRequest {
			asked[r.verdict]++
		} else if r.verdict == "wrong" {
			wrong++
		}
		if !slices.ContainsFunc(modules, func(m []string) bool { return m[0] == r.module && m[1] == r.version }) {
			t.Errorf("%s %s is not in modules.txt", r.module, r.version)
		}
	}
	if wrong > 3 {
		t.Errorf("%d findings are wrong, and 3 may be", wrong)
	}
	if right, all := asked["right"], asked["right"]+asked["wrong"]; all == 0 || 10*right < 7*all {
		t.Errorf("%d of %d findings of %s are right, and 7 of 10 are to be", right, all, onRequest)
	}
}

// TestKnownLosses holds the list of lost objects to what docs/poolvet.md says of it: go run
// ./internal/noise -known looks for each of them again.
func TestKnownLosses(t *testing.T) {
	losses, err := readLosses("known.tsv")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	seen := map[[4]string]bool{}
	for _, l := range losses {
		if at := [4]string{l.module, l.version, l.file, l.function}; seen[at] {
			t.Errorf("%v is there twice", at)
		} else {
			seen[at] = true
		}
		if !strings.HasPrefix(l.report, "https://") {
			t.Errorf("%s %s: %q is no public report", l.module, l.function, l.report)
		}
		switch {
		case l.found == "yes" && l.why == "-":
			found++
		case l.found == "no" && len(l.why) > 1:
		default:
			t.Errorf("%s %s: found %q, because %q", l.module, l.function, l.found, l.why)
		}
	}
	if len(losses) < 15 || 15*found < 8*len(losses) {
		t.Errorf("%d of %d known losses are found, and 8 of 15 are to be", found, len(losses))
	}
}
