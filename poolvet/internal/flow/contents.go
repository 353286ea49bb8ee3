package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// This file is about what pooled objects have in them: what the last owner left, and what
// nobody writes.

// A poolUse is a Get or a Put of one pool, in a variable or a field.
type poolUse struct {
	call    ssa.CallInstruction
	obj     ssa.Value // the object, as a pointer to its struct
	put     bool
	dewpond bool // a dewpond.Pool, otherwise a sync.Pool
}

// whatIsLeft looks at each sync.Pool, and each dewpond.Pool with New and without Reset, of which this
// package has all Gets and Puts.
func (a *flowPass) whatIsLeft() {
	uses := map[types.Object][]poolUse{}
	for _, f := range a.fns {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if call, ok := in.(ssa.CallInstruction); ok {
					if pool, u, ok := a.poolUse(call); ok {
						uses[pool] = append(uses[pool], u)
					}
				}
			}
		}
	}
	written := a.fieldsWritten()
	for pool, all := range uses {
		if t := a.element(all); t != nil && !pool.Exported() {
			if !all[0].dewpond {
				a.needless(pool, all, t, written)
			}
			a.noReset(all, t, written)
		}
	}
}

// poolUse splits a call of a pool's Get or Put.
func (a *flowPass) poolUse(call ssa.CallInstruction) (types.Object, poolUse, bool) {
	c := call.Common()
	fn := called(c)
	if fn == nil || c.IsInvoke() || len(c.Args) == 0 {
		return nil, poolUse{}, false
	}
	name, ours := strings.CutPrefix(fullName(fn), dewpondPath+".")
	name, ofSync := strings.CutPrefix(name, "sync.")
	if ours == ofSync || name != "Pool.Get" && name != "Pool.Put" {
		return nil, poolUse{}, false
	}
	var pool types.Object
	v := c.Args[0]
	if load, ok := v.(*ssa.UnOp); ok && load.Op == token.MUL {
		v = load.X
	}
	switch x := v.(type) {
	case *ssa.Global:
		pool = x.Object()
	case *ssa.FieldAddr:
		pool = fieldOf(x)
	}
	if pool == nil || pool.Pkg() != a.pass.Pkg {
		return nil, poolUse{}, false
	}
	if ours && !a.withoutReset()[pool] {
		return nil, poolUse{}, false
	}
	if name == "Pool.Put" {
		return pool, poolUse{call, unboxed(c.Args[1]), true, ours}, true
	}
	u := poolUse{call: call, dewpond: ours}
	if ours {
		u.obj = call.Value()
		return pool, u, u.obj != nil
	}
	if get, ok := call.(*ssa.Call); ok {
		for _, r := range *get.Referrers() {
			if as, ok := r.(*ssa.TypeAssert); ok && !as.CommaOk {
				u.obj = as
			} else if ok {
				u.obj = firstResult(as)
			}
		}
	}
	return pool, u, true
}

// withoutReset is the package variables and fields that get a dewpond.Pool with a New and without a Reset:
// what they hand out is as the last owner has left it.
func (a *flowPass) withoutReset() map[types.Object]bool {
	if a.noResets != nil {
		return a.noResets
	}
	a.noResets = map[types.Object]bool{}
	resets := map[types.Object]bool{} // pools that also get one with a Reset
	note := func(obj types.Object, e ast.Expr) {
		if set := a.optionsOf(e); obj != nil && set["New"] {
			a.noResets[obj] = !set["Reset"]
			resets[obj] = resets[obj] || set["Reset"]
		}
	}
	for _, file := range a.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.ValueSpec:
				if len(x.Values) > 0 {
					note(a.pass.TypesInfo.Defs[x.Names[0]], x.Values[0])
				}
				for i := 1; i < len(x.Names) && i < len(x.Values); i++ {
					note(a.pass.TypesInfo.Defs[x.Names[i]], x.Values[i])
				}
			case *ast.AssignStmt:
				for i, to := range x.Lhs {
					if i < len(x.Rhs) {
						note(a.poolNamed(to), x.Rhs[i])
					}
				}
			case *ast.KeyValueExpr:
				note(a.poolNamed(x.Key), x.Value)
			}
			return true
		})
	}
	for obj := range resets {
		a.noResets[obj] = a.noResets[obj] && !resets[obj]
	}
	return a.noResets
}

