package flow

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A target is what one call puts back: a value, or what is in a place.
type target struct {
	val     ssa.Value
	place   place
	inPlace bool
	role    role
	wrapped bool
}

// puts is what a call puts back.
func (a *flowPass) puts(call ssa.CallInstruction) []target {
	c := call.Common()
	if r, ok := a.roleOf(c); ok {
		if r.puts == 0 {
			return nil
		}
		v := argument(c, r.puts-1)
		if v == nil || isNil(v) || isCopied(v) {
			return nil
		}
		if r.boxed {
			if p, ok := placeOf(v); ok {
				return []target{{place: p, inPlace: true, role: r}}
			}
			return nil
		}
		return []target{{val: v, role: r}}
	}
	s := a.summaryOf(c)
	if s == nil {
		return nil
	}
	var all []target
	for _, ref := range s.Puts {
		v := a.actual(c, ref.Param)
		if v == nil || isNil(v) || isCopied(v) {
			continue
		}
		t := target{val: v, wrapped: true, role: role{dewpond: s.Dewpond}}
		for _, same := range s.Same { // it grows: what it returns is the caller's, whether or not it has moved
			t.role.moves = t.role.moves || same[1] == ref.Param && ref.Path == "" && len(s.Gets) > 0
		}
		if ref.Param < 0 || ref.Path != "" {
			p, ok := pointee(v)
			if !ok {
				continue
			}
			t.val, t.inPlace = nil, true
			t.place = place{p.base, p.path + ref.Path}
		}
		all = append(all, t)
	}
	return all
}

// isCopied reports whether v, as a number or a string that is put back, is no object that others could
// share.
func isCopied(v ssa.Value) bool {
	v = bare(v)
	_, basic := v.Type().Underlying().(*types.Basic)
	return basic && !isUnsafe(v.Type())
}

// isPut reports whether a call puts back what the state follows.
func (a *flowPass) putsFollowed(call ssa.CallInstruction, s *state) bool {
	for _, t := range a.puts(call) {
		if a.follows(t, s) {
			return true
		}
	}
	return false
}

func (a *flowPass) follows(t target, s *state) bool {
	if t.inPlace {
		return s.places[t.place]&own != 0
	}
	if s.of(t.val)&own != 0 {
		return a.whole(t.val, s)
	}
	if cell, ok := bare(t.val).(*ssa.Alloc); ok && isSlice(cell.Type().Underlying().(*types.Pointer).Elem()) {
		return s.places[place{base: cell}]&own != 0
	}
	return false
}

// whole reports whether v is the object and not a field's address, which other pools keep.
func (a *flowPass) whole(v ssa.Value, s *state) bool {
	for v != nil {
		if _, ok := v.(*ssa.FieldAddr); ok {
			return false
		}
		v = a.source(v)
	}
	return true
}

// after is the state behind a Put: every value and place that has what was put back.
func (a *flowPass) after(call ssa.CallInstruction, t target) *state {
	s := a.before(call)
	add := func(v ssa.Value) {
		for w, taint := range a.closure(a.root(v)) {
			s.vals[w] |= taint
		}
	}
	if t.inPlace {
		if !t.role.boxed {
			s.places[t.place] = own
		}
		if cell, ok := t.place.base.(*ssa.Alloc); ok && t.place.path == "" {
			if v := a.lastStored(cell, call); v != nil {
				add(v)
			}
		}
		return s
	}
	add(t.val)
	v := bare(t.val)
	if p, ok := loaded(v); ok && a.fresh(v.(*ssa.UnOp), p, call) {
		s.places[p] = own
	}
	if cell, ok := v.(*ssa.Alloc); ok && isSlice(cell.Type().Underlying().(*types.Pointer).Elem()) {
		s.places[place{base: cell}] = own
	}
	if boxesSlice(v.Type()) {
		if w := a.lastStored(v, call); w != nil {
			add(w)
		}
	}
	return s
}

