package flow

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// This file is about who owns a lease, and about scopes that two goroutines use.

// isLease reports whether t is dewpond.Lease, a handle that is passed by value.
func isLease(t types.Type) bool {
	_, pointer := t.Underlying().(*types.Pointer)
	return !pointer && typeName(t) == dewpondPath+".Lease"
}

// leases looks at the owners of leases that f makes: each is released or handed on, and not
// both.
func (a *flowPass) leases(f *ssa.Function) {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(*ssa.Call); ok {
				if v := newOwner(call); v != nil {
					a.unreleased(call, v)
				}
				a.dropsTruncated(call)
			}
			for _, v := range a.leasesGiven(in) {
				a.releasedAfter(in, v)
			}
		}
	}
}

// dropsTruncated finds a Truncate whose result nobody has: the lease is as long as before.
func (a *flowPass) dropsTruncated(call *ssa.Call) {
	f := called(call.Common())
	if f != nil && isLease(call.Type()) && f.Name() == "Truncate" && f.Pkg().Path() == dewpondPath && len(*call.Referrers()) == 0 {
		a.report("lease", call.Pos(), nil, "the result of Truncate is dropped, and the lease is as long as before: assign it (lease)")
	}
}

// newOwner is the lease that a call of dewpond's makes an owner of.
func newOwner(call *ssa.Call) ssa.Value {
	f := called(call.Common())
	if f == nil || f.Pkg() == nil || f.Pkg().Path() != dewpondPath || f.Name() == "Truncate" || call.Referrers() == nil {
		return nil
	}
	if v := firstResult(call); v != nil && isLease(v.Type()) {
		return v
	}
	return nil
}

// unreleased finds the returns that an owner reaches although it was neither released nor
// handed on. Whatever gets a lease may release it.
func (a *flowPass) unreleased(call *ssa.Call, v ssa.Value) {
	s := a.before(call)
	s.vals[v] = own
	start := ssa.Instruction(call)
	if e, ok := v.(*ssa.Extract); ok {
		start = e
	}
	a.walk(start, s, func(in ssa.Instruction, s *state) verdict {
		switch x := in.(type) {
		case *ssa.Return:
			if !a.noObject(call, s) && !a.partOfResult(x, s) {
				a.report("lease", a.returnPos(x), nil, "the lease that %s returned at %s is not released on this way, nor handed on (lease)",
					called(call.Common()).Name(), a.at(call.Pos()))
			}
			return stop
		case *ssa.Store:
			if p, ok := placeOf(x.Addr); s.of(x.Val) != 0 && (!ok || p.path != "") {
				return stop // an element or a field, of which others may know
			}
		case *ssa.MakeInterface:
			return verdict(s.of(x.X) != 0)
		case *ssa.MakeClosure:
			return verdict(slices.ContainsFunc(x.Bindings, func(b ssa.Value) bool { return s.places[place{base: b}] != 0 }))
		case ssa.CallInstruction:
			if a.mayRelease(x, s) {
				return stop
			}
		}
		return verdict(a.handedOver(in, s))
	})
}

// mayRelease reports whether a call gets the lease that the state follows, and is none of the
// methods that leave its owner be.
func (a *flowPass) mayRelease(call ssa.CallInstruction, s *state) bool {
	for _, v := range call.Common().Args {
		if s.of(v) == 0 {
			continue
		}
		t, _, name, ok := method(call)
		return !ok || t.check != "lease" || name == "Release"
	}
	return false
}

// leasesGiven are the leases that an instruction hands on for good.
func (a *flowPass) leasesGiven(in ssa.Instruction) []ssa.Value {
	var given []ssa.Value
	add := func(v ssa.Value) {
		if v != nil && isLease(v.Type()) {
			given = append(given, v)
		}
	}
	switch x := in.(type) {
	case *ssa.Send:
		add(x.X)
	case *ssa.Store:
		if outlives(x) && !a.takenBack(x) {
			add(x.Val)
		}
	case *ssa.MapUpdate:
		add(x.Value)
	case *ssa.Go:
		for _, v := range x.Call.Args {
			add(v)
		}
	case *ssa.Call:
		for _, v := range x.Call.Args {
			if a.handsOn(x, v) {
				add(v)
			}
		}
	}
	return given
}

