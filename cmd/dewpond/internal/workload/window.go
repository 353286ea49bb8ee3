package workload

import (
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
)

// Window is a large map of blocks that live long.
var Window = Scenario{
	Name: "window",
	About: "a buffer of the newest messages in a map, one goroutine: each push gets a block, writes it, and puts back the message that falls out of the window. " +
		"Shows the time of a push once the window is full. Contenders clear only what they must.",
	Defaults: Spec{
		Goroutines: 1,
		Mix:        Mix{{1 << 10, 100}},
		Duration:   time.Second,
		Blocks:     200_000,
		Sample:     1, // a push takes about 600 ns, timing it 40
	},
	QuickRounds: 1, // filling the window takes half a second each time
	Drive:       runWindow,
}

// A windowed is the buffer of “用Benchmark验证sync.Pool对GC latency的优化效果”, in English “Benchmarks that
// check what sync.Pool does for the latency of the collector” (11 May 2018, its address is not known), which
// adds a sync.Pool to the benchmark of "Golang's real-time GC in theory and practice"
// (https://blog.pusher.com/golangs-real-time-gc-in-theory-and-practice/). That one puts a
// message back only if highest > window, and so loses the very first; this one loses none.
type windowed struct {
	*Job
	view     contender.View
	pattern  pattern
	size     int
	messages map[int]contender.Block
	next     int // number of the next message
}

func runWindow(j *Job) error {
	size := j.Mix.largest()
	w := &windowed{Job: j, view: j.Pool.View(), pattern: newPattern(size), size: size, messages: make(map[int]contender.Block, j.Blocks+1)}
	for range j.Blocks {
		if err := w.push(); err != nil {
			return err
		}
	}
	times := j.recorder("push")
	j.Result.Verified = 0
	return j.Measured(func() error { return w.run(times) })
}

func (w *windowed) run(times *kit.Recorder) error {
	for end := kit.Now() + w.Duration; kit.Now() < end && !w.Cut(); {
		for range w.Sample - 1 {
			if err := w.push(); err != nil {
				return err
			}
		}
		began := kit.Now()
		err := w.push()
		times.Record(0, kit.Now()-began)
		if err != nil {
			return err
		}
		w.Result.Ops += uint64(w.Sample)
	}
	return nil
}

func (w *windowed) push() error {
	b := w.view.Get(w.size)
	w.pattern.write(b.Bytes, uint64(w.next))
	w.messages[w.next] = b
	if oldest := w.next - w.Blocks; oldest >= 0 {
		b := w.messages[oldest]
		if err := verify(b.Bytes, uint64(oldest)); err != nil {
			return err
		}
		w.Result.Verified++
		delete(w.messages, oldest)
		w.view.Put(b)
	}
	w.next++
	return nil
}
