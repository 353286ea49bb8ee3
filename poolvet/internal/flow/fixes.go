package flow

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/ssa"
)

// This file makes the fixes that findings suggest. Each is made where the syntax shows that
// the code still compiles and that nothing is left to find; elsewhere there is none.

// enclosing is the syntax around a position, the innermost first, up to its function.
func (a *syntax) enclosing(pos token.Pos) []ast.Node {
	for _, file := range a.pass.Files {
		if pos < file.FileStart || file.FileEnd <= pos {
			continue
		}
		path, _ := astutil.PathEnclosingInterval(file, pos, pos)
		for i, n := range path {
			switch n.(type) {
			case *ast.FuncDecl, *ast.FuncLit:
				return path[:i]
			}
		}
	}
	return nil
}

// A statement is one of a list, with the syntax around the list.
type statement struct {
	list   []ast.Stmt
	i      int
	around []ast.Node // the innermost first
}

func (s statement) stmt() ast.Stmt { return s.list[s.i] }

// inLoop reports whether the statement may run again before its function returns.
func (s statement) inLoop() bool {
	return slices.ContainsFunc(s.around, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.LabeledStmt:
			return true
		}
		return false
	})
}

// statementAt is the statement at a position for which is holds.
func (a *syntax) statementAt(pos token.Pos, is func(ast.Stmt) bool) (statement, bool) {
	path := a.enclosing(pos)
	for i, n := range path {
		stmt, ok := n.(ast.Stmt)
		if !ok || i+1 == len(path) || !is(stmt) {
			continue
		}
		var list []ast.Stmt
		switch around := path[i+1].(type) {
		case *ast.BlockStmt:
			list = around.List
		case *ast.CaseClause:
			list = around.Body
		case *ast.CommClause:
			list = around.Body
		}
		if at := slices.Index(list, stmt); at >= 0 {
			return statement{list, at, path[i+1:]}, true
		}
		return statement{}, false
	}
	return statement{}, false
}

// alone is the statement that is nothing but a call.
func (a *syntax) alone(call ssa.CallInstruction) (statement, bool) {
	if _, ok := call.(*ssa.Call); !ok {
		return statement{}, false
	}
	return a.statementAt(call.Pos(), func(s ast.Stmt) bool {
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		c, ok := ast.Unparen(e.X).(*ast.CallExpr)
		return ok && c.Lparen == call.Pos()
	})
}

// out removes a statement, and its line if nothing else is on it.
func (a *syntax) out(s statement) analysis.TextEdit {
	stmt := s.stmt()
	file := a.pass.Fset.File(stmt.Pos())
	first, last := file.Line(stmt.Pos()), file.Line(stmt.End())
	shared := file.Line(s.around[0].Pos()) == first || last == file.LineCount()
	switch block := s.around[0].(type) {
	case *ast.BlockStmt:
		shared = shared || file.Line(block.Rbrace) == last
	case *ast.CaseClause:
		shared = shared || file.Line(block.Colon) == first
	case *ast.CommClause:
		shared = shared || file.Line(block.Colon) == first
	}
	if s.i > 0 {
		shared = shared || file.Line(s.list[s.i-1].End()) == first
	}
	if s.i+1 < len(s.list) {
		shared = shared || file.Line(s.list[s.i+1].Pos()) == last
	}
	if shared {
		return analysis.TextEdit{Pos: stmt.Pos(), End: stmt.End()}
	}
	return analysis.TextEdit{Pos: file.LineStart(first), End: file.LineStart(last + 1)}
}

// withoutPut takes an explicit Put out, where it does nothing else.
func (a *flowPass) withoutPut(call ssa.CallInstruction) *analysis.SuggestedFix {
	s, ok := a.alone(call)
	if !ok || !a.onlyPuts(call) {
		return nil
	}
	return &analysis.SuggestedFix{Message: "Take this Put out", TextEdits: []analysis.TextEdit{a.out(s)}}
}

// onlyPuts reports whether a call does nothing but put something back.
func (a *flowPass) onlyPuts(call ssa.CallInstruction) bool {
	if r, ok := a.roleOf(call.Common()); ok {
		return r.puts > 0 && !r.moves
	}
	s := a.summaryOf(call.Common())
	return s != nil && s.Only
}

// doesNothingElse reports whether f, which puts a parameter back, can be left out where
// another call puts it back: it does no more than tidy the object.
func (a *flowPass) doesNothingElse(f *ssa.Function) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			switch x := in.(type) {
			case *ssa.Send, *ssa.Go, *ssa.Select, *ssa.MapUpdate, *ssa.Panic:
				return false
			case *ssa.Store:
				p, ok := placeOf(x.Addr)
				if ok {
					_, global := p.base.(*ssa.Global)
					ok = !global
				}
				if !ok {
					return false
				}
			case ssa.CallInstruction:
				if _, builtin := x.Common().Value.(*ssa.Builtin); builtin || len(a.puts(x)) > 0 && a.onlyPuts(x) {
					continue
				}
				fn := called(x.Common())
				if fn == nil || !tidies[fn.Name()] {
					return false
				}
			}
		}
	}
	return true
}

// tidies are the names of methods that prepare an object for its pool, or say how large it is.
var tidies = map[string]bool{"Reset": true, "Truncate": true, "Clear": true, "Cap": true, "Len": true, "Size": true}