// poolNamed is the variable or the field that an expression names.
func (a *syntax) poolNamed(e ast.Expr) types.Object {
	switch x := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return a.pass.TypesInfo.Uses[x.Sel]
	case *ast.Ident:
		return a.pass.TypesInfo.Uses[x]
	}
	return nil
}

// optionsOf is the options that a call which makes a dewpond.Pool sets.
func (a *syntax) optionsOf(e ast.Expr) map[string]bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	lit, ok := call.Args[0].(*ast.CompositeLit)
	if !ok || typeName(a.pass.TypesInfo.TypeOf(lit)) != dewpondPath+".PoolOptions" {
		return nil
	}
	set := map[string]bool{}
	for _, el := range lit.Elts {
		if kv, ok := el.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok {
				set[key.Name] = true
			}
		}
	}
	return set
}

// unboxed is what an interface was made of.
func unboxed(v ssa.Value) ssa.Value {
	if x, ok := v.(*ssa.MakeInterface); ok {
		return x.X
	}
	return v
}

func fieldOf(x *ssa.FieldAddr) *types.Var {
	p, ok := x.X.Type().Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	s, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	return s.Field(x.Field).Origin()
}

// element is the type of a pool's objects, if it is a struct of this package and the same in
// every use.
func (a *syntax) element(uses []poolUse) *types.Named {
	var t *types.Named
	for _, u := range uses {
		if u.obj == nil {
			return nil
		}
		p, ok := u.obj.Type().Underlying().(*types.Pointer)
		if !ok {
			return nil
		}
		named, ok := types.Unalias(p.Elem()).(*types.Named)
		if !ok || named.Obj().Pkg() != a.pass.Pkg || t != nil && t.Origin() != named.Origin() {
			return nil
		}
		if _, ok := named.Underlying().(*types.Struct); !ok {
			return nil
		}
		t = named
	}
	return t
}

// A writing says what functions of a package write of each struct, outside of what makes one.
type writing struct {
	fields map[*types.Var]bool
	whole  map[*types.TypeName]bool // in ways that name no field: by other packages, or as a whole
}

func (a *flowPass) fieldsWritten() writing {
	w := writing{map[*types.Var]bool{}, map[*types.TypeName]bool{}}
	for _, f := range a.fns {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				switch x := in.(type) {
				case *ssa.FieldAddr:
					if !freshStruct(x.X) && written(x) {
						w.fields[fieldOf(x)] = true
					}
				case *ssa.Store:
					if n := structPointer(x.Addr.Type()); n != nil && !freshStruct(x.Addr) {
						w.whole[n.Origin().Obj()] = true
					}
				case ssa.CallInstruction:
					c := x.Common()
					if fn := called(c); fn != nil && (fn.Pkg() == a.pass.Pkg && !c.IsInvoke() || fullName(fn) == "sync.Pool.Put") {
						continue
					}
					for _, v := range c.Args {
						if n := structPointer(unboxed(v).Type()); n != nil {
							w.whole[n.Origin().Obj()] = true
						}
					}
				}
			}
		}
	}
	return w
}

// structPointer is the named struct that a pointer of type t points to.
func structPointer(t types.Type) *types.Named {
	p, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	named, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok {
		return nil
	}
	if _, ok := named.Underlying().(*types.Struct); !ok {
		return nil
	}
	return named
}

// freshStruct reports whether an address is of a struct that the function itself makes.
func freshStruct(v ssa.Value) bool {
	_, ok := v.(*ssa.Alloc)
	return ok
}

// written reports whether something may be stored through the address of a field, or in what
// the field holds.
func written(addr ssa.Value) bool {
	for _, r := range *addr.Referrers() {
		switch x := r.(type) {
		case *ssa.UnOp:
			if pointerLike(x.Type()) && changed(x) {
				return true
			}
		case *ssa.Store:
			if x.Addr == addr || x.Val == addr {
				return true
			}
		case *ssa.FieldAddr:
			if written(x) {
				return true
			}
		case *ssa.DebugRef:
		default:
			return true // its address goes somewhere
		}
	}
	return false
}

