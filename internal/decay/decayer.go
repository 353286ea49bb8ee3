package decay

import (
	"math/rand/v2"
	"slices"
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
	// Peak returns the most bytes that were in use at one time since the last call. It comes
	// after a call of Low for each class.
	Peak() int64
	// Follow says what the most was within the last timeout: idle and in use together may
	// reach it.
	Follow(peak int64)
	// Beyond returns by how much Reserved exceeds what may be idle without a peak.
	Beyond() int64
}

// A Part is one Idle with the size of each class in bytes, and the function that frees some of
// its blocks. Several goroutines may call it at once.
type Part struct {
	Idle
	Sizes []int
	Unit  int64 // bytes of the Go heap for each byte of Sizes
	Shed  func(class uint8, n int)
}

// A partHistory is a Part with the history of its classes; nil for a class that never had
// anything idle.
type partHistory struct {
	Part
	history []*Class
	peaks   []int64 // the most in use in each of the last epochs; nil: nothing was
}

// record notes what was in use since the last call.
func (p *partHistory) record(newest int) {
	peak := p.Peak()
	if p.peaks == nil {
		if peak == 0 {
			return
		}
		p.peaks = make([]int64, Epochs)
	}
	p.peaks[newest] = max(p.peaks[newest], peak)
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
	most    bool            // only what is beyond the Parts' bounds decays
	alive   func() *Decayer // nil once the pool is gone
	haste   func() Haste
	parts   []partHistory
	trimAll func() // frees everything that is idle in all parts
	settle  func() // called after blocks have been let go; may be nil
	asks    func() // called when a collection is asked for; nil: none is

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

	inBubble *garbage // see ofProcess
}

// withoutTimeout is the timeout of what is beyond the bounds of a pool in which nothing else decays.
const withoutTimeout = time.Minute

// Init sets what decays, and how fast; with a timeout of 0 only what is beyond the Parts' bounds
// does, in a minute. trim frees all blocks of
// all parts, and several goroutines may call it at once. If settle is not nil, it
// is called after blocks have been freed, and once more after Loosened.
func (d *Decayer) Init(timeout time.Duration, haste func() Haste, trim, settle func(), parts ...Part) {
	d.timeout, d.haste, d.trimAll, d.settle = timeout, haste, trim, settle
	if timeout == 0 {
		d.timeout, d.most = withoutTimeout, true
	}
	d.alive = weak.Make(d).Value
	for _, p := range parts {
		d.parts = append(d.parts, partHistory{Part: p, history: make([]*Class, len(p.Sizes))})
	}
}

// Asks has decay ask for a collection if it has let go of much of the heap and none comes by itself. It calls
// f each time. It must be called before any other method but Init.
func (d *Decayer) Asks(f func()) {
	if !forbidden() {
		d.asks = f
	}
}

// garbage returns what counts what decay lets go now.
func (d *Decayer) garbage() *garbage {
	if !bubble.In(time.Now()) {
		return &ofProcess
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inBubble == nil {
		d.inBubble = new(garbage)
	}
	return d.inBubble
}

// Kept is called after something became idle that Reserved did not include before.
func (d *Decayer) Kept() {
	if !d.armed.Load() || d.bubble.Load() {
		if !d.most || d.beyond() {
			d.arm()
		}
	}
}

// beyond reports whether anything is beyond the Parts' bounds.
func (d *Decayer) beyond() bool {
	for i := range d.parts {
		if d.parts[i].Beyond() > 0 {
			return true
		}
	}
	return false
}

// Armed reports whether a timer is armed.
func (d *Decayer) Armed() bool { return d.armed.Load() }

func (d *Decayer) arm() {
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
	d.passLocked(d.epochsLocked(now, d.timeout))
	for i := range d.parts {
		d.parts[i].record(d.newest)
	}
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
	now, haste := time.Now(), d.hasteNow()
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
	if d.most {
		return !d.beyond()
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
	bytes int64 // of the heap
}

func (d *Decayer) advanceLocked(now time.Time, haste Haste) (all []surplus) {
	timeout := d.timeout
	if haste != NoHaste {
		timeout /= hurryFactor
	}
	epochs := d.epochsLocked(now, timeout)
	d.passLocked(epochs)
	d.looked = now
	for i := range d.parts {
		p := &d.parts[i]
		beyond := p.Beyond()
		for class := len(p.history) - 1; class >= 0; class-- {
			low := p.Low(uint8(class))
			if p.history[class] == nil {
				if low == 0 {
					continue
				}
				p.history[class] = new(Class)
			}
			n := p.history[class].Advance(epochs, low)
			over := int((beyond + int64(p.Sizes[class]) - 1) / int64(p.Sizes[class]))
			if haste != NoHaste { // what is beyond goes at once, the largest first
				n = max(n, min(over, p.Least(uint8(class))))
			}
			if d.most {
				n = min(n, over)
			}
			if n > 0 {
				all = append(all, surplus{p.Shed, uint8(class), n, int64(n) * int64(p.Sizes[class]) * p.Unit})
				beyond = max(0, beyond-int64(n)*int64(p.Sizes[class]))
			}
		}
		p.record(d.newest)
		if p.peaks != nil {
			p.Follow(slices.Max(p.peaks))
		}
	}
	return all
}

// epochsLocked returns how many epochs of a timeout have passed, and takes note of it.
func (d *Decayer) epochsLocked(now time.Time, timeout time.Duration) (epochs int) {
	epochs, rest := Elapsed(now.Sub(d.last), Epoch(timeout))
	d.last = now.Add(-rest)
	return epochs
}

// passLocked begins that many epochs.
func (d *Decayer) passLocked(epochs int) {
	for range min(epochs, Epochs) {
		d.newest = (d.newest + 1) % Epochs
		d.began[d.newest] = d.looked
		for i := range d.parts {
			if p := &d.parts[i]; p.peaks != nil {
				p.peaks[d.newest] = 0
			}
		}
	}
}

// Oldest returns about how long the oldest idle block of the first Part has been idle: at most
// the timeout, and 0 if nothing decays. It costs the users of the pool nothing, because it
// asks only what ticks have seen. So it is up to two epochs too little, and knows nothing of
// blocks that a processor has for itself.
func (d *Decayer) Oldest() (age time.Duration) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.most || d.bubble.Load() != bubble.In(now) { // by two clocks there is no age
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

// hasteNow returns how quickly blocks must be freed. What nothing may take never goes.
func (d *Decayer) hasteNow() Haste {
	if h := d.haste(); !d.most || h == NoHaste {
		return h
	}
	return Hurry
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
		var bytes int64
		for _, s := range all {
			s.shed(s.class, s.n)
			bytes += s.bytes
		}
		if bytes > 0 && d.asks != nil {
			alive := d.alive
			d.garbage().letGo(bytes, d.timeout, func() {
				if d := alive(); d != nil {
					d.asks()
				}
			})
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
	now, haste := time.Now(), d.hasteNow()
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
