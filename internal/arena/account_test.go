package arena

import (
	"math/rand/v2"
	"testing"

	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/memory"
)

// The gauges agree with the arena's own Usage after every kind of call, and a callback
// that is told of a change sees it, with no lock of the arena held. On the heap they
// count nothing. No other test may run meanwhile: memory.OffHeap is shared by the
// process.
func TestGaugesSayWhatIsMapped(t *testing.T) {
	onBoth(t, func(t *testing.T, c Config) {
		var gauge memory.Gauge
		var a *Arena
		told := 0
		var saw int64
		c.Gauge, c.Reserve = &gauge, 16<<20
		c.Changed = func() {
			told++
			saw = gauge.Committed()
			a.Usage() // takes the arena's lock
		}
		ranges, reserved, committed := memory.OffHeap.Ranges(), memory.OffHeap.Reserved(), memory.OffHeap.Committed()
		check := func(when string, wantRanges int64) {
			t.Helper()
			u := a.Usage()
			want := [3]int64{wantRanges, u.Reserved, u.Committed}
			if c.OnHeap {
				want = [3]int64{}
			}
			got := [3]int64{gauge.Ranges(), gauge.Reserved(), gauge.Committed()}
			all := [3]int64{memory.OffHeap.Ranges() - ranges, memory.OffHeap.Reserved() - reserved, memory.OffHeap.Committed() - committed}
			if got != want || all != want || saw != want[2] {
				t.Errorf("%s: ranges, reserved and committed are %v, in the process %v, told of %d; want %v", when, got, all, saw, want)
			}
		}
		a = newTest(t, c)
		check("new", 1)
		b, d := mustAlloc(t, a, 1<<20), mustAlloc(t, a, 5000&^15)
		check("Alloc", 1)
		a.Free(b)
		check("Free", 1)
		before := told
		if n, err := a.Decommit(); n != 1<<20 || err != nil || told != before+1 {
			t.Errorf("Decommit = %d, %v, told %d times", n, err, told-before)
		}
		check("Decommit", 1)
		b = mustAlloc(t, a, 1<<20)
		a.Issue(b)
		if a.Close() == nil {
			t.Error("Close with two blocks held")
		}
		check("Close with two blocks held", 1)
		a.Free(d)
		check("all but one are free", 1)
		a.Return(b)
		a.Free(b)
		check("the last is free", 0)
		closeTest(t, a)
		check("a second Close", 0)
	})
}

// Memory that Abandon cannot unmap stays counted.
func TestGaugesAfterAbandon(t *testing.T) {
	for _, stays := range []bool{false, true} {
		var gauge memory.Gauge
		f := newFakeSystem()
		a, err := newArena(Config{Reserve: 48 * granule, Gauge: &gauge}, f.system())
		if err != nil {
			t.Fatal(err)
		}
		b := mustAlloc(t, a, 1<<20)
		mustAlloc(t, a, 2<<20) // idle
		want := [3]int64{}
		if stays {
			a.Issue(b)
			want = [3]int64{1, 48 * granule, 1 << 20}
		}
		a.Abandon()
		if got := [3]int64{gauge.Ranges(), gauge.Reserved(), gauge.Committed()}; got != want {
			t.Errorf("a block is out: %v: ranges, reserved and committed are %v, want %v", stays, got, want)
		}
		if stays { // otherwise later tests count it
			a.Return(b)
			a.Free(b)
		}
		if gauge.Ranges() != 0 || gauge.Committed() != 0 {
			t.Errorf("in the end %d ranges, %d bytes", gauge.Ranges(), gauge.Committed())
		}
	}
}

// Memory that the system refuses to take stays counted.
func TestGaugesWhereTheSystemRefuses(t *testing.T) {
	var gauge memory.Gauge
	f := newFakeSystem()
	a, err := newArena(Config{Reserve: 48 * granule, Gauge: &gauge}, f.system())
	if err != nil {
		t.Fatal(err)
	}
	a.Free(mustAlloc(t, a, 1<<20))
	f.refuse["decommit"], f.refuse["unmap"] = always, always
	if _, err := a.Decommit(); err == nil || gauge.Committed() != 1<<20 {
		t.Errorf("Decommit: %v, %d bytes are committed", err, gauge.Committed())
	}
	if err := a.Close(); err == nil || gauge.Committed() != 1<<20 || gauge.Ranges() != 1 {
		t.Errorf("Close: %v, %d bytes of %d ranges are committed", err, gauge.Committed(), gauge.Ranges())
	}
	f.refuse["unmap"] = nil
	for range 2 {
		if err := a.Close(); err != nil || gauge.Committed() != 0 || gauge.Ranges() != 0 || gauge.Reserved() != 0 {
			t.Errorf("Close: %v, %d bytes of %d ranges are committed", err, gauge.Committed(), gauge.Ranges())
		}
	}
}

func TestGaugeConcurrently(t *testing.T) {
	if !platform().maps() {
		t.Skip("nothing is mapped here")
	}
	var gauge memory.Gauge
	c := Config{Gauge: &gauge, Reserve: 16 << 20}
	a, other := newTest(t, c), newTest(t, c)
	var wg go125.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 5))
			for range 300 {
				a := a
				if rng.IntN(2) == 0 {
					a = other
				}
				b, err := a.Alloc(16 << (10 + rng.IntN(5)))
				if err != nil {
					t.Error(err)
					return
				}
				if gauge.Committed() < int64(len(b)) {
					t.Errorf("%d bytes are committed, and a block has %d", gauge.Committed(), len(b))
				}
				a.Free(b)
				a.Decommit()
			}
		})
	}
	wg.Wait()
	if want := a.Usage().Committed + other.Usage().Committed; gauge.Committed() != want {
		t.Errorf("%d bytes are committed, want %d", gauge.Committed(), want)
	}
	closeTest(t, a)
	closeTest(t, other)
	if gauge.Ranges() != 0 || gauge.Committed() != 0 || gauge.Reserved() != 0 {
		t.Errorf("in the end %d ranges, %d bytes of %d", gauge.Ranges(), gauge.Committed(), gauge.Reserved())
	}
}
