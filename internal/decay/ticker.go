package decay

import (
	"slices"
	"time"
	"weak"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
)

const (
	// gatherEvery is the shortest interval at which a Ticker gathers, which stops the world once, and mostGathered the
	// most Decayers that one stop is for: until it is through, their Gets look into the depots only.
	gatherEvery  = time.Second
	mostGathered = 1024
	// heldUp is how long a callback of the program can keep those that are due from their ticks.
	heldUp = time.Minute
	// late is how long a timer can be late on a busy machine.
	late = 10 * time.Second
)

// A Ticker ticks Decayers: all those of a process. One timer serves them, which is armed while any of them
// waits for a tick. A testing/synctest bubble has a clock of its own, so it has a timer of its own, which ends with
// it; the other one is never armed in a bubble. The Ticker holds Decayers weakly, has no goroutine, and hears of each
// garbage collection once for all of them.
type Ticker struct {
	haste    func() Haste
	gather   func([]Idle)
	outside  clock
	bubbles  bubble.Parts[*clock]
	watching atomics.Bool // the next collection will call heard
	heard    func()       // collected
}

// NewTicker returns a Ticker that asks haste how quickly blocks must be freed. gather moves what processors have for
// themselves to where Low of these sees it; it may leave some out.
func NewTicker(haste func() Haste, gather func([]Idle)) *Ticker {
	t := &Ticker{haste: haste, gather: gather}
	t.outside.init(t)
	t.bubbles.Make = func(uint64) *clock {
		c := new(clock)
		c.init(t)
		return c
	}
	t.bubbles.Forget = func(*clock) {}
	t.heard = t.collected
	return t
}

// A clock has the Decayers that wait for a tick by the clock of a bubble, or by that outside.
//
// Ticks of a few Decayers allocate nothing, because its slices and timers are used again: at the memory limit what is
// allocated after a GC cycle begins another, and two of them empty the second tier.
type clock struct {
	of *Ticker

	mu       atomics.Mutex
	beats    []beat        // of each epoch that a Decayer waits for
	armed    []*timer      // one of them fires no later than the first beat
	fired    *timer        // to be armed again
	due      []waiting     // to be ticked now, from the one at next
	next     int           // how many of due were taken
	emptied  []waiting     // of a beat that was
	live     runner        // it ticks what is due; 0: there is none
	runners  runner        // so many there were
	took     bool          // live ticked something since the last beat
	look     time.Duration // how long after a beat to look whether live is held up
	spread   []waiting     // of which processors have something for themselves, to be gathered
	gathered time.Time     // the last time
	pressed  time.Time     // when a collection last had all ticked
}

// init makes room, so that the first ticks allocate nothing either.
func (c *clock) init(t *Ticker) {
	c.of = t
	c.beats, c.armed = make([]beat, 0, 4), make([]*timer, 0, 4)
	c.due, c.emptied = make([]waiting, 0, 4), make([]waiting, 0, 4)
}

// A beat is a moment at which all Decayers with epochs of one length are ticked.
type beat struct {
	epoch   time.Duration
	at      time.Time
	waiting []waiting
}

// A waiting is a Decayer that waits for the tick of a number.
type waiting struct {
	decayer weak.Pointer[Decayer]
	number  uint64
}

// A timer calls fire of its clock.
type timer struct {
	of   *clock
	at   time.Time
	fire func()
	time *atomics.Timer
}

// A runner is the number of a goroutine that ticks what is due.
type runner int

// here returns the clock of the caller, whose time is now.
func (t *Ticker) here(now time.Time) *clock {
	if bubble.In(now) {
		return t.bubbles.Of(bubble.Of(now))
	}
	return &t.outside
}

// after has d ticked in about an epoch, or sooner.
func (t *Ticker) after(epoch time.Duration, d *Decayer, number uint64) {
	now := time.Now()
	t.here(now).add(now, epoch, waiting{weak.Make(d), number})
	t.watch()
}

func (c *clock) add(now time.Time, epoch time.Duration, w waiting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.beats {
		b := &c.beats[i]
		if b.epoch != epoch {
			continue
		}
		if len(b.waiting) == cap(b.waiting) { // pools that were collected need no place
			b.waiting = slices.DeleteFunc(b.waiting, waiting.gone)
		}
		b.waiting = append(b.waiting, w)
		return
	}
	b := beat{epoch, now.Add(epoch), append(c.emptied, w)}
	c.emptied = nil
	c.beats = append(c.beats, b)
	c.armLocked(now, b.at)
}

func (w waiting) gone() bool { return w.decayer.Value() == nil }

// armLocked sees to it that a timer fires by the given time. One that would fire later is set to fire then. Timers
// are never stopped: one that fires early looks what is due, and arms the next.
func (c *clock) armLocked(now, by time.Time) {
	for _, t := range c.armed {
		if !t.at.After(by) {
			return
		}
	}
	var t *timer
	switch {
	case c.fired != nil:
		t, c.fired = c.fired, nil
		c.armed = append(c.armed, t)
	case len(c.armed) > 0 && c.armed[0].time != nil && bubble.Told:
		t = c.armed[0]
	default:
		t = &timer{of: c}
		t.fire = func() { t.of.fire(t) }
		c.armed = append(c.armed, t)
	}
	t.at = by
	t.time = t.time.After(by.Sub(now), t.fire)
}

