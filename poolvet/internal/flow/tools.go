package flow

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// This file is about what dewpond has beside its pools: leases, scopes and buffers hand out
// slices that end with another call than a Put.

// A tool is a kind of handle that hands out slices.
type tool struct {
	check string
	end   map[string]string // the methods that end the slices, and what is said of them
	gives map[string]bool   // the methods that give one
}

var tools = map[string]tool{
	dewpondPath + ".Lease": {"lease", map[string]string{"Release": "Release"}, map[string]bool{"Bytes": true}},
	dewpondPath + ".Scope": {"scope", map[string]string{"Close": "Close"}, map[string]bool{"Get": true, "TryGet": true, "Copy": true}},
	dewpondPath + ".Buffer": {"buffer",
		map[string]string{
			"Write": "write", "WriteByte": "write", "WriteRune": "write", "WriteString": "write", "ReadFrom": "ReadFrom",
			"Grow": "Grow", "TryGrow": "Grow", "Release": "Release", "Reset": "Reset", "Lease": "Lease",
		},
		map[string]bool{"Bytes": true, "Next": true, "Peek": true, "AvailableBuffer": true}},
}

// method splits the call of a tool's method.
func method(call ssa.CallInstruction) (t tool, recv ssa.Value, name string, ok bool) {
	c := call.Common()
	f := called(c)
	if f == nil || c.IsInvoke() || len(c.Args) == 0 || f.Signature().Recv() == nil {
		return tool{}, nil, "", false
	}
	full := fullName(f)
	i := strings.LastIndex(full, ".")
	if i < 0 { // error.Error, which is of no package
		return tool{}, nil, "", false
	}
	t, ok = tools[full[:i]]
	return t, c.Args[0], f.Name(), ok
}

// sameHandle reports whether two values are one handle: one value, or loads of one variable.
func (a *flowPass) sameHandle(x, y ssa.Value) bool {
	x, y = a.handle(x), a.handle(y)
	if x == y {
		return true
	}
	p, ok := loaded(x)
	q, ok2 := loaded(y)
	return ok && ok2 && p == q
}

func (a *flowPass) handle(v ssa.Value) ssa.Value {
	v = bare(v)
	if cell, ok := loadedCell(v); ok {
		if st := a.storedOnce(cell); st != nil {
			return a.handle(st.Val)
		}
	}
	return v
}

// tools looks at leases, scopes and buffers in one function.
func (a *flowPass) tools(f *ssa.Function) {
	type gift struct {
		call ssa.CallInstruction
		recv ssa.Value
		val  ssa.Value
	}
	var gifts []gift
	var ends []ssa.CallInstruction
	owners := map[ssa.Value]bool{} // leases of which there is another owner
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			if v, scope := scopeSlice(call); v != nil {
				gifts = append(gifts, gift{call, scope, v})
			}
			t, recv, name, ok := method(call)
			if !ok {
				continue
			}
			if t.gives[name] && call.Value() != nil {
				gifts = append(gifts, gift{call, recv, firstResult(call.Value())})
			}
			if name == "Retain" || name == "Slice" && t.check == "lease" {
				owners[a.handle(recv)] = true
			}
			if t.end[name] != "" {
				ends = append(ends, call)
			}
		}
	}
	for _, end := range ends {
		t, recv, name, _ := method(end)
		if owners[a.handle(recv)] {
			continue
		}
		s := a.before(end)
		for _, g := range gifts {
			if g.val != nil && a.sameHandle(g.recv, recv) {
				for w, taint := range a.closure(g.val) {
					s.vals[w] |= taint
				}
			}
		}
		_, deferred := end.(*ssa.Defer)
		said := t.end[name]
		if deferred {
			a.given = map[ssa.Value]bool{}
			for _, g := range gifts {
				if g.val != nil && a.sameHandle(g.recv, recv) {
					a.given[g.val] = true
				}
			}
			s.vals[a.handle(recv)] |= holds
			a.givenAway(end, recv, s, t.check, said)
			a.given = nil
		} else {
			a.usedAfterEnd(end, recv, s, t, said)
		}
	}
}

func firstResult(v ssa.Value) ssa.Value {
	if _, ok := v.Type().(*types.Tuple); !ok {
		return v
	}
	for _, r := range *v.Referrers() {
		if e, ok := r.(*ssa.Extract); ok && e.Index == 0 {
			return e
		}
	}
	return nil
}

