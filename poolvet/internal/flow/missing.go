package flow

import (
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// missing finds the returns that an object out of a pool reaches although it was neither put
// back nor handed on, where another way of the function has a Put of it.
func (a *flowPass) missing(f *ssa.Function) {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			if v := a.got(call); v != nil {
				a.missingFrom(f, call, v)
			}
		}
	}
}

// got is what a call has got out of a pool, and nil if it has not.
func (a *calls) got(call *ssa.Call) ssa.Value {
	if r, ok := a.roleOf(call.Common()); ok && r.moves {
		return nil
	}
	for _, t := range a.puts(call) {
		if t.role.moves {
			return nil
		}
	}
	if s := a.summaryOf(call.Common()); s != nil && len(s.Same)+len(s.Maybe) > 0 {
		return nil // it may return its argument, and the caller may own that
	}
	if a.isGet(call) && call.Common().Signature().Results().Len() == 1 {
		return call
	}
	if call.Referrers() == nil {
		return nil
	}
	if a.givesRelease(call) {
		return nil
	}
	for _, r := range *call.Referrers() {
		if e, ok := r.(*ssa.Extract); ok && a.isGet(e) && len(*e.Referrers()) > 0 {
			return e
		}
	}
	return nil
}

// givesRelease reports whether one of a call's results is a function that puts back another, and does
// more here than be called: then the function that has it puts the other back.
func (a *calls) givesRelease(call *ssa.Call) bool {
	s := a.summaryOf(call.Common())
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.Ends, func(pair [2]int) bool {
		f := resultNumber(call, pair[0])
		return f != nil && slices.ContainsFunc(*f.Referrers(), func(in ssa.Instruction) bool {
			c, ok := in.(ssa.CallInstruction)
			return !ok || c.Common().Value != f
		})
	})
}

func (a *flowPass) missingFrom(f *ssa.Function, call *ssa.Call, v ssa.Value) {
	has := false
	for _, put := range a.putCalls[f] {
		for _, t := range a.puts(put) {
			switch {
			case t.inPlace:
				has = has || t.place.path == "" && a.hasStored(t.place.base, v)
			case a.origin(t.val) == v || a.boxed(t.val) == v:
				has = true
			case a.hasStored(bare(t.val), v): // &b
				has = true
			default:
				if phi, ok := a.root(t.val).(*ssa.Phi); ok && slices.ContainsFunc(phi.Edges, func(e ssa.Value) bool { return a.root(e) == v }) {
					has = true
				}
			}
		}
	}
	name := "what was got"
	if n := a.names[call.Pos()]; n != "" {
		name = n
	}
	if !has {
		a.neverPut(call, v, name)
		return
	}
	s := a.stillBefore(call)
	for w, t := range a.closure(v) {
		s.vals[w] |= t
	}
	start := ssa.Instruction(call)
	if e, ok := v.(*ssa.Extract); ok {
		start = e
	}
	dewpond := a.getsDewpond(v)
	a.walk(start, s, func(in ssa.Instruction, s *state) verdict {
		if changesWay(in) && a.noObject(call, s) {
			return stop
		}
		switch x := in.(type) {
		case *ssa.Return:
			if a.partOfResult(x, s) {
				return stop
			}
			check := "missingput"
			if !dewpond {
				check = "missingput" + OfSync
			}
			a.report(check, a.returnPos(x), nil, "%s, got at %s, is not put back on this way, as it is on another (missingput)", name, a.at(call.Pos()))
			return stop
		case *ssa.If:
			if a.putIfOfSize(x, s) {
				return stop
			}
		case ssa.CallInstruction:
			if a.putsFollowed(x, s) || a.passesOn(x, s) {
				return stop
			}
		}
		if a.handedOver(in, s) {
			return stop
		}
		return goOn
	})
}

// hasStored reports whether a variable gets v, or the slice in the box v, in one of the stores to it.
func (a *calls) hasStored(variable, v ssa.Value) bool {
	cell, ok := variable.(*ssa.Alloc)
	return ok && slices.ContainsFunc(*cell.Referrers(), func(in ssa.Instruction) bool {
		st, ok := in.(*ssa.Store)
		return ok && st.Addr == cell && a.origin(st.Val) == v
	})
}

// putIfOfSize reports whether a branch puts the object back unless it is too large or too small to
// keep, which is as good as a Put.
func (a *calls) putIfOfSize(branch *ssa.If, s *state) bool {
	b, ok := branch.Cond.(*ssa.BinOp)
	if !ok || !measures(b.X, 0) && !measures(b.Y, 0) {
		return false
	}
	return slices.ContainsFunc(branch.Block().Succs, func(to *ssa.BasicBlock) bool {
		return len(to.Preds) == 1 && slices.ContainsFunc(to.Instrs, func(in ssa.Instruction) bool {
			call, ok := in.(ssa.CallInstruction)
			return ok && a.putsFollowed(call, s)
		})
	})
}

