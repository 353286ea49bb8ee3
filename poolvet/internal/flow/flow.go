// Package flow follows what is put into pools along the ways through each function, and
// finds what poolvet's checks report. The checks' own packages only name and document them.
//
// It works on the SSA form of one package at a time. [Summary] is what it knows of a
// function, as a fact, so that wrappers of Get and Put are known in other packages.
// A walk (walk.go) starts behind a Put with the values and places that have the object
// (memory.go), and follows each edge of the flow graph with what is known of conditions.
package flow

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Analyzer finds everything, and reports nothing: see [Check].
var Analyzer = &analysis.Analyzer{
	Name:       "poolflow",
	Doc:        "follow pooled objects along the ways through each function",
	URL:        URL,
	Run:        run,
	FactTypes:  []analysis.Fact{(*Summary)(nil)},
	ResultType: reflect.TypeFor[*Result](),
}

// URL is where the checks are documented.
const URL = "https://github.com/dewpond/dewpond/blob/main/docs/poolvet.md"

// More is what the flag -pools has.
var More = Pools{}

// OfSync is behind a check's name in the findings that it makes on request: of sync.Pool.
const OfSync = ".sync"

// A Result has the findings of all checks.
type Result struct {
	Findings []Finding
	Puts     []Put
	GivenUp  []string // functions that were not looked at, or not to the end, and why
}

// A Put is a call that puts something back.
type Put struct {
	Pos      token.Pos // of the call's left parenthesis, or of defer
	What     string    // as it is written, or "the object"
	Deferred bool
}

// A Finding is what one check reports.
type Finding struct {
	Check   string
	Pos     token.Pos
	Message string
	Fix     *analysis.SuggestedFix
}

// Check returns the analyzer that reports the findings of one check.
func Check(name, doc string) *analysis.Analyzer {
	c := &analysis.Analyzer{
		Name:     name,
		Doc:      doc,
		URL:      URL + "#" + name,
		Requires: []*analysis.Analyzer{Analyzer},
	}
	c.Run = func(pass *analysis.Pass) (any, error) {
		for _, f := range pass.ResultOf[Analyzer].(*Result).Findings {
			sync := c.Flags.Lookup("sync")
			if f.Check != name && !(f.Check == name+OfSync && sync != nil && sync.Value.String() == "true") {
				continue
			}
			d := analysis.Diagnostic{Pos: f.Pos, Category: f.Check, Message: f.Message, URL: c.URL}
			if f.Fix != nil {
				d.SuggestedFixes = []analysis.SuggestedFix{*f.Fix}
			}
			pass.Report(d)
		}
		return nil, nil
	}
	return c
}

// A flowPass looks at one package. What it knows is in types with a job each, which know each other only as far as they embed
// each other; the checks are its own methods.
type flowPass struct {
	*reporter
	*syntax
	*graph
	*calls
	*fieldUses
	*walker
	pass     *analysis.Pass
	pkg      *ssa.Package
	notes    map[types.Object]*Summary
	noResets map[types.Object]bool // the pools of dewpond that hand out what the last owner has left
}

// A reporter collects the findings.
type reporter struct {
	pass   *analysis.Pass
	seen   map[Finding]bool
	result *Result
}

// syntax is the package as it is written.
type syntax struct {
	pass  *analysis.Pass
	nodes map[token.Pos]ast.Node  // calls by their left parenthesis, defers by their keyword
	ends  map[token.Pos]token.Pos // closing braces of functions, by where SSA has the function
	names map[token.Pos]string    // variables by the parenthesis or brace of the call or literal that is assigned to them
}

// graph is where control goes in a function, and which of its variables others have.
type graph struct {
	conds   map[*ssa.Function]map[string]bool
	sharing map[*ssa.Alloc]sharing
	onward  map[*ssa.BasicBlock]map[*ssa.BasicBlock]bool
}

// calls is what is known of functions: which get and which put, and which results are whose memory.
type calls struct {
	*graph
	pass      *analysis.Pass
	fns       []*ssa.Function
	more      Pools
	globals   map[*ssa.Global]ssa.Value
	facts     map[*types.Func]*Summary
	summaries map[*ssa.Function]*Summary
	putCalls  map[*ssa.Function][]ssa.CallInstruction
}

// fieldUses is what the package stores in fields, and so what an object keeps there.
type fieldUses struct {
	*calls
	fields   map[*types.Var]fieldUse
	replaced map[*types.TypeName]bool // structs that it stores as a whole
}

// A walker follows the paths through a function.
type walker struct {
	*fieldUses
	*reporter
	given map[ssa.Value]bool    // slices that a deferred call ends, as they are handed out
	spent map[*ssa.Function]int // what the walks through a function have cost
}

func run(pass *analysis.Pass) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			if os.Getenv("POOLVET_PANIC") != "" {
				panic(v)
			}
			result, err = nil, fmt.Errorf("%s: internal error: %v (POOLVET_PANIC=1 shows where)", pass.Pkg.Path(), v)
		}
	}()
	return newFlowPass(pass).run()
}

func newFlowPass(pass *analysis.Pass) *flowPass {
	a := &flowPass{
		pass:     pass,
		reporter: &reporter{pass: pass, seen: map[Finding]bool{}, result: &Result{}},
		syntax:   &syntax{pass: pass, names: map[token.Pos]string{}},
		graph: &graph{
			conds:   map[*ssa.Function]map[string]bool{},
			sharing: map[*ssa.Alloc]sharing{},
			onward:  map[*ssa.BasicBlock]map[*ssa.BasicBlock]bool{},
		},
	}
	a.calls = &calls{
		graph: a.graph,
		pass:  pass, more: More,
		facts:     map[*types.Func]*Summary{},
		summaries: map[*ssa.Function]*Summary{},
		putCalls:  map[*ssa.Function][]ssa.CallInstruction{},
	}
	a.fieldUses = &fieldUses{calls: a.calls}
	a.walker = &walker{fieldUses: a.fieldUses, reporter: a.reporter, spent: map[*ssa.Function]int{}}
	return a
}

