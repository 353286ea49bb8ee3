package flow

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

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
	a.usedLater(call, s, expr, name)
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
		}
		if pos, how := a.handsOut(in, s); how != "" {
			a.report("returnput", pos, nil, "%s is %s, but the deferred %s at %s puts it back (returnput)", expr, how, name, where)
		}
		if sp, ok := spawned(in); ok && sp.gets(s) && len(a.puts(sp.in)) == 0 && !a.putsInside(sp.f) {
			a.outlived(sp, func(pos token.Pos, at string) {
				if at != "" {
					a.report("returnput", pos, nil, "the goroutine started at %s may still use %s, which the deferred %s at %s puts back (returnput)", at, expr, name, where)
				} else {
					a.report("returnput", pos, nil, "the goroutine may still use %s when the deferred %s at %s puts it back (returnput)", expr, name, where)
				}
			})
		}
		return goOn
	})
}

// handsOut reports where and how an instruction other than a return gives what the state follows to what may
// have it for longer than the call.
func (a *calls) handsOut(in ssa.Instruction, s *state) (token.Pos, string) {
	const stored = "stored in what outlives the call"
	switch x := in.(type) {
	case *ssa.Send:
		if carries(x.X, s) && !waits(x) {
			return x.Pos(), "sent"
		}
	case *ssa.Select:
		for _, st := range x.States {
			if st.Send != nil && carries(st.Send, s) && !waits(x) {
				return st.Pos, "sent"
			}
		}
	case *ssa.Store:
		if a.storedForGood(x, s) {
			return x.Pos(), stored
		}
	case *ssa.MapUpdate:
		if a.mappedForGood(x, s) {
			return x.Pos(), stored
		}
	case *ssa.Call:
		c := x.Common()
		f := called(c)
		if f == nil {
			break
		}
		if n, ok := storingIn[fullName(f)]; ok && n < len(c.Args) && carries(c.Args[n], s) && a.storesForGood(x) {
			return x.Pos(), stored
		}
		if n, ok := keeping[fullName(f)]; ok && n < len(c.Args) && s.of(bare(c.Args[n]))&holds != 0 {
			return x.Pos(), "given to " + f.Name() + ", which may still read it after its return"
		}
	}
	return token.NoPos, ""
}

// storesForGood reports whether a call stores in what outlives the function, of which nothing in the function
// takes anything out.
func (a *calls) storesForGood(call *ssa.Call) bool {
	p, ok := pointee(call.Call.Args[0])
	if !ok {
		return false
	}
	base := p.base
	if cell, ok := base.(*ssa.Alloc); ok {
		if st := a.storedOnce(cell); st != nil {
			base = st.Val
		}
	}
	switch base.(type) {
	case *ssa.Global, *ssa.Parameter, *ssa.FreeVar:
	default:
		return false
	}
	takes := false
	var look func(f *ssa.Function)
	look = func(f *ssa.Function) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if other, ok := in.(ssa.CallInstruction); ok && in != ssa.Instruction(call) {
					if f := called(other.Common()); f != nil && f.Signature().Recv() != nil && taking[f.Name()] {
						takes = true
					}
				}
			}
		}
		for _, anon := range f.AnonFuncs {
			look(anon)
		}
	}
	look(call.Parent())
	return !takes
}

// usedLater finds what was deferred before a deferred Put, and so runs after it, and uses the object.
func (a *flowPass) usedLater(put ssa.CallInstruction, s *state, expr, name string) {
	for _, b := range put.Parent().Blocks {
		for _, in := range b.Instrs {
			d, ok := in.(*ssa.Defer)
			if !ok || in == ssa.Instruction(put) || len(a.puts(d)) > 0 || !runsBefore(in, put) {
				continue
			}
			c := d.Common()
			f := called(c)
			if f != nil && harmless[fullName(f)] || f != nil && (f.Name() == "Unlock" || f.Name() == "RUnlock") {
				continue
			}
			uses := slices.ContainsFunc(c.Args, func(v ssa.Value) bool { return s.of(v)&own != 0 }) || c.IsInvoke() && s.of(c.Value)&own != 0
			if m, ok := c.Value.(*ssa.MakeClosure); ok {
				uses = uses || callsCaptured(m, s)
			}
			if uses {
				a.report("useafterput", d.Pos(), nil, "%s is used by this deferred call, which runs after the %s deferred at %s (useafterput)", expr, name, a.at(put.Pos()))
			}
		}
	}
}

// callsCaptured reports whether a literal calls something with the object that it captures.
func callsCaptured(m *ssa.MakeClosure, s *state) bool {
	f := m.Fn.(*ssa.Function)
	for i, cell := range m.Bindings {
		if s.places[place{base: cell}]&own == 0 {
			continue
		}
		for _, r := range *f.FreeVars[i].Referrers() {
			load, ok := r.(*ssa.UnOp)
			if ok && slices.ContainsFunc(*load.Referrers(), func(in ssa.Instruction) bool { _, call := in.(ssa.CallInstruction); return call }) {
				return true
			}
		}
	}
	return false
}

