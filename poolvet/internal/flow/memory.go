package flow

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A taint says what a value has to do with the object that is followed.
type taint uint8

const (
	own    taint = 1 << iota // it is the object, or memory of it
	holds                    // it was built from the object and refers to it
	inside                   // it is memory that the object keeps in a field
	ended                    // it is a handle whose slices have ended

	memory = own | inside // what a read or a write of it touches
)

// A place is a variable that is in memory: a local one that a closure captures, a field, a
// package variable. Two loads of one place give one value unless something is stored
// between them.
type place struct {
	base ssa.Value
	path string // ".N" is a field, "*" what a pointer points to, "(T)" what an interface has if it has that type
}

func (p place) within(q place) bool {
	return p.base == q.base && strings.HasPrefix(p.path, q.path)
}

// bare strips what changes the type of a value alone.
func bare(v ssa.Value) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.ChangeType:
			v = x.X
		case *ssa.ChangeInterface:
			v = x.X
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.TypeAssert:
			if x.CommaOk {
				return v
			}
			v = x.X
		case *ssa.Extract:
			t, ok := x.Tuple.(*ssa.TypeAssert)
			if !ok || x.Index != 0 {
				return v
			}
			v = t.X
		default:
			return v
		}
	}
}

// placeOf is the place at an address.
func placeOf(addr ssa.Value) (place, bool) {
	switch x := bare(addr).(type) {
	case *ssa.Alloc, *ssa.FreeVar, *ssa.Global:
		return place{base: x}, true
	case *ssa.FieldAddr:
		p, ok := pointee(x.X)
		p.path += "." + strconv.Itoa(x.Field)
		return p, ok
	}
	return place{}, false
}

// pointee is the place that a pointer points to, whatever the pointer is.
func pointee(pointer ssa.Value) (place, bool) {
	if x, t := assertedOk(pointer); x != nil { // an object of another type is at another place
		p, ok := pointee(x)
		p.path += "(" + strings.TrimPrefix(typeString(t), "*") + ")"
		return p, ok
	}
	pointer = bare(pointer)
	if p, ok := placeOf(pointer); ok {
		return p, true
	}
	if load, ok := pointer.(*ssa.UnOp); ok && load.Op == token.MUL {
		if p, ok := placeOf(load.X); ok && len(p.path) < 40 {
			p.path += "*"
			return p, true
		}
	}
	return place{base: pointer}, true
}

// assertedOk is the field or the variable that a value was asserted from, where the assertion asks whether it has the
// type, and that type if it is no interface.
func assertedOk(v ssa.Value) (ssa.Value, types.Type) {
	e, ok := v.(*ssa.Extract)
	if !ok || e.Index != 0 {
		return nil, nil
	}
	as, ok := e.Tuple.(*ssa.TypeAssert)
	if !ok || types.IsInterface(as.AssertedType) {
		return nil, nil
	}
	if _, ok := loaded(as.X); !ok {
		return nil, nil
	}
	return as.X, as.AssertedType
}