func (a *flowPass) run() (*Result, error) {
	if goes := a.worthwhile(); !goes {
		return a.result, nil
	}
	pkg, left := build(a.pass)
	a.pkg = pkg
	for _, l := range left {
		a.giveUp(l.f.Pos(), l.f.Name.Name, l.why)
	}
	a.fns = functions(a.pkg)
	a.globals = onlyStores(a.fns)
	a.notes = a.annotations()
	a.summarizeAll()
	a.index()
	for _, f := range a.fns {
		a.check(f)
	}
	for _, f := range a.fns {
		for _, call := range a.putCalls[f] {
			_, deferred := call.(*ssa.Defer)
			for _, t := range a.puts(call) {
				a.result.Puts = append(a.result.Puts, Put{call.Pos(), a.expr(call, t), deferred})
			}
		}
	}
	a.poolsMade()
	a.overwrittenPools()
	a.whatIsLeft()
	a.ignore()
	slices.SortFunc(a.result.Findings, func(x, y Finding) int { return int(x.Pos - y.Pos) })
	return a.result, nil
}

// giveUp notes a function that is not looked at, or not to the end.
func (a *reporter) giveUp(pos token.Pos, name, why string) {
	a.result.GivenUp = append(a.result.GivenUp, fmt.Sprintf("%v: %s %s", a.pass.Fset.Position(pos), name, why))
}

// worthwhile reports whether the package may have anything to do with pools: those of the
// standard library that do not name sync.Pool have not.
func (a *flowPass) worthwhile() bool {
	if !standardPath(a.pass.Pkg.Path()) {
		return true
	}
	for _, file := range a.pass.Files {
		found := false
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Pool" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "sync" {
					found = true
				}
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

func (a *flowPass) summarizeAll() {
	for range 6 {
		changed := false
		a.fields = nil // they depend on what puts back
		for _, f := range a.fns {
			a.putCalls[f] = a.callsThatPut(f)
			s := a.summarize(f)
			if !s.equal(a.summaries[f]) {
				a.summaries[f], changed = s, true
			}
		}
		if !changed {
			break
		}
	}
	for _, f := range a.fns {
		obj, ok := f.Object().(*types.Func)
		if s := a.summaries[f]; ok && !s.empty() && obj.Pkg() == a.pass.Pkg {
			a.pass.ExportObjectFact(obj, s)
		}
	}
}

func (a *flowPass) callsThatPut(f *ssa.Function) []ssa.CallInstruction {
	var calls []ssa.CallInstruction
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(ssa.CallInstruction); ok && len(a.puts(call)) > 0 {
				calls = append(calls, call)
			}
		}
	}
	return calls
}

// index finds the syntax of calls by the position that SSA gives them.
func (a *syntax) index() {
	a.nodes, a.ends = map[token.Pos]ast.Node{}, map[token.Pos]token.Pos{}
	for _, file := range a.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				a.nodes[x.Lparen] = x
			case *ast.DeferStmt:
				a.nodes[x.Defer] = x
			case *ast.GoStmt:
				a.nodes[x.Go] = x
			case *ast.ReturnStmt:
				a.nodes[x.Return] = x
			case *ast.FuncDecl:
				if x.Body != nil {
					a.ends[x.Name.Pos()] = x.Body.Rbrace
				}
			case *ast.FuncLit:
				a.ends[x.Type.Func] = x.Body.Rbrace
			case *ast.AssignStmt:
				if len(x.Rhs) == 1 {
					a.assigned(x.Lhs[0], x.Rhs[0])
				}
			}
			return true
		})
	}
}

// returnPos is where a return is: the function's closing brace if it is not written.
func (a *syntax) returnPos(ret *ssa.Return) token.Pos {
	if ret.Pos().IsValid() {
		return ret.Pos()
	}
	return a.ends[ret.Parent().Pos()]
}

// assigned notes the name that the result of a call, or a literal, gets.
func (a *syntax) assigned(to, from ast.Expr) {
	for {
		switch x := from.(type) {
		case *ast.ParenExpr:
			from = x.X
			continue
		case *ast.TypeAssertExpr:
			from = x.X
			continue
		case *ast.StarExpr:
			from = x.X
			continue
		case *ast.SliceExpr:
			from = x.X
			continue
		case *ast.UnaryExpr:
			from = x.X
			continue
		case *ast.CompositeLit:
			if id, ok := to.(*ast.Ident); ok && id.Name != "_" {
				a.names[x.Lbrace] = id.Name
			}
		case *ast.CallExpr:
			if id, ok := to.(*ast.Ident); ok && id.Name != "_" {
				a.names[x.Lparen] = id.Name
			}
		}
		return
	}
}

func (a *reporter) report(check string, pos token.Pos, fix *analysis.SuggestedFix, format string, args ...any) {
	if !pos.IsValid() {
		return
	}
	f := Finding{Check: check, Pos: pos, Message: fmt.Sprintf(format, args...)}
	if at := (Finding{Check: check, Pos: pos}); a.seen[at] {
		return
	} else {
		a.seen[at] = true
	}
	f.Fix = fix
	a.result.Findings = append(a.result.Findings, f)
}

// at is a position as messages name it.
func (a *syntax) at(pos token.Pos) string {
	p := a.pass.Fset.Position(pos)
	return fmt.Sprintf("%s:%d:%d", filepath.Base(p.Filename), p.Line, p.Column)
}
