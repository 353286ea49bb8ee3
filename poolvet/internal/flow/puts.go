package flow

import (
	"cmp"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
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
func (a *calls) puts(call ssa.CallInstruction) []target {
	c := call.Common()
	if r, ok := a.roleOf(c); ok {
		if r.puts == 0 {
			return nil
		}
		v := argument(c, r.puts-1)
		if v == nil || isNil(v) || isCopied(v) {
			return nil
		}
		return []target{{val: v, role: r}}
	}
	if v := a.endedBy(c); v != nil {
		return []target{{val: v, wrapped: true, role: role{dewpond: a.getsDewpond(v)}}}
	}
	s := a.summaryOf(c)
	if s == nil {
		return nil
	}
	var all []target
	for _, ref := range s.Puts {
		v := a.actual(c, ref.Param)
		if v == nil || isNil(v) || isCopied(v) || !mayBe(v, ref.As) {
			continue
		}
		t := target{val: v, wrapped: true, role: role{dewpond: s.Dewpond}}
		for _, same := range slices.Concat(s.Same, s.Maybe) { // it grows: what it returns is the caller's, whether or not it has moved
			t.role.moves = t.role.moves || same.Param == ref.Param && ref.Path == ""
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

// endedBy is the result of a call whose other result, a function, is called here and puts it back.
func (a *calls) endedBy(c *ssa.CallCommon) ssa.Value {
	if c.IsInvoke() || len(c.Args) > 0 {
		return nil
	}
	v := c.Value
	if cell, ok := loadedCell(v); ok {
		if st := a.storedOnce(cell); st != nil {
			v = st.Val
		}
	}
	e, ok := v.(*ssa.Extract)
	if !ok {
		return nil
	}
	call, ok := e.Tuple.(*ssa.Call)
	if !ok {
		return nil
	}
	s := a.summaryOf(call.Common())
	if s == nil {
		return nil
	}
	for _, pair := range s.Ends {
		if pair[0] == e.Index {
			return resultNumber(call, pair[1])
		}
	}
	return nil
}

// resultNumber is the i-th of several results of a call, and nil if nothing uses it.
func resultNumber(call *ssa.Call, i int) ssa.Value {
	for _, r := range *call.Referrers() {
		if e, ok := r.(*ssa.Extract); ok && e.Index == i {
			return e
		}
	}
	return nil
}

// isCopied reports whether v, as a number or a string that is put back, is no object that others could
// share.
func isCopied(v ssa.Value) bool {
	v = bare(v)
	_, basic := v.Type().Underlying().(*types.Basic)
	return basic && !isUnsafe(v.Type())
}

// isPut reports whether a call puts back what the state follows.
func (a *calls) putsFollowed(call ssa.CallInstruction, s *state) bool {
	for _, t := range a.puts(call) {
		if a.follows(t, s) {
			return true
		}
	}
	return false
}

func (a *calls) follows(t target, s *state) bool {
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
func (a *calls) whole(v ssa.Value, s *state) bool {
	for v != nil {
		if _, ok := v.(*ssa.FieldAddr); ok {
			return false
		}
		v = a.source(v)
	}
	return true
}

// after is the state behind a Put: every value and place that has what was put back.
func (a *walker) after(call ssa.CallInstruction, t target) *state {
	s := a.before(call)
	add := func(v ssa.Value) {
		all := a.closure(a.root(v))
		for w, taint := range all {
			s.vals[w] |= taint
		}
		for w := range all {
			for _, within := range append(a.slicesIn(w), a.sliceStored(w, call)...) {
				for x, taint := range a.closure(within) {
					if all[x] == 0 {
						s.vals[x] |= taint&holds | inside
					}
				}
			}
		}
	}
	defer a.inVariables(call, s)
	if t.inPlace {
		s.places[t.place] = own
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

// sliceStored is what the only store to a field that is used again has left in the object, on every path to the Put.
func (a *fieldUses) sliceStored(v ssa.Value, put ssa.CallInstruction) []ssa.Value {
	field, ok := v.(*ssa.FieldAddr)
	if !ok || !a.reused(field) || field.Parent() != put.Parent() {
		return nil
	}
	p, ok := placeOf(field)
	if !ok {
		return nil
	}
	var one *ssa.Store
	for _, b := range field.Parent().Blocks {
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
	if one == nil || isNil(one.Val) || !runsBefore(one, put) {
		return nil
	}
	return []ssa.Value{one.Val}
}

// inVariables adds to the state at a deferred Put the captured variables that have the object's memory there.
func (a *calls) inVariables(call ssa.CallInstruction, s *state) {
	if _, deferred := call.(*ssa.Defer); !deferred {
		return
	}
	for v, t := range maps.Clone(s.vals) {
		if v.Referrers() == nil || t&memory == 0 {
			continue
		}
		for _, r := range *v.Referrers() {
			st, ok := r.(*ssa.Store)
			if !ok || st.Val != v {
				continue
			}
			cell, ok := st.Addr.(*ssa.Alloc)
			if ok && s.places[place{base: cell}] == 0 && a.lastStored(cell, call) == v {
				s.places[place{base: cell}] = t
			}
		}
	}
}

// lastStored is the value that was last stored through an address before an instruction:
// in the same block, or the only one of the function if it is on every way here.
func (a *calls) lastStored(addr ssa.Value, in ssa.Instruction) ssa.Value {
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
func (a *walker) fresh(load *ssa.UnOp, p place, in ssa.Instruction) bool {
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
func (a *calls) putsBack(f *ssa.Function, known []Ref) (refs, may []Ref) {
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
	for ref, calls := range at {
		if slices.Contains(known, ref) {
			continue
		}
		always, told := a.always(f, ref, calls)
		switch {
		case always && !told && !a.overwritten(f, ref, calls) && !a.once(f, ref):
			refs = append(refs, ref)
		case always:
			may = append(may, ref)
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(ssa.CallInstruction); ok {
				if s := a.summaryOf(call.Common()); s != nil && len(s.MayPut) > 0 {
					may = a.mayPass(f, call, s, may)
				}
			}
		}
	}
	compare := func(x, y Ref) int { return cmp.Or(x.Param-y.Param, strings.Compare(x.Path, y.Path)) }
	slices.SortFunc(refs, compare)
	slices.SortFunc(may, compare)
	return refs, may
}

// mayPass adds the parameters of f that a call hands to a function which may put them back.
func (a *calls) mayPass(f *ssa.Function, call ssa.CallInstruction, s *Summary, may []Ref) []Ref {
	for _, ref := range s.MayPut {
		v := a.actual(call.Common(), ref.Param)
		if v == nil {
			continue
		}
		if mine, ok := a.parameter(f, target{val: v}); ok {
			may = appendNew(may, mine)
		}
	}
	return may
}

// parameter is the parameter of f that a target is, or is in.
func (a *calls) parameter(f *ssa.Function, t target) (Ref, bool) {
	p := t.place
	if !t.inPlace {
		for _, r := range []ssa.Value{a.root(t.val), a.boxed(t.val)} {
			if i := slices.IndexFunc(f.Params, func(p *ssa.Parameter) bool { return r == p }); i >= 0 {
				return Ref{Param: i, As: a.assertedOn(t.val)}, true
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
			return Ref{Param: -1 - i, Path: p.path}, true
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
			return Ref{Param: i, Path: p.path}, true
		}
	}
	return Ref{}, false
}

// once reports whether f tests what it stores itself, in a place that belongs to a parameter: what it
// does under such a condition a second call does not do again.
func (a *calls) once(f *ssa.Function, ref Ref) bool {
	set := map[Ref]bool{}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if st, ok := in.(*ssa.Store); ok {
				if p, ok := placeOf(st.Addr); ok {
					if q, ok := a.parameter(f, target{place: p, inPlace: true}); ok && q.Param == ref.Param {
						set[q] = true
					}
				}
			}
		}
	}
	if len(set) == 0 {
		return false
	}
	for _, b := range f.Blocks {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok || aboutLength(branch.Cond) { // what is too large to keep says nothing of a second call
			continue
		}
		for _, p := range termOf(branch.Cond).at {
			if q, ok := a.parameter(f, target{place: p, inPlace: true}); ok && set[q] {
				return true
			}
		}
	}
	return false
}

// overwritten reports whether a place of a parameter gets something else after the Put.
func (a *calls) overwritten(f *ssa.Function, ref Ref, calls []ssa.CallInstruction) bool {
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
						q, ok = Ref{Param: -1 - i}, true
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
// Where told is true, the result says whether it did.
func (a *graph) always(f *ssa.Function, ref Ref, calls []ssa.CallInstruction) (always, told bool) {
	at := map[*ssa.BasicBlock]bool{}
	for _, c := range calls {
		at[c.Block()] = true
	}
	reach := reaching(at)
	seen := map[*ssa.BasicBlock]bool{}
	var leftOut []*ssa.BasicBlock
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
			if excused && !reach[succ] {
				leftOut = append(leftOut, succ)
			} else if misses(succ) {
				return true
			}
		}
		return false
	}
	return !misses(f.Blocks[0]), a.told(leftOut, at)
}

// told reports whether the result says if one of the calls was made: they lead to an error or to one
// of true and false, and the paths that leave them out do not.
func (a *graph) told(leftOut []*ssa.BasicBlock, at map[*ssa.BasicBlock]bool) bool {
	without, with := map[string]bool{}, map[string]bool{}
	for _, b := range leftOut {
		a.outcomes(b, without)
	}
	for b := range at {
		a.outcomes(b, with)
	}
	if len(without) == 0 || without[""] || with[""] {
		return false
	}
	for o := range with {
		if without[o] {
			return false
		}
	}
	return true
}

// outcomes notes what the returns that a block leads to say: whether there was an error, or which of
// true and false the last result is, and "" where that is not known.
func (a *graph) outcomes(from *ssa.BasicBlock, out map[string]bool) {
	look := func(b *ssa.BasicBlock) {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			return
		}
		if len(ret.Results) == 0 {
			out[""] = true
			return
		}
		last := ret.Results[len(ret.Results)-1]
		if v := resultStored(last, ret); v != nil {
			last = v
		}
		c, isConst := last.(*ssa.Const)
		switch {
		case isError(last.Type()) && isNil(last):
			out["nil"] = true
		case isError(last.Type()) && a.failed(last, newState()):
			out["error"] = true
		case isConst && c.Value != nil && c.Value.Kind() == constant.Bool:
			out[c.Value.String()] = true
		default:
			out[""] = true
		}
	}
	look(from)
	for b := range a.reaches(from) {
		look(b)
	}
}

// resultStored is the value that a return loads from the variable of a result, where the return's own
// block has stored it, and nil for other values.
func resultStored(v ssa.Value, ret *ssa.Return) ssa.Value {
	cell, ok := loadedCell(v)
	if !ok {
		return nil
	}
	b := ret.Block()
	for i := len(b.Instrs) - 1; i >= 0; i-- {
		if st, ok := b.Instrs[i].(*ssa.Store); ok && st.Addr == cell {
			return st.Val
		}
	}
	return nil
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
func (a *graph) aboutSize(cond ssa.Value) bool {
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

// aboutLength reports whether a condition compares a length or a cap.
func aboutLength(cond ssa.Value) bool {
	b, ok := cond.(*ssa.BinOp)
	return ok && (measures(b.X, 0) || measures(b.Y, 0))
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
