package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// putsNil finds a deferred function that puts back a named result which the return has set to nil.
func (a *flowPass) putsNil(f *ssa.Function) {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			d, ok := in.(*ssa.Defer)
			if !ok {
				continue
			}
			m, ok := d.Call.Value.(*ssa.MakeClosure)
			if !ok {
				continue
			}
			for _, put := range a.putCalls[m.Fn.(*ssa.Function)] {
				for _, t := range a.puts(put) {
					a.nilAtReturn(d, m, put, t)
				}
			}
		}
	}
}

// nilAtReturn looks at one Put of a deferred function.
func (a *flowPass) nilAtReturn(d *ssa.Defer, m *ssa.MakeClosure, put ssa.CallInstruction, t target) {
	f := d.Parent()
	p, ok := t.place, t.inPlace
	if !ok {
		p, ok = loaded(t.val)
	}
	cell := captured(m, p.base)
	if !ok || cell == nil || p.path != "" {
		return
	}
	failing, known := a.onError(m, put)
	if !known {
		return
	}
	for _, b := range f.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || !d.Block().Dominates(b) {
			continue
		}
		isNilled, fails := false, failing == nil
		for _, v := range ret.Results {
			from, ok := loadedCell(v)
			if !ok {
				continue
			}
			st := resultStored(v, ret)
			switch {
			case st == nil:
			case from == cell:
				isNilled = isNil(st)
			case failing != nil && from == failing:
				fails = !isNil(st) && (a.failed(st, a.before(ret)) || isLoadOf(st, failing))
			}
		}
		if isNilled && fails {
			a.report("wrongput", put.Pos(), nil, "%s is nil here, which the return at %s has set it to: the object is lost (wrongput); put back a variable of its own", a.expr(put, t), a.at(a.returnPos(ret)))
			return
		}
	}
}

// captured is the variable of the outer function that a literal captures as v.
func captured(m *ssa.MakeClosure, v ssa.Value) *ssa.Alloc {
	for i, free := range m.Fn.(*ssa.Function).FreeVars {
		if free == v {
			cell, _ := m.Bindings[i].(*ssa.Alloc)
			return cell
		}
	}
	return nil
}

// onError is the error that must not be nil for a literal to come to a Put, and nil if there is no condition.
// known is false if there are others.
func (a *flowPass) onError(m *ssa.MakeClosure, put ssa.CallInstruction) (failing *ssa.Alloc, known bool) {
	for b := put.Block(); b.Idom() != nil; b = b.Idom() {
		branch, ok := b.Idom().Instrs[len(b.Idom().Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		cmp, ok := branch.Cond.(*ssa.BinOp)
		if !ok || cmp.Op != token.NEQ || !isNil(cmp.Y) || !types.Identical(cmp.X.Type(), errorType) || b != b.Idom().Succs[0] || failing != nil {
			return nil, false
		}
		p, ok := loaded(cmp.X)
		if failing = captured(m, p.base); !ok || failing == nil || p.path != "" {
			return nil, false
		}
	}
	return failing, true
}

// isLoadOf reports whether v is what a variable has.
func isLoadOf(v ssa.Value, cell *ssa.Alloc) bool {
	from, ok := loadedCell(v)
	return ok && from == cell
}