// fire is called by an armed timer.
func (c *clock) fire(t *timer) {
	now := time.Now()
	c.mu.Lock()
	if now.Before(t.at) { // in the explorer, which has no clock
		now = t.at
	}
	if i := slices.Index(c.armed, t); i >= 0 {
		c.armed = slices.Delete(c.armed, i, i+1)
		if bubble.Told { // else it may be a bubble's, which no goroutine outside may reset
			c.fired = t
		}
	}
	r := c.beatLocked(now, func(b beat) bool { return b.at.Sub(now) <= b.epoch/8 })
	c.mu.Unlock()
	c.run(r)
}

// beatLocked makes due what waits for some of the beats, and returns a runner that the caller must run. It returns 0
// if there is one that has not been held up, by a callback of the program, since it was last called. It arms a timer
// for the first of the other beats, and if several are due, for the next look at the runner: at the latest when the
// same will be due again.
func (c *clock) beatLocked(now time.Time, is func(beat) bool) runner {
	next := heldUp
	if c.live != 0 {
		next = c.look
	}
	c.beats = slices.DeleteFunc(c.beats, func(b beat) bool {
		if is(b) {
			c.due = append(c.due, b.waiting...)
			next = min(next, b.epoch)
			clear(b.waiting)
			c.emptied = b.waiting[:0]
			return true
		}
		return false
	})
	if len(c.due)-c.next > 1 {
		c.armLocked(now, now.Add(next))
	}
	c.armNextLocked(now)
	switch {
	case c.next == len(c.due):
		return 0
	case c.live != 0 && c.took:
		c.took = false
		return 0
	}
	c.runners++
	c.live, c.took, c.look = c.runners, false, next
	return c.live
}

// armNextLocked arms a timer for the first beat.
func (c *clock) armNextLocked(now time.Time) {
	if len(c.beats) > 0 {
		c.armLocked(now, slices.MinFunc(c.beats, func(a, b beat) int { return a.at.Compare(b.at) }).at)
	}
}

// run ticks all that is due. If a callback of the program panics or ends the goroutine, another one goes on.
func (c *clock) run(r runner) {
	if r == 0 {
		return
	}
	ended := true
	defer func() {
		if ended {
			atomics.AfterFunc(0, func() { c.run(r) })
		}
	}()
	for w, ok := c.take(r); ok; w, ok = c.take(r) {
		if d := w.decayer.Value(); d != nil {
			d.tick(w.number)
		}
	}
	c.gatherDue(time.Now())
	ended = false
}

// take takes what is to be ticked next. If nothing is, r is not live any more.
func (c *clock) take(r runner) (w waiting, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == len(c.due) {
		clear(c.due)
		if c.due, c.next = c.due[:0], 0; c.live == r {
			c.live = 0
		}
		return w, false
	}
	w = c.due[c.next]
	c.next++
	if c.live == r {
		c.took = true
	}
	return w, true
}

// gatherLater has what processors have of a Decayer gathered, soon.
func (t *Ticker) gatherLater(d *Decayer) {
	c := t.here(time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spread = append(c.spread, waiting{decayer: weak.Make(d)})
}

// gatherDue gathers what is to be gathered, the oldest first, unless that was done recently.
func (c *clock) gatherDue(now time.Time) {
	c.mu.Lock()
	if since := now.Sub(c.gathered); len(c.spread) == 0 || since >= 0 && since < gatherEvery {
		c.mu.Unlock()
		return
	}
	c.gathered = now
	n := min(len(c.spread), mostGathered)
	some := c.spread[:n]
	if c.spread = c.spread[n:]; len(c.spread) == 0 {
		c.spread = nil
	}
	c.mu.Unlock()

	var all []Idle
	for _, w := range some {
		if d := w.decayer.Value(); d != nil {
			all = append(all, d.toGather()...)
		}
	}
	if len(all) > 0 {
		c.of.gather(all)
	}
}

// watch has the next garbage collection call collected, once.
func (t *Ticker) watch() {
	if !t.watching.Load() && t.watching.CompareAndSwap(false, true) {
		atomics.AfterCollection(t.heard)
	}
}

// collected is called after a garbage collection. If everything must be freed, all have a tick, but no more often
// than a pool may be trimmed.
func (t *Ticker) collected() {
	t.watching.Store(false) // before it looks for waiting Decayers: one that comes later watches
	now, all := time.Now(), t.haste() == AllAtOnce
	r, waits := t.outside.collected(now, all)
	for _, c := range t.bubbles.All(func() {}) {
		for _, d := range c.decayers() {
			waits = true
			d.outlive(now)
			if all {
				d.trimInBubble(now)
			}
		}
	}
	if waits {
		t.watch()
	}
	t.outside.run(r)
}

// collected arms a timer where the one that was armed is lost, as that of a bubble is that Go does not tell.
func (c *clock) collected(now time.Time, all bool) (r runner, waits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits = len(c.beats) > 0 || c.next < len(c.due)
	if since := now.Sub(c.pressed); all && (since < 0 || since >= trimEvery) {
		c.pressed = now
		r = c.beatLocked(now, func(beat) bool { return true })
	}
	c.armed = slices.DeleteFunc(c.armed, func(t *timer) bool { return now.Sub(t.at) > late })
	c.armNextLocked(now)
	return r, waits
}

// decayers returns those that wait.
func (c *clock) decayers() (all []*Decayer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.beats {
		for _, w := range b.waiting {
			if d := w.decayer.Value(); d != nil {
				all = append(all, d)
			}
		}
	}
	return all
}