// runsBefore reports whether an instruction is on every path to another, which is in no loop with it.
func runsBefore(x, y ssa.Instruction) bool {
	if x.Block() == y.Block() {
		return slices.Index(x.Block().Instrs, x) < slices.Index(y.Block().Instrs, y)
	}
	return x.Block().Dominates(y.Block())
}

// putUntilReturn reports whether a variable that was put back by an explicit call still has
// the object when the function returns.
func (a *walker) putUntilReturn(call ssa.CallInstruction, t target) bool {
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
	if _, ok := st.Addr.(*ssa.Parameter); ok { // *all = append(*all, b)
		return true
	}
	p, ok := placeOf(st.Addr)
	if !ok {
		return false
	}
	switch p.base.(type) {
	case *ssa.Global:
		return true
	case *ssa.Parameter:
		return p.path != ""
	case *ssa.FreeVar:
		return p.path == "" && readOutside(p.base.(*ssa.FreeVar))
	}
	return false
}

// readOutside reports whether the function around a literal reads the variable that the literal captures.
func readOutside(v *ssa.FreeVar) bool {
	f := v.Parent()
	i := slices.Index(f.FreeVars, v)
	if f.Parent() == nil || i < 0 {
		return false
	}
	for _, b := range f.Parent().Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(*ssa.MakeClosure)
			if !ok || c.Fn != ssa.Value(f) {
				continue
			}
			cell, ok := c.Bindings[i].(*ssa.Alloc)
			if !ok {
				return false
			}
			return slices.ContainsFunc(*cell.Referrers(), func(in ssa.Instruction) bool {
				load, ok := in.(*ssa.UnOp)
				return ok && load.Op == token.MUL
			})
		}
	}
	return false
}

// storedForGood reports whether a store leaves what the state follows in what outlives the call.
func (a *calls) storedForGood(st *ssa.Store, s *state) bool {
	if !outlives(st) || a.takenBack(st) {
		return false
	}
	if s.of(st.Val)&memory != 0 {
		return true
	}
	return carries(st.Val, s) && !passedOnAfter(st)
}

// passedOnAfter reports whether the parameter, in a field of which a store leaves something, is given to a
// call that may come later: one that may be done with it when it returns.
func passedOnAfter(st *ssa.Store) bool {
	p, ok := placeOf(st.Addr)
	if !ok || p.base.Referrers() == nil {
		return false
	}
	given := func(v ssa.Value) bool {
		return slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
			_, call := in.(ssa.CallInstruction)
			return call
		})
	}
	if given(p.base) {
		return true
	}
	return slices.ContainsFunc(*p.base.Referrers(), func(in ssa.Instruction) bool {
		i, ok := in.(*ssa.MakeInterface)
		return ok && given(i)
	})
}

// mappedForGood reports whether a map that outlives the call gets what the state follows, of which nothing
// in the function deletes anything.
func (a *calls) mappedForGood(x *ssa.MapUpdate, s *state) bool {
	if !carries(x.Value, s) && !carries(x.Key, s) {
		return false
	}
	var v ssa.Value = x.Map
	if p, ok := loaded(v); ok {
		v = p.base
		if cell, ok := v.(*ssa.Alloc); ok {
			st := a.storedOnce(cell)
			if st == nil {
				return false
			}
			v = st.Val
		}
	}
	switch v.(type) {
	case *ssa.Parameter, *ssa.Global:
	default:
		return false
	}
	for _, b := range x.Parent().Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(ssa.CallInstruction); ok {
				if b, ok := call.Common().Value.(*ssa.Builtin); ok && (b.Name() == "delete" || b.Name() == "clear") {
					return false
				}
			}
			if m, ok := in.(*ssa.MapUpdate); ok && m != x && isNil(m.Value) {
				return false
			}
		}
	}
	return true
}

// putsInside reports whether the function that a goroutine runs has a Put itself.
func (a *calls) putsInside(f ssa.Value) bool {
	fn, _ := a.functionOf(f, 0)
	return fn != nil && len(a.putCalls[fn]) > 0
}

// takenBack reports whether the function, or a closure in it, stores something else in the
// same place too.
func (a *calls) takenBack(st *ssa.Store) bool {
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
		if !returnsCarried(ret, v, s) {
			continue
		}
		e := stmt.Results[i]
		what := types.ExprString(e)
		if len(what) > 60 || strings.Contains(what, "…") || strings.Contains(what, " literal)") {
			what = ""
		}
		if s.of(v)&memory == 0 {
			return what, nil // it has the object in it: a copy of it still has
		}
		return what, a.cloneFix(e)
	}
	return "", nil
}

// cloneFix puts bytes.Clone around an expression, where the file imports bytes.
func (a *syntax) cloneFix(e ast.Expr) *analysis.SuggestedFix {
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