// scopeSlice is the result and the scope of a call of ScopeSlice.
func scopeSlice(call ssa.CallInstruction) (v, scope ssa.Value) {
	if f := called(call.Common()); f != nil && fullName(f) == dewpondPath+".ScopeSlice" && call.Value() != nil {
		return call.Value(), call.Common().Args[0]
	}
	return nil, nil
}

// usedAfterEnd finds the uses of slices, and of the handle itself, on ways on from its end.
func (a *flowPass) usedAfterEnd(end ssa.CallInstruction, recv ssa.Value, s *state, t tool, said string) {
	handle := a.handle(recv)
	if t.check != "buffer" {
		s.vals[handle] |= ended // keeps the walk alive, and ends when the handle is made again
		if v := bare(recv); v != handle {
			s.vals[v] |= ended
		}
		if p, ok := loaded(recv); ok && a.fresh(bare(recv).(*ssa.UnOp), p, end) {
			s.places[p] |= ended
		}
	}
	a.walk(end, s, func(in ssa.Instruction, s *state) verdict {
		if call, ok := in.(ssa.CallInstruction); ok {
			_, v, name, isMethod := method(call)
			if isMethod && call != end && t.check != "buffer" && (s.vals[v]|s.vals[bare(v)]|s.vals[a.handle(v)])&ended != 0 {
				switch {
				case name == "Close" || name == "Len" || name == "String":
					return goOn
				case name == "Release":
					a.report(t.check, in.Pos(), nil, "the lease is released again after its Release at %s (%s)", a.at(end.Pos()), t.check)
					return stop
				}
				a.report(t.check, in.Pos(), nil, "%s is called after %s at %s (%s)", name, said, a.at(end.Pos()), t.check)
				return stop
			}
			if isMethod && call == end {
				return stop
			}
		}
		pos, how := a.use(in, s)
		if how != "" {
			a.report(t.check, pos, nil, "a slice of the %s is %s after %s at %s (%s)", t.check, how, said, a.at(end.Pos()), t.check)
			return stop
		}
		return goOn
	})
}

// givenAway finds what a deferred end takes from whom it was given to.
func (a *flowPass) givenAway(end ssa.CallInstruction, recv ssa.Value, s *state, check, said string) {
	handle := a.handle(recv)
	a.walk(end, s, func(in ssa.Instruction, s *state) verdict {
		if check == "lease" {
			a.handleGiven(in, end, handle)
		}
		saved := s.vals[handle]
		delete(s.vals, handle)
		defer func() {
			if saved != 0 {
				s.vals[handle] = saved
			}
		}()
		switch x := in.(type) {
		case *ssa.Return:
			if pos, how := a.returned(x, s); how != "" {
				a.report(check, pos, nil, "a slice of the %s is returned, but the deferred %s at %s ends it (%s)", check, said, a.at(end.Pos()), check)
			}
		case *ssa.Send:
			if carries(x.X, s) && !waits(x) {
				a.report(check, x.Pos(), nil, "a slice of the %s is sent, but the deferred %s at %s ends it (%s)", check, said, a.at(end.Pos()), check)
			}
		case *ssa.Store:
			if a.storedForGood(x, s) {
				a.report(check, x.Pos(), nil, "a slice of the %s is stored in what outlives the call, but the deferred %s at %s ends it (%s)", check, said, a.at(end.Pos()), check)
			}
		case *ssa.MapUpdate:
			if a.mappedForGood(x, s) {
				a.report(check, x.Pos(), nil, "a slice of the %s is stored in what outlives the call, but the deferred %s at %s ends it (%s)", check, said, a.at(end.Pos()), check)
			}
		case *ssa.Go:
			if sp, _ := spawned(x); check != "scope" && a.hasHandle(sp, handle) {
				a.outlived(sp, func(pos token.Pos, _ string) {
					a.report(check, pos, nil, "a goroutine uses the %s, which the deferred %s at %s ends (%s)", check, said, a.at(end.Pos()), check)
				})
			}
			for _, v := range x.Call.Args {
				if s.of(v)&own != 0 {
					a.report(check, x.Pos(), nil, "a goroutine gets a slice of the %s, but the deferred %s at %s ends it (%s)", check, said, a.at(end.Pos()), check)
				}
			}
			if c, ok := x.Call.Value.(*ssa.MakeClosure); ok {
				for _, b := range c.Bindings {
					if s.places[place{base: b}] != 0 && !waits(x) {
						a.report(check, x.Pos(), nil, "a goroutine captures a slice of the %s, but the deferred %s at %s ends it (%s)", check, said, a.at(end.Pos()), check)
					}
				}
			}
		}
		return goOn
	})
}

