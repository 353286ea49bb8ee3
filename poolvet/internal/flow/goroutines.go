package flow

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// This file is about goroutines that have an object which their maker puts back.

// A spawn is an instruction that has a function run beside this one.
type spawn struct {
	in     ssa.CallInstruction
	f      ssa.Value   // the function
	args   []ssa.Value // its arguments
	shared []ssa.Value // what else it has of this function: arguments and captured variables
}

// spawned splits a go statement, or a call that starts a goroutine.
func spawned(in ssa.Instruction) (spawn, bool) {
	call, ok := in.(ssa.CallInstruction)
	if !ok {
		return spawn{}, false
	}
	c := call.Common()
	sp := spawn{in: call}
	switch in.(type) {
	case *ssa.Go:
		sp.f, sp.args = c.Value, c.Args
		if c.IsInvoke() {
			sp.f, sp.args = nil, append([]ssa.Value{c.Value}, c.Args...)
		}
	case *ssa.Call:
		f := called(c)
		if f == nil {
			return spawn{}, false
		}
		switch fullName(f) {
		case "sync.WaitGroup.Go", "golang.org/x/sync/errgroup.Group.Go", "time.AfterFunc":
			sp.f = c.Args[len(c.Args)-1]
		default:
			return spawn{}, false
		}
	default:
		return spawn{}, false
	}
	sp.shared = slices.Clone(sp.args)
	if m, ok := sp.f.(*ssa.MakeClosure); ok {
		sp.shared = append(sp.shared, m.Bindings...)
	}
	return sp, true
}

// gets reports whether the goroutine has what the state follows.
func (sp spawn) gets(s *state) bool {
	if slices.ContainsFunc(sp.args, func(v ssa.Value) bool { return carries(v, s) }) {
		return true
	}
	return sp.f != nil && carries(sp.f, s)
}

// unwaited follows the paths from where a goroutine was started, and calls end at each return that is
// reached with nothing between that may have waited for it.
func (a *walker) unwaited(sp spawn, end func(*ssa.Return)) {
	f := sp.in.Parent()
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if d, ok := in.(*ssa.Defer); ok && a.mayWaitFor(d, sp, 0) {
				return
			}
		}
	}
	waited := a.waitedIn(sp)
	s := newState()
	s.vals[f] = own // keeps the walk alive
	a.walk(sp.in, s, func(in ssa.Instruction, s *state) verdict {
		if waited[in.Block()] || a.mayWaitFor(in, sp, 0) {
			return stop
		}
		if ret, ok := in.(*ssa.Return); ok {
			end(ret)
			return stop
		}
		return goOn
	})
}

// waitedIn is the blocks that a select enters where it has received from a channel that the goroutine
// has too.
func (a *calls) waitedIn(sp spawn) map[*ssa.BasicBlock]bool {
	blocks := map[*ssa.BasicBlock]bool{}
	for _, b := range sp.in.Parent().Blocks {
		for _, in := range b.Instrs {
			sel, ok := in.(*ssa.Select)
			if !ok {
				continue
			}
			for _, r := range *sel.Referrers() {
				index, ok := r.(*ssa.Extract)
				if !ok || index.Index != 0 {
					continue
				}
				for _, r := range *index.Referrers() {
					cmp, ok := r.(*ssa.BinOp)
					if !ok || cmp.Op != token.EQL {
						continue
					}
					c, ok := cmp.Y.(*ssa.Const)
					if !ok || c.Int64() < 0 || int(c.Int64()) >= len(sel.States) || !sp.has(sel.States[c.Int64()].Chan) {
						continue
					}
					for _, r := range *cmp.Referrers() {
						if branch, ok := r.(*ssa.If); ok {
							blocks[branch.Block().Succs[0]] = true
						}
					}
				}
			}
		}
	}
	return blocks
}

