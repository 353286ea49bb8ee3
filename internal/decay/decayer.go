package decay

import (
	"math/rand/v2"
	"time"
	"weak"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
)

// A Haste says how quickly what is idle must go.
type Haste uint8

const (
	NoHaste   Haste = iota // as the timeout says
	Hurry                  // four times as fast
	AllAtOnce              // all of it, at most once a second
)

const (
	// hurry is how many times as fast Hurry is.
	hurry = 4
	// bubbleLife is more than a testing/synctest bubble lives, on a busy machine too.
	bubbleLife = time.Minute
	// strandedAfter is how many ticks a place must stand still to be tidied.
	strandedAfter = Epochs / 8
)

// An Idle is what decays: it keeps blocks idle, by class.
type Idle interface {
	// Low returns the least number of blocks of a class that were idle, and not in
	// use by any processor, at any moment since the last call.
	Low(class uint8) int
	// Reserved returns the bytes that are idle or have a place where they may become so
	// without a call of Kept.
	Reserved() int64
	// Tidy is called at each tick. It lets Low see the blocks that lie in places
	// which nobody has used over so many ticks.
	Tidy(ticks uint8)
}

// A Part is one Idle, of so many classes, and how to let its blocks go: some of a class, or
// all. Both may be called by several goroutines at once.
type Part struct {
	Idle
	Classes int
	Shed    func(class uint8, n int)
	Trim    func()
}

// A part is a Part and what its classes have been through; nil for those that never had
// anything idle.
type part struct {
	Part
	classes []*Class
}

// A Decayer lets go of what has been idle for long in the pool that it is a field of. No
// goroutine lives for it: a timer is armed while there is anything idle, or a place where
// it could be, and not otherwise. So whatever becomes idle while no timer is armed must
// come by Kept.
//
// The timer and the next collection hold the pool weakly. A timer is never reset: another
// is made, and the old one finds when it fires that it has been replaced.
//
// A pool that is made outside a testing/synctest bubble may be used in one. A timer that
// is armed there dies with the bubble, and the bubble's clock is its own: so the next call
// of Kept from outside arms another.
type Decayer struct {
	timeout time.Duration   // 0: never
	alive   func() *Decayer // nil once the pool is gone
	haste   func() Haste
	parts   []part
	settle  func() // called after blocks have been let go; may be nil

	unsettled atomics.Bool // settle has something to do
	armed     atomics.Bool // a timer will call tick
	bubble    atomics.Bool // and it is one of a bubble
	extra     atomics.Bool // a tick after a collection is under way
	watching  atomics.Bool // the next collection will call collected

	mu      atomics.Mutex // guards the rest; not held while blocks are let go
	timer   uint64        // number of the timer that counts
	last    time.Time     // up to which the classes have been advanced
	seen    time.Time     // when a collection first found the bubble's timer
	trimmed lastTrim      // by AllAtOnce
	soon    bool          // the timer comes after trimEvery, for a trim that was put off
	stopped bool
}

// Init sets what decays, and how fast; with a timeout of 0 nothing does. settle, if it is not
// nil, is called after blocks have been let go, and once more after Loosened.
func (d *Decayer) Init(timeout time.Duration, haste func() Haste, settle func(), parts ...Part) {
	d.timeout, d.haste, d.settle = timeout, haste, settle
	d.alive = weak.Make(d).Value
	for _, p := range parts {
		d.parts = append(d.parts, part{p, make([]*Class, p.Classes)})
	}
}

// Kept is called after something has become idle where Reserved did not say so before.
func (d *Decayer) Kept() {
	if !d.armed.Load() || d.bubble.Load() {
		d.arm()
	}
}

// Armed reports whether a timer is armed.
func (d *Decayer) Armed() bool { return d.armed.Load() }

func (d *Decayer) arm() {
	if d.timeout == 0 {
		return
	}
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.stopped:
	case !d.armed.Load():
		d.armed.Store(true)
		d.startLocked(now)
		d.watchCollection()
	case d.bubble.Load() && !bubble.In(now): // its timer may be dead
		d.startLocked(now)
	}
}

// startLocked begins to count from now on.
func (d *Decayer) startLocked(now time.Time) {
	d.last = now
	d.seen = time.Time{}
	d.bubble.Store(bubble.In(now))
	d.setTimerLocked()
}

func (d *Decayer) setTimerLocked() {
	d.timer++
	number, alive, epoch := d.timer, d.alive, Epoch(d.timeout)
	if d.soon {
		epoch = min(epoch, trimEvery)
	}
	atomics.AfterFunc(Delay(epoch, rand.Float64()), func() {
		if d := alive(); d != nil {
			d.tick(number)
		}
	})
}

