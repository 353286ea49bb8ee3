package dewpond

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/magazine"
)

// In a test's binary a pool of what may belong to a testing/synctest bubble is like the zero
// pool: it leaves the work to other pools, its parts. Each bubble has one, and what is outside
// of bubbles has one. So no object crosses from one to another, and no call waits for what is
// put back in another. In other binaries there are no parts, and nothing asks for them.

// A part is a pool that does the work of another in one bubble, or outside of bubbles.
type part interface {
	livePool
	Close() error
}

// apart has the parts of a pool.
type apart[P part] struct {
	outside P
	home    uint64 // the bubble in which the pool was made, or 0
	bubbles bubble.Parts[P]
	closed  atomic.Bool // so is each part that is made from then on
	past    Stats       // of the parts that are forgotten; guarded by the lock of bubbles
}

// begin makes the part that is outside of bubbles.
func (a *apart[P]) begin(make func(bubble uint64) P) {
	a.home = bubble.Here()
	a.outside = make(0)
	a.bubbles.Make = func(bubble uint64) P {
		p := make(bubble)
		if a.closed.Load() {
			_ = p.Close()
		}
		return p
	}
	a.bubbles.Forget = func(p P) { a.past = p.Stats().events().plus(a.past) }
}

// here returns the part of the caller's bubble, or the one outside.
func (a *apart[P]) here() P {
	if !bubble.Inside() {
		return a.outside
	}
	return a.bubbles.Of(bubble.Here())
}

// all returns the parts that there are. The first one is outside.
func (a *apart[P]) all() []P { return append([]P{a.outside}, a.bubbles.All(func() {})...) }

func (a *apart[P]) Stats() Stats {
	var s Stats
	for _, p := range append([]P{a.outside}, a.bubbles.All(func() { s = a.past })...) {
		s = p.Stats().plus(s)
	}
	s.Bubbles = bubblesApart
	return s
}

// Close closes the part outside and that of the caller's bubble. Those of other bubbles, whose
// waiters and objects are not the caller's, end with them.
func (a *apart[P]) Close() error {
	a.closed.Store(true)
	if here := bubble.Here(); here != 0 {
		_ = a.bubbles.Of(here).Close()
	}
	return a.outside.Close()
}

func (a *apart[P]) reportLeaks() (n int) {
	for _, p := range a.all() {
		n += p.reportLeaks()
	}
	return n
}

func (a *apart[P]) appendEngines(all []*magazine.Engine) []*magazine.Engine {
	for _, p := range a.all() {
		all = p.appendEngines(all)
	}
	return all
}

func (a *apart[P]) ownChecks() (all []*checks) {
	for _, p := range a.all() {
		all = append(all, p.ownChecks()...)
	}
	return all
}

// bubblesApart is what Stats say of a pool with parts.
const bubblesApart = "apart"

// bubblesShared returns what Stats say of a pool without, and why.
func bubblesShared() string {
	if ok, why := bubble.Apart(); !ok {
		return "shared (" + why + ")"
	}
	return "shared (its memory belongs to none)"
}

// keepApart reports whether pools that may need it get parts. Tests replace it.
var keepApart = func() bool {
	ok, _ := bubble.Apart()
	return ok
}

