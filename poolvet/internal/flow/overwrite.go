package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// This file is about pools that are assigned to, or whose New is set, while they are in use.

// poolValues are the types of pools that a variable or a field has as a value.
var poolValues = map[string]bool{
	"sync.Pool": true, dewpondPath + "/dewsync.Pool": true, dewpondPath + ".BytePool": true,
	"github.com/valyala/bytebufferpool.Pool": true,
}

// An overwriting looks for pools that change while they are in use.
type overwriting struct {
	a       *flowPass
	uses    map[types.Object][]ssa.CallInstruction // the Gets and Puts of pools in package variables and fields
	once    map[*ssa.Function]bool                 // functions that a sync.Once calls
	callers map[*ssa.Function][]ssa.CallInstruction
}

// A change is a store to a pool, or to its New.
type change struct {
	store *ssa.Store
	pool  place
	obj   types.Object // the variable or the field that has the pool, and nil for local ones
	whole bool
}

// overwrittenPools finds pools that functions of the package change while they are in use.
func (a *flowPass) overwrittenPools() {
	o := &overwriting{a: a, uses: map[types.Object][]ssa.CallInstruction{}, once: map[*ssa.Function]bool{}, callers: map[*ssa.Function][]ssa.CallInstruction{}}
	changes := map[*ssa.Function][]change{}
	for _, f := range a.fns {
		if c := o.changes(f); len(c) > 0 {
			changes[f] = c
		}
	}
	if len(changes) == 0 {
		return
	}
	for _, f := range a.fns {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if call, ok := in.(ssa.CallInstruction); ok {
					o.note(call)
				}
			}
		}
	}
	for _, f := range a.fns {
		for _, c := range changes[f] {
			o.check(f, c)
		}
	}
}

// note remembers a Get or a Put, and which function is called, or given to a sync.Once.
func (o *overwriting) note(call ssa.CallInstruction) {
	c := call.Common()
	if addr := usedPool(call); addr != nil {
		if obj := poolObject(addr); obj != nil {
			o.uses[obj] = append(o.uses[obj], call)
		}
		return
	}
	if f, _ := o.a.callee(c); f != nil {
		o.callers[f] = append(o.callers[f], call)
	}
	if f := called(c); f != nil {
		switch name := fullName(f); {
		case name == "sync.Once.Do" || strings.HasPrefix(name, "sync.Once"):
			for _, v := range c.Args {
				if once, _ := o.a.functionOf(v, 0); once != nil {
					o.once[once] = true
				}
			}
		}
	}
}

// usedPool is the address of the pool that a call gets from or puts to, and nil for other calls.
func usedPool(call ssa.CallInstruction) ssa.Value {
	c := call.Common()
	f := called(c)
	if f == nil || c.IsInvoke() || len(c.Args) == 0 || f.Signature().Recv() == nil {
		return nil
	}
	if r, ok := roles[fullName(f)]; ok && (r.gets || r.puts > 0) && poolValues[typeName(c.Args[0].Type())] {
		return c.Args[0]
	}
	return nil
}

// poolObject is the package variable or the field that has the pool at an address.
func poolObject(addr ssa.Value) types.Object {
	switch x := bare(addr).(type) {
	case *ssa.Global:
		return x.Object()
	case *ssa.FieldAddr:
		return fieldOf(x)
	}
	return nil
}

// changes is the stores of a function to pools and to their New, without those that are a part of a store to
// what the pool is in.
func (o *overwriting) changes(f *ssa.Function) (all []change) {
	whole := map[place]*ssa.Store{}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			st, ok := in.(*ssa.Store)
			if !ok {
				continue
			}
			p, ok := pointee(st.Addr)
			if !ok {
				continue
			}
			if isStruct(st.Val.Type()) {
				whole[p] = st
			}
			addr := st.Addr
			field, ok := addr.(*ssa.FieldAddr)
			isNew := ok && poolValues[typeName(field.X.Type())] && fieldOf(field) != nil && fieldOf(field).Name() == "New"
			if isNew {
				addr = field.X
				p, _ = pointee(addr)
			} else if !isStruct(st.Val.Type()) || !poolValues[typeName(st.Val.Type())] {
				continue // among them pointers, of which typeName is that of what they point to
			}
			if outer := partOf(whole, p, st, !isNew); outer {
				continue
			}
			all = append(all, change{st, p, poolObject(addr), !isNew})
		}
	}
	return all
}