// has reports whether the goroutine has the same value or variable, or another result of the call that
// one of its own is a result of, as the other end of a pipe.
func (sp spawn) has(v ssa.Value) bool {
	v = bare(v)
	return slices.ContainsFunc(sp.shared, func(w ssa.Value) bool {
		w = bare(w)
		if v == w || madeWith(v) == w || madeWith(v) != nil && madeWith(v) == madeWith(w) {
			return true
		}
		p, ok := loaded(v)
		q, ok2 := pointee(w)
		return ok && ok2 && p == q
	})
}

// madeWith is the call of which v, or what is in the variable that v was loaded from or is, is one of several
// results.
func madeWith(v ssa.Value) ssa.Value {
	cell, ok := v.(*ssa.Alloc)
	if !ok {
		cell, ok = loadedCell(v)
	}
	if ok {
		for _, r := range *cell.Referrers() {
			if st, ok := r.(*ssa.Store); ok && st.Addr == cell {
				v = st.Val
			}
		}
	}
	if e, ok := v.(*ssa.Extract); ok {
		return e.Tuple
	}
	return nil
}

// mayWaitFor reports whether an instruction may wait for a goroutine: what is not known may.
func (a *calls) mayWaitFor(in ssa.Instruction, sp spawn, depth int) bool {
	switch x := in.(type) {
	case *ssa.UnOp:
		return x.Op == token.ARROW
	case *ssa.Send:
		return true
	case *ssa.Select:
		// The paths from a select that also receives from the goroutine are told apart: see waitedIn.
		return !slices.ContainsFunc(x.States, func(st *ssa.SelectState) bool { return st.Dir == types.RecvOnly && sp.has(st.Chan) })
	case *ssa.Go:
		return false
	case *ssa.Call:
		if in == ssa.Instruction(sp.in) {
			return false
		}
	}
	call, ok := in.(ssa.CallInstruction)
	if !ok {
		return false
	}
	c := call.Common()
	if _, ok := spawned(in); ok {
		return false
	}
	if _, builtin := c.Value.(*ssa.Builtin); builtin {
		return false
	}
	if _, pool := a.roleOf(c); pool || len(a.puts(call)) > 0 {
		return false
	}
	f := called(c)
	if f != nil {
		if typeName(receiver(f)) == "time.Timer" || typeName(receiver(f)) == "time.Ticker" {
			return false
		}
		switch f.Name() {
		case "Wait", "Lock", "RLock", "Close", "Shutdown", "Stop", "Flush", "Join":
			return true
		}
		if f.Pkg() != nil && f.Pkg().Path() == dewpondPath {
			return false
		}
		if inStandardLibrary(f) {
			return slices.ContainsFunc(c.Args, sp.has) || c.IsInvoke() && sp.has(c.Value)
		}
	}
	if typeName(c.Value.Type()) == "context.CancelFunc" {
		return false
	}
	fn, _ := a.callee(c)
	if fn == nil || fn.Blocks == nil || depth > 2 {
		return true
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if sel, ok := in.(*ssa.Select); ok && sel.Blocking {
				return true
			}
			if a.mayWaitFor(in, sp, depth+1) {
				return true
			}
		}
	}
	return false
}

// receiver is the type of a method's receiver, and that of nil for a function.
func receiver(f *types.Func) types.Type {
	if r := f.Signature().Recv(); r != nil {
		return r.Type()
	}
	return types.Typ[types.UntypedNil]
}

// outlived finds a goroutine that has what a deferred Put puts back, and may still have it then.
func (a *flowPass) outlived(sp spawn, report func(pos token.Pos, at string)) {
	var missed []*ssa.Return
	a.unwaited(sp, func(ret *ssa.Return) { missed = append(missed, ret) })
	if len(missed) == 0 {
		return
	}
	returns := 0
	for _, b := range sp.in.Parent().Blocks {
		if _, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && (b == sp.in.Block() || a.reaches(sp.in.Block())[b]) {
			returns++
		}
	}
	if len(missed) == returns || !a.returnPos(missed[0]).IsValid() {
		report(sp.in.Pos(), "")
		return
	}
	report(a.returnPos(missed[0]), a.at(sp.in.Pos()))
}
