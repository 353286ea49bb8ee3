package workload

import (
	"math/rand/v2"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
)

// A worker is one goroutine of scenario mixed, of flood, and of the traffic of churn and misuse
// (client.go). Workers are allocated one by one, so that their counters do not share a cache line.
type worker struct {
	*crew
	number int
	view   contender.View
	random rand.PCG
	ops    uint64
	_      [64]byte
}

// loop is the closed mode: the next operation begins when the previous one has ended.
func (w *worker) loop() {
	until := 1 + w.number%w.Sample // goroutines take turns in timing an operation
	for !w.stop.Load() {
		if until--; until > 0 {
			w.operation()
			continue
		}
		until = w.Sample
		if w.timedOperation() > w.end {
			w.stop.Store(true)
		}
	}
}

func (w *worker) operation() {
	n := w.draw()
	b := w.view.Get(n)
	w.use(b.Bytes)
	w.view.Put(b)
}

// timedOperation runs and times one operation, and returns when it ended.
func (w *worker) timedOperation() time.Duration {
	n := w.draw()
	t0 := kit.Now()
	b := w.view.Get(n)
	t1 := kit.Now()
	w.use(b.Bytes)
	t2 := kit.Now()
	w.view.Put(b)
	t3 := kit.Now()
	w.record(t1-t0, t3-t2)
	return t3
}

// record keeps the times of the Get and the Put of one block, unless the crew warms up.
func (w *worker) record(get, put time.Duration) {
	if w.get != nil {
		w.get.Record(w.number, get)
		w.put.Record(w.number, put)
	}
	if w.pair != nil {
		w.pair.Record(w.number, get+put)
	}
}

// draw returns the size of the next block.
func (w *worker) draw() int { return w.sizes[w.random.Uint64()%100] }

// use does what an owner does with a block.
func (w *worker) use(b []byte) {
	w.ops++
	mark := uint64(w.number)<<40 | w.ops
	w.pattern.write(b, mark)
	w.Hold.hold()
	if err := verify(b, mark); err != nil {
		w.fail(err)
	}
}
