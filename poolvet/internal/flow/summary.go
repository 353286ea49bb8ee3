package flow

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A Summary is what callers of a function need to know of it. Parameters are numbered from
// 0, a method's receiver included; -1-i is the i-th captured variable of a literal.
type Summary struct {
	Puts    []Ref
	Gets    []int    // results that are out of a pool
	Dewpond bool     // the pools are dewpond's
	Only    bool     // it puts back, and does nothing else
	Same    [][2]int // result, parameter: the result is memory of the parameter
	Holds   [][2]int // result, parameter: the result refers to the parameter
	Keeps   []int    // stored, sent or queued
	Borrows []int    // as annotated: used until it returns and no longer
}

// A Ref is a parameter, or what is in a field of it.
type Ref struct {
	Param int
	Path  string
}

// AFact makes a Summary a fact.
func (*Summary) AFact() {}

func (s *Summary) String() string {
	if s == nil {
		return ""
	}
	var parts []string
	if len(s.Puts) > 0 {
		parts = append(parts, "puts")
	}
	if len(s.Gets) > 0 {
		parts = append(parts, "gets")
	}
	return strings.Join(parts, " ")
}

func (s *Summary) empty() bool {
	return len(s.Puts)+len(s.Gets)+len(s.Same)+len(s.Holds)+len(s.Keeps)+len(s.Borrows) == 0
}

func (s *Summary) equal(t *Summary) bool {
	return t != nil && s.Only == t.Only && slices.Equal(s.Puts, t.Puts) && slices.Equal(s.Gets, t.Gets) && slices.Equal(s.Same, t.Same) &&
		slices.Equal(s.Holds, t.Holds) && slices.Equal(s.Keeps, t.Keeps) && slices.Equal(s.Borrows, t.Borrows)
}

// callee is the function that a call calls, if this package has it, and what it captures.
func (a *flowPass) callee(c *ssa.CallCommon) (*ssa.Function, []ssa.Value) {
	if c.IsInvoke() {
		return nil, nil
	}
	return a.functionOf(c.Value, 0)
}

func (a *flowPass) functionOf(v ssa.Value, depth int) (*ssa.Function, []ssa.Value) {
	if depth > 4 {
		return nil, nil
	}
	switch x := v.(type) {
	case *ssa.Function:
		if o := x.Origin(); o != nil {
			return o, nil
		}
		return x, nil
	case *ssa.MakeClosure:
		f := x.Fn.(*ssa.Function)
		return f, x.Bindings
	case *ssa.ChangeType:
		return a.functionOf(x.X, depth+1)
	case *ssa.UnOp:
		if x.Op != token.MUL {
			return nil, nil
		}
		switch cell := x.X.(type) {
		case *ssa.Global:
			if v := a.globals[cell]; v != nil {
				return a.functionOf(v, depth+1)
			}
		case *ssa.Alloc:
			if s := a.storedOnce(cell); s != nil {
				return a.functionOf(s.Val, depth+1)
			}
		}
	}
	return nil, nil
}

func (a *flowPass) summaryOf(c *ssa.CallCommon) *Summary {
	if f, _ := a.callee(c); f != nil {
		if s := a.summaries[f]; s != nil {
			return s
		}
	}
	if f := called(c); f != nil {
		return a.imported(f)
	}
	return nil
}

// imported is the fact of a function, which may be of another package.
func (a *flowPass) imported(f *types.Func) *Summary {
	if s, ok := a.facts[f]; ok {
		return s
	}
	var s *Summary
	if got := new(Summary); f.Pkg() != nil && a.pass.ImportObjectFact(f, got) {
		s = got
	}
	a.facts[f] = s
	return s
}

// actual is the argument, or the captured variable, that a summary numbers so.
func (a *flowPass) actual(c *ssa.CallCommon, n int) ssa.Value {
	if n < 0 {
		_, bindings := a.callee(c)
		if -1-n < len(bindings) {
			return bindings[-1-n]
		}
		return nil
	}
	if c.IsInvoke() {
		if n == 0 {
			return c.Value
		}
		n--
	}
	if n < len(c.Args) {
		return c.Args[n]
	}
	return nil
}

