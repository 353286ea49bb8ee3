package dewpond

import (
	"math/rand/v2"
	"time"
	"weak"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/magazine"
)

const (
	// defaultIdleTimeout is what IdleTimeout 0 means.
	defaultIdleTimeout = 60 * time.Second
	// minIdleTimeout keeps the ticks, of which there are decay.Epochs in it, apart.
	minIdleTimeout = 100 * time.Millisecond
	// bubbleLife is more than a testing/synctest bubble lives, on a busy machine too.
	bubbleLife = time.Minute
	// strandedAfter is how many ticks a shard's slot must stand still to be drained.
	strandedAfter = decay.Epochs / 8
)

// A decayer lets go of what a pool has had idle for long. No goroutine lives for it:
// a timer is armed while the pool has anything idle, or room in a shard for it, and
// not otherwise. So whatever becomes idle in a pool whose timer is not armed comes
// by kept, on the slow path: no shard has room.
//
// The timer and what hangs on the collector hold the pool weakly. Neither is ever
// reset: each is made anew, and an old timer that fires finds that it has been
// replaced.
//
// A pool that is made outside a testing/synctest bubble may be used in one. A timer
// that is armed there dies with it, and its clock is another: so who comes from
// outside takes over.
type decayer struct {
	timeout time.Duration   // 0: never
	alive   func() *decayer // nil when the pool is gone
	parts   []decaying      // what decays
	settle  func()          // called after blocks have been let go; may be nil
	loose   atomics.Bool    // settle has something to do
	armed   atomics.Bool    // a timer will call tick
	bubble  atomics.Bool    // and it is one of a bubble
	extra   atomics.Bool    // a tick after a collection is under way
	hung    atomics.Bool    // the next collection will call collected
	mu      atomics.Mutex   // guards the rest; not held while blocks are let go
	timer   uint64          // number of the timer that counts
	last    time.Time       // up to which the classes have been advanced
	seen    time.Time       // when the collector first found the bubble's timer
	trimmed lastTrim        // by high pressure
	soon    bool            // the timer comes after trimEvery, for a trim that was put off
	stopped bool
}

// A decaying is one engine, and what its classes have been through; nil for those
// that never had anything idle.
type decaying struct {
	engine  *magazine.Engine
	shed    func(class uint8, n int)
	trim    func()
	classes []*decay.Class
}

func (d *decayer) init(timeout time.Duration, alive func() *decayer) {
	d.timeout, d.alive = timeout, alive
}

// weakDecayer returns the way to a pool's decayer that ends with the pool.
func weakDecayer[P any](p *P, of func(*P) *decayer) func() *decayer {
	w := weak.Make(p)
	return func() *decayer {
		if p := w.Value(); p != nil {
			return of(p)
		}
		return nil
	}
}

// add makes an engine of so many classes decay.
func (d *decayer) add(engine *magazine.Engine, classes int, shed func(class uint8, n int), trim func()) {
	d.parts = append(d.parts, decaying{engine, shed, trim, make([]*decay.Class, classes)})
}

// kept is called after something has become idle on a slow path.
func (d *decayer) kept() {
	if !d.armed.Load() || d.bubble.Load() {
		d.arm()
	}
}

func (d *decayer) arm() {
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
		d.hangOnCollector()
	case d.bubble.Load() && !bubble.In(now): // its timer may be dead
		d.startLocked(now)
	}
}

// startLocked begins to count from now on.
func (d *decayer) startLocked(now time.Time) {
	d.last = now
	d.seen = time.Time{}
	d.bubble.Store(bubble.In(now))
	d.setTimerLocked()
}

func (d *decayer) setTimerLocked() {
	d.timer++
	number, alive, epoch := d.timer, d.alive, decay.Epoch(d.timeout)
	if d.soon {
		epoch = min(epoch, trimEvery)
	}
	atomics.AfterFunc(decay.Delay(epoch, rand.Float64()), func() {
		if d := alive(); d != nil {
			d.tick(number)
		}
	})
}

