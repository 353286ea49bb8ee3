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
	MayPut  []Ref    // put back on the first call alone, or where the result says so
	Gets    []int    // results that are out of a pool
	Dewpond bool     // the pools are dewpond's
	Only    bool     // it puts back, and does nothing else
	Same    []Link   // the result is memory of the parameter
	Maybe   []Link   // it is on some paths, and other memory on others
	Holds   []Link   // the result refers to the parameter
	Inside  []Link   // the result is memory that the parameter keeps when it goes back to its pool
	Grows   []Link   // the result is the parameter, which append may have moved
	Ends    [][2]int // results: the first, a function, puts back the second
	Lends   []Link   // the parameter Param is a function that is called with an object, as argument Result, which is put back then
	Keeps   []int    // stored, sent or queued
	Borrows []int    // as annotated: used until it returns and no longer
}

// A Ref is a parameter, or what is in a field of it. If As is set, it is one only where the
// parameter, an interface, has a value of that type.
type Ref struct {
	Param int
	Path  string
	As    string
}

// A Link is between a result and a parameter. If As is set, it holds only where the parameter, an
// interface, has a value of that type.
type Link struct {
	Result, Param int
	As            string
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
	return len(s.Puts)+len(s.MayPut)+len(s.Gets)+len(s.Same)+len(s.Maybe)+len(s.Holds)+len(s.Inside)+len(s.Grows)+len(s.Ends)+len(s.Lends)+len(s.Keeps)+len(s.Borrows) == 0
}

func (s *Summary) equal(t *Summary) bool {
	return t != nil && s.Only == t.Only && slices.Equal(s.Puts, t.Puts) && slices.Equal(s.MayPut, t.MayPut) && slices.Equal(s.Gets, t.Gets) && slices.Equal(s.Same, t.Same) && slices.Equal(s.Maybe, t.Maybe) &&
		slices.Equal(s.Holds, t.Holds) && slices.Equal(s.Inside, t.Inside) && slices.Equal(s.Grows, t.Grows) && slices.Equal(s.Ends, t.Ends) && slices.Equal(s.Lends, t.Lends) &&
		slices.Equal(s.Keeps, t.Keeps) && slices.Equal(s.Borrows, t.Borrows)
}

// callee is the function that a call calls, if this package has it, and what it captures.
func (a *calls) callee(c *ssa.CallCommon) (*ssa.Function, []ssa.Value) {
	if c.IsInvoke() {
		return nil, nil
	}
	return a.functionOf(c.Value, 0)
}

