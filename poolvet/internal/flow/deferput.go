package flow

import (
	"go/constant"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// This file is about deferred Puts that come too late, or that have another slice than the last one.

// deferredLate finds a Put that is deferred in a loop although nothing beyond one turn needs the object.
func (a *flowPass) deferredLate(call *ssa.Defer, t target) {
	b := call.Block()
	loop := a.loop(b)
	if loop == nil || counted(loop) {
		return
	}
	v := t.val
	if t.inPlace {
		cell, ok := t.place.base.(*ssa.Alloc)
		if !ok || t.place.path != "" || !loop[cell.Block()] {
			return
		}
		v = a.lastStored(cell, call)
	}
	if v == nil {
		return
	}
	got := a.origin(v)
	from, ok := got.(ssa.Instruction)
	if !ok || !a.isGet(got) || !loop[from.Block()] || a.leavesTurn(from, got, call, loop) {
		return
	}
	a.report("deferput", call.Pos(), nil, "%s is put back when the function returns, and not on each turn of this loop (deferput)", a.expr(call, t))
}

// loop is the blocks that b reaches and that reach b, and nil if b is in no loop.
func (a *graph) loop(b *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	on := a.reaches(b)
	if !on[b] {
		return nil
	}
	loop := map[*ssa.BasicBlock]bool{}
	for c := range on {
		if a.reaches(c)[b] {
			loop[c] = true
		}
	}
	return loop
}

// fewTurns is a number of turns that a loop may have with a deferred Put in it.
const fewTurns = 16

// counted reports whether a loop ends after a few turns, as one that tries again.
func counted(loop map[*ssa.BasicBlock]bool) bool {
	for b := range loop {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok || loop[b.Succs[0]] && loop[b.Succs[1]] {
			continue
		}
		cmp, ok := branch.Cond.(*ssa.BinOp)
		if !ok {
			continue
		}
		c, ok := cmp.Y.(*ssa.Const)
		if !ok || c.Value == nil || c.Value.Kind() != constant.Int {
			continue
		}
		if n, exact := constant.Int64Val(c.Value); exact && n > 1 && n <= fewTurns && turns(cmp.X, loop) {
			return true
		}
	}
	return false
}

// turns reports whether a value counts the turns of a loop.
func turns(v ssa.Value, loop map[*ssa.BasicBlock]bool) bool {
	if b, ok := v.(*ssa.BinOp); ok {
		v = b.X
	}
	phi, ok := v.(*ssa.Phi)
	return ok && loop[phi.Block()]
}

// leavesTurn reports whether something may need the object after the turn of the loop that has got it.
func (a *walker) leavesTurn(from ssa.Instruction, got ssa.Value, put *ssa.Defer, loop map[*ssa.BasicBlock]bool) bool {
	object := a.closure(got)
	for v := range object {
		if v.Referrers() == nil {
			continue
		}
		for _, r := range *v.Referrers() {
			if _, phi := r.(*ssa.Phi); !loop[r.Block()] || phi && r.Block().Dominates(from.Block()) {
				return true
			}
		}
	}
	s := a.stillBefore(from)
	for v, t := range object {
		s.vals[v] |= t
	}
	leaves := false
	complete := a.walk(from, s, func(in ssa.Instruction, s *state) verdict {
		if in == ssa.Instruction(put) {
			return goOn
		}
		if in == from {
			return stop
		}
		if c, ok := in.(*ssa.MakeClosure); ok && deferredBy(c, put) {
			return goOn
		}
		if st, ok := in.(*ssa.Store); ok && s.of(st.Addr)&own != 0 {
			return goOn // what the object has itself
		}
		switch x := in.(type) {
		case *ssa.Store: // an element, or a variable of outside of the loop
			cell, local := x.Addr.(*ssa.Alloc)
			leaves = leaves || has(s, x.Val) && !(local && loop[cell.Block()])
			return verdict(leaves)
		case *ssa.Call:
			leaves = leaves || a.mayKeep(x, s)
		}
		leaves = leaves || a.handedOver(in, s)
		return verdict(leaves)
	})
	return leaves || !complete
}

// deferredBy reports whether a function literal is the one that a defer statement calls.
func deferredBy(c *ssa.MakeClosure, d *ssa.Defer) bool { return d.Call.Value == ssa.Value(c) }

// outgrown finds what grows after a Put of it was deferred: the Put has the slice of before.
func (a *flowPass) outgrown(call *ssa.Defer, t target) {
	if t.inPlace || t.role.moves || t.role.dewpond || called(call.Common()) == nil || !isSlice(unboxed(t.val).Type()) {
		return
	}
	f := call.Parent()
	got := a.begins(bare(t.val), map[ssa.Value]bool{})
	if got == nil || !a.isGet(got) && !a.isGet(bare(got)) || fits(bare(got)) || a.comparesLength(f) {
		return
	}
	grown := func(v ssa.Value) bool { return a.grownFrom(bare(v), a.root(t.val), map[ssa.Value]bool{}) }
	for _, other := range a.putCalls[f] {
		for _, o := range a.puts(other) {
			if other != ssa.CallInstruction(call) && (o.inPlace || grown(o.val)) {
				return
			}
		}
	}
	s := a.before(call)
	for w, taint := range a.closure(a.root(t.val)) {
		s.vals[w] |= taint
	}
	a.walk(call, s, func(in ssa.Instruction, s *state) verdict {
		c, ok := in.(*ssa.Call)
		if !ok || !a.growsMuch(c, s) {
			return goOn
		}
		a.report("deferput", c.Pos(), nil, "%s may move here: the deferred %s at %s has the slice of before, and what has grown is lost (deferput); defer a function that puts back", a.expr(call, t), called(call.Common()).Name(), a.at(call.Pos()))
		return stop
	})
}

// growsMuch reports whether a call appends to what the state follows as much as something else has.
func (a *calls) growsMuch(c *ssa.Call, s *state) bool {
	if b, ok := c.Call.Value.(*ssa.Builtin); ok {
		if b.Name() != "append" || len(c.Call.Args) < 2 || s.of(c.Call.Args[0])&own == 0 {
			return false
		}
		switch x := c.Call.Args[1].(type) {
		case *ssa.Const:
			return a.loop(c.Block()) != nil
		case *ssa.Slice:
			if _, array := x.X.(*ssa.Alloc); array {
				return a.loop(c.Block()) != nil
			}
		}
		return true
	}
	if f := called(c.Common()); f != nil && unbounded[fullName(f)] {
		to := appendedTo(c)
		return to != nil && s.of(to)&own != 0
	}
	from := a.grown(c, 0)
	return from != nil && s.of(from)&own != 0
}

// unbounded are functions of the standard library that append as much as they are given.
var unbounded = map[string]bool{
	"crypto/cipher.AEAD.Seal": true, "crypto/cipher.AEAD.Open": true, "encoding/hex.AppendEncode": true,
	"encoding/base64.Encoding.AppendEncode": true, "fmt.Append": true, "fmt.Appendf": true, "fmt.Appendln": true, "slices.Insert": true,
}

// comparesLength reports whether a function compares a length or a cap: then what is appended may be known to fit.
func (a *graph) comparesLength(f *ssa.Function) bool {
	return slices.ContainsFunc(f.Blocks, func(b *ssa.BasicBlock) bool {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		return ok && aboutLength(branch.Cond) && !ranges(branch)
	})
}

// ranges reports whether a branch is the head of a loop over a slice, which compares its length too.
func ranges(branch *ssa.If) bool {
	return branch.Block().Comment == "rangeindex.loop"
}