// partOf reports whether the same block has stored what a pool is in, or, for its New, the pool.
func partOf(whole map[place]*ssa.Store, p place, st *ssa.Store, strictly bool) bool {
	for q, outer := range whole {
		if outer != st && outer.Block() == st.Block() && p.within(q) && !(strictly && p == q) {
			return true
		}
	}
	return false
}

func (o *overwriting) check(f *ssa.Function, c change) {
	if strings.HasSuffix(o.a.pass.Fset.Position(f.Pos()).Filename, "_test.go") {
		return
	}
	pos := c.store.Pos()
	if !pos.IsValid() {
		pos = c.store.Addr.Pos()
	}
	what, name := "New is set", o.a.placeName(c.pool)
	if c.whole {
		what = "is overwritten"
	}
	if name == "" && c.obj != nil {
		name = c.obj.Name()
	}
	if name == "" {
		name = "the pool"
	}
	if !c.whole {
		name += "."
	} else {
		name += " "
	}
	if o.local(c.pool) {
		if sp, ok := o.hadBefore(f, c); ok {
			o.a.report("overwrite", pos, nil, "%s%s, but the goroutine started at %s may be using it (overwrite)", name, what, o.a.at(sp.in.Pos()))
		}
		return
	}
	if o.before(f, map[*ssa.Function]bool{}) || o.guarded(c) || saysBefore(o.a.docOf(f)) {
		return
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			addr := usedPool(call)
			if addr == nil {
				continue
			}
			if p, ok := pointee(addr); !ok || locks(f) || p != c.pool || !roles[fullName(called(call.Common()))].gets {
				continue
			}
			o.a.report("overwrite", pos, nil, "%s%s on each call, where the Get at %s of another call may run: do it once, before the pool is in use (overwrite)", name, what, o.a.at(in.Pos()))
			return
		}
	}
	_, global := c.pool.base.(*ssa.Global)
	if f.Parent() != nil || !changing.MatchString(f.Name()) && !(global && strings.HasPrefix(f.Name(), "Reset")) {
		return
	}
	for _, use := range o.uses[c.obj] {
		if use.Parent() != f && !(locks(f) && o.locked(use.Parent())) {
			o.a.report("overwrite", pos, nil, "%s%s, where %s at %s may run: make another pool, or do it before the pool is in use (overwrite)", name, what, called(use.Common()).Name(), o.a.at(use.Pos()))
			return
		}
	}
}

// changing is the names of functions that are called when what they change has been in use. Set up is not.
var changing = regexp.MustCompile(`^(?i)(set[^u]|setu[^p]|resize|update|change|reload|reconfigure|clear|purge|flush|drain|adjust|tune|switch|replace|rotate|refresh|invalidate|empty)`)

// starting is the names of functions that run before what they set up is in use.
var starting = regexp.MustCompile(`^(?i)(init|new|make|must|open|start|setup|prepare|build|create|register|load|configure|with|default|apply|main$|run|serve|listen|dial)`)

// before reports whether a function runs before the pool is in use, by its name or as all of its callers do.
func (o *overwriting) before(f *ssa.Function, seen map[*ssa.Function]bool) bool {
	if seen[f] {
		return true
	}
	seen[f] = true
	if o.once[f] || f.Parent() == nil && starting.MatchString(f.Name()) {
		return true
	}
	if f.Parent() != nil {
		return len(o.callers[f]) > 0 && o.before(f.Parent(), seen)
	}
	fn, ok := f.Object().(*types.Func)
	if !ok {
		return true // made by the compiler
	}
	if fn.Exported() || len(o.callers[f]) == 0 {
		return false
	}
	return !slices.ContainsFunc(o.callers[f], func(call ssa.CallInstruction) bool {
		fresh := slices.ContainsFunc(call.Common().Args, func(v ssa.Value) bool {
			p, ok := pointee(v)
			return ok && o.local(p)
		})
		return !fresh && !o.before(call.Parent(), seen)
	})
}

