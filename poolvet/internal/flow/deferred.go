package flow

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// deferredPut follows what a deferred call puts back at the end: nothing may give it away,
// and nothing else may put it back.
func (a *flowPass) deferredPut(call ssa.CallInstruction, t target) {
	expr := a.expr(call, t)
	name := "Put"
	if f := called(call.Common()); f != nil {
		name = f.Name()
	} else if t.wrapped {
		name = "function"
	}
	where := a.at(call.Pos())
	s := a.after(call, t)
	a.walk(call, s, func(in ssa.Instruction, s *state) verdict {
		if other, ok := in.(ssa.CallInstruction); ok && other != call && a.putsFollowed(other, s) {
			if t.inPlace && !a.putUntilReturn(other, t) {
				return stop
			}
			var fix *analysis.SuggestedFix
			if a.oneObject(call, other, t) {
				fix = a.withoutPut(other)
			}
			a.report("doubleput", other.Pos(), fix, "%s is put back here, and again by the deferred %s at %s (doubleput)", expr, name, where)
			return stop
		}
		switch x := in.(type) {
		case *ssa.Return:
			if pos, how := a.returned(x, s); how != "" {
				what, fix := a.returnedExpr(x, s)
				if what == "" {
					what = expr
				}
				advice := "let the caller put it back"
				if fix != nil {
					advice = fmt.Sprintf("return bytes.Clone(%s), or let the caller put it back", what)
				}
				a.report("returnput", pos, fix, "%s is returned, but the deferred %s at %s puts %s back (returnput); %s", what, name, where, expr, advice)
			}
		case *ssa.Send:
			if s.of(x.X) != 0 {
				a.report("returnput", x.Pos(), nil, "%s is sent, but the deferred %s at %s puts it back (returnput)", expr, name, where)
			}
		case *ssa.Store:
			if s.of(x.Val)&own != 0 && outlives(x) && !a.takenBack(x) {
				a.report("returnput", x.Pos(), nil, "%s is stored in what outlives the call, but the deferred %s at %s puts it back (returnput)", expr, name, where)
			}
		}
		return goOn
	})
}

// putUntilReturn reports whether a variable that was put back by an explicit call still has
// the object when the function returns.
func (a *flowPass) putUntilReturn(call ssa.CallInstruction, t target) bool {
	s := a.before(call)
	s.places[t.place] = own
	twice := false
	a.walk(call, s, func(in ssa.Instruction, s *state) verdict {
		switch in.(type) {
		case *ssa.RunDefers:
			twice = twice || s.places[t.place] != 0
			return stop
		}
		return goOn
	})
	return twice
}

// outlives reports whether a store is to a package variable, or to a field of what the
// function was given.
func outlives(st *ssa.Store) bool {
	p, ok := placeOf(st.Addr)
	if !ok {
		return false
	}
	switch p.base.(type) {
	case *ssa.Global:
		return true
	case *ssa.Parameter:
		return p.path != ""
	}
	return false
}

// takenBack reports whether the function, or a closure in it, stores something else in the
// same place too.
func (a *flowPass) takenBack(st *ssa.Store) bool {
	field, isField := st.Addr.(*ssa.FieldAddr)
	again := false
	var look func(f *ssa.Function)
	look = func(f *ssa.Function) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				other, ok := in.(*ssa.Store)
				if !ok || other == st {
					continue
				}
				if x, ok := other.Addr.(*ssa.FieldAddr); ok && isField {
					again = again || x.Field == field.Field && types.Identical(x.X.Type(), field.X.Type())
				} else if other.Addr == st.Addr {
					again = true
				}
			}
		}
		for _, anon := range f.AnonFuncs {
			look(anon)
		}
	}
	look(st.Parent())
	return again
}

// returnedExpr is the returned expression that has the object, as it is written, and a fix
// if it is a []byte.
func (a *flowPass) returnedExpr(ret *ssa.Return, s *state) (string, *analysis.SuggestedFix) {
	stmt, ok := a.nodes[ret.Pos()].(*ast.ReturnStmt)
	if !ok || len(stmt.Results) != len(ret.Results) {
		return "", nil
	}
	for i, v := range ret.Results {
		if s.of(v) == 0 {
			continue
		}
		e := stmt.Results[i]
		what := types.ExprString(e)
		if len(what) > 60 {
			what = ""
		}
		return what, a.cloneFix(e)
	}
	return "", nil
}

// cloneFix puts bytes.Clone around an expression, where the file imports bytes.
func (a *flowPass) cloneFix(e ast.Expr) *analysis.SuggestedFix {
	slice, ok := a.pass.TypesInfo.TypeOf(e).(*types.Slice)
	if !ok || !types.Identical(slice.Elem(), types.Typ[types.Byte]) {
		return nil
	}
	for _, file := range a.pass.Files {
		if file.FileStart > e.Pos() || e.Pos() >= file.FileEnd {
			continue
		}
		for _, spec := range file.Imports {
			if spec.Path.Value == `"bytes"` && spec.Name == nil {
				return &analysis.SuggestedFix{Message: "Return a copy", TextEdits: []analysis.TextEdit{
					{Pos: e.Pos(), End: e.Pos(), NewText: []byte("bytes.Clone(")},
					{Pos: e.End(), End: e.End(), NewText: []byte(")")},
				}}
			}
		}
		return &analysis.SuggestedFix{Message: "Return a copy", TextEdits: []analysis.TextEdit{
			importEdit(file, "bytes"),
			{Pos: e.Pos(), End: e.Pos(), NewText: []byte("bytes.Clone(")},
			{Pos: e.End(), End: e.End(), NewText: []byte(")")},
		}}
	}
	return nil
}

// importEdit adds an import: to the first list of imports, or else behind the package clause.
func importEdit(file *ast.File, path string) analysis.TextEdit {
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT && g.Lparen.IsValid() {
			return analysis.TextEdit{Pos: g.Lparen + 1, End: g.Lparen + 1, NewText: []byte("\n\t\"" + path + "\"")}
		}
	}
	return analysis.TextEdit{Pos: file.Name.End(), End: file.Name.End(), NewText: []byte("\n\nimport \"" + path + "\"")}
}