// lastStored is the value that was last stored through an address before an instruction:
// in the same block, or the only one of the function if it is on every way here.
func (a *flowPass) lastStored(addr ssa.Value, in ssa.Instruction) ssa.Value {
	b := in.Block()
	for i := slices.Index(b.Instrs, in) - 1; i >= 0; i-- {
		if st, ok := b.Instrs[i].(*ssa.Store); ok && st.Addr == addr {
			return st.Val
		}
	}
	if addr.Referrers() == nil {
		return nil
	}
	var last *ssa.Store
	for _, r := range *addr.Referrers() {
		if st, ok := r.(*ssa.Store); ok && st.Addr == addr && st.Parent() == in.Parent() {
			switch {
			case !st.Block().Dominates(b):
				return nil
			case last == nil || last.Block().Dominates(st.Block()) && last.Block() != st.Block():
				last = st
			case last.Block() == st.Block() && slices.Index(st.Block().Instrs, ssa.Instruction(last)) < slices.Index(st.Block().Instrs, ssa.Instruction(st)):
				last = st
			}
		}
	}
	if last != nil {
		return last.Val
	}
	return nil
}

// fresh reports whether a place still has what load read when in is reached.
func (a *flowPass) fresh(load *ssa.UnOp, p place, in ssa.Instruction) bool {
	s := newState()
	s.places[p] = own
	fresh := false
	b := in.Block()
	if b == load.Block() && slices.Index(b.Instrs, ssa.Instruction(load)) < slices.Index(b.Instrs, in) {
		for _, between := range b.Instrs[slices.Index(b.Instrs, ssa.Instruction(load))+1:] {
			if between == in {
				return s.places[p] != 0
			}
			a.step(between, s)
		}
		return false
	}
	a.walk(load, s, func(at ssa.Instruction, s *state) verdict {
		if at == in {
			fresh = s.places[p] != 0
			return stop
		}
		return goOn
	})
	return fresh
}

// putsBack is the parameters that f puts back on every way, but for ways that find the
// object nil, or too large or small to keep.
func (a *flowPass) putsBack(f *ssa.Function, known []Ref) []Ref {
	at := map[Ref][]ssa.CallInstruction{}
	for _, call := range a.putCalls[f] {
		for _, t := range a.puts(call) {
			if t.role.moves {
				continue
			}
			if ref, ok := a.parameter(f, t); ok {
				at[ref] = append(at[ref], call)
			}
		}
	}
	var refs []Ref
	for ref, calls := range at {
		if !slices.Contains(known, ref) && a.always(f, ref, calls) && !a.overwritten(f, ref, calls) {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(x, y Ref) int {
		if x.Param != y.Param {
			return x.Param - y.Param
		}
		return strings.Compare(x.Path, y.Path)
	})
	return refs
}

// parameter is the parameter of f that a target is, or is in.
func (a *flowPass) parameter(f *ssa.Function, t target) (Ref, bool) {
	p := t.place
	if !t.inPlace {
		for _, r := range []ssa.Value{a.root(t.val), a.boxed(t.val)} {
			if i := slices.IndexFunc(f.Params, func(p *ssa.Parameter) bool { return r == p }); i >= 0 {
				return Ref{Param: i}, true
			}
		}
		r := a.root(t.val)
		var ok bool
		if p, ok = loaded(r); !ok {
			if cell, isCell := bare(r).(*ssa.Alloc); isCell {
				if st := a.storedOnce(cell); st != nil {
					p, ok = loaded(a.root(st.Val))
				}
			}
			if fv, isFree := r.(*ssa.FreeVar); isFree && boxesSlice(fv.Type()) {
				p, ok = place{base: fv}, true // &b of a captured b
			}
			if !ok {
				return Ref{}, false
			}
		}
	}
	for i, v := range f.FreeVars {
		if p.base == v {
			return Ref{-1 - i, p.path}, true
		}
	}
	if cell, ok := p.base.(*ssa.Alloc); ok && strings.HasPrefix(p.path, "*") {
		if st := a.storedOnce(cell); st != nil {
			p = place{st.Val, p.path[1:]}
		}
	}
	if p.path == "" {
		return Ref{}, false
	}
	for i, v := range f.Params {
		if p.base == v {
			return Ref{i, p.path}, true
		}
	}
	return Ref{}, false
}

// overwritten reports whether a place of a parameter gets something else after the Put.
func (a *flowPass) overwritten(f *ssa.Function, ref Ref, calls []ssa.CallInstruction) bool {
	if ref.Param >= 0 && ref.Path == "" {
		return false
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			st, ok := in.(*ssa.Store)
			if !ok {
				continue
			}
			p, ok := placeOf(st.Addr)
			if !ok {
				continue
			}
			q, ok := a.parameter(f, target{place: p, inPlace: true})
			if !ok && p.path == "" {
				for i, v := range f.FreeVars {
					if p.base == v {
						q, ok = Ref{-1 - i, ""}, true
					}
				}
			}
			if ok && q.Param == ref.Param && strings.HasPrefix(ref.Path, q.Path) {
				return true
			}
		}
	}
	return false
}

