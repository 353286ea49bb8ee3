package dewpond

import (
	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/late"
)

// A Pool's checks see an object as the bytes of its T. These cannot be poisoned, for
// they are what Reset made ready for the next owner; so their hash is kept instead, and
// compared when the object leaves. Nobody but a Pool's callers knows which objects are
// its own, so a stranger that is put back is adopted.

// objectChecks returns nil where nothing is to be checked. The options are sound.
func objectChecks[T any](o PoolOptions[T], size int64) *checks {
	c := newChecks(o.Check, o.OnViolation, 1, true)
	if c != nil && o.Limit == 0 { // else what is in quarantine would be missing
		c.Quarantine.Bytes = int(size * min(quarantineBytes/size, int64(o.MaxIdle)/4, check.QuarantineBlocks))
	}
	return c
}

// watch notes that a caller gets an object, if this is one that is watched, and returns
// the object.
func (p *Pool[T]) watch(v *T) *T {
	if p.checks.chosen() {
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
		if panics { // then the object is nobody's
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

// seal notes what an object is like that the checks know to be idle.
func (p *Pool[T]) seal(v *T) {
	if p.checks != nil {
		b := bytesOf(v)
		p.checks.Seal(addressOf(b), b)
	}
}

// watchedObject is an object as the checks have it.
func watchedObject[T any](v *T) check.Block { return watched(0, bytesOf(v)) }

// An objectKeeper is a Pool as its checks see it.
type objectKeeper[T any] struct{ *Pool[T] }

func (k objectKeeper[T]) Count(_ uint8, did check.Deed) {
	switch did {
	case check.Quarantined:
		k.count.puts.Add(1)
		k.decay.Loosened() // a tick ends the quarantine of what is in it now
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
