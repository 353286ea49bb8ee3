// Command seeds puts misuse into modules of others, and counts how much of it poolvet finds.
//
//	go run ./internal/seeds              compare with the committed table, in poolvet/
//	go run ./internal/seeds -update      write the table anew
//	go run ./internal/seeds -only gin    some modules
//
// Of each package it looks at one copy for each kind of seed, or at one for each seed where those
// do not compile together.
//
// Behind each explicit Put it puts a use of what was put back, and a second Put. Under each
// deferred Put it puts a return of what will be put back, or a store to a package variable if
// the function returns nothing of that type. What poolvet reports on that line alone counts.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/poolvet"
	"github.com/dewpond/dewpond/poolvet/internal/driver"
	"github.com/dewpond/dewpond/poolvet/internal/flow"
	"github.com/dewpond/dewpond/poolvet/internal/others"
	"golang.org/x/tools/go/ast/astutil"
)

func main() {
	update := flag.Bool("update", false, "write results.tsv anew")
	only := flag.String("only", "", "seed modules alone whose path contains this")
	dir := flag.String("dir", "internal/seeds", "where modules.txt and results.tsv are")
	flag.Parse()
	same, err := run(*dir, *only, *update)
	if err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(2)
	}
	if !same {
		os.Exit(1)
	}
}

// A group is what the table has one line for.
type group struct {
	module, version string
	seed            string // use, second or return
	argument        string // variable, field or other
}

type count struct {
	seeded, found int
	missed        []string // places
}

func run(dir, only string, update bool) (same bool, err error) {
	modules, err := others.Lines(filepath.Join(dir, "modules.txt"))
	if err != nil {
		return false, err
	}
	var table bytes.Buffer
	table.WriteString("module\tversion\tseed\targument\tseeded\tfound\tmissed\n")
	old, err := os.ReadFile(filepath.Join(dir, "results.tsv"))
	if err != nil && !os.IsNotExist(err) {
		return false, err
	}
	for _, m := range modules {
		if !strings.Contains(m[0], only) {
			for line := range strings.Lines(string(old)) {
				if strings.HasPrefix(line, m[0]+"\t") {
					table.WriteString(line)
				}
			}
			continue
		}
		counts := map[group]*count{}
		if err := seedModule(m[0], m[1], m[2:], counts); err != nil {
			return false, fmt.Errorf("%s: %w", m[0], err)
		}
		for _, g := range slices.SortedFunc(maps.Keys(counts), func(x, y group) int {
			return cmp.Or(cmp.Compare(x.seed, y.seed), cmp.Compare(x.argument, y.argument))
		}) {
			c := counts[g]
			missed := "-"
			if len(c.missed) > 0 {
				missed = strings.Join(c.missed, " ")
			}
			line := fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\t%s\n", g.module, g.version, g.seed, g.argument, c.seeded, c.found, missed)
			fmt.Print(line)
			table.WriteString(line)
		}
	}
	if update {
		return true, os.WriteFile(filepath.Join(dir, "results.tsv"), table.Bytes(), 0o644)
	}
	if !bytes.Equal(table.Bytes(), old) {
		fmt.Println("the results are not those of results.tsv")
		return false, nil
	}
	return true, nil
}

func seedModule(path, version string, patterns []string, counts map[group]*count) error {
	m, err := others.Fetch(path, version, patterns...)
	if err != nil {
		return err
	}
	defer m.Close()
	_, pkgs, err := driver.Run(driver.Config{Syntax: true, Dir: m.Dir, Patterns: m.Packages, Shallow: true, Env: m.Env}, poolvet.Analyzers())
	if err != nil {
		return err
	}
	for _, p := range pkgs {
		if p.Result == nil {
			continue
		}
		kinds := map[string][]seed{}
		seen := map[token.Pos]bool{}
		for _, put := range p.Result.Puts {
			if seen[put.Pos] {
				continue // one call that puts back two things
			}
			seen[put.Pos] = true
			for _, s := range seedsAt(p, put) {
				at := p.Fset.Position(put.Pos)
				s.place = m.Place(at.Filename, at.Line, at.Column)
				kinds[s.kind] = append(kinds[s.kind], s)
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			if err := sow(p, kinds[kind], group{module: path, version: version}, counts); err != nil {
				return err
			}
		}
	}
	return nil
}

// sow looks at a package with seeds of one kind, and counts them.
func sow(p *driver.Package, seeds []seed, g group, counts map[group]*count) error {
	found, ok, err := look(p, seeds)
	if err != nil {
		return err
	}
	if !ok && len(seeds) > 1 {
		for _, s := range seeds {
			if err := sow(p, []seed{s}, g, counts); err != nil {
				return err
			}
		}
		return nil
	}
	for _, s := range seeds {
		if !ok {
			fmt.Printf("  %s %s: the seed does not compile\n", s.place, s.kind)
			continue
		}
		g.seed, g.argument = s.kind, s.argument
		if counts[g] == nil {
			counts[g] = &count{}
		}
		counts[g].seeded++
		if found[s.at.Filename][s.at.Line] {
			counts[g].found++
		} else {
			counts[g].missed = append(counts[g].missed, s.place)
		}
	}
	return nil
}

// A seed is one change of one file.
type seed struct {
	kind, argument string
	at             token.Position // the code goes in here, on the line that it ends
	code           string
	kept           string // the package variable that the code stores to
	place          string // of the Put
}

// look is the lines on which poolvet reports misuse of a Put in the package with seeds in it; ok is
// false if that does not compile.
func look(p *driver.Package, seeds []seed) (found map[string]map[int]bool, ok bool, err error) {
	files := map[string][]seed{}
	for _, s := range seeds {
		files[s.at.Filename] = append(files[s.at.Filename], s)
	}
	texts := map[string][]byte{}
	for name, in := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, false, err
		}
		slices.SortFunc(in, func(x, y seed) int { return y.at.Offset - x.at.Offset })
		for _, s := range in {
			text = slices.Concat(text[:s.at.Offset], []byte(s.code), text[s.at.Offset:])
			if s.kept != "" {
				text = fmt.Appendf(text, "\nvar %s any\n", s.kept)
			}
		}
		if len(texts) == 0 {
			text = append(text, "\nvar poolvetSeeded bool\n"...)
		}
		texts[name] = text
	}
	q := p.With(texts)
	if q.Result == nil {
		return nil, false, nil
	}
	all, err := q.Findings(poolvet.Analyzers())
	found = map[string]map[int]bool{}
	for _, f := range all {
		switch f.Check {
		case "useafterput", "doubleput", "returnput":
			if found[f.Position.Filename] == nil {
				found[f.Position.Filename] = map[int]bool{}
			}
			found[f.Position.Filename][f.Position.Line] = true
		}
	}
	return found, true, err
}

