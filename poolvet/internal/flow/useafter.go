package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// check finds what is wrong in one function.
func (a *flowPass) check(f *ssa.Function) {
	for _, call := range a.putCalls[f] {
		for _, t := range a.puts(call) {
			if _, deferred := call.(*ssa.Defer); deferred {
				a.deferredPut(call, t)
			} else {
				a.explicitPut(call, t)
			}
		}
	}
	a.handedOn(f)
	a.wrongPut(f)
	a.tools(f)
	a.leases(f)
	a.shares(f)
	a.perCall(f)
	a.missing(f)
}

// explicitPut follows what one call puts back.
func (a *flowPass) explicitPut(call ssa.CallInstruction, t target) {
	expr := a.expr(call, t)
	where := call.Pos()
	s := a.after(call, t)
	if t.role.moves {
		if v := call.Value(); v != nil { // what it returns is not what it has put back
			for w := range a.closure(v) {
				delete(s.vals, w)
			}
		}
	}
	type use struct {
		pos token.Pos
		how string
	}
	var found []use
	a.walk(call, s, func(in ssa.Instruction, s *state) verdict {
		if other, ok := in.(ssa.CallInstruction); ok && a.putsFollowed(other, s) {
			if other == call {
				a.report("doubleput", where, nil, "%s is put back again on the next turn of the loop (doubleput)", expr)
				return stop
			}
			verb, extra := "put back again", other
			if _, deferred := in.(*ssa.Defer); deferred {
				verb, extra = "put back again by this deferred call", call
			}
			var fix *analysis.SuggestedFix
			if call.Block() == other.Block() {
				fix = a.withoutPut(extra)
			}
			a.report("doubleput", other.Pos(), fix, "%s is %s after its Put at %s (doubleput)", expr, verb, a.at(where))
			return stop
		}
		if pos, how := a.use(in, s); how != "" {
			found = append(found, use{pos, how})
			return stop
		}
		return goOn
	})
	if len(found) == 0 {
		return
	}
	fix := a.behindLastUse(call, t)
	for _, u := range found {
		a.report("useafterput", u.pos, fix, "%s is %s after its Put at %s (useafterput)", expr, u.how, a.at(where))
		fix = nil // one fix mends them all
	}
}

// use reports where and how an instruction uses what the state follows.
func (a *flowPass) use(in ssa.Instruction, s *state) (token.Pos, string) {
	pos := in.Pos()
	switch x := in.(type) {
	case *ssa.UnOp:
		if x.Op == token.MUL && s.of(x.X)&own != 0 {
			if !pos.IsValid() {
				pos = x.X.Pos()
			}
			return pos, "used"
		}
	case *ssa.Store:
		if s.of(x.Addr)&own != 0 {
			if !pos.IsValid() {
				pos = x.Addr.Pos()
			}
			return pos, "written"
		}
		if s.of(x.Val) != 0 && !localPlace(x.Addr) {
			return pos, "stored"
		}
	case *ssa.Send:
		if s.of(x.X) != 0 {
			return pos, "sent"
		}
	case *ssa.Select:
		for _, st := range x.States {
			if st.Send != nil && s.of(st.Send) != 0 {
				return st.Pos, "sent"
			}
		}
	case *ssa.MapUpdate:
		if s.of(x.Value) != 0 || s.of(x.Map)&own != 0 || s.of(x.Key) != 0 {
			return pos, "stored"
		}
	case *ssa.Lookup:
		if s.of(x.X)&own != 0 || s.of(x.Index)&own != 0 {
			return pos, "used"
		}
	case *ssa.Range:
		if s.of(x.X)&own != 0 {
			return pos, "used"
		}
	case *ssa.Convert:
		if copies(x) && s.of(x.X)&own != 0 {
			return pos, "used"
		}
	case *ssa.BinOp:
		if isString(x.X.Type()) && (s.of(x.X)|s.of(x.Y))&own != 0 {
			return pos, "used"
		}
	case *ssa.Return:
		return a.returned(x, s)
	case ssa.CallInstruction:
		return a.argumentUse(x, s)
	}
	return token.NoPos, ""
}

// localPlace reports whether an address is a variable of the function's own, which the
// walk follows on.
func localPlace(addr ssa.Value) bool {
	p, ok := placeOf(addr)
	if !ok {
		if i, isIndex := addr.(*ssa.IndexAddr); isIndex { // the array of a variadic call
			_, local := i.X.(*ssa.Alloc)
			return local
		}
		return false
	}
	_, local := p.base.(*ssa.Alloc)
	return local && !strings.Contains(p.path, "*")
}

// returned reports whether a return hands out what the state follows. Beside an error that
// is not nil nobody looks at it.
func (a *flowPass) returned(ret *ssa.Return, s *state) (token.Pos, string) {
	if n := len(ret.Results); n > 1 && isError(ret.Results[n-1].Type()) && a.failed(ret.Results[n-1], s) {
		return token.NoPos, ""
	}
	for _, v := range ret.Results {
		if s.of(v) != 0 {
			return ret.Pos(), "returned"
		}
		cell, ok := bare(v).(*ssa.Alloc)
		if !ok {
			continue
		}
		for p := range s.places {
			if p.base == cell && p.path != "" {
				return ret.Pos(), "returned"
			}
		}
	}
	return token.NoPos, ""
}