// handedOver reports whether an instruction other than a call gives the object to another
// owner.
func (a *calls) handedOver(in ssa.Instruction, s *state) bool {
	switch x := in.(type) {
	case *ssa.Store:
		return has(s, x.Val) && (!localPlace(x.Addr) || a.putLater(x.Addr) || inArray(x.Addr))
	case *ssa.Send:
		return has(s, x.X)
	case *ssa.Select:
		return slices.ContainsFunc(x.States, func(st *ssa.SelectState) bool { return st.Send != nil && has(s, st.Send) })
	case *ssa.MapUpdate:
		return has(s, x.Value) || has(s, x.Key)
	case *ssa.MakeClosure:
		return slices.ContainsFunc(x.Bindings, func(b ssa.Value) bool {
			return s.places[place{base: b}] != 0 && !a.onlyBorrowed(x, b)
		})
	case *ssa.Go:
		return slices.ContainsFunc(x.Call.Args, func(v ssa.Value) bool { return has(s, v) })
	case *ssa.Convert: // whoever has the bare address may put it back
		return isUnsafe(x.Type()) && s.of(x.X)&own != 0
	}
	return false
}

// inArray reports whether an address is of an element of an array that has a name, and is not what a call
// with a variable number of arguments makes.
func inArray(addr ssa.Value) bool {
	i, ok := addr.(*ssa.IndexAddr)
	if !ok {
		return false
	}
	cell, ok := i.X.(*ssa.Alloc)
	return ok && cell.Comment != "varargs"
}

// has reports whether a value is the object, or a struct with the object in it.
func has(s *state, v ssa.Value) bool {
	if carries(v, s) {
		return true
	}
	cell, ok := bare(v).(*ssa.Alloc)
	if !ok {
		cell, ok = loadedCell(bare(v))
	}
	if ok {
		for p := range s.places {
			if p.base == cell && p.path != "" {
				return true
			}
		}
	}
	return false
}

// putLater reports whether a variable is one that a closure captures that has a Put, as a deferred
// one that puts back whatever the variable has at the end.
func (a *calls) putLater(addr ssa.Value) bool {
	cell, ok := addr.(*ssa.Alloc)
	return ok && slices.ContainsFunc(*cell.Referrers(), func(in ssa.Instruction) bool {
		c, ok := in.(*ssa.MakeClosure)
		return ok && !a.onlyBorrowed(c, cell)
	})
}

// neverPut finds a Get of which no way puts the object back or hands it on, to whatever may
// keep it.
func (a *flowPass) neverPut(call *ssa.Call, v ssa.Value, name string) {
	s := a.stillBefore(call)
	for w, t := range a.closure(v) {
		s.vals[w] |= t
	}
	start := ssa.Instruction(call)
	if e, ok := v.(*ssa.Extract); ok {
		start = e
	}
	handed, lost := false, false
	complete := a.walk(start, s, func(in ssa.Instruction, s *state) verdict {
		if changesWay(in) && a.noObject(call, s) {
			return stop
		}
		switch x := in.(type) {
		case *ssa.Return:
			handed = handed || a.partOfResult(x, s)
			lost = true
			return stop
		case *ssa.Store:
			p, ok := placeOf(x.Addr)
			cell, local := x.Addr.(*ssa.Alloc)
			// An element or a field, of which others may know, or a variable that a closure writes too.
			load, whole := x.Val.(*ssa.UnOp) // what it holds is in another object now, which may be put back
			handed = handed || whole && s.of(load.X)&own != 0 && !localPlace(x.Addr)
			handed = handed || s.of(x.Val) != 0 && (!ok || p.path != "" || local && a.shared(cell).closure)
		case ssa.CallInstruction:
			handed = handed || a.mayKeep(x, s)
		}
		handed = handed || a.handedOver(in, s)
		return verdict(handed)
	})
	if !complete || handed || !lost {
		return
	}
	check := "missingput"
	if !a.getsDewpond(v) {
		check = "missingput" + OfSync
	}
	a.report(check, call.Pos(), a.deferPut(call), "%s is never put back, and nothing else gets it (missingput)", name)
}