// onlyStores finds the package variables that one store in init fills for good.
func onlyStores(fns []*ssa.Function) map[*ssa.Global]ssa.Value {
	vals := map[*ssa.Global]ssa.Value{}
	for _, f := range fns {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if s, ok := in.(*ssa.Store); ok {
					if g, ok := s.Addr.(*ssa.Global); ok {
						if _, twice := vals[g]; twice || f.Name() != "init" {
							vals[g] = nil
						} else {
							vals[g] = s.Val
						}
					}
				}
			}
		}
	}
	return vals
}

// summarize computes what callers need to know of f from what is known of its callees.
func (a *flowPass) summarize(f *ssa.Function) *Summary {
	s := &Summary{}
	if note := a.notes[f.Object()]; note != nil {
		*s = *note
	}
	s.Puts = append(s.Puts, a.putsBack(f, s.Puts)...)
	s.Only = len(s.Puts) > 0 && a.doesNothingElse(f)
	for _, b := range f.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		for i, v := range ret.Results {
			a.returns(f, s, i, v)
		}
	}
	for i, p := range f.Params {
		if a.keeps(p, 0) && !slices.Contains(s.Borrows, i) {
			s.Keeps = appendNew(s.Keeps, i)
		}
	}
	return s
}

func appendNew[T comparable](all []T, x T) []T {
	if slices.Contains(all, x) {
		return all
	}
	return append(all, x)
}

// returns notes what one returned value is.
func (a *flowPass) returns(f *ssa.Function, s *Summary, i int, v ssa.Value) {
	if cell, ok := loadedCell(v); ok {
		for _, r := range *cell.Referrers() {
			if st, ok := r.(*ssa.Store); ok && st.Addr == cell {
				a.resultValue(f, s, i, st.Val)
			}
		}
		return
	}
	a.resultValue(f, s, i, v)
}

func loadedCell(v ssa.Value) (*ssa.Alloc, bool) {
	load, ok := v.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return nil, false
	}
	cell, ok := load.X.(*ssa.Alloc)
	return cell, ok
}

func (a *flowPass) resultValue(f *ssa.Function, s *Summary, i int, v ssa.Value) {
	if isNil(v) {
		return
	}
	vals := []ssa.Value{v}
	if phi, ok := v.(*ssa.Phi); ok {
		vals = phi.Edges
	}
	for _, v := range vals {
		r := a.root(v)
		if _, ok := r.(*ssa.FieldAddr); ok {
			continue
		}
		if from := a.origin(v); a.isGet(from) && !isString(v.Type()) && !a.putAtTheEnd(f, from) && !a.keeps(from, 0) {
			s.Gets = appendNew(s.Gets, i)
			s.Dewpond = s.Dewpond || a.getsDewpond(from)
		}
		for n, p := range f.Params {
			switch {
			case r == p || a.boxed(r) == p:
				s.Same = appendNew(s.Same, [2]int{i, n})
			case a.builtFrom(r, p):
				s.Holds = appendNew(s.Holds, [2]int{i, n})
			}
		}
	}
}

// putAtTheEnd reports whether a deferred call of f puts v back: then it is not the caller's.
func (a *flowPass) putAtTheEnd(f *ssa.Function, v ssa.Value) bool {
	for _, call := range a.putCalls[f] {
		if _, deferred := call.(*ssa.Defer); deferred {
			for _, t := range a.puts(call) {
				if !t.inPlace && a.origin(t.val) == v {
					return true
				}
			}
		}
	}
	return false
}

// boxed is the value that a variable has for good whose address v is, or that v was loaded
// from.
func (a *flowPass) boxed(v ssa.Value) ssa.Value {
	cell, ok := bare(v).(*ssa.Alloc)
	if !ok {
		if cell, ok = loadedCell(bare(v)); !ok {
			return nil
		}
	}
	if st := a.storedOnce(cell); st != nil {
		return a.root(st.Val)
	}
	return nil
}

