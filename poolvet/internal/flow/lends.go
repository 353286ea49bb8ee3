package flow

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// This file is about functions that lend an object to a function that they are given, and put it back then.

// lends notes the parameters of f that are functions, and are called with what f puts back when they have returned.
func (a *calls) lends(f *ssa.Function, s *Summary) {
	for i, p := range f.Params {
		if p.Referrers() == nil {
			continue
		}
		for _, r := range *p.Referrers() {
			call, ok := r.(*ssa.Call)
			if !ok {
				continue
			}
			if call.Call.Value == ssa.Value(p) {
				for n, v := range call.Call.Args {
					if got := a.origin(v); a.isGet(got) && a.putAfter(f, got, call) {
						s.Lends = appendNew(s.Lends, Link{Result: n, Param: i})
					}
				}
				continue
			}
			inner := a.summaryOf(call.Common())
			if inner == nil {
				continue
			}
			for _, l := range inner.Lends {
				if a.actual(call.Common(), l.Param) == ssa.Value(p) {
					s.Lends = appendNew(s.Lends, Link{Result: l.Result, Param: i})
				}
			}
		}
	}
}

// putAfter reports whether f puts back what it has got after a call: by a deferred call, or by one that is on
// every path from there.
func (a *calls) putAfter(f *ssa.Function, got ssa.Value, call *ssa.Call) bool {
	return slices.ContainsFunc(a.putCalls[f], func(put ssa.CallInstruction) bool {
		_, deferred := put.(*ssa.Defer)
		if !deferred && !runsBefore(call, put) || deferred && !runsBefore(put, call) {
			return false
		}
		return slices.ContainsFunc(a.puts(put), func(t target) bool {
			if t.inPlace {
				return t.place.path == "" && a.hasStored(t.place.base, got)
			}
			return a.origin(t.val) == got
		})
	})
}

// lent finds what a function that an object is lent to gives away.
func (a *flowPass) lent(f *ssa.Function) {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			s := a.summaryOf(call.Common())
			if s == nil {
				continue
			}
			for _, l := range s.Lends {
				v := a.actual(call.Common(), l.Param)
				if v == nil {
					continue
				}
				to, _ := a.functionOf(v, 0)
				if to != nil && to.Pkg == a.pkg && to.Blocks != nil && l.Result < len(to.Params) {
					a.lentTo(to, to.Params[l.Result], call)
				}
			}
		}
	}
}

func (a *flowPass) lentTo(f *ssa.Function, p *ssa.Parameter, call *ssa.Call) {
	s := newState()
	for v, t := range a.closure(p) {
		s.vals[v] |= t
	}
	by := "the function"
	if fn := called(call.Common()); fn != nil {
		by = fn.Name()
	}
	a.walkFrom(f.Blocks[0], 0, s, func(in ssa.Instruction, s *state) verdict {
		if pos, how := a.handsOut(in, s); how != "" {
			a.report("returnput", pos, nil, "%s is %s, but %s at %s puts it back (returnput)", p.Name(), how, by, a.at(call.Pos()))
		}
		if sp, ok := spawned(in); ok && sp.gets(s) && !a.putsInside(sp.f) {
			a.outlived(sp, func(pos token.Pos, _ string) {
				a.report("returnput", pos, nil, "the goroutine may still use %s when %s at %s puts it back (returnput)", p.Name(), by, a.at(call.Pos()))
			})
		}
		return goOn
	})
}
