package experiments

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// drivers uploads through one of several storage drivers, which is switched meanwhile: from a pool
// of drivers, and from a registry that has each driver once.
var drivers = experiment.Experiment{
	ID:       "drivers",
	Question: "Should stateless storage drivers come from a pool or be singletons?",
	Claims: []experiment.Claim{{
		ID: "drivers/singletons", Text: "a pool of stateless drivers buys nothing over singletons in a registry", Publication: giveUp, Judge: judgeDriversTime, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("pool", "upload_ns"): experiment.At("registry", "upload_ns"), experiment.At("registry", "upload_ns"): experiment.At("pool", "upload_ns")}},
	}, {
		ID: "drivers/objects", Text: "a pool makes more drivers than there are kinds, a registry one of each", Publication: folklore, Judge: judgeDriversObjects, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("pool", "drivers_made"): experiment.At("pool", "drivers_held")}, Fails: experiment.Standing{experiment.At("pool", "drivers_made"): experiment.At("registry", "drivers_made")}},
	}},
	Cases: []string{"times"},
	Each:  500 * time.Millisecond,
	Run:   runDrivers,
	Plots: []experiment.Plot{
		{Figure: "upload_ns", Title: "Find a driver, call it, give it back", Note: "one goroutine for each processor, a switch each millisecond"},
		{Figure: "drivers_made", Title: "Drivers that were made"},
	},
}

// A driver stores a file. It has no state but its settings.
type driver interface{ upload(name string) int }

//lint:ignore U1000 settings that the other drivers use: here they are only copied
type diskDriver struct{ root, region, key, secret string }

func (d *diskDriver) upload(name string) int { return len(d.root) + len(name) }

var driverNames = []string{"local", "s3", "oss"}

// A driverPool has a pool for each kind, and the name of the one that is in use.
type driverPool struct {
	pools   map[string]*sync.Pool
	mu      sync.RWMutex
	current string
	made    atomic.Int64
}

func newDriverPool() *driverPool {
	p := &driverPool{pools: map[string]*sync.Pool{}, current: driverNames[0]}
	for _, name := range driverNames {
		p.pools[name] = &sync.Pool{New: func() any { p.made.Add(1); return driver(&diskDriver{root: name}) }}
	}
	return p
}

func (p *driverPool) use(name string) int {
	p.mu.RLock()
	pool := p.pools[p.current]
	p.mu.RUnlock()
	d := pool.Get().(driver)
	defer pool.Put(d)
	return d.upload(name)
}

func (p *driverPool) change(to string) {
	p.mu.Lock()
	p.current = to
	p.mu.Unlock()
}

// A registry has each driver once.
type registry struct {
	all     map[string]driver
	current atomic.Pointer[driver]
}

func newRegistry() *registry {
	g := &registry{all: map[string]driver{}}
	for _, name := range driverNames {
		g.all[name] = &diskDriver{root: name}
	}
	g.change(driverNames[0])
	return g
}

func (g *registry) use(name string) int { return (*g.current.Load()).upload(name) }

func (g *registry) change(to string) {
	d := g.all[to]
	g.current.Store(&d)
}

func runDrivers(r *experiment.Run) error {
	pool, all := newDriverPool(), newRegistry()
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-tick.C:
				pool.change(driverNames[i%len(driverNames)])
				all.change(driverNames[i%len(driverNames)])
			}
		}
	})
	parallel := func(f func(string) int) func(int) {
		return func(n int) {
			loops := make([]func(), runtime.GOMAXPROCS(0))
			for i := range loops {
				loops[i] = func() {
					for range max(n/len(loops), 1) {
						f("picture.png")
					}
				}
			}
			kit.Clocked(loops...)
		}
	}
	times(r, "upload_ns", 200*time.Millisecond, way{"pool", parallel(pool.use)}, way{"registry", parallel(all.use)})
	close(done)
	wg.Wait()
	r.SetOf("pool", "drivers_made", float64(pool.made.Load()))
	r.SetOf("registry", "drivers_made", float64(len(driverNames)))
	held := newDriverPool() // four uploads at once of each kind
	for _, name := range driverNames {
		var out []any
		for range 4 {
			out = append(out, held.pools[name].Get())
		}
		for _, d := range out {
			held.pools[name].Put(d)
		}
	}
	r.SetOf("pool", "drivers_held", float64(held.made.Load()))
	return nil
}

func judgeDriversTime(m experiment.Measured) experiment.Finding {
	pool, all := experiment.At("pool", "upload_ns"), experiment.At("registry", "upload_ns")
	if f, lacking := m.Lacking(pool, all); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s through the pool, %s through the registry", m.Text(pool), m.Text(all)),
		Control:  "the same driver and the same switches for both",
		Do:       "Make what has no state once; a pool is for memory, and a bounded pool for connections.",
	}
	// The claim is that a pool buys nothing: it is refused where the pool is faster.
	r := m.Ratio(pool, all)
	f.Verdict, f.Why = experiment.Direction(r, false)
	switch f.Verdict {
	case experiment.Reproduced:
		f.Verdict, f.Why = experiment.NotReproduced, f.Why+": the pool is faster"
	case experiment.NotReproduced:
		f.Verdict, f.Why = experiment.Reproduced, "the ratio is "+figure.Bracketed(r)+": the pool is no faster"
	}
	return f
}

func judgeDriversObjects(m experiment.Measured) experiment.Finding {
	pool, all := experiment.At("pool", "drivers_made"), experiment.At("registry", "drivers_made")
	if f, lacking := m.Lacking(pool, all); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: m.Text(pool) + " drivers were made for the pool",
		Control:  m.Text(all) + " for the registry",
		Do:       "Count what a pool makes: settings that change must reach every copy.",
	}
	if m.Median(pool.Case, pool.Figure) > m.Median(all.Case, all.Figure) {
		f.Verdict, f.Why = experiment.Reproduced, "each processor gets a copy, and collections drop some"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "no more drivers were made"
	return f
}