// loaded is the place that a value was loaded from.
func loaded(v ssa.Value) (place, bool) {
	load, ok := bare(v).(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return place{}, false
	}
	return placeOf(load.X)
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// boxesSlice reports whether a value of type t is a pointer to a slice.
func boxesSlice(t types.Type) bool {
	p, ok := t.Underlying().(*types.Pointer)
	return ok && isSlice(p.Elem())
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func isNil(v ssa.Value) bool {
	c, ok := bare(v).(*ssa.Const)
	return ok && c.IsNil()
}

func isZero(v ssa.Value) bool {
	if v == nil {
		return true
	}
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.Int && constant.Sign(c.Value) == 0
}

// source is what v derives from in the same memory, and nil for a value that begins
// something.
func (a *calls) source(v ssa.Value) ssa.Value {
	switch x := v.(type) {
	case *ssa.ChangeType:
		return x.X
	case *ssa.ChangeInterface:
		return x.X
	case *ssa.MakeInterface:
		return x.X
	case *ssa.TypeAssert:
		if !x.CommaOk {
			return x.X
		}
	case *ssa.Extract:
		switch t := x.Tuple.(type) {
		case *ssa.TypeAssert:
			if x.Index == 0 {
				return t.X
			}
		case *ssa.Call:
			return a.sameAs(t, x.Index)
		}
	case *ssa.Slice:
		if isString(x.X.Type()) && !isString(x.Type()) {
			return nil
		}
		return x.X
	case *ssa.Convert:
		if copies(x) {
			return nil
		}
		if _, ok := x.X.Type().Underlying().(*types.Pointer); ok || isUnsafe(x.X.Type()) {
			return x.X
		}
	case *ssa.SliceToArrayPointer:
		return x.X
	case *ssa.FieldAddr:
		return x.X
	case *ssa.IndexAddr:
		return x.X
	case *ssa.UnOp:
		if x.Op == token.MUL {
			return a.contents(x)
		}
	case *ssa.Call:
		return a.sameAs(x, 0)
	}
	return nil
}

// contents is the pointer whose own memory a load reads as a whole: *p of a *[]byte,
// the bytes of a ByteBuffer, and a string that a slice is read as.
func (a *calls) contents(load *ssa.UnOp) ssa.Value {
	if boxesSlice(load.X.Type()) {
		switch x := load.X.(type) {
		case *ssa.Alloc, *ssa.FreeVar, *ssa.Global, *ssa.IndexAddr:
			return nil // a variable, which the walk follows as a place
		case *ssa.FieldAddr:
			if isBytes(x) {
				return x.X
			}
			return nil
		}
		return load.X
	}
	if c, ok := load.X.(*ssa.Convert); ok && isString(load.Type()) && isUnsafe(c.X.Type()) {
		return load.X
	}
	return nil
}

// isBytes reports whether a field is bytebufferpool's B.
func isBytes(x *ssa.FieldAddr) bool {
	named, ok := types.Unalias(x.X.Type().Underlying().(*types.Pointer).Elem()).(*types.Named)
	return ok && named.Obj().Name() == "ByteBuffer" && named.Obj().Pkg() != nil &&
		named.Obj().Pkg().Path() == "github.com/valyala/bytebufferpool"
}

func isUnsafe(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

// copies reports whether a conversion makes memory of its own.
func copies(c *ssa.Convert) bool {
	from, to := c.X.Type(), c.Type()
	return isString(from) && isSlice(to) || isSlice(from) && isString(to)
}

// sameAs is the argument that result i of a call is memory of.
func (a *calls) sameAs(call *ssa.Call, i int) ssa.Value {
	c := call.Common()
	if b, ok := c.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "append", "Slice", "String", "SliceData", "StringData", "Add":
			if i == 0 && len(c.Args) > 0 {
				return c.Args[0]
			}
		}
		return nil
	}
	if f := called(c); f != nil && cutting[fullName(f)] > i {
		return c.Args[0]
	}
	if f := called(c); f != nil && i == 0 && inMemory[fullName(f)] {
		if c.IsInvoke() {
			return c.Value
		}
		if _, ok := c.Args[0].(*ssa.FieldAddr); ok {
			return nil // a buffer inside the object may be replaced before the Put
		}
		return c.Args[0]
	}
	if s := a.summaryOf(c); s != nil {
		for _, l := range s.Same {
			if v := a.actual(c, l.Param); l.Result == i && v != nil && mayBe(v, l.As) {
				return v
			}
		}
	}
	return nil
}

// assertedOn is the type that an interface must have for v to be memory of it, and "" if any will do.
func (a *calls) assertedOn(v ssa.Value) (as string) {
	for range 100 {
		from := a.source(v)
		if from == nil {
			break
		}
		t := v.Type()
		switch x := v.(type) {
		case *ssa.Call:
			as = a.linkedAs(x, 0, as)
		case *ssa.Extract:
			if call, ok := x.Tuple.(*ssa.Call); ok {
				as = a.linkedAs(call, x.Index, as)
			} else if !types.IsInterface(t) {
				as = typeString(t)
			}
		case *ssa.TypeAssert:
			if !types.IsInterface(t) {
				as = typeString(t)
			}
		}
		v = from
	}
	return as
}

// linkedAs is the type that a callee asserts its argument to have, and as if it asserts none.
func (a *calls) linkedAs(call *ssa.Call, i int, as string) string {
	if s := a.summaryOf(call.Common()); s != nil {
		for _, l := range s.Same {
			if l.Result == i && l.As != "" {
				return l.As
			}
		}
	}
	return as
}

// mayBe reports whether a value is known to have the type that a callee asserts it to have: where
// only the callee looks, nothing is known.
func mayBe(v ssa.Value, as string) bool {
	for as != "" {
		switch x := v.(type) {
		case *ssa.ChangeInterface:
			v = x.X
		case *ssa.MakeInterface:
			return typeString(x.X.Type()) == as
		default:
			return typeString(v.Type()) == as
		}
	}
	return true
}

func typeString(t types.Type) string { return types.TypeString(types.Unalias(t), nil) }

// grownFrom reports whether v is p, or what append has made of it, on one of the paths to it.
func (a *calls) grownFrom(v, p ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] || !isSlice(v.Type()) {
		return false
	}
	seen[v] = true
	switch x := v.(type) {
	case *ssa.Phi:
		return slices.ContainsFunc(x.Edges, func(e ssa.Value) bool { return a.grownFrom(e, p, seen) })
	case *ssa.Call:
		if b, ok := x.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
			from := x.Call.Args[0]
			return a.mayBegin(from, p, map[ssa.Value]bool{}) || a.grownFrom(from, p, seen)
		}
		if from := appendedTo(x); from != nil {
			return a.mayBegin(from, p, map[ssa.Value]bool{}) || a.grownFrom(from, p, seen)
		}
		if s := a.summaryOf(x.Common()); s != nil {
			return slices.ContainsFunc(s.Grows, func(l Link) bool {
				from := a.actual(x.Common(), l.Param)
				return l.Result == 0 && from != nil && (a.root(from) == p || a.grownFrom(from, p, seen))
			})
		}
	}
	if from := a.source(v); from != nil {
		return a.grownFrom(from, p, seen)
	}
	return false
}