func (a *calls) functionOf(v ssa.Value, depth int) (*ssa.Function, []ssa.Value) {
	if v == nil || depth > 4 {
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

func (a *calls) summaryOf(c *ssa.CallCommon) *Summary {
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
func (a *calls) imported(f *types.Func) *Summary {
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
func (a *calls) actual(c *ssa.CallCommon, n int) ssa.Value {
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
	puts, may := a.putsBack(f, s.Puts)
	s.Puts, s.MayPut = append(s.Puts, puts...), may
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
	s.Maybe = slices.DeleteFunc(slices.Clone(s.Same), func(l Link) bool { return a.everyResult(f, l) })
	s.Same = slices.DeleteFunc(s.Same, func(l Link) bool { return slices.Contains(s.Maybe, l) })
	a.releases(f, s)
	a.lends(f, s)
	for i, p := range f.Params {
		if a.keeps(p, 0) && !slices.Contains(s.Borrows, i) {
			s.Keeps = appendNew(s.Keeps, i)
		}
	}
	return s
}

// everyResult reports whether a result is memory of the parameter at each return that has one.
func (a *calls) everyResult(f *ssa.Function, l Link) bool {
	p := f.Params[l.Param]
	var is func(v ssa.Value, seen map[ssa.Value]bool) bool
	is = func(v ssa.Value, seen map[ssa.Value]bool) bool {
		if seen[v] || isNil(v) {
			return true
		}
		seen[v] = true
		if cell, ok := loadedCell(v); ok {
			for _, r := range *cell.Referrers() {
				if st, ok := r.(*ssa.Store); ok && st.Addr == cell && !is(st.Val, seen) {
					return false
				}
			}
			return true
		}
		if r := a.root(v); r == p || a.boxed(r) == p {
			return true
		} else if phi, ok := r.(*ssa.Phi); ok {
			return !slices.ContainsFunc(phi.Edges, func(e ssa.Value) bool { return !is(e, seen) })
		}
		return a.grownFrom(v, p, map[ssa.Value]bool{})
	}
	for _, b := range f.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && !is(ret.Results[l.Result], map[ssa.Value]bool{}) {
			return false
		}
	}
	return true
}

// releases notes the results that are functions and put back another result, whichever return it is: one
// whose function does something else has nothing there to put back.
func (a *calls) releases(f *ssa.Function, s *Summary) {
	n := f.Signature.Results().Len()
	for i := range n {
		if _, ok := f.Signature.Results().At(i).Type().Underlying().(*types.Signature); !ok {
			continue
		}
		for j := range n {
			if i != j && a.releasesResult(f, i, j) {
				s.Ends = appendNew(s.Ends, [2]int{i, j})
			}
		}
	}
}

func (a *calls) releasesResult(f *ssa.Function, i, j int) (ends bool) {
	for _, b := range f.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		value := func(v ssa.Value) ssa.Value {
			if st := resultStored(v, ret); st != nil {
				return st
			}
			return v
		}
		release, result := value(ret.Results[i]), value(ret.Results[j])
		switch {
		case isNil(release) || isNil(result):
		case a.putsWhat(release) != nil && a.root(result) == a.root(a.putsWhat(release)):
			ends = true
		default:
			return false
		}
	}
	return ends
}

// putsWhat is what a closure without parameters puts back, if that is one variable that it captures.
func (a *calls) putsWhat(v ssa.Value) ssa.Value {
	c, ok := v.(*ssa.MakeClosure)
	if !ok || len(c.Fn.(*ssa.Function).Params) > 0 {
		return nil
	}
	s := a.summaries[c.Fn.(*ssa.Function)]
	if s == nil || len(s.Puts) != 1 {
		return nil
	}
	ref := s.Puts[0]
	if ref.Param >= 0 || ref.Path != "" || -1-ref.Param >= len(c.Bindings) {
		return nil
	}
	put := c.Bindings[-1-ref.Param]
	if cell, ok := put.(*ssa.Alloc); ok {
		if st := a.storedOnce(cell); st != nil {
			return st.Val
		}
	}
	return put
}

func appendNew[T comparable](all []T, x T) []T {
	if slices.Contains(all, x) {
		return all
	}
	return append(all, x)
}

// returns notes what one returned value is.
func (a *fieldUses) returns(f *ssa.Function, s *Summary, i int, v ssa.Value) {
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

func (a *fieldUses) resultValue(f *ssa.Function, s *Summary, i int, v ssa.Value) {
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
				s.Same = appendNew(s.Same, Link{i, n, a.assertedOn(v)})
			case a.grownFrom(v, p, map[ssa.Value]bool{}):
				s.Grows = appendNew(s.Grows, Link{Result: i, Param: n})
			case a.builtFrom(r, p):
				s.Holds = appendNew(s.Holds, Link{Result: i, Param: n})
			case isSlice(v.Type()) && a.insideOf(v) == p:
				s.Inside = appendNew(s.Inside, Link{Result: i, Param: n})
			}
		}
	}
}

// putAtTheEnd reports whether a deferred call of f puts v back: then it is not the caller's.
func (a *calls) putAtTheEnd(f *ssa.Function, v ssa.Value) bool {
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
func (a *calls) boxed(v ssa.Value) ssa.Value {
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
func (a *calls) builtFrom(v, p ssa.Value) bool {
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
func (a *calls) isGet(v ssa.Value) bool {
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

func (a *calls) getsDewpond(v ssa.Value) bool {
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
func (a *calls) keeps(v ssa.Value, depth int) bool {
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
func (a *calls) handsOn(call ssa.CallInstruction, v ssa.Value) bool {
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