// tick is what a timer calls.
func (d *Decayer) tick(number uint64) {
	now, haste := time.Now(), d.haste()
	d.mu.Lock()
	if number != d.timer || d.stopped {
		d.mu.Unlock()
		return
	}
	surplus, trim := d.advanceLocked(now, haste), d.mayTrimLocked(now, haste)
	d.soon = haste == AllAtOnce && !trim
	d.mu.Unlock()

	d.letGo(surplus, trim)
	for i := range d.parts {
		d.parts[i].Tidy(strandedAfter)
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case number != d.timer || d.stopped:
		return
	case d.empty():
		// Whoever puts something now either sees this, or is seen below.
		if d.armed.Store(false); d.empty() {
			return
		}
		d.armed.Store(true)
	}
	d.setTimerLocked()
}

// empty reports whether nothing is idle, nor has a place where it could be, nor is
// left to settle.
func (d *Decayer) empty() bool {
	if d.unsettled.Load() {
		return false
	}
	for i := range d.parts {
		if d.parts[i].Reserved() != 0 {
			return false
		}
	}
	return true
}

// A surplus is how much to let go.
type surplus struct {
	shed  func(class uint8, n int)
	class uint8
	n     int
}

func (d *Decayer) advanceLocked(now time.Time, haste Haste) (all []surplus) {
	timeout := d.timeout
	if haste != NoHaste {
		timeout /= hurry
	}
	epochs, rest := Elapsed(now.Sub(d.last), Epoch(timeout))
	d.last = now.Add(-rest)
	for i := range d.parts {
		p := &d.parts[i]
		for class := range p.classes {
			low := p.Low(uint8(class))
			if p.classes[class] == nil {
				if low == 0 {
					continue
				}
				p.classes[class] = new(Class)
			}
			if n := p.classes[class].Advance(epochs, low); n > 0 {
				all = append(all, surplus{p.Shed, uint8(class), n})
			}
		}
	}
	return all
}

// mayTrimLocked reports whether all is to go now. Then the caller calls trim.
func (d *Decayer) mayTrimLocked(now time.Time, haste Haste) bool {
	return haste == AllAtOnce && d.trimmed.begin(now)
}

func (d *Decayer) letGo(all []surplus, trim bool) {
	if trim {
		d.trim()
	} else {
		for _, s := range all {
			s.shed(s.class, s.n)
		}
	}
	if d.settle != nil {
		d.unsettled.Store(false)
		d.settle()
	}
}

// trim lets go of all that is idle, after mayTrimLocked.
func (d *Decayer) trim() {
	defer func() { // also if Trim panics
		d.mu.Lock()
		defer d.mu.Unlock()
		d.trimmed.end(time.Now())
	}()
	for i := range d.parts {
		d.parts[i].Trim()
	}
}

// Loosened is called after something else than a tick has left settle something to do.
func (d *Decayer) Loosened() {
	if d.settle != nil {
		d.unsettled.Store(true)
		d.Kept()
	}
}

// watchCollection has the next garbage collection call collected, once.
func (d *Decayer) watchCollection() {
	if !d.watching.CompareAndSwap(false, true) {
		return
	}
	alive := d.alive
	atomics.AfterCollection(func() {
		if d := alive(); d != nil {
			d.watching.Store(false)
			go func() { // for Shed and Trim may take long, and cleanups wait in line
				if d := alive(); d != nil {
					d.collected()
				}
			}()
		}
	})
}

// collected is an extra tick after a garbage collection.
func (d *Decayer) collected() {
	now, haste := time.Now(), d.haste()
	d.mu.Lock()
	if !d.armed.Load() || d.stopped {
		d.mu.Unlock()
		return
	}
	d.watchCollection()
	if !d.extra.CompareAndSwap(false, true) {
		// Collections can follow each other faster than Trim ends: each would wait for
		// the last, with a goroutine for each.
		d.mu.Unlock()
		return
	}
	defer d.extra.Store(false)
	if d.bubble.Load() { // whose timer does the work by another clock, if it is alive
		d.outliveLocked(now)
		trim := d.mayTrimLocked(now, haste)
		d.mu.Unlock()
		if trim {
			d.trim()
		}
		return
	}
	surplus, trim := d.advanceLocked(now, haste), d.mayTrimLocked(now, haste)
	if haste == AllAtOnce && !trim && !d.soon { // for there may be no other collection
		d.soon = true
		d.setTimerLocked()
	}
	d.mu.Unlock()
	d.letGo(surplus, trim)
}

// outliveLocked takes over from a bubble's timer that must be dead.
func (d *Decayer) outliveLocked(now time.Time) {
	switch {
	case d.seen.IsZero():
		d.seen = now
	case now.Sub(d.seen) > max(2*d.timeout, bubbleLife):
		d.startLocked(now)
	}
}

// Stop ends decay for good. A tick that is under way goes on.
func (d *Decayer) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}