// builtFrom reports whether v is a new object with p in one of its fields, or what a
// function that holds p has returned.
func (a *flowPass) builtFrom(v, p ssa.Value) bool {
	switch x := v.(type) {
	case *ssa.Alloc:
		for _, r := range *x.Referrers() {
			field, ok := r.(*ssa.FieldAddr)
			if !ok {
				continue
			}
			for _, r := range *field.Referrers() {
				if st, ok := r.(*ssa.Store); ok && st.Addr == field && pointerLike(st.Val.Type()) && a.root(st.Val) == p {
					return true
				}
			}
		}
	case *ssa.Call:
		for _, h := range a.heldBy(x, 0) {
			if a.root(h) == p {
				return true
			}
		}
	case *ssa.Extract:
		if call, ok := x.Tuple.(*ssa.Call); ok {
			for _, h := range a.heldBy(call, x.Index) {
				if a.root(h) == p {
					return true
				}
			}
		}
	}
	return false
}

// pointerLike reports whether a value of type t refers to other memory.
func pointerLike(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Interface, *types.Map, *types.Chan:
		return true
	}
	return isLease(t)
}

// isGet reports whether v is what a pool has handed out.
func (a *flowPass) isGet(v ssa.Value) bool {
	i := 0
	if e, ok := v.(*ssa.Extract); ok {
		i, v = e.Index, e.Tuple
	}
	call, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	if r, ok := a.roleOf(call.Common()); ok {
		return r.gets && i == 0
	}
	if f := called(call.Common()); f != nil && f.Pkg() != a.pass.Pkg && f.Pkg() != nil && f.Pkg().Path() == dewpondPath {
		return false // a lease, scope or buffer owns what it gives
	}
	s := a.summaryOf(call.Common())
	return s != nil && slices.Contains(s.Gets, i)
}

func (a *flowPass) getsDewpond(v ssa.Value) bool {
	if e, ok := v.(*ssa.Extract); ok {
		v = e.Tuple
	}
	call, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	if r, ok := a.roleOf(call.Common()); ok {
		return r.dewpond
	}
	s := a.summaryOf(call.Common())
	return s != nil && s.Dewpond
}

// keeps reports whether what v points to is stored where it outlives the call, sent, or
// given to what keeps it.
func (a *flowPass) keeps(v ssa.Value, depth int) bool {
	if depth > 6 || !pointerLike(v.Type()) || v.Referrers() == nil {
		return false
	}
	for _, in := range *v.Referrers() {
		switch x := in.(type) {
		case *ssa.Store:
			if x.Val != v {
				continue
			}
			if cell, ok := x.Addr.(*ssa.Alloc); ok {
				for _, r := range *cell.Referrers() {
					if load, ok := r.(*ssa.UnOp); ok && a.keeps(load, depth+1) {
						return true
					}
					if c, ok := r.(*ssa.MakeClosure); ok && startsGoroutine(c) {
						return true
					}
				}
				continue
			}
			return true
		case *ssa.Send, *ssa.MapUpdate, *ssa.Select, *ssa.Go:
			return true
		case *ssa.MakeClosure:
			continue
		case ssa.CallInstruction:
			if a.handsOn(x, v) {
				return true
			}
		}
		if w, ok := in.(ssa.Value); ok {
			if _, phi := w.(*ssa.Phi); phi || a.source(w) == v {
				if _, field := w.(*ssa.FieldAddr); !field && a.keeps(w, depth+1) {
					return true
				}
			}
		}
	}
	return false
}

// startsGoroutine reports whether a closure is what a go statement runs.
func startsGoroutine(c *ssa.MakeClosure) bool {
	return slices.ContainsFunc(*c.Referrers(), func(in ssa.Instruction) bool {
		g, ok := in.(*ssa.Go)
		return ok && g.Call.Value == c
	})
}

// handsOn reports whether a call keeps one of its arguments.
func (a *flowPass) handsOn(call ssa.CallInstruction, v ssa.Value) bool {
	c := call.Common()
	if b, ok := c.Value.(*ssa.Builtin); ok {
		// append(queue, v) keeps v; it has it in an array of one
		return b.Name() == "append" && len(c.Args) > 1 && c.Args[1] == v && !isSlice(v.Type())
	}
	s := a.summaryOf(c)
	if s == nil {
		return false
	}
	for _, n := range s.Keeps {
		if a.actual(c, n) == v {
			return true
		}
	}
	return false
}
