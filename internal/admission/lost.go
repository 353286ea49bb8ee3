package admission

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
)

// Blocks that their owners have lost stay charged until a collection finds them. A process in
// which all wait allocates nothing, so that the next collection is the one that the runtime
// forces after two minutes. So a waiter for bytes starts one when none has come for a while.
const (
	firstCollection = time.Second // of waiting; the next comes after twice that, and so on
	mostBetween     = time.Minute
)

// collecting is set while a waiter's collection is under way: one serves all.
var collecting atomics.Bool

// sleep waits for the grant, or until done is closed, and reports which.
func (w *waiter) sleep(done <-chan struct{}) (err error, granted bool) {
	now := atomics.Now()
	defer w.gate.slept.Since(now)
	var tick <-chan time.Time
	var timer *time.Timer
	if w.gate.account != nil && !bubble.In(now) { // a bubble's clock would come to no end
		timer = atomics.NewTimer(firstCollection)
		defer timer.Stop()
		tick = timer.C
	}
	seen := collections()
	for between := 2 * firstCollection; ; between = min(2*between, mostBetween) {
		select {
		case err := <-w.grant:
			return err, true
		case <-done:
			return nil, false
		case <-tick:
		}
		if n := collections(); n != seen {
			seen = n
		} else if !collecting.Swap(true) {
			go func() {
				defer collecting.Store(false)
				runtime.GC()
			}()
		}
		timer.Reset(between)
	}
}

// collections returns how many collections there were.
func collections() uint64 {
	s := [...]metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s[:])
	return s[0].Value.Uint64()
}