// hasHandle reports whether a goroutine gets or captures a handle.
func (a *flowPass) hasHandle(sp spawn, handle ssa.Value) bool {
	return slices.ContainsFunc(sp.shared, func(v ssa.Value) bool {
		if isLease(v.Type()) {
			return false // handleGiven tells of it
		}
		if a.handle(v) == handle {
			return true
		}
		cell, ok := v.(*ssa.Alloc)
		if !ok {
			return false
		}
		st := a.storedOnce(cell)
		return st != nil && a.handle(st.Val) == handle
	})
}

// waits reports whether the function of an instruction may wait for another goroutine.
func waits(start ssa.Instruction) bool {
	for _, b := range start.Parent().Blocks {
		for _, in := range b.Instrs {
			if in != start && mayWait(in) {
				if call, ok := in.(*ssa.Call); ok {
					if f := called(call.Common()); f != nil && f.Name() != "Wait" {
						continue
					}
				}
				return true
			}
		}
	}
	return false
}

// wrongPut finds what dewpond's Put refuses, or takes for another block.
func (a *flowPass) wrongPut(f *ssa.Function) {
	for _, call := range a.putCalls[f] {
		r, ok := a.roleOf(call.Common())
		fn := called(call.Common())
		if !ok || !r.dewpond || r.moves || fn.Name() == "Adopt" {
			continue
		}
		name := fullName(fn)
		if strings.HasSuffix(name, ".Pool.Put") || strings.Contains(name, "BodyPool.") {
			continue
		}
		v := argument(call.Common(), r.puts-1)
		a.wrongFrom(call, v, a.expr(call, target{val: v}), map[ssa.Value]bool{})
	}
}

// wrongFrom follows back where what a Put gets comes from, on each way.
func (a *flowPass) wrongFrom(call ssa.CallInstruction, v ssa.Value, expr string, seen map[ssa.Value]bool) {
	for v != nil && !seen[v] {
		seen[v] = true
		switch x := v.(type) {
		case *ssa.Phi:
			for _, e := range x.Edges {
				a.wrongFrom(call, e, expr, seen)
			}
			return
		case *ssa.Slice:
			if !isZero(x.Low) && a.isGet(a.begins(x.X, map[ssa.Value]bool{})) {
				a.report("wrongput", call.Pos(), nil, "%s starts later than its block: put back the block (wrongput)", expr)
			}
		case *ssa.Call:
			var to ssa.Value
			if b, ok := x.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
				to = x.Call.Args[0]
			} else {
				to = a.grown(x, 0)
			}
			if get := a.begins(to, map[ssa.Value]bool{}); get != nil && a.getsDewpond(get) && !fits(get) {
				a.report("wrongput", call.Pos(), nil, "append may have moved %s to memory that is no pool's: use the pool's Append or Grow, or Bodies (wrongput)", expr)
			}
			if to != nil {
				v = to
				continue
			}
		case *ssa.MakeSlice:
			a.report("wrongput", call.Pos(), nil, "%s was never the pool's: Adopt takes such memory (wrongput)", expr)
		case *ssa.Alloc:
			if _, ok := x.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array); ok {
				a.report("wrongput", call.Pos(), nil, "%s was never the pool's: Adopt takes such memory (wrongput)", expr)
			}
		}
		next := a.source(v)
		if next == nil {
			if cell, ok := loadedCell(v); ok {
				if st := a.storedOnce(cell); st != nil {
					next = st.Val
				}
			}
		}
		if next == nil {
			a.otherPool(call, v, expr)
		}
		v = next
	}
}

// begins is what v was made of by slicing and appending, where that is one value on all paths.
func (a *flowPass) begins(v ssa.Value, seen map[ssa.Value]bool) ssa.Value {
	for v != nil && !seen[v] {
		seen[v] = true
		switch x := v.(type) {
		case *ssa.Phi:
			var one ssa.Value
			for _, e := range x.Edges {
				from := a.begins(e, seen)
				if from == nil || from == one {
					continue
				}
				if one != nil {
					return nil
				}
				one = from
			}
			return one
		case *ssa.Call:
			if to := a.grown(x, 0); to != nil {
				v = to
				continue
			}
		}
		from := a.source(v)
		if from == nil {
			return v
		}
		v = from
	}
	return nil
}