// always reports whether every way through f comes by one of the calls, where a branch that
// looks at the object's length, cap or whether it is nil may leave them out.
func (a *flowPass) always(f *ssa.Function, ref Ref, calls []ssa.CallInstruction) bool {
	at := map[*ssa.BasicBlock]bool{}
	for _, c := range calls {
		at[c.Block()] = true
	}
	reach := reaching(at)
	seen := map[*ssa.BasicBlock]bool{}
	var misses func(b *ssa.BasicBlock) bool
	misses = func(b *ssa.BasicBlock) bool {
		if seen[b] || at[b] {
			return false
		}
		seen[b] = true
		excused := false
		switch last := b.Instrs[len(b.Instrs)-1].(type) {
		case *ssa.Return:
			return true
		case *ssa.If:
			excused = a.aboutSize(last.Cond) || leavesLoop(b, at)
		}
		for _, succ := range b.Succs {
			if !(excused && !reach[succ]) && misses(succ) {
				return true
			}
		}
		return false
	}
	return !misses(f.Blocks[0])
}

// reaching is the blocks from which a way leads to one of the given.
func reaching(at map[*ssa.BasicBlock]bool) map[*ssa.BasicBlock]bool {
	reach := map[*ssa.BasicBlock]bool{}
	var mark func(b *ssa.BasicBlock)
	mark = func(b *ssa.BasicBlock) {
		if !reach[b] {
			reach[b] = true
			for _, p := range b.Preds {
				mark(p)
			}
		}
	}
	for b := range at {
		mark(b)
	}
	return reach
}

// leavesLoop reports whether b is the head of a loop that has one of the calls: one that looks
// for the pool that the object fits.
func leavesLoop(b *ssa.BasicBlock, at map[*ssa.BasicBlock]bool) bool {
	loop := slices.ContainsFunc(b.Preds, func(p *ssa.BasicBlock) bool { return b.Dominates(p) })
	if !loop {
		return false
	}
	for c := range at {
		if b.Dominates(c) {
			return true
		}
	}
	return false
}

// aboutSize reports whether a condition looks at a length, at a cap, or at whether
// something that is no error is nil.
func (a *flowPass) aboutSize(cond ssa.Value) bool {
	switch x := cond.(type) {
	case *ssa.UnOp:
		return x.Op == token.NOT && a.aboutSize(x.X)
	case *ssa.Phi:
		return slices.ContainsFunc(x.Edges, a.aboutSize)
	case *ssa.BinOp:
		if isNil(x.X) || isNil(x.Y) {
			return !isError(x.X.Type()) && !isError(x.Y.Type())
		}
		return measures(x.X, 0) || measures(x.Y, 0)
	case *ssa.Extract:
		_, ok := x.Tuple.(*ssa.TypeAssert)
		return ok && x.Index == 1
	}
	return false
}

func measures(v ssa.Value, depth int) bool {
	if depth > 4 {
		return false
	}
	switch x := v.(type) {
	case *ssa.Convert:
		return measures(x.X, depth+1)
	case *ssa.BinOp:
		return measures(x.X, depth+1) || measures(x.Y, depth+1)
	case *ssa.Call:
		if b, ok := x.Call.Value.(*ssa.Builtin); ok {
			return b.Name() == "len" || b.Name() == "cap"
		}
		name := ""
		if f := called(x.Common()); f != nil {
			name = f.Name()
		}
		return name == "Len" || name == "Cap" || name == "Size" || name == "Buffered" || name == "Available"
	}
	return false
}
