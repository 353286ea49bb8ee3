package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestShares holds the committed table to what docs/poolvet.md says of it.
func TestShares(t *testing.T) {
	file, err := os.Open("results.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	type share struct{ seeded, found int }
	shares := map[string]*share{"all": {}, "variable": {}, "field": {}}
	modules := map[string]bool{}
	for s := bufio.NewScanner(file); s.Scan(); {
		f := strings.Split(s.Text(), "\t")
		if len(f) != 7 || f[0] == "module" {
			continue
		}
		seeded, err1 := strconv.Atoi(f[4])
		found, err2 := strconv.Atoi(f[5])
		if err1 != nil || err2 != nil || found > seeded || shares[f[3]] == nil {
			t.Fatalf("%q is no line of results", s.Text())
		}
		if found < seeded && f[6] == "-" {
			t.Errorf("%q does not say what was missed", s.Text())
		}
		modules[f[0]] = true
		for _, k := range []string{"all", f[3]} {
			shares[k].seeded += seeded
			shares[k].found += found
		}
	}
	if len(modules) < 3 {
		t.Errorf("%d modules, want three", len(modules))
	}
	for k, percent := range map[string]int{"all": 90, "variable": 95, "field": 80} {
		if s := shares[k]; s.seeded == 0 || 100*s.found < percent*s.seeded {
			t.Errorf("%s: %d of %d found, want %d %%", k, s.found, s.seeded, percent)
		}
	}
}