// mayKeep reports whether a call may keep what the state follows, as far as is known of the
// function: what is not known may.
func (a *walker) mayKeep(call ssa.CallInstruction, s *state) bool {
	c := call.Common()
	if _, builtin := c.Value.(*ssa.Builtin); builtin {
		return slices.ContainsFunc(c.Args, func(v ssa.Value) bool { return s.of(v) != 0 && a.handsOn(call, v) })
	}
	given := slices.ContainsFunc(c.Args, func(v ssa.Value) bool { return s.of(v) != 0 })
	if !given {
		return c.IsInvoke() && s.of(c.Value) != 0 && !inStandardLibrary(c.Method)
	}
	if a.putsFollowed(call, s) || a.passesOn(call, s) {
		return true
	}
	f := called(c)
	ours := f != nil && f.Pkg() == a.pass.Pkg && !c.IsInvoke()
	if v := call.Value(); v != nil && mayRefer(v.Type()) && a.derived(v, s) == 0 && !(ours && justAsks(c, s)) {
		return true
	}
	switch {
	case f == nil:
		fn, _ := a.callee(c)
		return fn == nil
	case inStandardLibrary(f):
		return storing.MatchString(f.Name())
	case strings.HasPrefix(fullName(f), dewpondPath+"."):
		return false
	case ours:
		return false // its summary would say
	}
	return a.imported(f) == nil
}

// justAsks reports whether a call is of a method of what the state follows, whose results are of other
// types: they are not the object, as those of methods that return their receiver are.
func justAsks(c *ssa.CallCommon, s *state) bool {
	sig := c.Signature()
	if sig.Recv() == nil || slices.ContainsFunc(c.Args[1:], func(v ssa.Value) bool { return s.of(v) != 0 }) {
		return false
	}
	for v := range sig.Results().Variables() {
		if types.Identical(v.Type(), c.Args[0].Type()) || isUnsafe(v.Type()) {
			return false
		}
	}
	return true
}

// mayRefer reports whether a result of type t, or one of several, may refer to an argument.
func mayRefer(t types.Type) bool {
	if tuple, ok := t.(*types.Tuple); ok {
		for v := range tuple.Variables() {
			if mayRefer(v.Type()) {
				return true
			}
		}
		return false
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array, *types.TypeParam:
		return true
	}
	return pointerLike(t) && !isError(t) || isUnsafe(t)
}

// storing is the names of functions of the standard library that keep what they are given.
var storing = regexp.MustCompile(`^(New|Store|Swap|CompareAndSwap|LoadOrStore|Push|Put|Set|Add|Insert|With|Register|AfterFunc|Go|NopCloser)`)

// changesWay reports whether an instruction ends a block, or writes what a condition may have looked
// at: behind it, as on the next turn of a loop, it may no longer be known whether the Get has failed.
func changesWay(in ssa.Instruction) bool {
	switch in.(type) {
	case *ssa.If, *ssa.Jump, *ssa.Return, *ssa.Store:
		return true
	}
	return false
}

// noObject reports whether the Get is known to have failed.
func (a *calls) noObject(call *ssa.Call, s *state) bool {
	for _, r := range *call.Referrers() {
		e, ok := r.(*ssa.Extract)
		if !ok {
			continue
		}
		f, known := s.known[nilKey(e)]
		if isError(e.Type()) && known && !f.true {
			return true
		}
		for _, r := range *e.Referrers() {
			if st, ok := r.(*ssa.Store); ok && isError(e.Type()) {
				if p, ok := placeOf(st.Addr); ok {
					if f, ok := s.known["==("+p.base.Name()+p.path+",nil:error)"]; ok && !f.true {
						return true
					}
				}
			}
		}
	}
	return false
}

// partOfResult reports whether what is returned has the object, or was made of it.
func (a *calls) partOfResult(ret *ssa.Return, s *state) bool {
	for _, v := range ret.Results {
		if has(s, v) || returnsCarried(ret, v, s) || s.places[place{base: bare(v)}] != 0 {
			return true
		}
	}
	return false
}

// onlyBorrowed reports whether a closure is but called or deferred by this function, and does
// not put back what it captures, for whatever reason.
func (a *calls) onlyBorrowed(c *ssa.MakeClosure, cell ssa.Value) bool {
	for _, r := range *c.Referrers() {
		if call, ok := r.(ssa.CallInstruction); !ok || call.Common().Value != c {
			return false
		} else if _, ok := r.(*ssa.Go); ok {
			return false
		}
	}
	return len(a.putCalls[c.Fn.(*ssa.Function)]) == 0
}

// passesOn reports whether a call may keep what the state follows. Interfaces of the standard
// library borrow.
func (a *calls) passesOn(call ssa.CallInstruction, s *state) bool {
	c := call.Common()
	if v := call.Value(); v != nil && appendsCarried(v, s) {
		return true
	}
	if sum := a.summaryOf(c); sum != nil && slices.ContainsFunc(sum.MayPut, func(ref Ref) bool {
		v := a.actual(c, ref.Param)
		return v != nil && s.of(v) != 0
	}) {
		return true
	}
	for _, v := range c.Args {
		if s.of(v) == 0 {
			continue
		}
		if a.handsOn(call, v) {
			return true
		}
		f := called(c)
		if f == nil {
			if _, builtin := c.Value.(*ssa.Builtin); !builtin {
				if fn, _ := a.callee(c); fn == nil {
					return true
				}
			}
			continue
		}
		if c.IsInvoke() && !inStandardLibrary(f) && a.imported(f) == nil && s.of(v)&own != 0 && !isSlice(v.Type()) {
			return true
		}
		if fn, _ := a.callee(c); fn != nil && a.mayPut(fn, 0) {
			return true
		}
	}
	return false
}

