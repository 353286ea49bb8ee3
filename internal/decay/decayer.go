package decay

import (
	"math/rand/v2"
	"time"
	"weak"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
)

// A Haste says how quickly idle blocks must be freed.
type Haste uint8

const (
	NoHaste   Haste = iota // as the timeout says
	Hurry                  // four times as fast
	AllAtOnce              // everything, at most once a second
)

const (
	// hurryFactor is the factor by which Hurry is faster.
	hurryFactor = 4
	// bubbleLife is longer than a testing/synctest bubble lives, even on a busy machine.
	bubbleLife = time.Minute
	// strandedAfter is how many ticks a place must be unused before it is tidied.
	strandedAfter = Epochs / 8
)

// An Idle is a pool's store of idle blocks, by class.
type Idle interface {
	// Low returns the least number of blocks of a class that were idle, and not in
	// use by any processor, at any moment since the last call.
	Low(class uint8) int
	// Least returns what Low would, and leaves it to be returned again.
	Least(class uint8) int
	// Reserved returns the bytes that are idle, or that have a place where they may become
	// idle without a call of Kept.
	Reserved() int64
	// Tidy is called at each tick. It makes Low see the blocks in places that have been unused
	// for the given number of ticks.
	Tidy(ticks uint8)
}

// A Part is one Idle with its number of classes, and the function that frees some of its
// blocks. Several goroutines may call it at once.
type Part struct {
	Idle
	Classes int
	Shed    func(class uint8, n int)
}

// A partHistory is a Part with the history of its classes; nil for a class that never had
// anything idle.
type partHistory struct {
	Part
	history []*Class
}

// A Decayer frees what has been idle for long in the pool that it is a field of. It has no
// goroutine: a timer is armed while anything is idle, or has a place where it may become idle,
// and only then. So Kept must be called for everything that becomes idle while no timer is
// armed.
//
// The timer and the cleanup of the next collection hold the pool weakly. A timer is never reset:
// another is made, and the old one finds when it fires that it has been replaced.
//
// A pool that is made outside a testing/synctest bubble may be used in one. A timer that is armed
// there dies with the bubble, and the bubble has its own clock. So the next call of Kept from
// outside arms another timer.
type Decayer struct {
	timeout time.Duration   // 0: never
	alive   func() *Decayer // nil once the pool is gone
	haste   func() Haste
	parts   []partHistory
	trimAll func() // frees everything that is idle in all parts
	settle  func() // called after blocks have been let go; may be nil

	unsettled atomics.Bool // settle has something to do
	armed     atomics.Bool // a timer will call tick
	bubble    atomics.Bool // the timer is one of a bubble
	extra     atomics.Bool // a tick after a collection is running
	watching  atomics.Bool // the next collection will call collected

	mu      atomics.Mutex     // guards the fields below; not held while blocks are freed
	timer   uint64            // number of the current timer
	last    time.Time         // the time up to which the classes have been advanced
	looked  time.Time         // when Low was last called
	began   [Epochs]time.Time // when each of the last epochs began, or a little later
	newest  int               // index of the last epoch in began
	seen    time.Time         // when a collection first found the bubble's timer
	trimmed lastTrim          // by AllAtOnce
	soon    bool              // the timer was armed for a trim that was postponed
	stopped bool
}

// Init sets what decays, and how fast; with a timeout of 0 nothing does. trim frees all blocks of
// all parts, and several goroutines may call it at once. If settle is not nil, it
// is called after blocks have been freed, and once more after Loosened.
func (d *Decayer) Init(timeout time.Duration, haste func() Haste, trim, settle func(), parts ...Part) {
	d.timeout, d.haste, d.trimAll, d.settle = timeout, haste, trim, settle
	d.alive = weak.Make(d).Value
	for _, p := range parts {
		d.parts = append(d.parts, partHistory{p, make([]*Class, p.Classes)})
	}
}

// Kept is called after something became idle that Reserved did not include before.
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

// startLocked begins to count from now.
func (d *Decayer) startLocked(now time.Time) {
	d.last, d.looked = now, now
	for i := range d.began { // what is there may be of a bubble's clock
		d.began[i] = now
	}
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

// tick is called by a timer, with its number.
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

	d.freeDue(surplus, trim)
	for i := range d.parts {
		d.parts[i].Tidy(strandedAfter)
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case number != d.timer || d.stopped:
		return
	case d.empty():
		// A goroutine that puts something back now either sees this, or is seen below.
		if d.armed.Store(false); d.empty() {
			return
		}
		d.armed.Store(true)
	}
	d.setTimerLocked()
}

