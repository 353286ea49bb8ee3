package flow

import (
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// This file is about memory that an object keeps in a field: what a method returns of it goes back
// to the pool together with the object.

// insideOf is the object in a field of which v is a slice that the object keeps, as far back as this
// function shows, and nil for other values.
func (a *fieldUses) insideOf(v ssa.Value) ssa.Value {
	found := false
	for range 100 {
		if call, i := resultOf(v); call != nil {
			if from := a.insideCall(call, i); from != nil {
				v, found = from, true
				continue
			}
		}
		if load, ok := v.(*ssa.UnOp); ok && load.Op == token.MUL {
			if field, ok := load.X.(*ssa.FieldAddr); ok && (a.reused(field) || found && a.stays(field)) {
				v, found = field.X, true
				continue
			}
		}
		from := a.source(v)
		if from == nil {
			break
		}
		v = from
	}
	if !found {
		return nil
	}
	return v
}

// slicesIn are the slices of an object's own memory that instructions take from one of its values.
func (a *fieldUses) slicesIn(v ssa.Value) (all []ssa.Value) {
	if v.Referrers() == nil {
		return nil
	}
	for _, r := range *v.Referrers() {
		switch x := r.(type) {
		case *ssa.UnOp:
			if field, ok := v.(*ssa.FieldAddr); ok && x.Op == token.MUL && a.reused(field) {
				all = append(all, x)
			}
		case *ssa.Call:
			if a.insideCall(x, 0) == v && isSlice(x.Type()) {
				all = append(all, x)
			}
			if x.Referrers() == nil {
				continue
			}
			for _, r := range *x.Referrers() {
				if e, ok := r.(*ssa.Extract); ok && a.insideCall(x, e.Index) == v {
					all = append(all, e)
				}
			}
		}
	}
	return all
}

// resultOf is the call that v is a result of, and which result it is.
func resultOf(v ssa.Value) (*ssa.Call, int) {
	switch x := v.(type) {
	case *ssa.Call:
		return x, 0
	case *ssa.Extract:
		if call, ok := x.Tuple.(*ssa.Call); ok {
			return call, x.Index
		}
	}
	return nil, 0
}

// insideCall is the argument in which a call's result is, as the callee's summary has it.
func (a *calls) insideCall(call *ssa.Call, i int) ssa.Value {
	if s := a.summaryOf(call.Common()); s != nil {
		for _, l := range s.Inside {
			if l.Result == i {
				return a.actual(call.Common(), l.Param)
			}
		}
	}
	return nil
}

// reused reports whether a field is a slice that its struct uses again: a function of this package
// stores a slice of what the field had, and none stores nil or lets another have it.
func (a *fieldUses) reused(field *ssa.FieldAddr) bool {
	v := fieldOf(field)
	if v == nil || !isSlice(v.Type()) {
		return false
	}
	if isBytes(field) {
		return true
	}
	a.lookAtFields()
	u := a.fields[v]
	return u.again && !u.lost
}

// stays reports whether what a field points to goes back to a pool too, or is never replaced by nil.
func (a *fieldUses) stays(field *ssa.FieldAddr) bool {
	v := fieldOf(field)
	if v == nil || v.Pkg() != a.pass.Pkg {
		return false
	}
	a.lookAtFields()
	return a.fields[v].put || !a.fields[v].lost
}

// neverSet reports whether a place is of fields that this package alone knows, and sets where it makes their
// struct and nowhere else.
func (a *fieldUses) neverSet(p place) bool {
	if _, cell := p.base.(*ssa.Alloc); cell || p.path == "" {
		return false
	}
	t, rest := p.base.Type(), p.path
	for rest != "" {
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if rest[0] == '(' {
			return false
		}
		if rest[0] == '*' {
			rest = rest[1:]
			continue
		}
		digits := len(rest[1:]) - len(strings.TrimLeft(rest[1:], "0123456789"))
		n, err := strconv.Atoi(rest[1 : 1+digits])
		s, ok := t.Underlying().(*types.Struct)
		if err != nil || !ok || n >= s.NumFields() {
			return false
		}
		f := s.Field(n).Origin()
		a.lookAtFields()
		if f.Exported() || f.Pkg() != a.pass.Pkg || a.fields[f].set {
			return false
		}
		if named, ok := types.Unalias(t).(*types.Named); !ok || a.replaced[named.Origin().Obj()] {
			return false
		}
		t, rest = f.Type(), rest[1+digits:]
	}
	return true
}

// A fieldUse says what the functions of a package store in a field.
type fieldUse struct {
	again bool // a slice of what it had
	lost  bool // nil, or what a caller has
	put   bool // nil, by a function that puts something back
	set   bool // anything, or its address goes elsewhere
}

func (a *fieldUses) lookAtFields() {
	if a.fields != nil {
		return
	}
	a.fields, a.replaced = map[*types.Var]fieldUse{}, map[*types.TypeName]bool{}
	for _, f := range a.fns {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				a.noteSet(in)
				st, ok := in.(*ssa.Store)
				if !ok {
					continue
				}
				field, ok := st.Addr.(*ssa.FieldAddr)
				if !ok || freshStruct(field.X) {
					continue
				}
				v := fieldOf(field)
				if v == nil {
					continue
				}
				u := a.fields[v]
				_, others := a.root(st.Val).(*ssa.Parameter)
				switch {
				case isNil(st.Val) && !isSlice(v.Type()) && len(a.putCalls[f]) > 0:
					u.put = true
				case isNil(st.Val) || others:
					u.lost = true
				case isSlice(v.Type()) && emptied(st.Val, v, 0):
					u.again = true
				}
				a.fields[v] = u
			}
		}
	}
}

// noteSet notes the field that an instruction sets or takes the address of, and the struct that it replaces.
func (a *fieldUses) noteSet(in ssa.Instruction) {
	switch x := in.(type) {
	case *ssa.FieldAddr:
		v := fieldOf(x)
		if v == nil || freshStruct(x.X) {
			return
		}
		for _, r := range *x.Referrers() {
			switch r.(type) {
			case *ssa.UnOp, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.DebugRef:
			default:
				u := a.fields[v]
				u.set = true
				a.fields[v] = u
			}
		}
	case *ssa.Store:
		if n := structPointer(x.Addr.Type()); n != nil && !freshStruct(x.Addr) {
			a.replaced[n.Origin().Obj()] = true
		}
	}
}

// emptied reports whether v is x[:0] of what a field had, or that with something appended.
func emptied(v ssa.Value, field *types.Var, depth int) bool {
	if depth > 4 {
		return false
	}
	switch x := v.(type) {
	case *ssa.Slice:
		return x.High != nil && isZero(x.High) && (continues(x.X, field, 0) || emptied(x.X, field, depth+1))
	case *ssa.Call:
		b, ok := x.Call.Value.(*ssa.Builtin)
		return ok && b.Name() == "append" && emptied(x.Call.Args[0], field, depth+1)
	case *ssa.Phi:
		for _, e := range x.Edges {
			if emptied(e, field, depth+1) {
				return true
			}
		}
	}
	return false
}
