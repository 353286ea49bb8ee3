package dewpond

import (
	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/late"
)

// A Pool's checks see an object as the bytes of its T. These cannot be poisoned, because
// Reset has made them ready for the next owner. So the checks keep their hash instead,
// and compare it when the object leaves. A Pool cannot know which objects it has handed
// out, so it adopts a foreign object that is put back.

// objectChecks returns the checks of a Pool, or nil if nothing is to be checked. The
// options are valid.
func objectChecks[T any](o PoolOptions[T], size int64) *checks {
	c := newChecks(o.Check, o.OnViolation, 1, true)
	if c != nil && o.Limit == 0 { // with a Limit, calls would miss what is in quarantine
		c.Quarantine.Bytes = int(size * min(quarantineBytes/size, int64(o.MaxIdle)/4, check.QuarantineBlocks))
	}
	return c
}

// watch starts to watch an object that a caller gets, if it is chosen, and returns the
// object.
func (p *Pool[T]) watch(v *T) *T {
	if p.checks.chosen() {
		p.watchThis(v)
	}
	return v
}

// watchThis starts to watch an object that a caller gets.
func (p *Pool[T]) watchThis(v *T) {
	panics := true
	defer func() {
		if panics { // in a report: no caller gets the object
			p.Put(v)
		}
	}()
	b := bytesOf(v)
	p.checks.Get(addressOf(b), b, true)
	panics = false
}

// putWatched is Put if the object is watched, and reports whether it is.
func (p *Pool[T]) putWatched(v *T) bool {
	c, b := p.checks, bytesOf(v)
	var verdict check.Verdict
	switch {
	case c.All():
		verdict = c.Adopt(addressOf(b), b)
	case check.Watched(addressOf(b)):
		verdict = c.Put(addressOf(b), len(b))
	default:
		return false
	}
	switch verdict {
	case check.Unknown:
		return false
	case check.Refused:
		p.count.droppedDouble.Add(1)
		return true
	}
	if p.limited() {
		defer p.out.Release()
	}
	panics := true
	defer func() {
		if panics { // in Keep, Reset or Drop: the object has no owner now
			var l late.List
			defer l.End()
			p.seal(v)
			p.checks.unwatch(watchedObject(v), &l)
		}
	}()
	ready := p.cleaned(v)
	panics = false
	if ready {
		c.Retire(watchedObject(v))
	}
	return true
}

// seal records the present contents of an object that the checks know to be idle.
func (p *Pool[T]) seal(v *T) {
	if p.checks != nil {
		b := bytesOf(v)
		p.checks.Seal(addressOf(b), b)
	}
}

// watchedObject returns an object in the form that the checks use.
func watchedObject[T any](v *T) check.Block { return watched(0, bytesOf(v)) }

// An objectKeeper is a Pool as check.Keeper, for its checks.
type objectKeeper[T any] struct{ *Pool[T] }

func (k objectKeeper[T]) Count(_ uint8, did check.Deed) {
	switch did {
	case check.Quarantined:
		k.count.puts.Add(1)
		k.decay.Loosened() // so that a tick ends the object's quarantine
	case check.Trimmed:
		k.count.trimmed.Add(1)
	}
}

func (k objectKeeper[T]) Keep(b check.Block, counted bool) {
	v := objectOf[T](b.Bytes)
	if counted {
		k.settled(v, k.add(v))
	} else {
		k.pushSlow(v)
	}
}

func (k objectKeeper[T]) Free(b check.Block, l *late.List) { k.letGoLate(objectOf[T](b.Bytes), l) }
