package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// check finds what is wrong in one function.
func (a *flowPass) check(f *ssa.Function) {
	for _, call := range a.putCalls[f] {
		for _, t := range a.puts(call) {
			if d, deferred := call.(*ssa.Defer); deferred {
				a.deferredPut(call, t)
				a.deferredLate(d, t)
				a.outgrown(d, t)
			} else {
				a.explicitPut(call, t)
			}
		}
	}
	a.handedOn(f)
	a.wrongPut(f)
	a.putsNil(f)
	a.lent(f)
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
			results := []ssa.Value{v}
			for _, r := range *v.Referrers() {
				if e, ok := r.(*ssa.Extract); ok {
					results = append(results, e)
				}
			}
			for _, v := range results {
				for w := range a.closure(v) {
					delete(s.vals, w)
				}
			}
		}
	}
	if st := a.justMade(call, t); st != nil {
		a.report("useafterput", where, nil, "%s is put back, but was stored at %s in what outlives the call (useafterput)", expr, a.at(st.Pos()))
		return
	}
	if other := a.keptBy(call, s); other != nil {
		a.report("useafterput", where, nil, "%s is put back, but the call at %s has stored it in what outlives the call (useafterput)", expr, a.at(other.Pos()))
		return
	}
	kept := a.heldBefore(call, t, s)
	if movedAway(call) {
		maps.DeleteFunc(s.vals, func(_ ssa.Value, t taint) bool { return t == holds })
		maps.DeleteFunc(s.places, func(_ place, t taint) bool { return t == holds })
	}
	type use struct {
		pos token.Pos
		how string
	}
	var found []use
	never := notAfter(call, t)
	a.walk(call, s, func(in ssa.Instruction, s *state) verdict {
		if never(in.Block(), s) {
			return stop
		}
		if _, ok := in.(*ssa.Return); ok {
			for p, st := range kept {
				if s.places[p] != 0 {
					a.report("useafterput", where, nil, "%s is put back, but was stored at %s in what outlives the call (useafterput)", expr, a.at(st.Pos()))
				}
			}
		}
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

// keptBy is the call of a function of this package that stores the object, with no other call between it and the
// Put that could take it out again.
func (a *walker) keptBy(put ssa.CallInstruction, s *state) *ssa.Call {
	b := put.Block()
	for i := slices.Index(b.Instrs, ssa.Instruction(put)) - 1; i >= 0; i-- {
		call, ok := b.Instrs[i].(*ssa.Call)
		if !ok {
			continue
		}
		f, _ := a.callee(call.Common())
		if f == nil || f.Blocks == nil {
			if fn := called(call.Common()); fn != nil && inStandardLibrary(fn) {
				continue
			}
			if _, builtin := call.Call.Value.(*ssa.Builtin); builtin {
				continue
			}
			return nil
		}
		for n, v := range call.Call.Args {
			if s.of(v)&own != 0 && a.storesParameter(f, n) {
				return call
			}
		}
		return nil
	}
	return nil
}

// storesParameter reports whether a function stores a parameter in what another one, or a package variable, has
// for good, on every path.
func (a *walker) storesParameter(f *ssa.Function, n int) bool {
	if n >= len(f.Params) || !pointerLike(f.Params[n].Type()) || len(a.putCalls[f]) > 0 {
		return false
	}
	s := newState()
	for v, t := range a.closure(f.Params[n]) {
		s.vals[v] |= t
	}
	escapes := false
	complete := a.walkFrom(f.Blocks[0], 0, s, func(in ssa.Instruction, s *state) verdict {
		switch x := in.(type) {
		case *ssa.Store:
			p, ok := placeOf(x.Addr)
			if ok && p.base != ssa.Value(f.Params[n]) && a.storedForGood(x, s) {
				return stop
			}
		case *ssa.Return:
			escapes = true
		}
		return goOn
	})
	return complete && !escapes
}

// justMade is the store of what the function has made to a field, where the next call puts it back and nothing
// else is stored there: then the field keeps what has been put back, and what the field had is lost.
func (a *calls) justMade(call ssa.CallInstruction, t target) *ssa.Store {
	p, ok := t.place, t.inPlace
	if !ok {
		p, ok = loaded(t.val)
	}
	if _, param := p.base.(*ssa.Parameter); !ok || !param || p.path == "" {
		return nil
	}
	b := call.Block()
	for i := slices.Index(b.Instrs, ssa.Instruction(call)) - 1; i >= 0; i-- {
		switch x := b.Instrs[i].(type) {
		case ssa.CallInstruction:
			return nil
		case *ssa.Store:
			if q, ok := placeOf(x.Addr); !ok || q != p {
				continue
			}
			if _, made := bare(x.Val).(*ssa.Alloc); made && a.onlyStore(p.base, p) == x {
				return x
			}
			return nil
		}
	}
	return nil
}

// heldBefore adds to the state behind a Put what has been made to hold the object on every way from
// where it was got. kept are the places among it that outlive the call, with the only store to each.
func (a *walker) heldBefore(call ssa.CallInstruction, t target, s *state) (kept map[place]*ssa.Store) {
	if t.inPlace || t.role.moves {
		return nil
	}
	got, ok := a.root(t.val).(ssa.Instruction)
	if !ok || got.Parent() != call.Parent() {
		return nil
	}
	object := a.closure(got.(ssa.Value))
	stores := false
	for v := range object {
		if v.Referrers() == nil {
			continue
		}
		for _, r := range *v.Referrers() {
			switch x := r.(type) {
			case *ssa.Store:
				stores = stores || x.Val == v
			case *ssa.MapUpdate:
				stores = true
			}
		}
	}
	if !stores {
		return nil
	}
	from := a.stillBefore(got)
	for v, t := range object {
		from.vals[v] |= t
	}
	var vals map[ssa.Value]taint
	var places map[place]taint
	complete := a.walk(got, from, func(in ssa.Instruction, now *state) verdict {
		if in != ssa.Instruction(call) {
			return goOn
		}
		if places == nil {
			vals, places = maps.Clone(now.vals), maps.Clone(now.places)
		} else {
			maps.DeleteFunc(vals, func(v ssa.Value, _ taint) bool { return now.vals[v] == 0 })
			maps.DeleteFunc(places, func(p place, _ taint) bool { return now.places[p] == 0 })
		}
		return stop
	})
	if !complete {
		return nil
	}
	put, isLoad := loaded(t.val)
	for p, t := range places {
		if isLoad && p == put || s.places[p] != 0 {
			continue
		}
		switch base := p.base.(type) {
		case *ssa.Alloc:
			if !strings.Contains(p.path, "*") && (p.path != "" || t&own == 0) {
				s.places[p] = t
			}
		case *ssa.Parameter, *ssa.Global:
			if st := a.onlyStore(base, p); st != nil && outlives(st) && !a.takenBack(st) {
				s.places[p] = t
				if kept == nil {
					kept = map[place]*ssa.Store{}
				}
				kept[p] = st
			}
		}
	}
	for v, t := range vals {
		if t == holds && s.vals[v] == 0 {
			s.vals[v] = holds
		}
	}
	return kept
}

// onlyStore is the store to a place, and nil if a function has several.
func (a *calls) onlyStore(base ssa.Value, p place) (one *ssa.Store) {
	f := base.Parent()
	if g, ok := base.(*ssa.Global); ok && f == nil {
		for _, fn := range a.fns {
			for _, b := range fn.Blocks {
				for _, in := range b.Instrs {
					if st, ok := in.(*ssa.Store); ok && st.Addr == ssa.Value(g) {
						if one != nil {
							return nil
						}
						one = st
					}
				}
			}
		}
		return one
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if st, ok := in.(*ssa.Store); ok {
				if q, ok := placeOf(st.Addr); ok && q == p {
					if one != nil {
						return nil
					}
					one = st
				}
			}
		}
	}
	return one
}

// use reports where and how an instruction uses what the state follows.
func (a *calls) use(in ssa.Instruction, s *state) (token.Pos, string) {
	pos := in.Pos()
	switch x := in.(type) {
	case *ssa.UnOp:
		if x.Op == token.MUL && s.of(x.X)&memory != 0 {
			if !pos.IsValid() {
				pos = x.X.Pos()
			}
			return pos, "used"
		}
	case *ssa.Store:
		if s.of(x.Addr)&memory != 0 {
			if !pos.IsValid() {
				pos = x.Addr.Pos()
			}
			return pos, "written"
		}
		if carries(x.Val, s) && !localPlace(x.Addr) {
			return pos, "stored"
		}
	case *ssa.Send:
		if carries(x.X, s) {
			return pos, "sent"
		}
	case *ssa.Select:
		for _, st := range x.States {
			if st.Send != nil && carries(st.Send, s) {
				return st.Pos, "sent"
			}
		}
	case *ssa.MapUpdate:
		if !madeHere(x.Map) && (carries(x.Value, s) || carries(x.Key, s)) || s.of(x.Map)&memory != 0 {
			return pos, "stored"
		}
	case *ssa.Lookup:
		if s.of(x.X)&memory != 0 || s.of(x.Index)&memory != 0 {
			return pos, "used"
		}
	case *ssa.Range:
		if s.of(x.X)&memory != 0 {
			return pos, "used"
		}
	case *ssa.Convert:
		if copies(x) && s.of(x.X)&memory != 0 {
			return pos, "used"
		}
	case *ssa.BinOp:
		if isString(x.X.Type()) && (s.of(x.X)|s.of(x.Y))&memory != 0 {
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
func (a *calls) returned(ret *ssa.Return, s *state) (token.Pos, string) {
	if n := len(ret.Results); n > 1 && isError(ret.Results[n-1].Type()) && a.failed(ret.Results[n-1], s) {
		if madeWithIt(ret, ret.Results[n-1], s) {
			return ret.Pos(), "returned"
		}
		return token.NoPos, ""
	}
	for _, v := range ret.Results {
		if isError(v.Type()) && s.of(v)&memory == 0 && !madeWithIt(ret, v, s) {
			continue // an error is not looked at for memory
		}
		if returnsCarried(ret, v, s) {
			return ret.Pos(), "returned"
		}
	}
	return token.NoPos, ""
}

// madeWithIt reports whether an error is a struct that the function has made, with memory of the object in one of
// its fields.
func madeWithIt(ret *ssa.Return, v ssa.Value, s *state) bool {
	if st := resultStored(v, ret); st != nil {
		v = st
	}
	cell, ok := bare(v).(*ssa.Alloc)
	if !ok {
		cell, ok = loadedCell(bare(v))
	}
	if !ok {
		return false
	}
	for p, t := range s.places {
		if p.base == cell && p.path != "" && t&memory != 0 && !strings.Contains(p.path, "*") {
			return true
		}
	}
	return false
}

// returnsCarried reports whether one result of a return has what the state follows. Where a function
// defers, each result is a variable that the return's block stores first.
func returnsCarried(ret *ssa.Return, v ssa.Value, s *state) bool {
	if carries(v, s) {
		return true
	}
	stored := resultStored(v, ret)
	return stored != nil && carries(stored, s)
}

// madeHere reports whether a map is one that the function has made, which the walk follows on.
func madeHere(m ssa.Value) bool {
	switch m.(type) {
	case *ssa.MakeMap, *ssa.Phi:
		return true
	}
	return false
}

// failed reports whether an error is known not to be nil.
func (a *graph) failed(err ssa.Value, s *state) bool {
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
func (a *calls) argumentUse(call ssa.CallInstruction, s *state) (token.Pos, string) {
	c := call.Common()
	pos := call.Pos()
	if b, ok := c.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "append", "copy", "clear", "print", "println", "delete", "min", "max":
			for i, v := range c.Args {
				if s.of(v)&memory != 0 && !(b.Name() == "append" && i == 0) {
					return pos, "used"
				}
			}
			if b.Name() == "append" && s.of(c.Args[0])&memory != 0 && len(c.Args) > 1 && !isNil(c.Args[1]) {
				return pos, "used"
			}
		case "len", "cap":
			if _, ok := c.Args[0].Type().Underlying().(*types.Map); ok && s.of(c.Args[0])&memory != 0 {
				return pos, "used"
			}
		}
		return token.NoPos, ""
	}
	if f := called(c); f != nil && harmless[fullName(f)] {
		return token.NoPos, ""
	}
	if c.IsInvoke() && s.of(c.Value)&memory != 0 {
		return pos, "used"
	}
	for _, v := range c.Args {
		if s.of(v)&memory != 0 {
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
func (a *syntax) expr(call ssa.CallInstruction, t target) string {
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
	if e, ok := t.val.(*ssa.Extract); ok && len(args) == 0 && !call.Common().IsInvoke() {
		if got, ok := e.Tuple.(*ssa.Call); ok && e.Index == 0 && a.names[got.Pos()] != "" {
			return a.names[got.Pos()]
		}
	}
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
func (a *syntax) placeName(p place) string {
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
		if rest[0] == '(' {
			return ""
		}
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