// oneObject reports whether two Puts, of which the second is on a way on from the first,
// have the same object whatever the way to the second.
func (a *flowPass) oneObject(first, second ssa.CallInstruction, t target) bool {
	if first.Block() == second.Block() {
		return true
	}
	if !first.Block().Dominates(second.Block()) {
		return false
	}
	if !t.inPlace {
		_, phi := a.root(t.val).(*ssa.Phi)
		return !phi
	}
	cell, ok := t.place.base.(*ssa.Alloc)
	return ok && t.place.path == "" && a.storedOnce(cell) != nil
}

// behindLastUse moves a Put behind the last statement of its list that uses the object, if
// all uses are in that list and no way leaves it between. If the last is a return, the Put
// is deferred instead.
func (a *flowPass) behindLastUse(call ssa.CallInstruction, t target) *analysis.SuggestedFix {
	s, ok := a.alone(call)
	if !ok || !a.onlyPuts(call) || t.role.moves {
		return nil
	}
	last := s.i
	complete := a.walk(call, a.after(call, t), func(in ssa.Instruction, st *state) verdict {
		if other, isCall := in.(ssa.CallInstruction); isCall && a.putsFollowed(other, st) {
			ok = false
		}
		pos, how := a.use(in, st)
		if how == "" {
			return goOn
		}
		_, plain := in.(*ssa.Call)
		if _, isCall := in.(ssa.CallInstruction); isCall && !plain || how != "used" && how != "written" {
			ok = false // what is kept needs the object for longer
		}
		at := slices.IndexFunc(s.list, func(n ast.Stmt) bool { return n.Pos() <= pos && pos < n.End() })
		ok = ok && at > s.i
		last = max(last, at)
		return verdict(!ok)
	})
	if !complete || !ok || last == s.i {
		return nil
	}
	between := s.list[s.i+1 : last+1]
	if _, returns := s.list[last].(*ast.ReturnStmt); returns {
		if a.leaves(between[:len(between)-1]) || a.assigns(between, s.stmt()) {
			return nil
		}
		return &analysis.SuggestedFix{Message: "Defer this Put", TextEdits: []analysis.TextEdit{
			{Pos: s.stmt().Pos(), End: s.stmt().Pos(), NewText: []byte("defer ")},
		}}
	}
	if a.leaves(between) || a.assigns(between, s.stmt()) {
		return nil
	}
	var text bytes.Buffer
	text.WriteByte('\n')
	if format.Node(&text, a.pass.Fset, s.stmt()) != nil {
		return nil
	}
	return &analysis.SuggestedFix{Message: "Put it back behind its last use", TextEdits: []analysis.TextEdit{
		a.out(s),
		{Pos: s.list[last].End(), End: s.list[last].End(), NewText: text.Bytes()},
	}}
}

// leaves reports whether one of the statements may go elsewhere than to its next one.
func (a *syntax) leaves(stmts []ast.Stmt) bool {
	out := false
	for _, s := range stmts {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt, *ast.BranchStmt, *ast.LabeledStmt:
				out = true
			}
			return !out
		})
	}
	return out
}

// assigns reports whether one of the statements may change a variable or a field that is
// named in put.
func (a *syntax) assigns(stmts []ast.Stmt, put ast.Stmt) bool {
	named := map[types.Object]bool{}
	ast.Inspect(put, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := a.pass.TypesInfo.Uses[id].(*types.Var); ok {
				named[v] = true
			}
		}
		return true
	})
	changed := false
	to := func(e ast.Expr) {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			changed = changed || named[a.pass.TypesInfo.ObjectOf(x)]
		case *ast.SelectorExpr:
			changed = changed || named[a.pass.TypesInfo.ObjectOf(x.Sel)]
		case *ast.StarExpr, *ast.IndexExpr:
		}
	}
	for _, s := range stmts {
		ast.Inspect(s, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.AssignStmt:
				for _, l := range x.Lhs {
					to(l)
				}
			case *ast.RangeStmt:
				if x.Tok == token.ASSIGN {
					to(x.Key)
					to(x.Value)
				}
			case *ast.IncDecStmt:
				to(x.X)
			case *ast.UnaryExpr:
				if x.Op == token.AND {
					to(x.X)
				}
			}
			return !changed
		})
	}
	return changed
}

// deferPut puts `defer p.Put(b)` behind the statement `b := p.Get(n)`.
func (a *flowPass) deferPut(call *ssa.Call) *analysis.SuggestedFix {
	r, ok := a.roleOf(call.Common())
	if !ok || !r.gets || call.Common().Signature().Results().Len() != 1 {
		return nil
	}
	var pool, name string
	s, ok := a.statementAt(call.Pos(), func(s ast.Stmt) bool {
		as, ok := s.(*ast.AssignStmt)
		if !ok || len(as.Lhs) != 1 || len(as.Rhs) != 1 {
			return false
		}
		id, ok := as.Lhs[0].(*ast.Ident)
		if !ok || id.Name == "_" {
			return false
		}
		e := ast.Unparen(as.Rhs[0])
		if t, ok := e.(*ast.TypeAssertExpr); ok {
			e = ast.Unparen(t.X)
		}
		c, ok := e.(*ast.CallExpr)
		if !ok || c.Lparen != call.Pos() {
			return false
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || !steady(sel.X) {
			return false
		}
		pool, name = types.ExprString(sel.X), id.Name
		return true
	})
	if !ok || s.inLoop() {
		return nil
	}
	return &analysis.SuggestedFix{Message: "Defer its Put", TextEdits: []analysis.TextEdit{
		{Pos: s.stmt().End(), End: s.stmt().End(), NewText: []byte("\ndefer " + pool + ".Put(" + name + ")")},
	}}
}

// steady reports whether an expression is a variable, a package or a field of one, which
// can be written again and means the same.
func steady(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return steady(x.X)
	}
	return false
}