// mayBegin reports whether p is the root of v on one of the paths to it.
func (a *calls) mayBegin(v, p ssa.Value, seen map[ssa.Value]bool) bool {
	phi, ok := v.(*ssa.Phi)
	if !ok || seen[v] {
		return a.root(v) == p
	}
	seen[v] = true
	return slices.ContainsFunc(phi.Edges, func(e ssa.Value) bool { return a.mayBegin(e, p, seen) })
}

// heldBy is the argument that a call's result i refers to.
func (a *calls) heldBy(call *ssa.Call, i int) []ssa.Value {
	c := call.Common()
	if f := called(c); f != nil && i == 0 && !c.IsInvoke() {
		if n, ok := holding[fullName(f)]; ok && n < len(c.Args) {
			return c.Args[n : n+1]
		}
	}
	var held []ssa.Value
	if s := a.summaryOf(c); s != nil {
		for _, l := range s.Holds {
			if l.Result == i {
				if v := a.actual(c, l.Param); v != nil {
					held = append(held, v)
				}
			}
		}
	}
	return held
}

// root is the value that the memory of v begins with, as far back as this function shows
// without a choice of ways.
func (a *calls) root(v ssa.Value) ssa.Value {
	for range 100 {
		if phi, ok := v.(*ssa.Phi); ok {
			one := a.oneRoot(phi)
			if one == nil {
				return v
			}
			v = one
			continue
		}
		if call, ok := v.(*ssa.Call); ok {
			if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
				return v // it may be other memory than what was appended to
			}
		}
		if _, ok := v.(*ssa.FieldAddr); ok {
			return v
		}
		if load, ok := v.(*ssa.UnOp); ok && isSlice(v.Type()) && a.contents(load) != nil {
			return v // the slice alone: the box that it is in has a pool of its own
		}
		s := a.source(v)
		if s == nil {
			if cell, ok := loadedCell(v); ok {
				if st := a.storedOnce(cell); st != nil {
					v = st.Val
					continue
				}
			}
			return v
		}
		v = s
	}
	return v
}

// origin is root, also through the box that a slice is in.
func (a *calls) origin(v ssa.Value) ssa.Value {
	for range 4 {
		v = a.root(v)
		load, ok := v.(*ssa.UnOp)
		if !ok || a.contents(load) == nil {
			break
		}
		v = a.contents(load)
	}
	return v
}

// oneRoot is the root of all edges of phi, if they have but one.
func (a *calls) oneRoot(phi *ssa.Phi) ssa.Value {
	var one ssa.Value
	for _, e := range phi.Edges {
		for {
			s := a.source(e)
			if s == nil {
				break
			}
			if _, ok := e.(*ssa.FieldAddr); ok {
				break
			}
			if call, ok := e.(*ssa.Call); ok {
				if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
					break
				}
			}
			e = s
		}
		if e == phi {
			continue
		}
		if _, ok := e.(*ssa.Phi); ok || one != nil && one != e {
			return nil
		}
		one = e
	}
	return one
}

