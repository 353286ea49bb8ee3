package flow

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A state is what is known at one point of one way through a function.
type state struct {
	vals   map[ssa.Value]taint
	places map[place]taint
	known  map[string]fact // of conditions that are tested more than once
	consts map[*ssa.Phi]*ssa.Const
}

type fact struct {
	true bool
	of   []ssa.Value
	at   []place
}

func newState() *state {
	return &state{map[ssa.Value]taint{}, map[place]taint{}, map[string]fact{}, map[*ssa.Phi]*ssa.Const{}}
}

func (s *state) clone() *state {
	return &state{maps.Clone(s.vals), maps.Clone(s.places), maps.Clone(s.known), maps.Clone(s.consts)}
}

// size is how much there is to copy.
func (s *state) size() int { return len(s.vals) + len(s.places) + len(s.known) + len(s.consts) }

// follows reports whether there is anything left to follow.
func (s *state) follows() bool { return len(s.vals)+len(s.places) > 0 }

func (s *state) key() string {
	var parts []string
	for v, t := range s.vals {
		parts = append(parts, v.Name()+string('0'+rune(t)))
	}
	for p, t := range s.places {
		parts = append(parts, p.base.Name()+p.path+string('0'+rune(t)))
	}
	for k, f := range s.known {
		if f.true {
			k += "!"
		}
		parts = append(parts, k)
	}
	for p, c := range s.consts {
		parts = append(parts, p.Name()+"="+c.String())
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// of is the taint of a value that an instruction uses.
func (s *state) of(v ssa.Value) taint {
	if v == nil {
		return 0
	}
	return s.vals[v] &^ ended
}

// What a visit says of the way that it is on.
type verdict bool

const (
	goOn verdict = false
	stop verdict = true
)

const (
	mostStates = 48        // of one block; then the way is given up, which finds nothing
	mostSteps  = 40_000    // of one walk, in instructions
	mostSpent  = 4_000_000 // of all walks through one function, in instructions and in what states hold
)

// spend counts what a walk costs, and reports whether the function has had its share. A generated
// function may have thousands of Puts, each of which is the start of a walk.
func (a *walker) spend(f *ssa.Function, n int) (enough bool) {
	before := a.spent[f]
	if before >= mostSpent {
		return true
	}
	a.spent[f] = before + n
	if before+n < mostSpent {
		return false
	}
	a.giveUp(f.Pos(), f.Name(), fmt.Sprintf("has more ways than %d steps take: it was not looked at to the end", mostSpent))
	return true
}

// walk follows every way on from the instruction after start. visit sees each instruction
// with the state before it. complete is false if there were too many ways to see them all.
func (a *walker) walk(start ssa.Instruction, s *state, visit func(ssa.Instruction, *state) verdict) (complete bool) {
	block := start.Block()
	return a.walkFrom(block, slices.Index(block.Instrs, start)+1, s, visit)
}

// walkFrom is walk from an instruction of a block, by its number.
func (a *walker) walkFrom(block *ssa.BasicBlock, from int, s *state, visit func(ssa.Instruction, *state) verdict) (complete bool) {
	type item struct {
		block *ssa.BasicBlock
		from  int
		state *state
	}
	seen := map[*ssa.BasicBlock]map[string]bool{}
	work := []item{{block, from, s}}
	steps := 0
	complete = true
	repeated := a.repeated(block.Parent())
next:
	for len(work) > 0 {
		it := work[len(work)-1]
		work = work[:len(work)-1]
		s := it.state
		for _, in := range it.block.Instrs[it.from:] {
			if steps++; steps > mostSteps || a.spend(block.Parent(), 1) {
				return false
			}
			if visit(in, s) == stop {
				continue next
			}
			a.step(in, s)
		}
		if !s.follows() {
			continue
		}
		for i, succ := range it.block.Succs {
			if a.spend(block.Parent(), s.size()) {
				return false
			}
			next := s.clone()
			if branch, ok := it.block.Instrs[len(it.block.Instrs)-1].(*ssa.If); ok {
				if !next.take(branch.Cond, i == 0, repeated) {
					continue
				}
			}
			next.enter(it.block, succ)
			if !next.follows() {
				continue
			}
			if seen[succ] == nil {
				seen[succ] = map[string]bool{}
			}
			key := next.key()
			switch {
			case seen[succ][key]:
			case len(seen[succ]) < mostStates:
				seen[succ][key] = true
				work = append(work, item{succ, 0, next})
			default:
				complete = false
			}
		}
	}
	return complete
}

// enter moves the state along one edge: each phi is what that edge has.
func (s *state) enter(from, to *ssa.BasicBlock) {
	i := slices.Index(to.Preds, from)
	vals, consts := map[*ssa.Phi]taint{}, map[*ssa.Phi]*ssa.Const{}
	nils := map[string]fact{}
	for _, in := range to.Instrs {
		phi, ok := in.(*ssa.Phi)
		if !ok {
			break
		}
		vals[phi] = s.vals[phi.Edges[i]]
		switch e := phi.Edges[i].(type) {
		case *ssa.Const:
			consts[phi] = e
		case *ssa.Phi:
			consts[phi] = s.consts[e]
		}
		if f, ok := s.known[nilKey(phi.Edges[i])]; ok {
			nils[nilKey(phi)] = fact{f.true, []ssa.Value{phi}, nil}
		}
	}
	for phi, t := range vals {
		s.set(phi, t)
		delete(s.consts, phi)
		if c := consts[phi]; c != nil {
			s.consts[phi] = c
		}
	}
	maps.Copy(s.known, nils)
}

// nilKey is the key of the condition that v is nil.
func nilKey(v ssa.Value) string {
	switch v.Type().Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Slice, *types.Map, *types.Chan, *types.Signature:
		return termOf(&ssa.BinOp{Op: token.EQL, X: v, Y: ssa.NewConst(nil, v.Type())}).key
	}
	return ""
}

func (s *state) set(v ssa.Value, t taint) {
	for p := range s.places {
		if p.base == v { // another variable, or a field of another object
			delete(s.places, p)
		}
	}
	if t == 0 {
		delete(s.vals, v)
	} else {
		s.vals[v] = t
	}
	for k, f := range s.known {
		if slices.Contains(f.of, v) {
			delete(s.known, k)
		}
	}
}

// take goes along a branch, and says false where the state knows that it is not taken.
func (s *state) take(cond ssa.Value, branch bool, repeated map[string]bool) bool {
	if c, ok := s.eval(cond); ok {
		return c == branch
	}
	t := termOf(cond)
	if t.not {
		branch = !branch
	}
	if f, ok := s.known[t.key]; ok {
		return f.true == branch
	}
	if repeated[t.key] {
		s.known[t.key] = fact{branch, t.of, t.at}
	}
	// What is of another type is another object, or none.
	if e, ok := cond.(*ssa.Extract); ok && !branch {
		if as, ok := e.Tuple.(*ssa.TypeAssert); ok && e.Index == 1 {
			s.gone(as.X)
		}
	}
	// An object that says false of itself, as a logger's event that is not enabled, may be none.
	if asks, ok := question(cond); ok && !(branch != t.not) {
		s.gone(asks)
	}
	// A value that is nil is no object any more.
	if b, ok := bare(cond).(*ssa.BinOp); ok && b.Op == token.EQL && branch != t.not || ok && b.Op == token.NEQ && branch == t.not {
		if ok && isNil(b.Y) {
			s.gone(b.X)
		} else if ok && isNil(b.X) {
			s.gone(b.Y)
		}
	}
	return true
}

// question is the receiver of a method without arguments that a condition is the result of.
func question(cond ssa.Value) (ssa.Value, bool) {
	if x, ok := cond.(*ssa.UnOp); ok && x.Op == token.NOT {
		cond = x.X
	}
	call, ok := cond.(*ssa.Call)
	if !ok || call.Call.IsInvoke() || call.Call.Signature().Recv() == nil || len(call.Call.Args) != 1 {
		return nil, false
	}
	return call.Call.Args[0], true
}

// gone forgets the object if one of its values is nil on this way: then there is none.
func (s *state) gone(v ssa.Value) {
	if s.vals[bare(v)]|s.vals[v] != 0 {
		clear(s.vals)
		clear(s.places)
	}
}

// eval is what a condition is, where a phi of constants decides it.
func (s *state) eval(cond ssa.Value) (is, ok bool) {
	switch x := cond.(type) {
	case *ssa.Phi:
		if c := s.consts[x]; c != nil && c.Value != nil {
			return c.Value.String() == "true", true
		}
	case *ssa.UnOp:
		if x.Op == token.NOT {
			is, ok := s.eval(x.X)
			return !is, ok
		}
	case *ssa.BinOp:
		if x.Op != token.EQL && x.Op != token.NEQ {
			return false, false
		}
		l, lok := s.constant(x.X)
		r, rok := s.constant(x.Y)
		if lok && rok {
			equal := l.IsNil() && r.IsNil() || l.Value != nil && r.Value != nil && l.Value.ExactString() == r.Value.ExactString()
			return equal == (x.Op == token.EQL), true
		}
	}
	return false, false
}

func (s *state) constant(v ssa.Value) (*ssa.Const, bool) {
	switch x := v.(type) {
	case *ssa.Const:
		return x, true
	case *ssa.Phi:
		c := s.consts[x]
		return c, c != nil
	}
	return nil, false
}

// A term is a condition in one form, so that two tests of the same thing are one.
type term struct {
	key string
	not bool
	of  []ssa.Value
	at  []place
}

func termOf(cond ssa.Value) term {
	var t term
	switch x := cond.(type) {
	case *ssa.UnOp:
		if x.Op == token.NOT {
			t = termOf(x.X)
			t.not = !t.not
			return t
		}
	case *ssa.BinOp:
		op := x.Op
		switch op {
		case token.NEQ:
			op, t.not = token.EQL, true
		case token.GEQ:
			op, t.not = token.LSS, true
		case token.LEQ:
			op, t.not = token.GTR, true
		}
		t.key = op.String() + "(" + t.name(x.X) + "," + t.name(x.Y) + ")"
		return t
	}
	t.key = t.name(cond)
	return t
}

func (t *term) name(v ssa.Value) string {
	switch x := v.(type) {
	case *ssa.Const:
		return x.String()
	case *ssa.Call:
		if b, ok := x.Call.Value.(*ssa.Builtin); ok && (b.Name() == "len" || b.Name() == "cap") {
			return b.Name() + "(" + t.name(x.Call.Args[0]) + ")"
		}
	case *ssa.UnOp:
		if p, ok := loaded(x); ok {
			t.at = append(t.at, p)
			t.of = append(t.of, p.base)
			return p.base.Name() + p.path
		}
	}
	t.of = append(t.of, v)
	return v.Name()
}

// repeated is the conditions that a function tests more than once, and comparisons of
// errors with nil.
func (a *graph) repeated(f *ssa.Function) map[string]bool {
	if r := a.conds[f]; r != nil {
		return r
	}
	count, r := map[string]int{}, map[string]bool{}
	for _, b := range f.Blocks {
		if branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok {
			key := termOf(branch.Cond).key
			count[key]++
			if count[key] > 1 || testsError(branch.Cond) || testsPhi(branch.Cond) {
				r[key] = true
			}
		}
	}
	a.conds[f] = r
	return r
}

func testsError(cond ssa.Value) bool {
	b, ok := cond.(*ssa.BinOp)
	return ok && isError(b.X.Type())
}

// testsPhi reports whether a condition compares with nil what a phi has or joins.
func testsPhi(cond ssa.Value) bool {
	b, ok := cond.(*ssa.BinOp)
	if !ok || !isNil(b.Y) {
		return false
	}
	if _, ok := b.X.(*ssa.Phi); ok {
		return true
	}
	return b.X.Referrers() != nil && slices.ContainsFunc(*b.X.Referrers(), func(in ssa.Instruction) bool {
		_, ok := in.(*ssa.Phi)
		return ok
	})
}

var errorType = types.Universe.Lookup("error").Type()

func isError(t types.Type) bool { return types.Identical(t, errorType) }

// before is a state that knows what was tested on every way to an instruction. What a place in memory
// had when it was tested it is taken to have still, which leaves out ways rather than seeing some
// that nothing goes; see stillBefore.
func (a *fieldUses) before(in ssa.Instruction) *state { return a.tested(in, false) }

// stillBefore is before, without what calls and stores between the test and behind the instruction may have changed.
func (a *fieldUses) stillBefore(in ssa.Instruction) *state { return a.tested(in, true) }

func (a *fieldUses) tested(in ssa.Instruction, still bool) *state {
	s := newState()
	repeated := a.repeated(in.Parent())
	for b := in.Block(); b.Idom() != nil; b = b.Idom() {
		d := b.Idom()
		branch, ok := d.Instrs[len(d.Instrs)-1].(*ssa.If)
		if !ok || len(b.Preds) != 1 || d.Succs[0] == d.Succs[1] {
			continue
		}
		t := termOf(branch.Cond)
		if !repeated[t.key] {
			continue
		}
		if _, ok := s.known[t.key]; !ok && !(still && !a.unwritten(t.at, b, in)) {
			s.known[t.key] = fact{(b == d.Succs[0]) != t.not, t.of, t.at}
		}
	}
	return s
}

// unwritten reports whether nothing from the beginning of a block to an instruction, that included,
// may write one of the places.
func (a *fieldUses) unwritten(at []place, from *ssa.BasicBlock, in ssa.Instruction) bool {
	if len(at) == 0 {
		return true
	}
	writes := func(x ssa.Instruction) bool {
		switch x := x.(type) {
		case *ssa.Store:
			p, ok := placeOf(x.Addr)
			return ok && slices.ContainsFunc(at, func(q place) bool { return q.within(p) })
		case ssa.CallInstruction:
			if _, builtin := x.Common().Value.(*ssa.Builtin); builtin {
				return false
			}
			return slices.ContainsFunc(at, func(q place) bool { return a.mayWrite(x, q) })
		}
		return false
	}
	last := in.Block()
	for b := range a.reaches(from) {
		if b != last && a.reaches(b)[last] && slices.ContainsFunc(b.Instrs, writes) {
			return false
		}
	}
	if from != last && slices.ContainsFunc(from.Instrs, writes) {
		return false
	}
	return !slices.ContainsFunc(last.Instrs[:slices.Index(last.Instrs, in)+1], writes)
}

// step applies an instruction to the state.
func (a *walker) step(in ssa.Instruction, s *state) {
	switch x := in.(type) {
	case *ssa.Phi:
		return // enter did
	case *ssa.Store:
		a.stepStore(x, s)
		return
	case *ssa.MapUpdate:
		if s.of(x.Map)&memory == 0 && (carries(x.Value, s) || carries(x.Key, s)) {
			s.vals[x.Map] |= holds
		}
		return
	case *ssa.RunDefers:
		for p := range s.places {
			if cell, ok := p.base.(*ssa.Alloc); ok && a.shared(cell).closure {
				delete(s.places, p)
			}
		}
		return
	}
	if call, ok := in.(ssa.CallInstruction); ok {
		if _, deferred := in.(*ssa.Defer); !deferred {
			a.stepCall(call, s)
		}
	}
	if v, ok := in.(ssa.Value); ok {
		s.set(v, a.derived(v, s))
	}
}

func (a *calls) stepStore(x *ssa.Store, s *state) {
	p, ok := placeOf(x.Addr)
	if !ok {
		a.stepElement(x, s)
		return
	}
	for q := range s.places {
		if q.within(p) {
			delete(s.places, q)
		}
	}
	for k, f := range s.known {
		for _, q := range f.at {
			if q.within(p) {
				delete(s.known, k)
			}
		}
	}
	if t := s.vals[x.Val]; t != 0 {
		s.places[p] = t
	} else if carries(x.Val, s) && !isStruct(x.Val.Type()) {
		s.places[p] = holds
	}
	for q, t := range s.places {
		// A whole struct that is copied takes its fields along.
		if load, ok := loaded(x.Val); ok && q.within(load) && q != load {
			s.places[place{p.base, p.path + strings.TrimPrefix(q.path, load.path)}] = t
		}
	}
}

// stepElement has the array or the slice of which one element is stored hold what that element has.
func (a *calls) stepElement(x *ssa.Store, s *state) {
	element, ok := x.Addr.(*ssa.IndexAddr)
	if !ok || !carries(x.Val, s) || s.of(element.X)&memory != 0 {
		return
	}
	if p, ok := placeOf(element.X); ok {
		if _, local := p.base.(*ssa.Alloc); local {
			s.places[place{p.base, p.path + "[]"}] = holds
		}
		return
	}
	for v := element.X; v != nil; v = a.source(v) {
		if isSlice(v.Type()) {
			s.vals[v] |= holds
		}
	}
}

func isStruct(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// carries reports whether a value is the object, or has it in it: a struct that is a variable of the
// function's own, or the address of one, a slice of an array, a function that captures it.
func carries(v ssa.Value, s *state) bool { return carriesAt(v, s, 0) }

func carriesAt(v ssa.Value, s *state, depth int) bool {
	if v == nil || depth > 6 {
		return false
	}
	if s.of(v) != 0 {
		return true
	}
	within := func(base ssa.Value, path string) bool {
		for p, t := range s.places {
			if p.base == base && t&^ended != 0 && strings.HasPrefix(p.path, path) && !strings.Contains(p.path, "*") {
				return true
			}
		}
		return false
	}
	switch x := v.(type) {
	case *ssa.MakeInterface:
		return carriesAt(x.X, s, depth+1)
	case *ssa.ChangeInterface:
		return carriesAt(x.X, s, depth+1)
	case *ssa.ChangeType:
		return carriesAt(x.X, s, depth+1)
	case *ssa.Alloc:
		return within(x, "")
	case *ssa.Slice:
		return carriesAt(x.X, s, depth+1)
	case *ssa.UnOp:
		if p, ok := loaded(x); ok && isStruct(x.Type()) {
			return within(p.base, p.path)
		}
	case *ssa.MakeClosure:
		for _, b := range x.Bindings {
			if s.of(b) != 0 || s.places[place{base: b}]&^ended != 0 {
				return true
			}
		}
	}
	return false
}

// stepCall forgets the places that a call may write.
func (a *fieldUses) stepCall(call ssa.CallInstruction, s *state) {
	c := call.Common()
	if _, builtin := c.Value.(*ssa.Builtin); builtin {
		return
	}
	_, pool := a.roleOf(c)
	for p := range s.places {
		if a.mayWrite(call, p) && !pool {
			delete(s.places, p)
		}
	}
	for k, f := range s.known {
		for _, p := range f.at {
			if a.mayWrite(call, p) && !pool {
				delete(s.known, k)
			}
		}
	}
}

// mayWrite reports whether a call may store to a place.
func (a *fieldUses) mayWrite(call ssa.CallInstruction, p place) bool {
	c := call.Common()
	touches := func(base ssa.Value) bool {
		for _, op := range c.Operands(nil) {
			if q, ok := pointee(*op); ok && q.base == base {
				return true
			}
			if m, ok := (*op).(*ssa.MakeClosure); ok && slices.Contains(m.Bindings, base) && a.writesFree(m, base) {
				return true
			}
		}
		return false
	}
	if cell, ok := p.base.(*ssa.Alloc); ok && !strings.Contains(p.path, "*") {
		sh := a.shared(cell)
		return sh.closure && a.mayBeMade(cell, call) || sh.escapes && touches(cell)
	}
	if a.neverSet(p) {
		return false
	}
	if touches(p.base) {
		return true
	}
	f := called(c)
	return f == nil || !inStandardLibrary(f)
}

// mayBeMade reports whether a closure that writes a variable may exist when in is reached.
func (a *graph) mayBeMade(cell *ssa.Alloc, in ssa.Instruction) bool {
	for _, r := range *cell.Referrers() {
		c, ok := r.(*ssa.MakeClosure)
		if !ok {
			continue
		}
		if c.Block() == in.Block() && slices.Index(c.Block().Instrs, ssa.Instruction(c)) < slices.Index(in.Block().Instrs, in) {
			return true
		}
		if a.reaches(c.Block())[in.Block()] {
			return true
		}
	}
	return false
}

// reaches is the blocks that a way leads to from the end of b.
func (a *graph) reaches(b *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	if r := a.onward[b]; r != nil {
		return r
	}
	r := map[*ssa.BasicBlock]bool{}
	work := []*ssa.BasicBlock{b}
	for len(work) > 0 {
		last := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range last.Succs {
			if !r[s] {
				r[s] = true
				work = append(work, s)
			}
		}
	}
	a.onward[b] = r
	return r
}

func inStandardLibrary(f *types.Func) bool {
	if f.Pkg() == nil {
		return true // error.Error
	}
	first, _, _ := strings.Cut(f.Pkg().Path(), "/")
	return !strings.Contains(first, ".") && first != "command-line-arguments" && !strings.HasPrefix(first, "_") && standard[first]
}

// standard is the first elements of the paths of Go's own packages that code calls.
var standard = map[string]bool{
	"bufio": true, "bytes": true, "cmp": true, "compress": true, "container": true, "context": true, "crypto": true,
	"database": true, "encoding": true, "errors": true, "expvar": true, "fmt": true, "hash": true, "html": true,
	"image": true, "io": true, "iter": true, "log": true, "maps": true, "math": true, "mime": true, "net": true,
	"os": true, "path": true, "reflect": true, "regexp": true, "runtime": true, "slices": true, "sort": true,
	"strconv": true, "strings": true, "sync": true, "syscall": true, "testing": true, "text": true, "time": true,
	"unicode": true, "unique": true, "unsafe": true, "weak": true,
}

// A sharing says where the address of a variable goes.
type sharing struct {
	closure bool // a closure writes it
	escapes bool // a call or a store takes it
}

func (a *graph) shared(cell *ssa.Alloc) sharing {
	if s, ok := a.sharing[cell]; ok {
		return s
	}
	var s sharing
	var look func(v ssa.Value)
	look = func(v ssa.Value) {
		for _, r := range *v.Referrers() {
			switch x := r.(type) {
			case *ssa.MakeClosure:
				s.closure = s.closure || a.writesFree(x, v) && !growsFree(x, v)
			case *ssa.FieldAddr:
				look(x)
			case *ssa.Store:
				s.escapes = s.escapes || x.Val == v
			case *ssa.UnOp, *ssa.DebugRef, *ssa.IndexAddr:
			default:
				s.escapes = true
			}
		}
	}
	look(cell)
	a.sharing[cell] = s
	return s
}

// derived is the taint of the value that an instruction makes.
func (a *walker) derived(v ssa.Value, s *state) taint {
	if a.given[v] {
		return own
	}
	if load, ok := v.(*ssa.UnOp); ok && load.Op == token.MUL {
		if p, ok := placeOf(load.X); ok {
			if t := s.places[p]; t != 0 {
				return t
			}
		}
	}
	if c, ok := v.(*ssa.Convert); ok && isUnsafe(c.Type()) {
		// unsafe.Pointer(&b): what is read through it is what b holds
		if cell, ok := c.X.(*ssa.Alloc); ok && s.places[place{base: cell}] != 0 {
			return s.places[place{base: cell}]
		}
	}
	if src := a.source(v); src != nil {
		if t := s.vals[src]; t != 0 {
			return t
		}
	}
	if call, i := resultOf(v); call != nil {
		if from := a.insideCall(call, i); from != nil && s.of(from)&memory != 0 {
			return inside
		}
		if from := a.grown(call, i); from != nil && s.of(from) != 0 {
			return s.of(from)
		}
		if to := appendedTo(call); to != nil && i == 0 && s.of(to) != 0 {
			return s.of(to)
		}
	}
	switch x := v.(type) {
	case *ssa.UnOp:
		if element, ok := x.X.(*ssa.IndexAddr); ok && s.of(element.X)&holds != 0 && a.isPiece(x) {
			return own
		}
		if field, ok := x.X.(*ssa.FieldAddr); ok && s.of(field.X)&own != 0 && a.reused(field) {
			return inside
		}
	case *ssa.Slice:
		if carries(x.X, s) {
			return holds
		}
	case *ssa.Call:
		if appendsCarried(x, s) {
			return holds
		}
		for _, held := range a.heldBy(x, 0) {
			if carries(held, s) {
				return holds
			}
		}
	case *ssa.Extract:
		if call, ok := x.Tuple.(*ssa.Call); ok {
			for _, held := range a.heldBy(call, x.Index) {
				if carries(held, s) {
					return holds
				}
			}
		}
	}
	return 0
}

// appendsCarried reports whether a call appends what has the object: as an element, since what a slice
// itself has is copied.
func appendsCarried(call *ssa.Call, s *state) bool {
	b, ok := call.Call.Value.(*ssa.Builtin)
	if !ok || b.Name() != "append" || len(call.Call.Args) < 2 {
		return false
	}
	elements := call.Call.Args[1]
	return s.of(elements)&memory == 0 && carries(elements, s)
}

// grown is the argument to which a callee may have appended, and which it returns.
func (a *calls) grown(call *ssa.Call, i int) ssa.Value {
	if _, pool := a.roleOf(call.Common()); pool {
		return nil // it knows where the memory goes
	}
	if s := a.summaryOf(call.Common()); s != nil {
		for _, l := range s.Grows {
			puts := slices.ContainsFunc(s.Puts, func(r Ref) bool { return r.Param == l.Param })
			if l.Result == i && !puts {
				return a.actual(call.Common(), l.Param)
			}
		}
	}
	return nil
}
