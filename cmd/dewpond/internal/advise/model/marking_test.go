package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
)

// paced allocates so many bytes in a heap of which steady live, where up to most are allocated while the collector
// marks, and returns what a look would show. It is the pacer of the runtime, collection by collection.
func paced(random *rand.Rand, gogc, steady, most, bytes float64) Heap {
	h := Heap{GOGC: gogc, Steady: steady, Allocated: bytes}
	live := steady
	var last [5]float64
	for allocated := 0.0; allocated < bytes; h.Collections++ {
		goal := live * (1 + gogc/100)
		room := goal - live
		before := 0.0 // the goal
		for _, bytes := range last {
			before = max(before, bytes)
		}
		before = min(room*19/64, max(before, min(room*3/64, 4<<20)))
		// What the collector takes of the processors meanwhile has it expect a little more than it has seen.
		const assists = 1.05
		floats := min(before, random.Float64()*most)
		last[int(h.Collections)%len(last)] = floats
		if floats == before {
			last[int(h.Collections)%len(last)] *= assists
		}
		allocated += goal - before + floats - live
		live = steady + floats
		h.Goal += goal
	}
	h.Goal /= h.Collections
	return h
}

// What is predicted of a program is what is counted of one that allocates less, however much garbage floats. With GOGC
// above 300 more floats the more the goal allows, without end, and the counts themselves vary.
func TestMarking(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const steady, bytes = 50 * mb, 1e6 * mb
	for _, gogc := range []float64{50, 100, 200} {
		reserve := earliest * steady * gogc / 100
		for _, times := range []float64{0.1, 0.5, 1, 2, 4, 8} {
			for _, of := range []struct{ share, faster float64 }{{0.5, 1.8}, {0.5, 1}, {0.8, 2.5}, {0.25, 1}, {0.98, 5}} {
				most := times * reserve
				now := paced(random, gogc, steady, most, bytes)
				then := paced(random, gogc, steady, most*(1-of.share)*of.faster, bytes*(1-of.share))
				if got := now.Predict(of.share, 0, of.faster); math.Abs(got/then.Collections-1) > 0.04 {
					t.Errorf("GOGC=%v, a marking of up to %v times the reserve, %+v: %.0f collections become %.0f, and are predicted as %.0f (%+.1f %%)", gogc, times, of, now.Collections, then.Collections, got, (got/then.Collections-1)*100)
				}
			}
		}
	}
}

// A program that has as much garbage floating as its goal allows keeps it as it allocates a little less, and one that
// has little has less.
func TestFloats(t *testing.T) {
	const room = 64 * mb
	reserve := marking{room: room}.reserve()
	for _, of := range []struct{ now, rate, low, high float64 }{
		{0.25, 0.5, 0.125, 0.125}, {0.5, 0.5, 0.25, 0.25}, {0.9, 0.5, 0.75, 0.85}, {1, 0.5, 0.96, 1}, {1.5, 0.5, 0.96, 1}, {0, 0.5, 0, 0}, {1, 0, 0, 0}, {0.9, 2, 0.9, 1},
	} {
		m := marking{most: mostOf(of.now*reserve, reserve) * of.rate, room: room}
		if got := m.floats() / reserve; !(of.low <= got && got <= of.high) {
			t.Errorf("of %v of what may float, at %v times the rate, %v does; want %v to %v", of.now, of.rate, got, of.low, of.high)
		}
		if begins := m.begins(); !(latest(room)*room <= begins && begins <= reserve && begins >= m.floats()) {
			t.Errorf("of %v: the collector begins %v before the goal, where %v float", of, begins, m.floats())
		}
	}
}

// Whether the processors limit the work is in the interval.
func TestFaster(t *testing.T) {
	h := Heap{Allocated: 1000 * mb, Collections: 20, Goal: 100 * mb, GOGC: 100, Steady: 40 * mb}
	slow, fast := h.Predict(0.5, 0, 1), h.Predict(0.5, 0, 1.6)
	if e := h.Then(estimate.Exact(0.5), estimate.Exact(0), 1.6); !(fast < slow) || e.Low != fast || e.Mid != fast || e.High != slow {
		t.Errorf("%v and %v collections, in the interval %v", slow, fast, e)
	}
	if c := h.Predict(1, 0, 1.6); c != 0 {
		t.Errorf("without any bytes %v collections", c)
	}
}

// Where nothing changes, the collections are those of the window, and a little more or less of what is known to live
// changes little, whatever it is.
func TestSteady(t *testing.T) {
	for _, gogc := range []float64{50, 100, 200, 400} {
		for _, limit := range []float64{0, 400 * mb} {
			for collections := 2.0; collections <= 1000; collections *= 1.5 {
				h := Heap{Allocated: 1e4 * mb, Collections: collections, Goal: 130 * mb, GOGC: gogc, Limit: limit, Roots: 3 * mb}
				last := 0.0
				for h.Steady = mb; h.Steady < 130*mb; h.Steady += mb / 8 {
					if now := h.Predict(0, 0, 1); math.Abs(now-collections) > 1e-9*collections {
						t.Fatalf("%+v: %v collections, if nothing changes", h, now)
					}
					then := h.Predict(0.5, 0, 1.5)
					if !h.Limited() && last > 0 && math.Abs(then/last-1) > 0.02 || !(then >= 0 && then <= collections*(1+1e-9)) {
						t.Fatalf("%+v: %v collections, with a little less of what lives %v", h, then, last)
					}
					if last = then; h.Limited() {
						last = 0
					}
				}
			}
		}
	}
	h := Heap{Allocated: 5e3 * mb, Collections: 51, Goal: 640 * mb, GOGC: Off}
	if got := h.Predict(0.5, 0, 1); got != 51 {
		t.Errorf("of a program that neither GOGC nor a limit has collected, %v collections", got)
	}
}