// mayBelong reports whether what is in an object of a type may belong to a bubble: a channel, a
// timer, or a sync.WaitGroup, which has no pointers.
func mayBelong(t reflect.Type) bool {
	switch {
	case t == reflect.TypeFor[sync.WaitGroup]():
		return true
	case t.Kind() == reflect.Array:
		return t.Len() > 0 && mayBelong(t.Elem())
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if mayBelong(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return pointerIn(t) != nil
}

// objectParts are the parts of a Pool.
type objectParts[T any] struct {
	apart[*Pool[T]]
	made *sync.Map // of an object's address: by which bubble's part, as a *birth
}

// A birth is an object that a part has made. The object may have been collected, and its memory
// be another by now.
type birth[T any] struct {
	object weak.Pointer[T]
	bubble uint64
}

// newParts makes the parts of a pool, whose options are valid.
func (p *Pool[T]) newParts(o PoolOptions[T]) *objectParts[T] {
	a := &objectParts[T]{made: new(sync.Map)}
	a.begin(func(bubble uint64) *Pool[T] {
		o := o
		part := &Pool[T]{parts: a, bubble: bubble}
		if bubble != 0 && bubble != a.home {
			o.MaxIdle = NoIdle
		}
		part.init(o, p.entry)
		part.new = func() *T { return a.born(o.make(), bubble) }
		return part
	})
	if o.object.lazy { // the bubble that uses it first is as any other
		a.home = 0
	}
	return a
}

// make makes an object.
func (o PoolOptions[T]) make() *T {
	if o.New == nil {
		return new(T)
	}
	return o.New()
}

// born notes that a bubble's part, or with 0 that outside, has made an object, which it returns. New
// may return an object that Drop has put somewhere else.
func (a *objectParts[T]) born(v *T, bubble uint64) *T {
	switch {
	case v == nil:
	case bubble == 0:
		a.made.Delete(reflect.ValueOf(v).Pointer())
	default:
		b := &birth[T]{bubble: bubble}
		if at := reflect.ValueOf(v).Pointer(); b.endsWith(v, at, a.made) {
			b.object = weak.Make(v)
			a.made.Store(at, b)
		}
	}
	return v
}

// endsWith has a birth forgotten when its object is collected, and reports whether that can be: the
// constant in a dewsync.Pool, for instance, is in memory that is not collected, and belongs to no bubble.
func (b *birth[T]) endsWith(v *T, at uintptr, made *sync.Map) (collected bool) {
	defer func() { _ = recover() }() // of AddCleanup, where weak.Make would end the program
	runtime.AddCleanup(v, func(at uintptr) { made.CompareAndDelete(at, b) }, at)
	return true
}

// birthplace returns the bubble whose part has made an object, or 0 if none has.
func (a *objectParts[T]) birthplace(v *T) uint64 {
	if b, ok := a.made.Load(reflect.ValueOf(v).Pointer()); ok && b.(*birth[T]).object.Value() == v {
		return b.(*birth[T]).bubble
	}
	return 0
}

// putElsewhere is Put into a part of what another part has made, and reports whether it is
// that. A bubble may do as it likes with what comes from outside. With what comes from a
// bubble, nobody else may do anything.
func (p *Pool[T]) putElsewhere(v *T) bool {
	switch from := p.parts.birthplace(v); {
	case from == p.bubble, from == 0 && p.bubble == p.parts.home:
		return false
	case from == 0:
		p.parts.outside.dropInBubble(v)
	default:
		if maker, ok := p.parts.bubbles.Find(from); ok {
			maker.leaveToCollector(v)
		}
	}
	return true
}

// elsewhere reports whether the pool is a bubble's part and the caller, as the collector is, not in
// the bubble: it must not Drop.
func (p *Pool[T]) elsewhere() bool { return p.bubble != 0 && bubble.Here() != p.bubble }

// dropInBubble ends the use of an object of the part outside, in a bubble.
func (p *Pool[T]) dropInBubble(v *T) {
	if p.checks != nil && p.verdict(v) == check.Refused {
		return
	}
	if p.limited() {
		defer p.out.Release()
	}
	if p.tryClean(v) {
		p.seal(v)
		p.count.puts.Add(1)
		p.settled(v, magazine.NoRoom)
	}
}

// leaveToCollector ends the use of a bubble's object where the bubble is not, which must not
// touch it.
func (p *Pool[T]) leaveToCollector(v *T) {
	if p.checks != nil {
		if p.verdict(v) == check.Refused {
			return
		}
		p.seal(v)
	}
	p.count.puts.Add(1)
	p.count.droppedFull.Add(1)
	p.engine.Gone(0, 1)
	if p.limited() {
		p.out.Forget()
	}
}