// changed reports whether the memory that a loaded map, slice or pointer refers to may be
// written.
func changed(v ssa.Value) bool {
	for _, r := range *v.Referrers() {
		switch x := r.(type) {
		case *ssa.MapUpdate:
			if x.Map == v {
				return true
			}
		case *ssa.IndexAddr:
			if written(x) {
				return true
			}
		case ssa.CallInstruction:
			if b, ok := x.Common().Value.(*ssa.Builtin); !ok || b.Name() != "len" && b.Name() != "cap" {
				return true
			}
		}
	}
	return false
}

// needless finds a pool whose objects nobody writes once they are made.
func (a *flowPass) needless(pool types.Object, uses []poolUse, t *types.Named, w writing) {
	if w.whole[t.Origin().Obj()] {
		return
	}
	s := t.Underlying().(*types.Struct)
	for f := range s.Fields() {
		if w.fields[f.Origin()] || f.Embedded() || (f.Exported() && t.Obj().Exported()) {
			return
		}
		switch f.Type().Underlying().(type) {
		case *types.Basic, *types.Map, *types.Slice, *types.Signature:
		case *types.Pointer, *types.Interface, *types.Chan, *types.Struct, *types.Array:
			return // it may have state of its own
		}
	}
	if !slices.ContainsFunc(uses, func(u poolUse) bool { return u.put }) {
		return
	}
	a.report("needless", pool.Pos(), nil, "nothing writes a %s once it is made: share one instead of pooling it (needless)", t.Obj().Name())
}

// cleaning is the names of functions that prepare an object for its next owner.
var cleaning = regexp.MustCompile(`(?i)^(reset|clear|init|zero|truncate|clean|wipe|recycle|free|release|start|setup|restore|begin)`)

// A tidied says which fields of an object a function sets: all of them if all is true.
type tidied struct {
	all    bool
	fields map[*types.Var]bool
}

// tidied is what the function of a use sets in the object, and what its callers do if it is a
// wrapper. unknown is true if a wrapper is called from elsewhere.
func (a *flowPass) tidied(u poolUse) (t tidied) {
	t.fields = map[*types.Var]bool{}
	f := u.call.Parent()
	a.tidies(a.closure(a.root(u.obj)), &t, 0)
	sum := a.summaries[f]
	if sum == nil || !(u.put && len(sum.Puts) > 0 || !u.put && len(sum.Gets) > 0) {
		return t
	}
	fn, _ := f.Object().(*types.Func)
	if fn == nil || fn.Exported() {
		t.all = true
		return t
	}
	var everywhere *tidied
	for _, g := range a.fns {
		for _, b := range g.Blocks {
			for _, in := range b.Instrs {
				call, ok := in.(ssa.CallInstruction)
				if !ok || called(call.Common()) != fn {
					continue
				}
				one := tidied{fields: map[*types.Var]bool{}}
				if u.put {
					for _, ref := range sum.Puts {
						if v := a.actual(call.Common(), ref.Param); v != nil {
							a.tidies(a.closure(a.root(v)), &one, 0)
						}
					}
				} else if v := call.Value(); v != nil {
					a.tidies(a.closure(v), &one, 0)
				}
				if everywhere == nil {
					everywhere = &one
				} else {
					everywhere.meet(one)
				}
			}
		}
	}
	if everywhere == nil || everywhere.all {
		t.all = true
		return t
	}
	for f := range everywhere.fields {
		t.fields[f] = true
	}
	return t
}

// meet leaves what both set.
func (t *tidied) meet(other tidied) {
	switch {
	case other.all:
	case t.all:
		*t = other
	default:
		for f := range t.fields {
			if !other.fields[f] {
				delete(t.fields, f)
			}
		}
	}
}

