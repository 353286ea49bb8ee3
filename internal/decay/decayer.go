package decay

import (
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
	// gatherAfter is how many ticks come between two in which a Decayer asks that what processors have for
	// themselves is gathered.
	gatherAfter = Epochs / 8
)

// An Idle is a pool's store of idle blocks, by class.
type Idle interface {
	// Low returns the least number of blocks of a class that were idle, and that no processor had
	// for itself, at any moment since the last call.
	Low(class uint8) int
	// Least returns what Low would, and leaves it to be returned again.
	Least(class uint8) int
	// Reserved returns the bytes that are idle, or that have a place where they may become
	// idle without a call of Kept.
	Reserved() int64
	// Spread reports whether a processor has something for itself.
	Spread() bool
	// DropSpares is called at each tick.
	DropSpares()
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

	// More reports whether blocks may keep memory alive that Unit does not count: an unknown number of bytes.
	// nil: they do not.
	More func() bool
}

// A partHistory is a Part with the history of its classes; nil for a class that never had
// anything idle.
type partHistory struct {
	Part
	history []*Class
	peaks   []int64 // the most in use in each of the last epochs; nil: nothing was
}

// share returns how large a part of the blocks that are idle, or were in use within the last timeout, some bytes of
// them are, or 0 if it is known what they keep alive.
func (p *partHistory) share(bytes int64) float64 {
	if p.More == nil || !p.More() {
		return 0
	}
	all := p.Reserved()
	if p.peaks != nil {
		all = max(all, slices.Max(p.peaks))
	}
	return float64(bytes) / float64(max(all, bytes))
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

// A Decayer frees what has been idle for long in the pool that it is a field of. Its Ticker ticks it
// while anything is idle, or has a place where it may become idle, and only then: it is armed. So Kept must be called
// for everything that becomes idle while it is not armed.
//
// The Ticker holds the pool weakly. Nothing is taken back from it: each tick has a number, and one
// that was replaced by another is ignored when it comes.
//
// A pool that is made outside a testing/synctest bubble may be used in one. A Decayer that is armed
// there has its ticks by the bubble's clock, and none once the bubble has ended. So the next call of Kept from
// outside arms it again.
type Decayer struct {
	timeout time.Duration // 0: never
	most    bool          // only what is beyond the Parts' bounds decays
	ticker  *Ticker
	parts   []partHistory
	trimAll func() bool // frees everything that is idle in all parts; false: only what is not needed may go
	settle  func()      // called after blocks have been let go; may be nil
	asks    func()      // called when a collection is asked for; nil: none is
	spilled func() int64

	unsettled atomics.Bool // settle has something to do
	armed     atomics.Bool // the ticker will call tick
	bubble    atomics.Bool // by the clock of a bubble

	mu      atomics.Mutex        // guards the fields below; not held while blocks are freed
	number  uint64               // of the tick to come
	last    time.Time            // the time up to which the classes have been advanced
	looked  time.Time            // when Low was last called
	began   [Epochs]bubble.Stamp // when each of the last epochs began, or a little later
	newest  int                  // index of the last epoch in began
	seen    time.Time            // when a collection first found it armed in a bubble
	trimmed lastTrim             // by AllAtOnce
	soon    bool                 // the tick is for a trim: one that was postponed, or of what the last one left
	ticks   uint8                // since it was last gathered
	asked   bool                 // to be gathered
	stopped bool

	inBubble *garbage // see ofProcess
}

// withoutTimeout is the timeout of what is beyond the bounds of a pool in which nothing else decays.
const withoutTimeout = time.Minute

// Init sets what decays, how fast, and by whose ticks; with a timeout of 0 only what is beyond the Parts' bounds
// does, in a minute. trim frees all blocks of
// all parts, or reports false, and then what was idle since the tick before goes; several goroutines may call it at once. If settle is not nil, it
// is called after blocks have been freed, and once more after Loosened.
func (d *Decayer) Init(t *Ticker, timeout time.Duration, trim func() bool, settle func(), parts ...Part) {
	d.ticker, d.timeout, d.trimAll, d.settle = t, timeout, trim, settle
	if timeout == 0 {
		d.timeout, d.most = withoutTimeout, true
	}
	for _, p := range parts {
		d.parts = append(d.parts, partHistory{Part: p, history: make([]*Class, len(p.Sizes))})
	}
}

// Asks has decay ask for a collection if it has let go of much of the heap and none comes by itself. It calls
// f each time. spilled returns at most how many bytes the second tiers of all pools have. Asks must be called before
// any other method but Init.
func (d *Decayer) Asks(spilled func() int64, f func()) {
	if !forbidden() {
		d.spilled, d.asks = spilled, f
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

// Armed reports whether there will be a tick.
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
	case d.bubble.Load() && !bubble.In(now): // it may have ended
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
		d.began[i] = bubble.StampOf(now)
	}
	d.seen, d.asked = time.Time{}, false // a bubble may have ended that was to gather
	d.bubble.Store(bubble.In(now))
	d.awaitTickLocked()
}

func (d *Decayer) awaitTickLocked() {
	epoch := Epoch(d.timeout)
	if d.soon {
		epoch = min(epoch, trimEvery)
	}
	d.number++
	d.ticker.after(epoch, d, d.number)
}

// tick is called by the Ticker, with the number of the tick.
func (d *Decayer) tick(number uint64) {
	now, haste := time.Now(), d.hasteNow()
	d.mu.Lock()
	if number != d.number || d.stopped {
		d.mu.Unlock()
		return
	}
	trim := d.mayTrimLocked(now, haste)
	surplus := d.advanceLocked(now, haste, trim)
	d.soon = haste == AllAtOnce
	d.mu.Unlock()

	defer d.ticked(number, haste) // also if a callback of the program panics
	d.freeDue(surplus, trim)
}

// ticked ends a tick. Where everything is freed, nothing need be gathered.
func (d *Decayer) ticked(number uint64, haste Haste) {
	spread := false
	for i := range d.parts {
		d.parts[i].DropSpares()
		spread = spread || haste != AllAtOnce && d.parts[i].Spread()
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ticks = min(d.ticks+1, gatherAfter); spread && d.ticks == gatherAfter && !d.asked {
		d.asked = true
		d.ticker.gatherLater(d)
	}
	switch {
	case number != d.number || d.stopped:
		return
	case d.empty():
		// A goroutine that puts something back now either sees this, or is seen below.
		if d.armed.Store(false); d.empty() {
			return
		}
		d.armed.Store(true)
	}
	d.awaitTickLocked()
}

// toGather returns what is spread, to be gathered now.
func (d *Decayer) toGather() (all []Idle) {
	d.mu.Lock()
	d.asked, d.ticks = false, 0
	d.mu.Unlock()
	for i := range d.parts {
		if p := d.parts[i].Idle; p.Spread() {
			all = append(all, p)
		}
	}
	return all
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
	bytes int64   // of the heap
	share float64 // of all blocks that the pool has had recently, if they may keep more alive
}

// advanceLocked returns what is to be freed now, in a pool in use with trim too.
func (d *Decayer) advanceLocked(now time.Time, haste Haste, trim bool) (all []surplus) {
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
			if trim {
				n = max(n, low)
			}
			if d.most {
				n = min(n, over)
			}
			if n > 0 {
				bytes := int64(n) * int64(p.Sizes[class])
				all = append(all, surplus{p.Shed, uint8(class), n, bytes * p.Unit, p.share(bytes)})
				beyond = max(0, beyond-bytes)
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
		d.began[d.newest] = bubble.StampOf(d.looked)
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
		since := bubble.StampOf(d.looked)
		if c != nil {
			if n := c.Unneeded(); n > 0 {
				since = d.began[(d.newest-n+1+Epochs)%Epochs]
			}
		}
		age = max(age, bubble.Since(since, now))
	}
	return min(age, d.timeout)
}

// hasteNow returns how quickly blocks must be freed. What nothing may take never goes.
func (d *Decayer) hasteNow() Haste {
	if h := d.ticker.haste(); !d.most || h == NoHaste {
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
	if !trim || !d.trim() {
		var bytes int64
		var share float64
		for _, s := range all {
			s.shed(s.class, s.n)
			bytes += s.bytes
			share += s.share
		}
		if bytes > 0 && d.asks != nil {
			w := weak.Make(d)
			d.garbage().letGo(bytes, share, d.timeout, d.spilled, func() {
				if d := w.Value(); d != nil {
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

// trim calls trimAll, after mayTrimLocked.
func (d *Decayer) trim() bool {
	defer func() { // also if Trim panics
		d.mu.Lock()
		defer d.mu.Unlock()
		d.trimmed.end(time.Now())
	}()
	return d.trimAll()
}

// Loosened is called after something other than a tick has left work for settle.
func (d *Decayer) Loosened() {
	if d.settle != nil {
		d.unsettled.Store(true)
		d.Kept()
	}
}

// outlive takes over from the clock of a bubble that must have ended.
func (d *Decayer) outlive(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !d.bubble.Load() || !d.armed.Load() || d.stopped:
	case d.seen.IsZero():
		d.seen = now
	case now.Sub(d.seen) > max(2*d.timeout, bubbleLife):
		d.startLocked(now)
	}
}

// trimInBubble frees everything that is idle, outside of the bubble that d is armed in, after a collection: the
// bubble may have ended, and its clock may stand still.
func (d *Decayer) trimInBubble(now time.Time) {
	d.mu.Lock()
	trim := d.bubble.Load() && d.armed.Load() && !d.stopped && d.hasteNow() == AllAtOnce && d.trimmed.begin(now)
	d.mu.Unlock()
	if trim {
		d.trim()
	}
}

// Stop ends decay permanently. A tick that is running continues.
func (d *Decayer) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}
