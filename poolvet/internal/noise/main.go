// Command noise runs poolvet's checks over modules of others at fixed versions, without their
// tests, and compares what they find with the committed table.
//
//	go run ./internal/noise              compare, in poolvet/
//	go run ./internal/noise -update      write the findings anew; verdicts and reasons stay
//	go run ./internal/noise -only resty  some modules
//	go run ./internal/noise -known       instead, of the lost objects that known.tsv lists, which missingput finds
//
// The modules come from the module proxy. findings.tsv has a line for each finding: module,
// version, place, check, right or wrong, why. What is wrong in a module's newest release and is
// not public has no place and no reason there: it is withheld.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/poolvet"
	"github.com/dewpond/dewpond/poolvet/internal/driver"
	"github.com/dewpond/dewpond/poolvet/internal/others"
)

const withheld = "withheld"

// A row is one finding, and what people say of it.
type row struct {
	module, version, place, check, verdict, why string
}

func main() {
	update := flag.Bool("update", false, "write findings.tsv anew")
	only := flag.String("only", "", "look at modules alone whose path contains this")
	tell := flag.Bool("v", false, "write what is found: do not show others what is withheld")
	lost := flag.Bool("known", false, "look for what is known to be lost, in known.tsv, instead")
	dir := flag.String("dir", "internal/noise", "where modules.txt and findings.tsv are")
	flag.Parse()
	do := run
	if *lost {
		do = known
	}
	ok, err := do(*dir, *only, *update, *tell)
	if err != nil {
		fmt.Fprintln(os.Stderr, "noise:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(dir, only string, update, tell bool) (same bool, err error) {
	modules, err := others.Lines(filepath.Join(dir, "modules.txt"))
	if err != nil {
		return false, err
	}
	table, err := readFindings(filepath.Join(dir, "findings.tsv"))
	if err != nil && !os.IsNotExist(err) {
		return false, err
	}
	if err := poolvet.MissingPut.Flags.Set("sync", "true"); err != nil {
		return false, err
	}
	same = true
	var now []row
	for _, m := range modules {
		known := slices.DeleteFunc(slices.Clone(table), func(r row) bool { return r.module != m[0] || r.version != m[1] })
		if !strings.Contains(m[0], only) {
			now = append(now, known...)
			continue
		}
		found, err := look(m[0], m[1], m[2:], tell)
		if err != nil {
			fmt.Printf("%s %s: %v\n", m[0], m[1], err)
			now, same = append(now, known...), false
			continue
		}
		merged, news, gone := merge(known, found)
		fmt.Printf("  %d findings, %d new, %d gone\n", len(found), len(news), len(gone))
		for _, r := range news {
			fmt.Printf("  new: %s %s\n", r.place, r.check)
		}
		for _, r := range gone {
			fmt.Printf("  gone: %s %s\n", r.place, r.check)
		}
		same = same && len(news)+len(gone) == 0
		now = append(now, merged...)
	}
	if update {
		var rows [][]string
		for _, r := range now {
			rows = append(rows, []string{r.module, r.version, r.place, r.check, r.verdict, r.why})
		}
		return true, findings.write(filepath.Join(dir, "findings.tsv"), rows)
	}
	return same, nil
}

// merge gives each finding its verdict of before. A withheld row stands for one finding of its
// check that has no row of its own.
func merge(known, found []row) (merged, news, gone []row) {
	left := slices.Clone(known)
	var open []row
	for _, f := range found {
		if i := slices.IndexFunc(left, func(r row) bool { return r.place == f.place && r.check == f.check }); i >= 0 {
			merged, left = append(merged, left[i]), slices.Delete(left, i, i+1)
		} else {
			open = append(open, f)
		}
	}
	for _, f := range open {
		if i := slices.IndexFunc(left, func(r row) bool { return r.place == withheld && r.check == f.check }); i >= 0 {
			merged, left = append(merged, left[i]), slices.Delete(left, i, i+1)
		} else {
			f.verdict, f.why = "?", "?"
			news, merged = append(news, f), append(merged, f)
		}
	}
	return merged, news, left
}

// onRequest is how the table names missingput of sync.Pool, which is off unless it is asked for.
const onRequest = "missingput.sync"

// look fetches a module and runs the checks over the packages that are named, or over all.
func look(module, version string, patterns []string, tell bool) ([]row, error) {
	m, err := others.Fetch(module, version, patterns...)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	found, pkgs, err := driver.Run(driver.Config{Dir: m.Dir, Patterns: m.Packages, Shallow: true, Env: m.Env}, poolvet.Analyzers())
	if err != nil {
		return nil, err
	}
	puts := 0
	for _, p := range pkgs {
		if p.Result != nil {
			puts += len(p.Result.Puts)
		}
		if len(p.Errors) > 0 {
			fmt.Printf("  %s does not compile here, and is left out: %v\n", p.Path, p.Errors[0])
		}
	}
	fmt.Printf("%s %s: %d packages, %d Puts\n", module, version, len(pkgs), puts)
	var rows []row
	for _, f := range found {
		place := m.Place(f.Position.Filename, f.Position.Line, f.Position.Column)
		if strings.HasPrefix(place, "..") {
			continue
		}
		if tell {
			fmt.Printf("  %s: %s\n", place, f.Diagnostic.Message)
		}
		rows = append(rows, row{module: module, version: version, place: place, check: f.Diagnostic.Category})
	}
	return rows, nil
}

func readFindings(name string) (all []row, err error) {
	rows, err := findings.read(name)
	for _, c := range rows {
		all = append(all, row{c[0], c[1], c[2], c[3], c[4], c[5]})
	}
	return all, err
}
