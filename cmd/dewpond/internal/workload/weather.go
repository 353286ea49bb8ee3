package workload

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/measure"
)

const (
	// gust is how often the weather looks.
	gust = 100 * time.Millisecond
	// squall is the longest from one squeeze of the memory limit to the next. It is so
	// long because Pressure falls one step in 10 s, and shall be low again before.
	squall = time.Minute
	// tighter is the part of the limit by which it moves down each time: a quarter.
	tighter = 4
	// leastLimit is where it stops.
	leastLimit = 8 << 20
)

// The weather is what changes around a soak: GOMAXPROCS now and then, and the memory
// limit, which moves down until dewpond.Pressure has risen, and up again after a while.
type weather struct {
	length time.Duration // of the work
	inUse  func() int64  // bytes of blocks, which may lie off the Go heap
	procs  int           // as found
	limit  int64         // as found
	random *rand.Rand
	done   chan struct{}
	ended  chan struct{}

	shift    time.Duration // when GOMAXPROCS changes next
	squeezed bool          // the limit is down
	target   dewpond.Level // to which the squeeze is to raise Pressure
	last     dewpond.Level

	rises int           // how often Pressure has gone up
	peak  dewpond.Level // the highest that was seen
}

func startWeather(length time.Duration, inUse func() int64) *weather {
	w := newWeather(length, inUse)
	go w.run()
	return w
}

func newWeather(length time.Duration, inUse func() int64) *weather {
	return &weather{
		length: length, inUse: inUse,
		procs: runtime.GOMAXPROCS(0), limit: debug.SetMemoryLimit(-1),
		random: rand.New(rand.NewPCG(4, 0)),
		done:   make(chan struct{}), ended: make(chan struct{}),
		target: dewpond.PressureHigh, last: dewpond.Pressure(),
	}
}

// stop ends it, and leaves all as it was found.
func (w *weather) stop() {
	close(w.done)
	<-w.ended
	w.restore()
}

func (w *weather) restore() {
	runtime.GOMAXPROCS(w.procs)
	debug.SetMemoryLimit(w.limit)
}

func (w *weather) run() {
	defer close(w.ended)
	began := measure.Now()
	for {
		select {
		case <-w.done:
			return
		case <-time.After(min(gust, w.length/40)):
		}
		w.step(measure.Now()-began, dewpond.Pressure())
	}
}

// step does what is due at a time since the start, at which the pressure is that.
func (w *weather) step(at time.Duration, level dewpond.Level) {
	if at >= w.shift {
		w.shift = at + min(max(w.length/20, gust), 5*time.Second)
		runtime.GOMAXPROCS(1 + w.random.IntN(2*w.procs))
	}
	if level > w.last {
		w.rises++
	}
	w.last, w.peak = level, max(w.peak, level)
	// The second quarter of each period is the squeeze.
	period := min(w.length, squall)
	switch at %= period; {
	case at < period/4 || at >= period/2:
		if w.squeezed {
			w.squeezed = false
			w.target = dewpond.PressureHigh + dewpond.PressureMedium - w.target // in turns
			debug.SetMemoryLimit(w.limit)
		}
	case !w.squeezed:
		w.squeezed = true
		debug.SetMemoryLimit(min(w.limit, 2*w.used()))
	case level < w.target:
		now := debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(max(leastLimit, now-now/tighter))
	}
}

// used is about what counts against the limit.
func (w *weather) used() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()-s[1].Value.Uint64()) + w.inUse()
}
