package flow

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// This file is about paths after a Put that no execution takes, for a reason outside of the function.

// A tested is a condition that has one outcome wherever a block is reached.
type tested struct {
	cond ssa.Value
	true bool
}

// testedOn is what was tested on every way to a block, without what is tested there alone.
func testedOn(b *ssa.BasicBlock) (all []tested) {
	for ; b.Idom() != nil; b = b.Idom() {
		d := b.Idom()
		branch, ok := d.Instrs[len(d.Instrs)-1].(*ssa.If)
		if ok && len(b.Preds) == 1 && d.Succs[0] != d.Succs[1] {
			all = append(all, tested{branch.Cond, b == d.Succs[0]})
		}
	}
	return all
}

// notAfter returns what says of a block behind a Put that it is not reached from there: where the Put and the
// block are each under a flag of one object, two flags that are taken to exclude each other, and where the
// object was put back because the call that has returned it failed, and the block is under a test
// that it is not empty.
func notAfter(call ssa.CallInstruction, t target) func(b *ssa.BasicBlock, s *state) bool {
	var flags []place
	failed := false
	for _, c := range testedOn(call.Block()) {
		if p, ok := flagOf(c); ok {
			flags = append(flags, p)
		}
		failed = failed || !t.inPlace && saysFailed(c, t.val)
	}
	return func(b *ssa.BasicBlock, s *state) bool {
		if len(flags) == 0 && !failed {
			return false
		}
		for _, c := range testedOn(b) {
			if p, ok := flagOf(c); ok && !slices.Contains(flags, p) &&
				slices.ContainsFunc(flags, func(q place) bool { return q.base == p.base }) {
				return true
			}
			if v := notEmpty(c); failed && v != nil && s.of(v)&own != 0 {
				return true
			}
		}
		return false
	}
}

// flagOf is the field of type bool that a condition says is true.
func flagOf(c tested) (place, bool) {
	p, ok := loaded(c.cond)
	basic, isBasic := c.cond.Type().Underlying().(*types.Basic)
	return p, ok && c.true && isBasic && basic.Kind() == types.Bool && p.path != ""
}

// saysFailed reports whether a condition says that the call of which v is a result has failed.
func saysFailed(c tested, v ssa.Value) bool {
	b, ok := c.cond.(*ssa.BinOp)
	if !ok || !isError(b.X.Type()) || !isNil(b.Y) || (b.Op == token.NEQ) != c.true {
		return false
	}
	x := b.X
	if cell, ok := loadedCell(x); ok { // a result with a name
		for _, in := range b.Block().Instrs {
			if st, ok := in.(*ssa.Store); ok && st.Addr == cell {
				x = st.Val
			}
		}
	}
	err, ok := x.(*ssa.Extract)
	got, ok2 := v.(*ssa.Extract)
	return ok && ok2 && err.Tuple == got.Tuple
}

// notEmpty is the slice of which a condition says that its length is not 0.
func notEmpty(c tested) ssa.Value {
	b, ok := c.cond.(*ssa.BinOp)
	if !ok || !isZero(b.Y) || !(b.Op == token.EQL && !c.true || (b.Op == token.NEQ || b.Op == token.GTR) && c.true) {
		return nil
	}
	call, ok := b.X.(*ssa.Call)
	if !ok {
		return nil
	}
	if builtin, ok := call.Call.Value.(*ssa.Builtin); ok && builtin.Name() == "len" {
		return call.Call.Args[0]
	}
	return nil
}

// movedAway reports whether a Put is made where the caps of two slices differ: then what was built from the
// object has memory of its own by now.
func movedAway(call ssa.CallInstruction) bool {
	isCap := func(v ssa.Value) bool {
		c, ok := v.(*ssa.Call)
		if !ok {
			return false
		}
		b, ok := c.Call.Value.(*ssa.Builtin)
		return ok && b.Name() == "cap"
	}
	return slices.ContainsFunc(testedOn(call.Block()), func(c tested) bool {
		b, ok := c.cond.(*ssa.BinOp)
		return ok && isCap(b.X) && isCap(b.Y)
	})
}
