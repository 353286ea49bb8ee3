package dewpond

import (
	"reflect"

	"github.com/dewpond/dewpond/internal/hooks"
	"github.com/dewpond/dewpond/internal/magazine"
)

// Package dewsync keeps objects of a type that only the running program knows in a
// Pool[hooks.Word]. It makes them itself, and their owners may lose them: that is no leak.
// What it needs of a Pool is here. A program without it links no such pool.

// objectOptions describe objects that are no T. The zero value describes those that are.
type objectOptions struct {
	object    reflect.Type
	unwatched bool // the checks must not look at an object
	lazy      bool // a pool that is made where it is first used, which says nothing of whose it is
}

func (o *PoolOptions[T]) describe(object reflect.Type, watched, used bool) {
	o.object = objectOptions{object: object, unwatched: !watched, lazy: used}
}

// objectType returns the type of the objects.
func (o PoolOptions[T]) objectType() reflect.Type {
	if o.object.object != nil {
		return o.object.object
	}
	return reflect.TypeFor[T]()
}

// size returns the size of an object, in bytes. It is never 0.
func (o PoolOptions[T]) size() int64 { return int64(max(1, o.objectType().Size())) }

// unguarded says why no object is guarded. For a slice of bytes in package dewsync, Get would have to hand out a
// copy on pages of its own, of the same length, cap and bytes. That Put does not look into what it keeps would not
// forbid it: an engine that stays armed until the copy is back sends each Put the slow way, where it can be
// looked at. But the array is the program's, and all that the pool has is the word that leads to it. It may be a
// file's or C's, which a copy is not, and which a finalizer of the *[]byte gives back; the kernel or a map may know
// it by its address; direct I/O may need its alignment; its cap may reach into its neighbours in one array, whose
// bytes the way back would undo. None of that can be asked for. A BytePool makes its blocks, so it may exchange them.
func (p *Pool[T]) unguarded() string {
	if reflect.TypeFor[T]() == reflect.TypeFor[hooks.Word]() {
		return "its memory is the program's own, which is not exchanged"
	}
	return "its objects are not guarded"
}

func setWordHooks() {
	hooks.Describe = func(options any, object reflect.Type, watched, used bool) {
		options.(interface {
			describe(reflect.Type, bool, bool)
		}).describe(object, watched, used)
	}
	hooks.Engine = func(pool any) any {
		p := pool.(livePool)
		if pool.(wordPool).parted() || p.ownChecks()[0] != nil {
			return (*magazine.Engine)(nil)
		}
		return p.appendEngines(nil)[0]
	}
	hooks.Idle = func(pool any) *hooks.Word { return pool.(wordPool).idle() }
	hooks.Fresh = func(pool any, object *hooks.Word) { pool.(wordPool).lendFresh(object) }
	hooks.Count = func(pool any, c hooks.Calls) { pool.(wordPool).countCalls(c) }
	hooks.MayCache = func() bool {
		open := tierUnless(false)
		mode, _ := CheckOff.effective()
		return open != nil && open() && mode == CheckOff
	}
}

// A wordPool is a Pool[hooks.Word].
type wordPool interface {
	idle() *hooks.Word
	lendFresh(*hooks.Word)
	countCalls(hooks.Calls)
	parted() bool
}

// idle returns an idle object, or nil if it finds none.
func (p *Pool[T]) idle() *T {
	p = p.actual()
	v := (*T)(p.engine.PopSlow(0))
	if v == nil && p.engine.Reclaim(0) {
		v = (*T)(p.engine.PopSlow(0))
	}
	if v != nil {
		p.watchIfChosen(v)
	}
	return v
}

// lendFresh counts an object that its caller has made because there was none idle.
func (p *Pool[T]) lendFresh(v *T) {
	if p = p.actual(); p.bubble != 0 {
		p.parts.born(v, p.bubble)
	}
	p.count.misses.Add(1)
	p.engine.Missed(0, 1)
	p.watchIfChosen(v)
}

// countCalls counts calls that the engine has not seen. The bound does not follow them.
func (p *Pool[T]) countCalls(c hooks.Calls) {
	if p = p.made(); p.parted() { // all that is cached is outside of bubbles
		p = p.parts.outside
	}
	p.count.recovered.Add(c.Recovered)
	p.count.misses.Add(c.Missed)
	p.count.puts.Add(c.Puts)
	p.engine.Wanted(0, int(c.Missed))
}