// closure is every value that is known to be memory of v, or holds it, without a choice of
// ways.
func (a *calls) closure(v ssa.Value) map[ssa.Value]taint {
	all := map[ssa.Value]taint{}
	var add func(v ssa.Value, t taint)
	add = func(v ssa.Value, t taint) {
		if all[v]&t == t {
			return
		}
		all[v] |= t
		refs := v.Referrers()
		if refs == nil {
			return
		}
		for _, in := range *refs {
			switch x := in.(type) {
			case *ssa.Phi:
			case *ssa.Store:
				if x.Val != v {
					continue
				}
				if cell, ok := x.Addr.(*ssa.Alloc); ok && a.storedOnce(cell) == x {
					for _, r := range *cell.Referrers() {
						switch r := r.(type) {
						case *ssa.UnOp:
							add(r, t)
						case *ssa.Convert: // unsafe.Pointer(&b): what is read through it is b
							add(r, t)
						}
					}
				}
			case *ssa.Call:
				results := 1
				if tuple, ok := x.Type().(*types.Tuple); ok {
					results = tuple.Len()
				}
				if results == 1 {
					if a.sameAs(x, 0) == v {
						add(x, t)
					}
					for _, held := range a.heldBy(x, 0) {
						if held == v {
							add(x, holds)
						}
					}
					continue
				}
				for _, r := range *x.Referrers() {
					if e, ok := r.(*ssa.Extract); ok {
						if a.sameAs(x, e.Index) == v {
							add(e, t)
						}
						for _, held := range a.heldBy(x, e.Index) {
							if held == v {
								add(e, holds)
							}
						}
					}
				}
			case *ssa.TypeAssert:
				if x.CommaOk {
					for _, r := range *x.Referrers() {
						if e, ok := r.(*ssa.Extract); ok && e.Index == 0 {
							add(e, t)
						}
					}
					continue
				}
				add(x, t)
			case ssa.Value:
				if a.source(x) == v {
					add(x, t)
				} else if a.isPiece(x) {
					add(x, own)
				}
			}
		}
	}
	add(v, own)
	return all
}

// storedOnce is the only store to a variable, in whatever function, and nil if there are
// several or its address goes elsewhere than into closures.
func (a *graph) storedOnce(cell *ssa.Alloc) *ssa.Store {
	var one *ssa.Store
	for _, r := range *cell.Referrers() {
		switch x := r.(type) {
		case *ssa.Store:
			if x.Addr != cell {
				return nil
			}
			if one != nil {
				return nil
			}
			one = x
		case *ssa.UnOp, *ssa.DebugRef:
		case *ssa.MakeClosure:
			if a.writesFree(x, cell) {
				return nil
			}
		case *ssa.MakeInterface, *ssa.Call, *ssa.Defer, *ssa.FieldAddr, *ssa.ChangeType, *ssa.Convert:
			// &b as an argument: the callee could write it, and a pool's does not
		default:
			return nil
		}
	}
	return one
}

// writesFree reports whether a closure, or one inside it, stores to the variable that it
// captures.
func (a *graph) writesFree(c *ssa.MakeClosure, cell ssa.Value) bool {
	f := c.Fn.(*ssa.Function)
	for i, b := range c.Bindings {
		if b == cell && a.writesVar(f.FreeVars[i], 0) {
			return true
		}
	}
	return false
}

// growsFree reports whether all that a literal stores to the variable that it captures is what append has made of it.
func growsFree(c *ssa.MakeClosure, cell ssa.Value) bool {
	f := c.Fn.(*ssa.Function)
	for i, b := range c.Bindings {
		if b != cell {
			continue
		}
		for _, r := range *f.FreeVars[i].Referrers() {
			switch x := r.(type) {
			case *ssa.UnOp:
			case *ssa.Store:
				call, ok := x.Val.(*ssa.Call)
				if !ok {
					return false
				}
				b, ok := call.Call.Value.(*ssa.Builtin)
				if !ok || b.Name() != "append" {
					return false
				}
				if load, ok := call.Call.Args[0].(*ssa.UnOp); !ok || load.X != ssa.Value(f.FreeVars[i]) {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}

func (a *graph) writesVar(v ssa.Value, depth int) bool {
	if depth > 4 || v.Referrers() == nil {
		return depth > 4
	}
	for _, r := range *v.Referrers() {
		switch x := r.(type) {
		case *ssa.Store:
			if x.Addr == v {
				return true
			}
		case *ssa.FieldAddr:
			if a.writesVar(x, depth+1) {
				return true
			}
		case *ssa.MakeClosure:
			f := x.Fn.(*ssa.Function)
			for i, b := range x.Bindings {
				if b == v && a.writesVar(f.FreeVars[i], depth+1) {
					return true
				}
			}
		case ssa.CallInstruction:
			return true
		}
	}
	return false
}