// seedsAt makes the seeds for one Put: none if it is no statement of its own, or if what it puts
// back is no variable and no field.
func seedsAt(p *driver.Package, put flow.Put) []seed {
	if put.What == "the object" {
		return nil
	}
	i := slices.IndexFunc(p.Files, func(f *ast.File) bool { return f.FileStart <= put.Pos && put.Pos < f.FileEnd })
	path, _ := astutil.PathEnclosingInterval(p.Files[i], put.Pos, put.Pos)
	at := slices.IndexFunc(path, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.ExprStmt:
			c, ok := ast.Unparen(s.X).(*ast.CallExpr)
			return ok && c.Lparen == put.Pos
		case *ast.DeferStmt:
			return s.Defer == put.Pos
		}
		return false
	})
	if at < 0 {
		return nil
	}
	if _, inList := path[at+1].(*ast.IfStmt); inList {
		return nil // the statement before a condition
	}
	stmt := path[at]
	x, err := types.Eval(p.Fset, p.Types, put.Pos, put.What)
	if err != nil || x.Type == nil {
		return nil
	}
	s := seed{kind: "use", argument: "variable", at: p.Fset.Position(stmt.End())}
	if strings.Contains(put.What, ".") {
		s.argument = "field"
	}
	if put.Deferred {
		s.kind, s.code = "return", returns(p, path[at:], put.What, x.Type)
		if s.code == "" {
			s.kept = fmt.Sprintf("poolvetKept%d", put.Pos) // its own: one that is stored to twice may be lent
			s.code = "; " + s.kept + " = " + put.What
		}
		return []seed{s}
	}
	uses := s
	switch t := x.Type.Underlying().(type) {
	case *types.Pointer:
		uses.code = "; _ = *" + put.What
		if _, boxed := t.Elem().Underlying().(*types.Slice); boxed {
			uses.code = "; _ = (*" + put.What + ")[0]"
		}
	case *types.Slice:
		uses.code = "; _ = " + put.What + "[0]"
	case *types.Interface:
		uses.code = "; println(" + put.What + ")"
	default:
		return nil
	}
	second := s
	second.kind = "second"
	second.code = "; " + text(p, stmt)
	return []seed{uses, second}
}

// text is a node as it is in its file.
func text(p *driver.Package, n ast.Node) string {
	from, to := p.Fset.Position(n.Pos()), p.Fset.Position(n.End())
	src, err := os.ReadFile(from.Filename)
	if err != nil {
		return ""
	}
	return string(src[from.Offset:to.Offset])
}

// returns is code that returns what a deferred Put puts back, if the function has a result for it.
func returns(p *driver.Package, path []ast.Node, what string, t types.Type) string {
	var results *ast.FieldList
	for _, n := range path[1:] {
		if f, ok := n.(*ast.FuncLit); ok {
			results = f.Type.Results
			break
		}
		if f, ok := n.(*ast.FuncDecl); ok {
			results = f.Type.Results
			break
		}
	}
	var values []string
	given := false
	var fields []*ast.Field
	if results != nil {
		fields = results.List
	}
	for _, f := range fields {
		for range max(1, len(f.Names)) {
			r := p.Info.TypeOf(f.Type)
			switch {
			case !given && types.Identical(r, t):
				values, given = append(values, what), true
			case !given && r.String() == "[]byte" && t.String() == "*bytes.Buffer":
				values, given = append(values, what+".Bytes()"), true
			default:
				values = append(values, "*new("+text(p, f.Type)+")")
			}
		}
	}
	if !given {
		return ""
	}
	return "; if poolvetSeeded { return " + strings.Join(values, ", ") + " }"
}