// tick is what a timer calls.
func (d *decayer) tick(number uint64) {
	now, level := time.Now(), Pressure()
	d.mu.Lock()
	if number != d.timer || d.stopped {
		d.mu.Unlock()
		return
	}
	surplus, trim := d.advanceLocked(now, level), d.mayTrimLocked(now, level)
	d.soon = level >= PressureHigh && !trim
	d.mu.Unlock()

	d.letGo(surplus, trim)
	for _, p := range d.parts {
		p.engine.Strand(strandedAfter)
		p.engine.ShedSpares()
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
func (d *decayer) empty() bool {
	if d.loose.Load() {
		return false
	}
	for _, p := range d.parts {
		if p.engine.Reserved() != 0 {
			return false
		}
	}
	return true
}

// A surplus is how much to let go.
type surplus struct {
	part  decaying
	class uint8
	n     int
}

func (d *decayer) advanceLocked(now time.Time, level Level) (all []surplus) {
	timeout := d.timeout
	if level >= PressureMedium {
		timeout /= mediumHaste
	}
	epochs, rest := decay.Elapsed(now.Sub(d.last), decay.Epoch(timeout))
	d.last = now.Add(-rest)
	for _, p := range d.parts {
		for class := range p.classes {
			low := p.engine.Low(uint8(class))
			if p.classes[class] == nil {
				if low == 0 {
					continue
				}
				p.classes[class] = new(decay.Class)
			}
			if n := p.classes[class].Advance(epochs, low); n > 0 {
				all = append(all, surplus{p, uint8(class), n})
			}
		}
	}
	return all
}

// mayTrimLocked reports whether a level empties the pool now. Then the caller calls trim.
func (d *decayer) mayTrimLocked(now time.Time, level Level) bool {
	return level >= PressureHigh && d.trimmed.begin(now)
}

func (d *decayer) letGo(all []surplus, trim bool) {
	if trim {
		d.trim()
	} else {
		for _, s := range all {
			s.part.shed(s.class, s.n)
		}
	}
	if d.settle != nil {
		d.loose.Store(false)
		d.settle()
	}
}

// trim lets go of all that is idle, after mayTrimLocked.
func (d *decayer) trim() {
	defer func() { // also if Drop panics
		d.mu.Lock()
		defer d.mu.Unlock()
		d.trimmed.end(time.Now())
	}()
	for _, p := range d.parts {
		p.trim()
	}
}

// freed is called after memory has come loose in another way than by decay, so that
// settle is called once more.
func (d *decayer) freed() {
	if d.settle != nil {
		d.loose.Store(true)
		d.kept()
	}
}

// hangOnCollector makes the next garbage collection call collected, once.
func (d *decayer) hangOnCollector() {
	if !d.hung.CompareAndSwap(false, true) {
		return
	}
	alive := d.alive
	atomics.AfterCollection(func() {
		if d := alive(); d != nil {
			d.hung.Store(false)
			go func() { // for Drop may take long, and cleanups wait in line
				if d := alive(); d != nil {
					d.collected()
				}
			}()
		}
	})
}

// collected is an extra tick after a garbage collection.
func (d *decayer) collected() {
	now, level := time.Now(), Pressure()
	d.mu.Lock()
	if !d.armed.Load() || d.stopped {
		d.mu.Unlock()
		return
	}
	d.hangOnCollector()
	if !d.extra.CompareAndSwap(false, true) {
		// Collections can follow each other faster than Trim ends: each would wait for
		// the last, with a goroutine for each.
		d.mu.Unlock()
		return
	}
	defer d.extra.Store(false)
	if d.bubble.Load() { // whose timer does what is to do, by another clock, if it is alive
		d.outliveLocked(now)
		trim := d.mayTrimLocked(now, level)
		d.mu.Unlock()
		if trim {
			d.trim()
		}
		return
	}
	surplus, trim := d.advanceLocked(now, level), d.mayTrimLocked(now, level)
	if level >= PressureHigh && !trim && !d.soon { // for there may be no other collection
		d.soon = true
		d.setTimerLocked()
	}
	d.mu.Unlock()
	d.letGo(surplus, trim)
}

// outliveLocked takes over from a bubble's timer that must be dead.
func (d *decayer) outliveLocked(now time.Time) {
	switch {
	case d.seen.IsZero():
		d.seen = now
	case now.Sub(d.seen) > max(2*d.timeout, bubbleLife):
		d.startLocked(now)
	}
}

// stop ends decay for good.
func (d *decayer) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.timer++
}