// releasedAfter finds the Release of a lease that was handed on, with nothing between that
// could have waited for its new owner.
func (a *flowPass) releasedAfter(in ssa.Instruction, v ssa.Value) {
	s := a.before(in)
	s.vals[v] = own
	if p, ok := loaded(v); ok && a.fresh(bare(v).(*ssa.UnOp), p, in) {
		s.places[p] = own
	}
	for w, t := range a.closure(a.root(v)) {
		if isLease(w.Type()) {
			s.vals[w] |= t
		}
	}
	a.walk(in, s, func(at ssa.Instruction, s *state) verdict {
		if mayWait(at) {
			return stop
		}
		call, ok := at.(ssa.CallInstruction)
		if !ok {
			return goOn
		}
		if _, recv, name, ok := method(call); ok && name == "Release" && s.of(recv)&own != 0 {
			a.report("lease", call.Pos(), nil, "the lease is released, but was handed on at %s: Retain makes another owner (lease)", a.at(in.Pos()))
			return stop
		}
		return goOn
	})
}

// handleGiven finds a lease that is given away although a deferred Release ends it.
func (a *flowPass) handleGiven(in ssa.Instruction, end ssa.CallInstruction, handle ssa.Value) {
	given := func(v ssa.Value) bool { return isLease(v.Type()) && a.handle(v) == handle }
	how := ""
	switch x := in.(type) {
	case *ssa.Return:
		for _, v := range x.Results {
			if given(v) {
				how = "returned"
			}
		}
	case *ssa.Send:
		if given(x.X) && !waits(x) {
			how = "sent"
		}
	case *ssa.Store:
		if given(x.Val) && outlives(x) && !a.takenBack(x) {
			how = "stored in what outlives the call"
		}
	case *ssa.Go:
		for _, v := range x.Call.Args {
			if given(v) && !waits(x) {
				how = "given to a goroutine"
			}
		}
	}
	if how != "" {
		a.report("lease", in.Pos(), nil, "the lease is %s, but the deferred Release at %s ends it: Retain makes another owner (lease)", how, a.at(end.Pos()))
	}
}

// shares finds scopes that a goroutine uses beside another, or beside the function that has
// started it.
func (a *flowPass) shares(f *ssa.Function) {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if g, ok := in.(*ssa.Go); ok {
				for _, scope := range a.scopesOf(g) {
					a.usedBeside(g, scope)
				}
			}
		}
	}
}

func isScope(t types.Type) bool {
	_, pointer := t.Underlying().(*types.Pointer)
	return pointer && typeName(t) == dewpondPath+".Scope"
}

// scopesOf are the scopes that a goroutine gets as arguments or captures.
func (a *flowPass) scopesOf(g *ssa.Go) []ssa.Value {
	var all []ssa.Value
	for _, v := range g.Call.Args {
		if isScope(v.Type()) {
			all = append(all, a.handle(v))
		}
	}
	if c, ok := g.Call.Value.(*ssa.MakeClosure); ok {
		for _, b := range c.Bindings {
			cell, ok := b.(*ssa.Alloc)
			if !ok || !isScope(cell.Type().Underlying().(*types.Pointer).Elem()) {
				continue
			}
			if st := a.storedOnce(cell); st != nil {
				all = append(all, a.handle(st.Val))
			}
		}
	}
	return all
}

// usedBeside follows the ways on from a go statement until something may wait for the
// goroutine.
func (a *flowPass) usedBeside(g *ssa.Go, scope ssa.Value) {
	s := newState()
	s.vals[scope] = own // keeps the walk alive, and ends when the scope is made anew
	a.walk(g, s, func(in ssa.Instruction, s *state) verdict {
		if mayWait(in) || s.vals[scope] == 0 {
			return stop
		}
		if other, ok := in.(*ssa.Go); ok {
			for _, v := range a.scopesOf(other) {
				if v == scope {
					a.report("scope", other.Pos(), nil, "this goroutine uses the scope beside the one started at %s (scope)", a.at(g.Pos()))
					return stop
				}
			}
			return goOn
		}
		call, ok := in.(*ssa.Call)
		if !ok {
			return goOn
		}
		_, recv := scopeSlice(call)
		if t, v, name, ok := method(call); ok && t.check == "scope" && t.gives[name] {
			recv = v
		}
		if recv != nil && a.handle(recv) == scope {
			a.report("scope", in.Pos(), nil, "the scope is used beside the goroutine started at %s, which uses it too (scope)", a.at(g.Pos()))
			return stop
		}
		return goOn
	})
}