// local reports whether a place is of what the function has made, or of what nothing is known about.
func (o *overwriting) local(p place) bool {
	switch base := p.base.(type) {
	case *ssa.Global, *ssa.Parameter, *ssa.FreeVar:
		return false
	case *ssa.Alloc:
		if st := o.a.storedOnce(base); st != nil {
			_, given := st.Val.(*ssa.Parameter)
			return !given
		}
	}
	return true
}

// guarded reports whether a change is made only where something that is kept says that it was not made before.
func (o *overwriting) guarded(c change) bool {
	for b := c.store.Block(); b.Idom() != nil; b = b.Idom() {
		branch, ok := b.Idom().Instrs[len(b.Idom().Instrs)-1].(*ssa.If)
		if ok && asksState(branch.Cond, 0) {
			return true
		}
	}
	return false
}

// asksState reports whether a condition is what a field or a package variable has, or whether that is nil or
// zero, or what a method says.
func asksState(cond ssa.Value, depth int) bool {
	if depth > 4 {
		return false
	}
	switch x := cond.(type) {
	case *ssa.UnOp:
		if x.Op == token.NOT {
			return asksState(x.X, depth+1)
		}
		p, ok := loaded(x)
		_, global := p.base.(*ssa.Global)
		return ok && (global || p.path != "")
	case *ssa.BinOp:
		if _, constant := x.Y.(*ssa.Const); constant {
			return asksState(x.X, depth+1)
		}
	case *ssa.Call:
		f := called(x.Common())
		return f != nil && f.Signature().Recv() != nil
	}
	return false
}

// locks reports whether a function takes a lock.
func locks(f *ssa.Function) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(ssa.CallInstruction); ok {
				if fn := called(call.Common()); fn != nil && strings.HasSuffix(strings.ToLower(fn.Name()), "lock") {
					return true
				}
			}
		}
	}
	return false
}

// locked reports whether a function takes a lock, or may be called where one is taken.
func (o *overwriting) locked(f *ssa.Function) bool {
	return locks(f) || slices.ContainsFunc(o.callers[f], func(call ssa.CallInstruction) bool { return locks(call.Parent()) })
}

// saysBefore reports whether a comment asks callers to call a function before the pool is in use.
func saysBefore(doc *ast.CommentGroup) bool {
	return doc != nil && beforeUse.MatchString(doc.Text())
}

var beforeUse = regexp.MustCompile(`(?i)\bbefore\b|\bnot\s+(be\s+)?(goroutine|thread|concurren|safe)|\bonce\b|\btests?\b|\binitiali`)

// docOf is the comment of a function.
func (a *syntax) docOf(f *ssa.Function) *ast.CommentGroup {
	if d, ok := f.Syntax().(*ast.FuncDecl); ok {
		return d.Doc
	}
	return nil
}

// hadBefore is the goroutine that has a local pool already when it is changed.
func (o *overwriting) hadBefore(f *ssa.Function, c change) (first spawn, found bool) {
	cell, ok := c.pool.base.(*ssa.Alloc)
	if !ok {
		return spawn{}, false
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			sp, ok := spawned(in)
			if !ok || !slices.ContainsFunc(sp.shared, func(v ssa.Value) bool { p, ok := pointee(v); return ok && c.pool.within(p) }) {
				continue
			}
			s := newState()
			s.vals[f] = own // keeps the walk alive
			o.a.walk(in, s, func(at ssa.Instruction, _ *state) verdict {
				switch {
				case at == ssa.Instruction(cell) || o.a.mayWaitFor(at, sp, 0):
					return stop
				case at == ssa.Instruction(c.store):
					first, found = sp, true
					return stop
				}
				return goOn
			})
			if found {
				return first, true
			}
		}
	}
	return spawn{}, false
}
