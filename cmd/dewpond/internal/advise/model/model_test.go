package model

import (
	"math"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
)

const mb = 1e6

// A heap of which half the bytes are not allocated any more is collected half as often, and one of twice
// as much room too.
func TestPredict(t *testing.T) {
	h := Heap{Seconds: 10, Allocated: 1000 * mb, Collections: 20, Goal: 100 * mb, GOGC: 100, Steady: 50 * mb}
	for _, of := range []struct {
		share, idle, want float64
	}{
		{0, 0, 20}, {0.5, 0, 10}, {1, 0, 0}, {0, 50 * mb, 10}, {0.5, 50 * mb, 5},
	} {
		if got := h.Predict(of.share, of.idle, 1); math.Abs(got-of.want) > 1e-9 {
			t.Errorf("%v of the bytes less and %v idle: %v collections, want %v", of.share, of.idle, got, of.want)
		}
	}
	if live := h.LiveBytes(); live != 50*mb {
		t.Errorf("%v live", live)
	}
	if !math.IsInf(h.BreakEven(0.5), 1) {
		t.Error("idle bytes cost collections without a memory limit")
	}
}

// Stacks count for the goal as what lives does.
func TestRoots(t *testing.T) {
	h := Heap{Allocated: 1000 * mb, Collections: 20, Goal: 140 * mb, GOGC: 200, Roots: 10 * mb}
	if live := h.LiveBytes(); live != 40*mb {
		t.Errorf("%v live", live)
	}
}

// Under a memory limit the goal does not follow the garbage that floats.
func TestLimitedGoal(t *testing.T) {
	limited := Heap{Allocated: 800 * mb, Collections: 20, Goal: 100 * mb, GOGC: Off, Limit: 110 * mb, Steady: 50 * mb} // 10 MB are not accounted for
	if got, want := limited.Predict(0.5, 0, 1), 20*0.5; math.Abs(got-want) > 1e-9 {
		t.Errorf("under a limit %v collections, want %v", got, want)
	}
}

// A collector that begins early, for what is allocated while it marks, begins as late as it may where next to
// nothing is. The figures are of a sample, of which 153 collections became 2 and most of a third one.
func TestEarly(t *testing.T) {
	h := Heap{Allocated: 6911 * mb, Collections: 153, Goal: 110 * mb, GOGC: Off, Limit: 126 * mb, Steady: 53 * mb}
	if got, want := h.Predict(1-0.0221, 0, 2), 153*0.0221*(6911/153.0)/(57*61/64.0); math.Abs(got-want) > 1e-9 || math.Abs(got-2.8) > 0.05 {
		t.Errorf("%v collections, want %v", got, want)
	}
	for _, share := range []float64{0, 0.25, 0.5} {
		if got, want := h.Predict(share, 0, 1), 153*(1-share); math.Abs(got-want) > 1e-9 {
			t.Errorf("without %v of the bytes %v collections, want %v", share, got, want)
		}
	}
	h.Collections = enough - 1 // too few to tell how early
	if got, want := h.Predict(0.98, 0, 1), h.Collections*0.02; math.Abs(got-want) > 1e-9 {
		t.Errorf("of %v collections %v, want %v", h.Collections, got, want)
	}
}

// Where the looks have seen low goals alone, the bytes between two collections tell how much lives.
func TestBetween(t *testing.T) {
	h := Heap{Allocated: 1260 * mb, Collections: 20, Goal: 100 * mb, GOGC: 100, Steady: 50 * mb}
	if live := h.LiveBytes(); live != 60*mb {
		t.Errorf("%v live", live)
	}
	h.Collections = enough - 1 // too few to tell
	if live := h.LiveBytes(); live != 50*mb {
		t.Errorf("of %v collections %v live", h.Collections, live)
	}
}

// Under a memory limit idle blocks take the collector's room: the figures are of a trial, in which 15
// collections became 6 with a lean pool of a site of 60 % of the bytes, and 19 with 41 MB idle.
func TestLimit(t *testing.T) {
	limit := float64(120 << 20)
	h := Heap{Allocated: 950 * mb, Collections: 15, GOGC: Off, Limit: limit, Outside: 8 * mb, Steady: 54 * mb}
	h.Goal = h.limitGoal()
	if !h.Limited() || math.Abs(h.Predict(0.6, 0, 1)-6) > 0.01 {
		t.Errorf("lean: %v collections, want 6", h.Predict(0.6, 0, 1))
	}
	if got := h.Predict(0.6, 41*mb, 1); math.Abs(got-19) > 1.5 {
		t.Errorf("with 41 MB idle: %v collections, want 19", got)
	}
	// (limit - live) x share, where the limit is what it leaves for the heap
	if got, want := h.BreakEven(0.6), (h.Goal-h.Steady)*0.6; math.Abs(got-want) > mb/100 {
		t.Errorf("break-even at %v idle, want %v", got, want)
	}
	if got := h.Predict(0.6, h.BreakEven(0.6), 1); math.Abs(got-15) > 0.01 {
		t.Errorf("%v collections at break-even", got)
	}

	// GOGC rules while live is below half of it, and the limit above.
	both := Heap{Allocated: 600 * mb, Collections: 15, GOGC: 100, Limit: limit, Outside: 8 * mb, Goal: 80 * mb, Steady: 40 * mb}
	if both.Limited() || both.Predict(0, 10*mb, 1) >= 15 || both.Predict(0, 60*mb, 1) <= 15 {
		t.Errorf("below the limit %v and %v collections", both.Predict(0, 10*mb, 1), both.Predict(0, 60*mb, 1))
	}
	// Without a profile of what lives, the collections tell.
	h.Steady = 0
	if live, want := h.LiveBytes(), h.Goal-950*mb/15; live != want {
		t.Errorf("%v live by the collections, want %v", live, want)
	}
}

// The interval has the errors of the share, of what is idle, and of what lives.
func TestThen(t *testing.T) {
	h := Heap{Seconds: 10, Allocated: 1100 * mb, Collections: 15, GOGC: Off, Limit: 120 << 20, Steady: 54 * mb, SteadyError: 3 * mb}
	h.Goal = h.limitGoal()
	exact, share := h.Then(estimate.Exact(0.6), estimate.Exact(0), 1), h.Then(estimate.Estimate{Low: 0.5, Mid: 0.6, High: 0.7}, estimate.Exact(0), 1)
	if exact.High-exact.Low > 1e-9 || math.Abs(share.Low-4.5) > 1e-9 || math.Abs(share.High-7.5) > 1e-9 {
		t.Errorf("%v, and of a share that is not exact %v", exact, share)
	}
	idle := h.Then(estimate.Exact(0.6), estimate.Exact(41*mb), 1)
	if !(idle.Low < idle.Mid*0.95 && idle.High > idle.Mid*1.05) {
		t.Errorf("what lives has an error, and the collections are %v", idle)
	}
	if h.Then(estimate.CannotTell("why"), estimate.Exact(0), 1).Known() {
		t.Error("a share that is refused has collections")
	}
}

func TestLeastHeap(t *testing.T) {
	h := Heap{Allocated: 100 * mb, Collections: 30, Goal: 4 << 20, GOGC: 100, Steady: mb}
	if got := h.Predict(0.5, 0, 1); got != 15 || h.LiveBytes() != mb {
		t.Errorf("%v collections of %v live", got, h.LiveBytes())
	}
}
