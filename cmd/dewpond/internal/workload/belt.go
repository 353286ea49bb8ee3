package workload

import (
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
)

const (
	// trayful is how many blocks go over to the other worker together, so that a channel costs
	// little beside the pool.
	trayful = 32
	// trays is how many of them a pair of workers has.
	trays = 4
)

// A belt carries blocks from the worker that gets them to the one that puts them back.
type belt struct {
	full, empty chan []passed
}

// A passed block is on its way. took is the time inside its Get, or 0 if that was not measured.
type passed struct {
	Marked
	took time.Duration
}

func newBelt() *belt {
	b := &belt{make(chan []passed, trays), make(chan []passed, trays)}
	for range trays {
		b.empty <- make([]passed, 0, trayful)
	}
	return b
}

// pipeline returns what each worker does in one run if blocks are passed on: workers are in pairs, of
// which the first gets blocks and the second puts them back. A last worker that has no other does
// nothing.
func (c *crew) pipeline() func(*worker) {
	belts := make([]*belt, len(c.workers)/2)
	for i := range belts {
		belts[i] = newBelt()
	}
	return func(w *worker) {
		switch i := w.number / 2; {
		case i == len(belts):
		case w.number%2 == 0:
			w.load(belts[i])
		default:
			w.unload(belts[i])
		}
	}
}

// load gets and writes blocks until the round is over.
func (w *worker) load(b *belt) {
	defer close(b.full)
	until := 1 + w.number%w.Sample
	var got uint64
	for !w.stop.Load() {
		tray := (<-b.empty)[:0]
		for range trayful {
			n := w.draw()
			var p passed
			if until--; until > 0 {
				p.Block = w.view.Get(n)
			} else {
				until = w.Sample
				began := kit.Now()
				p.Block = w.view.Get(n)
				p.took = max(kit.Now()-began, 1)
			}
			got++
			p.Mark = uint64(w.number)<<40 | got
			w.pattern.write(p.Bytes, p.Mark)
			tray = append(tray, p)
		}
		b.full <- tray
		if kit.Now() > w.end {
			w.stop.Store(true)
		}
	}
}

// unload puts back what comes.
func (w *worker) unload(b *belt) {
	for tray := range b.full {
		for i, p := range tray {
			if err := p.Verify(); err != nil {
				w.fail(err)
			}
			if p.took == 0 {
				w.view.Put(p.Block)
			} else {
				began := kit.Now()
				w.view.Put(p.Block)
				w.record(p.took, kit.Now()-began)
			}
			w.ops++
			tray[i] = passed{} // the tray keeps no block alive
		}
		b.empty <- tray
	}
}
