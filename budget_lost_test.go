package dewpond_test

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/dewpond/dewpond"
)

// exhaust takes all of a pool's Budget and loses it.
func exhaust(p *dewpond.BytePool, size int) (lost int) {
	for {
		if _, err := p.TryGet(size); err != nil {
			return lost
		}
		lost++
	}
}

// A waiter for bytes that all are lost starts the collection that finds them, if none comes.
func TestWaitersCollectWhatIsLost(t *testing.T) {
	onlyOnHeap(t, "off the heap no collection finds what is lost")
	notWatched(t, misuses)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	p := newPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 64<<10), Check: dewpond.CheckOff})
	exhaust(p, 4096)
	b, err := p.GetContext(context.Background(), 4096) // or this waits for ever
	if err != nil {
		t.Error(err)
	}
	p.Put(b)
}

// One collection that finds many lost blocks starts few goroutines for those that wait.
func TestLostBlocksStartFewGoroutines(t *testing.T) {
	onlyOnHeap(t, "off the heap no collection finds what is lost")
	notWatched(t, misuses)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	created := func() uint64 {
		s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
		if metrics.Read(s); s[0].Value.Kind() != metrics.KindUint64 {
			t.Skip("Go has this metric from 1.26 on")
		}
		return s[0].Value.Uint64()
	}
	const blocks = 50_000
	p := newPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", blocks*64), Classes: []int{64, 1 << 20}, Check: dewpond.CheckOff})
	lost := exhaust(p, 64)
	before := created()
	b, err := p.GetContext(t.Context(), 3<<20) // almost all of it
	if err != nil {
		t.Error(err)
	}
	p.Put(b)
	if n := created() - before; n > uint64(lost/50) {
		t.Errorf("%d lost blocks started %d goroutines", lost, n)
	}
}