// mayPut reports whether a function of this package has a Put somewhere.
func (a *calls) mayPut(f *ssa.Function, depth int) bool {
	return len(a.putCalls[f]) > 0 && depth < 2 && a.putsAParameter(f)
}

func (a *calls) putsAParameter(f *ssa.Function) bool {
	for _, call := range a.putCalls[f] {
		for _, t := range a.puts(call) {
			if _, ok := a.parameter(f, t); ok {
				return true
			}
		}
	}
	return false
}

// handedOn finds what was sent, or given to a goroutine, and is then put back with nothing
// between that could have waited for the other side.
func (a *flowPass) handedOn(f *ssa.Function) {
	if len(a.putCalls[f]) == 0 {
		return
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			s := newState()
			how, timer := "sent", false
			switch x := in.(type) {
			case *ssa.Send:
				if pointerLike(x.X.Type()) {
					for w, t := range a.closure(a.root(x.X)) {
						s.vals[w] |= t
					}
				}
			case *ssa.Call:
				if f := called(x.Common()); f == nil || fullName(f) != "time.AfterFunc" || len(*x.Referrers()) > 0 {
					continue
				}
				how, timer = "given to a timer that nothing stops", true
				if c, ok := x.Call.Args[1].(*ssa.MakeClosure); ok {
					a.captures(c, in, s)
				}
			case *ssa.Go:
				how = "given to a goroutine"
				if len(a.puts(x)) > 0 {
					continue
				}
				for _, v := range x.Call.Args {
					if pointerLike(v.Type()) {
						for w, t := range a.closure(a.root(v)) {
							s.vals[w] |= t
						}
					}
				}
				if c, ok := x.Call.Value.(*ssa.MakeClosure); ok {
					a.captures(c, in, s)
				}
			}
			if !s.follows() {
				continue
			}
			sp, spawns := spawned(in)
			var waited map[*ssa.BasicBlock]bool
			if spawns {
				waited = a.waitedIn(sp)
			}
			a.walk(in, s, func(at ssa.Instruction, s *state) verdict {
				_, selects := at.(*ssa.Select)
				if timer {
					if waitsLong(at) {
						return stop
					}
				} else if waited[at.Block()] || mayWait(at) && !(spawns && selects && !a.mayWaitFor(at, sp, 0)) {
					return stop
				}
				call, ok := at.(ssa.CallInstruction)
				if !ok {
					return goOn
				}
				if _, deferred := at.(*ssa.Defer); deferred {
					return goOn
				}
				for _, t := range a.puts(call) {
					if a.follows(t, s) {
						a.report("useafterput", call.Pos(), nil, "%s is put back, but was %s at %s, which may still use it (useafterput)", a.expr(call, t), how, a.at(in.Pos()))
						return stop
					}
				}
				return goOn
			})
		}
	}
}

// captures adds to a state what a literal has captured when it is made.
func (a *calls) captures(c *ssa.MakeClosure, in ssa.Instruction, s *state) {
	for _, cell := range c.Bindings {
		s.places[place{base: cell}] = own
		if alloc, ok := cell.(*ssa.Alloc); ok {
			if v := a.lastStored(alloc, in); v != nil {
				for w, t := range a.closure(a.root(v)) {
					s.vals[w] |= t
				}
			}
		}
	}
}

// waitsLong reports whether an instruction may wait for a timer: what is not known does not.
func waitsLong(in ssa.Instruction) bool {
	switch x := in.(type) {
	case *ssa.UnOp:
		return x.Op == token.ARROW
	case *ssa.Select:
		return true
	case *ssa.Call:
		f := called(x.Common())
		return f != nil && (f.Name() == "Wait" || f.Name() == "Sleep" || f.Name() == "Lock" || f.Name() == "RLock")
	}
	return false
}

// mayWait reports whether an instruction may wait for another goroutine.
func mayWait(in ssa.Instruction) bool {
	switch x := in.(type) {
	case *ssa.UnOp:
		return x.Op == token.ARROW
	case *ssa.Select:
		return true
	case *ssa.Range, *ssa.Next:
		return false
	case *ssa.Call:
		f := called(x.Common())
		if f == nil {
			_, builtin := x.Call.Value.(*ssa.Builtin)
			return !builtin
		}
		switch f.Name() {
		case "Wait", "Lock", "Close", "Shutdown", "Stop", "Flush", "Join":
			return true
		}
		return !inStandardLibrary(f) && x.Call.StaticCallee() == nil
	}
	return false
}