// fits reports whether a Get asks for a size that was computed from a length: then what is appended may
// be known to fit.
func fits(get ssa.Value) bool {
	if e, ok := get.(*ssa.Extract); ok {
		get = e.Tuple
	}
	call, ok := get.(*ssa.Call)
	return ok && slices.ContainsFunc(call.Call.Args, func(v ssa.Value) bool { return ofLength(v, map[ssa.Value]bool{}) })
}

func ofLength(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	switch x := v.(type) {
	case *ssa.Phi:
		return slices.ContainsFunc(x.Edges, func(e ssa.Value) bool { return ofLength(e, seen) })
	case *ssa.Convert:
		return ofLength(x.X, seen)
	case *ssa.BinOp:
		return ofLength(x.X, seen) || ofLength(x.Y, seen)
	}
	return measures(v, 0)
}

// otherPool compares the pool that a slice is out of with the one that it goes to, where
// both are variables.
func (a *flowPass) otherPool(put ssa.CallInstruction, v ssa.Value, expr string) {
	if e, ok := v.(*ssa.Extract); ok {
		v = e.Tuple
	}
	get, ok := v.(*ssa.Call)
	if !ok {
		return
	}
	if r, ok := a.roleOf(get.Common()); !ok || !r.dewpond {
		return
	}
	p, ok := poolVariable(get)
	q, ok2 := poolVariable(put)
	if ok && ok2 && p != q {
		a.report("wrongput", put.Pos(), nil, "%s is another pool's: it was got from %s (wrongput)", expr, p)
	}
}

func poolVariable(call ssa.CallInstruction) (string, bool) {
	c := call.Common()
	if c.IsInvoke() || c.Signature().Recv() == nil {
		return "", false
	}
	if load, ok := c.Args[0].(*ssa.UnOp); ok {
		if g, ok := load.X.(*ssa.Global); ok {
			return g.Name(), true
		}
	}
	if p, ok := c.Args[0].(*ssa.Parameter); ok {
		return p.Name(), true
	}
	return "", false
}

// perCall finds pools of dewpond that are made in a function and end with it.
func (a *flowPass) perCall(f *ssa.Function) {
	root := f
	for root.Parent() != nil {
		root = root.Parent()
	}
	if root.Name() == "main" || strings.HasPrefix(root.Name(), "init") || strings.HasSuffix(a.pass.Fset.Position(f.Pos()).Filename, "_test.go") {
		return
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			fn := called(call.Common())
			if fn == nil {
				continue
			}
			switch fullName(fn) {
			case dewpondPath + ".NewBytePool", dewpondPath + ".MustBytePool", dewpondPath + ".NewPool", dewpondPath + ".MustPool",
				dewpondPath + ".NewSlicePool", dewpondPath + ".MustSlicePool":
				if v := firstResult(call); v != nil && !a.keptOrClosed(v, 0) {
					a.report("percall", call.Pos(), nil, "this pool is made on each call, and neither kept, returned nor closed (percall)")
				}
			}
		}
	}
}

// keptOrClosed reports whether a pool outlives its function, or is closed.
func (a *flowPass) keptOrClosed(v ssa.Value, depth int) bool {
	if depth > 6 || v.Referrers() == nil {
		return depth > 6
	}
	for _, in := range *v.Referrers() {
		switch x := in.(type) {
		case *ssa.Return, *ssa.Send, *ssa.MapUpdate, *ssa.MakeClosure, *ssa.Go:
			return true
		case *ssa.Store:
			if x.Val != v {
				continue
			}
			cell, ok := x.Addr.(*ssa.Alloc)
			if !ok {
				return true
			}
			for _, r := range *cell.Referrers() {
				switch r := r.(type) {
				case *ssa.UnOp:
					if a.keptOrClosed(r, depth+1) {
						return true
					}
				case *ssa.MakeClosure:
					return true
				}
			}
		case ssa.CallInstruction:
			c := x.Common()
			fn := called(c)
			if fn == nil || !strings.HasPrefix(fullName(fn), dewpondPath+".") || fn.Name() == "Close" || c.Signature().Recv() == nil {
				return true
			}
			if w := x.Value(); w != nil && a.keptOrClosed(w, depth+1) && fn.Name() != "Get" {
				return true
			}
		case ssa.Value:
			if a.keptOrClosed(x, depth+1) {
				return true
			}
		}
	}
	return false
}
