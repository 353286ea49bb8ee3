package soak

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/pressure"
)

const (
	// tick is how often the disturbance looks.
	tick = 100 * time.Millisecond
	// squeezePeriod is the longest time from one squeeze of the memory limit to the next. It
	// is that long because Pressure falls one step in 10 s, and must be low again before.
	squeezePeriod = time.Minute
	// tighter says how far the limit moves down each time: by a quarter.
	tighter = 4
	// leastLimit is where the limit stops.
	leastLimit = 8 << 20
)

// A disturbance is what changes around a soak: GOMAXPROCS now and then, and the memory limit,
// which moves down until pressure.Current has risen, and up again after a while.
type disturbance struct {
	length time.Duration // of the work
	inUse  func() int64  // bytes of blocks, which may lie off the Go heap
	procs  int           // before the disturbance
	limit  int64         // before the disturbance
	random *rand.Rand
	done   chan struct{}
	ended  chan struct{}

	shift    time.Duration  // when GOMAXPROCS changes next
	squeezed bool           // the limit is down
	target   pressure.Level // the level to which the squeeze raises Pressure
	last     pressure.Level

	rises int            // how often Pressure has gone up
	peak  pressure.Level // the highest level so far
}

// disturb starts a disturbance.
func disturb(length time.Duration, inUse func() int64) *disturbance {
	d := newDisturbance(length, inUse)
	go d.run()
	return d
}

func newDisturbance(length time.Duration, inUse func() int64) *disturbance {
	return &disturbance{
		length: length, inUse: inUse,
		procs: runtime.GOMAXPROCS(0), limit: debug.SetMemoryLimit(-1),
		random: rand.New(rand.NewPCG(4, 0)),
		done:   make(chan struct{}), ended: make(chan struct{}),
		target: pressure.High, last: pressure.Current(),
	}
}

// stop ends the disturbance and restores GOMAXPROCS and the limit.
func (d *disturbance) stop() {
	close(d.done)
	<-d.ended
	d.restore()
}

func (d *disturbance) restore() {
	runtime.GOMAXPROCS(d.procs)
	debug.SetMemoryLimit(d.limit)
}

func (d *disturbance) run() {
	defer close(d.ended)
	began := kit.Now()
	for {
		select {
		case <-d.done:
			return
		case <-time.After(min(tick, d.length/40)):
		}
		d.step(kit.Now()-began, pressure.Current())
	}
}

// step does what is due at time at since the start, at the given pressure.
func (d *disturbance) step(at time.Duration, level pressure.Level) {
	if at >= d.shift {
		d.shift = at + min(max(d.length/20, tick), 5*time.Second)
		runtime.GOMAXPROCS(1 + d.random.IntN(2*d.procs))
	}
	if level > d.last {
		d.rises++
	}
	d.last, d.peak = level, max(d.peak, level)
	// The second quarter of each period is the squeeze.
	period := min(d.length, squeezePeriod)
	switch at %= period; {
	case at < period/4 || at >= period/2:
		if d.squeezed {
			d.squeezed = false
			d.target = pressure.High + pressure.Medium - d.target // alternately
			debug.SetMemoryLimit(d.limit)
		}
	case !d.squeezed:
		d.squeezed = true
		debug.SetMemoryLimit(min(d.limit, 2*d.used()))
	case level < d.target:
		now := debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(max(leastLimit, now-now/tighter))
	}
}

// used returns about how many bytes count against the limit.
func (d *disturbance) used() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()-s[1].Value.Uint64()) + d.inUse()
}
