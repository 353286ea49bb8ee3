package main

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/poolvet"
	"github.com/dewpond/dewpond/poolvet/internal/driver"
	"github.com/dewpond/dewpond/poolvet/internal/others"
	"golang.org/x/tools/go/analysis"
)

// A loss is a function that was reported to lose pooled objects, in a version that does. The report
// is public, as all of the row is. found says whether missingput finds one there, and where it does
// not, why says what hides it.
type loss struct{ module, version, packages, file, function, report, found, why string }

// known looks for each loss and compares with the committed table.
func known(dir, only string, update, tell bool) (same bool, err error) {
	name := filepath.Join(dir, "known.tsv")
	table, err := readLosses(name)
	if err != nil {
		return false, err
	}
	if err := poolvet.MissingPut.Flags.Set("sync", "true"); err != nil {
		return false, err
	}
	same = true
	for _, l := range table {
		first := slices.IndexFunc(table, func(m loss) bool { return m.module == l.module && m.version == l.version && m.packages == l.packages })
		if !strings.Contains(l.module, only) || table[first] != l {
			continue // another row has had it looked at
		}
		at, err := lost(l, tell)
		if err != nil {
			fmt.Printf("%s %s: %v\n", l.module, l.version, err)
			same = false
			continue
		}
		for i := range table {
			m := &table[i]
			if m.module != l.module || m.version != l.version || m.packages != l.packages {
				continue
			}
			found := "no"
			if at[m.file+" "+m.function] {
				found = "yes"
			}
			if m.found != found {
				fmt.Printf("%s %s: %s: found: %s, in the table: %s\n", m.module, m.version, m.function, found, m.found)
				m.found, same = found, false
			}
		}
	}
	n := 0
	for _, l := range table {
		if l.found == "yes" {
			n++
		}
	}
	fmt.Printf("%d of %d are found\n", n, len(table))
	if !update {
		return same, nil
	}
	var rows [][]string
	for _, l := range table {
		rows = append(rows, []string{l.module, l.version, l.packages, l.file, l.function, l.report, l.found, l.why})
	}
	return true, losses.write(name, rows)
}

// lost is the functions of some packages in which missingput finds something, each with its file.
func lost(l loss, tell bool) (map[string]bool, error) {
	m, err := others.Fetch(l.module, l.version, l.packages)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	found, pkgs, err := driver.Run(driver.Config{Syntax: true, Dir: m.Dir, Patterns: m.Packages, Env: m.Env}, []*analysis.Analyzer{poolvet.MissingPut})
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s does not compile here: %w", p.Path, p.Errors[0])
		}
	}
	at := map[string]bool{}
	for _, f := range found {
		file, _, _ := strings.Cut(m.Place(f.Position.Filename, f.Position.Line, f.Position.Column), ":")
		for _, p := range pkgs {
			for _, syntax := range p.Files {
				for _, d := range syntax.Decls {
					if fn, ok := d.(*ast.FuncDecl); ok && fn.Pos() <= f.Diagnostic.Pos && f.Diagnostic.Pos <= fn.End() {
						at[file+" "+functionName(fn)] = true
						if tell {
							fmt.Printf("  %s:%d: %s: %s\n", file, f.Position.Line, functionName(fn), f.Diagnostic.Message)
						}
					}
				}
			}
		}
	}
	return at, nil
}

// functionName is a function's name, with its receiver's type before it if it is a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

func readLosses(name string) (all []loss, err error) {
	rows, err := losses.read(name)
	for _, c := range rows {
		all = append(all, loss{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]})
	}
	return all, err
}
