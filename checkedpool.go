package dewpond

import (
	"math/rand/v2"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/late"
)

// A Pool's checks see an object as the bytes of its T. These cannot be poisoned, for
// they are what Reset made ready for the next owner; so their hash is kept instead, and
// compared when the object leaves. Nobody but a Pool's callers knows which objects are
// its own, so a stranger that is put back is adopted.

// objectChecks returns nil where nothing is to be checked. The options are sound.
func objectChecks[T any](o PoolOptions[T], size int64) *checks {
	c := newChecks(o.Check, o.OnViolation, 1)
	if c != nil && o.Limit == 0 { // else what is in quarantine would be missing
		c.quarantine.Bytes = int(size * min(quarantineBytes/size, int64(o.MaxIdle)/4, check.QuarantineBlocks))
	}
	return c
}

// watch notes that a caller gets an object, if this is one that is watched, and returns
// the object.
func (p *Pool[T]) watch(v *T) *T {
	if c := p.checks; c != nil && rand.Uint64()&c.others == 0 {
		p.watchThis(v)
	}
	return v
}

// watchThis notes that a caller gets an object that is watched.
func (p *Pool[T]) watchThis(v *T) {
	panics := true
	defer func() {
		if panics { // the report, so that no caller gets the object
			p.Put(v)
		}
	}()
	b := bytesOf(v)
	p.checks.Get(addressOf(b), b, true)
	panics = false
}

// putWatched is Put of an object that is watched, and reports whether it is.
func (p *Pool[T]) putWatched(v *T) bool {
	c, b := p.checks, bytesOf(v)
	var verdict check.Verdict
	switch {
	case c.all:
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
		if panics { // then the object is nobody's
			var l late.List
			defer l.End()
			p.seal(v)
			p.unwatch(v, &l)
		}
	}()
	ready := p.cleaned(v)
	panics = false
	if ready {
		p.seal(v)
		p.quarantine(v)
	}
	return true
}

// seal notes what an object is like that the checks know to be idle.
func (p *Pool[T]) seal(v *T) {
	if p.checks != nil {
		b := bytesOf(v)
		p.checks.Seal(addressOf(b), b)
	}
}

// unwatch checks an idle object for the last time, if it is watched.
func (p *Pool[T]) unwatch(v *T, l *late.List) {
	if p.checks != nil {
		b := bytesOf(v)
		p.checks.later(l, p.checks.Forget(addressOf(b), b))
	}
}

// quarantine makes an object that is sealed wait before it goes to the engine.
func (p *Pool[T]) quarantine(v *T) {
	c := p.checks
	c.held[0].Add(1)
	if !c.quarantine.Add(bytesOf(v)) {
		defer c.held[0].Add(-1) // after all else, see Stats; also if Drop panics
		var l late.List
		defer l.End()
		p.endWatch(v, &l)
		p.pushSlow(v)
		return
	}
	p.count.puts.Add(1)
	p.decay.Loosened() // a tick ends the quarantine of what is in it now
	for b := c.quarantine.Leave(); b != nil; b = c.quarantine.Leave() {
		p.endQuarantine(objectOf[T](b))
	}
}

// endQuarantine gives an object to the engine at last. Its Put has been counted.
func (p *Pool[T]) endQuarantine(v *T) {
	defer p.checks.held[0].Add(-1) // as in quarantine
	var l late.List
	defer l.End()
	p.endWatch(v, &l)
	p.settled(v, p.add(v))
}

// endWatch makes an object such as the engine has them.
func (p *Pool[T]) endWatch(v *T, l *late.List) {
	if !p.checks.all {
		p.unwatch(v, l)
	}
}

// endQuarantines gives all that is in quarantine to the engine.
func (p *Pool[T]) endQuarantines() {
	for range p.checks.quarantine.Len() { // as BytePool's does
		b := p.checks.quarantine.Next()
		if b == nil {
			return
		}
		p.endQuarantine(objectOf[T](b))
	}
}

// trimQuarantine lets go of all that is in quarantine, which takes nothing any more if
// end, and returns how many objects those were.
func (p *Pool[T]) trimQuarantine(end bool, l *late.List) (released int64) {
	if p.checks == nil {
		return 0
	}
	all := p.checks.quarantine.Empty(end)
	released = int64(len(all))
	p.count.trimmed.Add(uint64(released)) // before Drop, which may panic
	p.checks.held[0].Add(-released)
	for _, b := range all {
		p.letGoLate(objectOf[T](b), l)
	}
	return released
}