// empty reports whether nothing is idle, has a place where it may become idle, or is left to
// settle.
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

// A surplus is how many blocks to free.
type surplus struct {
	shed  func(class uint8, n int)
	class uint8
	n     int
}

func (d *Decayer) advanceLocked(now time.Time, haste Haste) (all []surplus) {
	timeout := d.timeout
	if haste != NoHaste {
		timeout /= hurryFactor
	}
	epochs, rest := Elapsed(now.Sub(d.last), Epoch(timeout))
	d.last = now.Add(-rest)
	for range min(epochs, Epochs) {
		d.newest = (d.newest + 1) % Epochs
		d.began[d.newest] = d.looked
	}
	d.looked = now
	for i := range d.parts {
		p := &d.parts[i]
		for class := range p.history {
			low := p.Low(uint8(class))
			if p.history[class] == nil {
				if low == 0 {
					continue
				}
				p.history[class] = new(Class)
			}
			if n := p.history[class].Advance(epochs, low); n > 0 {
				all = append(all, surplus{p.Shed, uint8(class), n})
			}
		}
	}
	return all
}

// Oldest returns about how long the oldest idle block of the first Part has been idle: at most
// the timeout, and 0 if nothing decays. It costs the users of the pool nothing, because it
// asks only what ticks have seen. So it is up to two epochs too little, and knows nothing of
// blocks that a processor has for itself.
func (d *Decayer) Oldest() (age time.Duration) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timeout == 0 || d.bubble.Load() != bubble.In(now) { // by two clocks there is no age
		return 0
	}
	p := &d.parts[0]
	for class, c := range p.history {
		if p.Least(uint8(class)) == 0 {
			continue
		}
		since := d.looked
		if c != nil {
			if n := c.Unneeded(); n > 0 {
				since = d.began[(d.newest-n+1+Epochs)%Epochs]
			}
		}
		age = max(age, now.Sub(since))
	}
	return min(age, d.timeout)
}

// mayTrimLocked reports whether everything must be freed now. Then the caller calls trim.
func (d *Decayer) mayTrimLocked(now time.Time, haste Haste) bool {
	return haste == AllAtOnce && d.trimmed.begin(now)
}

// freeDue frees what is due, or with trim everything, and has the rest of the work done that
// frees leave behind.
func (d *Decayer) freeDue(all []surplus, trim bool) {
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

// trim frees everything that is idle, after mayTrimLocked.
func (d *Decayer) trim() {
	defer func() { // also if Trim panics
		d.mu.Lock()
		defer d.mu.Unlock()
		d.trimmed.end(time.Now())
	}()
	d.trimAll()
}

// Loosened is called after something other than a tick has left work for settle.
func (d *Decayer) Loosened() {
	if d.settle != nil {
		d.unsettled.Store(true)
		d.Kept()
	}
}

// watchCollection makes the next garbage collection call collected, once.
func (d *Decayer) watchCollection() {
	if !d.watching.CompareAndSwap(false, true) {
		return
	}
	alive := d.alive
	atomics.AfterCollection(func() {
		if d := alive(); d != nil {
			d.watching.Store(false)
			d.collected()
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
		// Collections can be faster than Trim: each would leave a goroutine that waits for the
		// previous one.
		d.mu.Unlock()
		return
	}
	defer d.extra.Store(false)
	if d.bubble.Load() { // its timer, if it is alive, does the work by another clock
		d.outliveLocked(now)
		trim := d.mayTrimLocked(now, haste)
		d.mu.Unlock()
		if trim {
			d.trim()
		}
		return
	}
	surplus, trim := d.advanceLocked(now, haste), d.mayTrimLocked(now, haste)
	if haste == AllAtOnce && !trim && !d.soon { // there may be no other collection
		d.soon = true
		d.setTimerLocked()
	}
	d.mu.Unlock()
	d.freeDue(surplus, trim)
}

// outliveLocked takes over from the timer of a bubble that must be dead.
func (d *Decayer) outliveLocked(now time.Time) {
	switch {
	case d.seen.IsZero():
		d.seen = now
	case now.Sub(d.seen) > max(2*d.timeout, bubbleLife):
		d.startLocked(now)
	}
}

// Stop ends decay permanently. A tick that is running continues.
func (d *Decayer) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}