// failed reports whether an error is known not to be nil.
func (a *flowPass) failed(err ssa.Value, s *state) bool {
	if f, ok := s.known[nilKey(err)]; ok {
		return !f.true
	}
	switch x := err.(type) {
	case *ssa.MakeInterface:
		return true
	case *ssa.Call:
		if f := called(x.Common()); f != nil {
			switch fullName(f) {
			case "errors.New", "fmt.Errorf", "errors.Join":
				return true
			}
			return !standardPath(f.Pkg().Path()) && x.Call.Signature().Results().Len() == 1 && len(x.Call.Args) > 0 && hasError(x.Call.Args)
		}
	case *ssa.UnOp:
		if g, ok := x.X.(*ssa.Global); ok {
			return strings.HasPrefix(strings.ToLower(g.Name()), "err") || g.Name() == "EOF"
		}
		if cell, ok := x.X.(*ssa.Alloc); ok {
			b := x.Block()
			for i := len(b.Instrs) - 1; i >= 0; i-- {
				if st, ok := b.Instrs[i].(*ssa.Store); ok && st.Addr == cell && st.Val != err {
					return a.failed(st.Val, s)
				}
			}
		}
	case *ssa.Phi:
		for _, e := range x.Edges {
			if !a.failed(e, s) {
				return false
			}
		}
		return true
	}
	return false
}

// hasError reports whether one of the arguments is an error: a function that wraps it.
func hasError(args []ssa.Value) bool {
	for _, v := range args {
		if isError(v.Type()) {
			return true
		}
	}
	return false
}

// argumentUse reports whether a call uses what the state follows.
func (a *flowPass) argumentUse(call ssa.CallInstruction, s *state) (token.Pos, string) {
	c := call.Common()
	pos := call.Pos()
	if b, ok := c.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "append", "copy", "clear", "print", "println", "delete", "min", "max":
			for i, v := range c.Args {
				if s.of(v)&own != 0 && !(b.Name() == "append" && i == 0) {
					return pos, "used"
				}
			}
			if b.Name() == "append" && s.of(c.Args[0])&own != 0 && len(c.Args) > 1 && !isNil(c.Args[1]) {
				return pos, "used"
			}
		case "len", "cap":
			if _, ok := c.Args[0].Type().Underlying().(*types.Map); ok && s.of(c.Args[0])&own != 0 {
				return pos, "used"
			}
		}
		return token.NoPos, ""
	}
	if f := called(c); f != nil && harmless[fullName(f)] {
		return token.NoPos, ""
	}
	if c.IsInvoke() && s.of(c.Value)&own != 0 {
		return pos, "used"
	}
	for _, v := range c.Args {
		if s.of(v)&own != 0 {
			return pos, "used"
		}
	}
	return token.NoPos, ""
}

// harmless are functions that do not look at what they are given.
var harmless = map[string]bool{
	"runtime.KeepAlive": true,
}

// expr is what a call puts back, as it is written.
func (a *flowPass) expr(call ssa.CallInstruction, t target) string {
	var c *ast.CallExpr
	switch n := a.nodes[call.Pos()].(type) {
	case *ast.CallExpr:
		c = n
	case *ast.DeferStmt:
		c = n.Call
	case *ast.GoStmt:
		c = n.Call
	default:
		return "the object"
	}
	if t.inPlace {
		if name := a.placeName(t.place); name != "" {
			return name
		}
	}
	args := call.Common().Args
	for i, v := range args {
		if v != t.val {
			continue
		}
		if call.Common().Signature().Recv() != nil && !call.Common().IsInvoke() {
			i--
		}
		if i == -1 {
			if sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr); ok {
				return types.ExprString(sel.X)
			}
		}
		if i >= 0 && i < len(c.Args) {
			return short(c.Args[i])
		}
	}
	return "the object"
}

func short(e ast.Expr) string {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	if s, ok := e.(*ast.SliceExpr); ok {
		e = s.X
	}
	s := types.ExprString(e)
	if len(s) > 40 {
		return "the object"
	}
	return s
}

// placeName is a variable, or a field of one, as it is written.
func (a *flowPass) placeName(p place) string {
	var name string
	t := p.base.Type()
	switch b := p.base.(type) {
	case *ssa.Alloc:
		if name = b.Comment; name == "complit" {
			name = a.names[b.Pos()]
		}
		if name == "" {
			return ""
		}
	case *ssa.FreeVar, *ssa.Parameter:
		name = b.Name()
	case *ssa.Global:
		name = b.Name()
	default:
		return ""
	}
	for rest := p.path; rest != ""; {
		if rest[0] == '*' {
			rest = rest[1:]
			if pt, ok := t.Underlying().(*types.Pointer); ok {
				t = pt.Elem()
			}
			continue
		}
		rest = rest[1:]
		n := 0
		for rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			n = n*10 + int(rest[0]-'0')
			rest = rest[1:]
		}
		if pt, ok := t.Underlying().(*types.Pointer); ok {
			t = pt.Elem()
		}
		st, ok := t.Underlying().(*types.Struct)
		if !ok || n >= st.NumFields() {
			return ""
		}
		name += "." + st.Field(n).Name()
		t = types.NewPointer(st.Field(n).Type())
	}
	return name
}