// tidies notes what the instructions that use one of the values set in the object.
func (a *flowPass) tidies(object map[ssa.Value]taint, t *tidied, depth int) {
	for v := range object {
		if v.Referrers() == nil {
			continue
		}
		for _, r := range *v.Referrers() {
			switch x := r.(type) {
			case *ssa.Store:
				if x.Addr == v {
					if field, ok := v.(*ssa.FieldAddr); ok {
						t.fields[fieldOf(field)] = t.fields[fieldOf(field)] || !continues(x.Val, fieldOf(field), 0)
					} else {
						t.all = true
					}
				}
			case *ssa.FieldAddr:
				for _, r := range *x.Referrers() {
					switch y := r.(type) {
					case *ssa.Store:
						if y.Addr == x && !continues(y.Val, fieldOf(x), 0) {
							t.fields[fieldOf(x)] = true
						}
					case ssa.CallInstruction: // e.buf.Reset(), of a field that is no pointer
						if fn := called(y.Common()); fn != nil && cleaning.MatchString(fn.Name()) {
							t.fields[fieldOf(x)] = true
						}
					case *ssa.UnOp:
						if cleans(y) {
							t.fields[fieldOf(x)] = true
						}
					}
				}
			case ssa.CallInstruction:
				c := x.Common()
				fn := called(c)
				if fn != nil && cleaning.MatchString(fn.Name()) {
					t.all = true
				}
				callee, _ := a.callee(c)
				if callee == nil || depth > 2 {
					continue
				}
				for i, arg := range c.Args {
					if arg == v && i < len(callee.Params) {
						a.tidies(a.closure(callee.Params[i]), t, depth+1)
					}
				}
			}
		}
	}
}

// continues reports whether a value is made of what a field had, as in n++ or append(x, y).
func continues(v ssa.Value, field *types.Var, depth int) bool {
	if depth > 4 {
		return false
	}
	switch x := v.(type) {
	case *ssa.UnOp:
		from, ok := x.X.(*ssa.FieldAddr)
		return ok && fieldOf(from) == field
	case *ssa.BinOp:
		return continues(x.X, field, depth+1) || continues(x.Y, field, depth+1)
	case *ssa.Call:
		b, ok := x.Call.Value.(*ssa.Builtin)
		return ok && b.Name() == "append" && continues(x.Call.Args[0], field, depth+1)
	case *ssa.Phi:
		for _, e := range x.Edges {
			if continues(e, field, depth+1) {
				return true
			}
		}
	case *ssa.Slice:
		return !(x.High != nil && isZero(x.High)) && continues(x.X, field, depth+1)
	}
	return false
}

// cleans reports whether what a field holds is emptied.
func cleans(v ssa.Value) bool {
	for _, r := range *v.Referrers() {
		if call, ok := r.(ssa.CallInstruction); ok {
			if b, ok := call.Common().Value.(*ssa.Builtin); ok && (b.Name() == "clear" || b.Name() == "delete") {
				return true
			}
			if fn := called(call.Common()); fn != nil && cleaning.MatchString(fn.Name()) {
				return true
			}
		}
		if s, ok := r.(*ssa.Slice); ok && isZero(s.High) && s.High != nil {
			return true
		}
	}
	return false
}

// noReset finds a Put, and a Get that may return what it put back, between which a field keeps
// what the last owner wrote there.
func (a *flowPass) noReset(uses []poolUse, t *types.Named, w writing) {
	s := t.Underlying().(*types.Struct)
	var gets, puts []poolUse
	for _, u := range uses {
		if u.put {
			puts = append(puts, u)
		} else {
			gets = append(gets, u)
		}
	}
	for _, put := range puts {
		before := a.tidied(put)
		if before.all {
			continue
		}
		for _, get := range gets {
			after := a.tidied(get)
			if after.all {
				continue
			}
			for f := range s.Fields() {
				v := f.Origin()
				if (w.fields[v] || w.whole[t.Origin().Obj()]) && !before.fields[v] && !after.fields[v] && read(a.fns, v) {
					a.report("noreset", put.call.Pos(), nil, "%s is put back with what its owner left in %s, which the Get at %s does not set either (noreset)",
						a.expr(put.call, target{val: put.call.Common().Args[1]}), f.Name(), a.at(get.call.Pos()))
					break
				}
			}
		}
	}
}

// read reports whether a function loads a field.
func read(fns []*ssa.Function, field *types.Var) bool {
	for _, f := range fns {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				x, ok := in.(*ssa.FieldAddr)
				if !ok || fieldOf(x) != field {
					continue
				}
				for _, r := range *x.Referrers() {
					if _, store := r.(*ssa.Store); !store {
						return true
					}
				}
			}
		}
	}
	return false
}
