package pacer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/gctrace"
)

// steady is a process with 50 MB alive that allocates 5 GB in 100 s, and is collected at its goal exactly.
func steady() *Window {
	return &Window{
		From: "test", Seconds: 100, Collections: 100, Procs: 2,
		Allocated: estimate.Exact(5e9), Goal: estimate.Exact(100e6), Lives: []Live{{50e6, 5e9}},
		Outside: estimate.Exact(10e6), Collector: estimate.Exact(4), Used: estimate.Exact(40),
		Setting: Setting{GOGC: 100}, Known: true,
	}
}

func near(got estimate.Estimate, want, by float64) bool {
	return got.Known() && math.Abs(got.Mid-want) <= by*want && got.Low <= got.Mid && got.Mid <= got.High
}

// Twice the GOGC is half the collections, and the heap grows to its goal.
func TestForetell(t *testing.T) {
	for _, of := range []struct {
		change                     func(*Window)
		set                        Setting
		perSecond, collector, peak float64
	}{
		{nil, Setting{50, 0}, 2, 0.08, 75e6},
		{nil, Setting{100, 0}, 1, 0.04, 100e6},
		{nil, Setting{200, 0}, 0.5, 0.02, 150e6},
		{nil, Setting{400, 0}, 0.25, 0.01, 250e6},
		{nil, Setting{Off, 210e6}, 50 / (200*0.97 - 50), 0.04 * 50 / (200*0.97 - 50), 200e6 * 0.97}, // 97 % of what is not outside
		{nil, Setting{400, 210e6}, 50 / (200*0.97 - 50), 0.04 * 50 / (200*0.97 - 50), 200e6 * 0.97}, // the limit is less
		{nil, Setting{50, 210e6}, 2, 0.08, 75e6},                                                    // and here it is more
		{func(w *Window) {
			w.Stacks = estimate.Exact(10e6)
			w.Goal = estimate.Exact(110e6)
			w.Allocated = estimate.Exact(6e9)
			w.Lives[0].Allocated = 6e9
		}, Setting{200, 0}, 0.5, 0.02, 170e6},
		{func(w *Window) {
			w.Lives[0].Bytes = 1e6
			w.Goal = estimate.Exact(4 << 20)
			w.Allocated = estimate.Exact(100 * (4<<20 - 1e6))
			w.Lives[0].Allocated = w.Allocated.Mid
		},
			Setting{200, 0}, (4<<20 - 1e6) / (8<<20 - 1e6), 0.04 * (4<<20 - 1e6) / (8<<20 - 1e6), 8 << 20}, // the least goal
		{func(w *Window) {
			w.Goal = estimate.Exact(52e6)
			w.Allocated = estimate.Exact(0.2e9)
			w.Lives[0].Allocated = 0.2e9
			w.Setting = Setting{Off, 65e6}
			w.Collector = estimate.Exact(50)
		},
			Setting{Off, 62e6}, 2, 1, 50e6 + 64<<10}, // no room: half of two processors is all that there is
	} {
		w := steady()
		if of.change != nil {
			of.change(w)
		}
		row := w.Foretell(of.set)
		if !near(row.Collections, of.perSecond, 0.02) || !near(row.Collector, of.collector, 0.02) || !near(row.Peak, of.peak, 0.02) {
			t.Errorf("%v: %v collections/s, %v CPUs, a peak of %v; want %v, %v, %v", of.set, row.Collections, row.Collector, row.Peak, of.perSecond, of.collector, of.peak)
		}
	}
}

// What is foretold is less sure than what was counted, and fewer collections make both less sure.
func TestIntervals(t *testing.T) {
	width := func(e estimate.Estimate) float64 { return (e.High - e.Low) / e.Mid }
	w := steady()
	now, other := w.Foretell(Setting{100, 0}), w.Foretell(Setting{200, 0})
	w.Collections = 10
	w.Allocated = estimate.Exact(0.5e9)
	few := w.Foretell(Setting{200, 0})
	if !(width(now.Collections) < 0.03 && width(other.Collections) > 0.15 && width(few.Collections) > 1.2*width(other.Collections)) {
		t.Errorf("the widths are %.3f, %.3f and %.3f", width(now.Collections), width(other.Collections), width(few.Collections))
	}
	w.Collections = Least - 1
	for _, e := range []estimate.Estimate{w.Foretell(Setting{200, 0}).Collections, w.Foretell(Setting{100, 0}).Peak} {
		if e.Known() || !strings.Contains(e.Why, "collect for longer") {
			t.Errorf("of %d collections %v is foretold", w.Collections, e)
		}
	}
	w = steady()
	w.Lives[0].Allocated = 0
	if row := w.Foretell(Setting{200, 0}); row.Collections.Known() || row.Collector.Known() || row.Peak.Known() {
		t.Errorf("where nothing was allocated %+v is foretold", row)
	}
	w = steady()
	w.Outside = estimate.CannotTell("no /memory/classes")
	if row := w.Foretell(Setting{Off, 1e9}); row.Peak.Known() || row.Collector.Why != "no /memory/classes" {
		t.Errorf("without what counts towards a limit %+v is foretold", row)
	}
}

func TestNear(t *testing.T) {
	if got := steady().Near(100e6); !near(got, 0.6, 1e-9) {
		t.Errorf("50 MB and 10 MB of 100 MB are %v", got)
	}
}

func TestSettings(t *testing.T) {
	w := steady()
	w.Setting = Setting{150, 1e9}
	all := w.Settings(2e9)
	if want := "[GOGC=150 GOMEMLIMIT=1000000000 GOGC=50 GOMEMLIMIT=1000000000"; !strings.HasPrefix(fmt.Sprint(all), want) || len(all) != 6 || all[5] != (Setting{Off, 2e9}) {
		t.Errorf("%v", all)
	}
	if all := steady().Settings(2e9); len(all) != 5 {
		t.Errorf("the process's own setting is there twice: %v", all)
	}
}

// trace writes the gctrace of a process that is collected at its goal.
func trace(cycles int, live, gogc, allocatedPerSecond float64) string {
	var text strings.Builder
	now := 1.0
	for i := range cycles {
		goal := live * (1 + gogc/100)
		now += (goal - live) * (1 << 20) / allocatedPerSecond
		fmt.Fprintf(&text, "gc %d @%.3fs 1%%: 0.01+2.0+0.01 ms clock, 0.02+1.0/3.0/7.0+0.02 ms cpu, %d->%d->%d MB, %d MB goal, 0 MB stacks, 0 MB globals, 2 P\n",
			i+1, now, int(goal*0.97), int(goal), int(live), int(goal))
	}
	return text.String()
}

func TestReadTrace(t *testing.T) {
	w, count, err := ReadTrace(strings.NewReader(trace(101, 60.5, 100, 61e6)))
	if err != nil || count.Cycles != 101 {
		t.Fatal(count, err)
	}
	if w.Collections != 100 || w.Setting.GOGC != 100 || math.Abs(w.Seconds-104) > 1 || !near(w.Collector.Scaled(1/0.404), 1, 0.01) || !near(w.Live(), 60.5*(1<<20), 0.001) {
		t.Errorf("%+v", w)
	}
	if row := w.Foretell(Setting{200, 0}); !near(row.Collections, 50/w.Seconds, 0.02) || !near(row.Peak, 181.5*(1<<20), 0.03) {
		t.Errorf("%+v", row)
	}

	// A broken line hides no collection, and a forced one is none.
	lines := strings.SplitAfter(trace(51, 60.5, 100, 61e6), "\n")
	lines[10] = lines[10][:50] + "oops\n"
	lines[20] = strings.TrimSuffix(lines[20], "\n") + " (forced)\n"
	w, count, err = ReadTrace(strings.NewReader(strings.Join(lines, "")))
	if err != nil || count.Broken != 1 || w.Collections != 49 || w.Forced != 1 {
		t.Errorf("%+v, %+v, %v", w, count, err)
	}
}

func TestReadTraceRefuses(t *testing.T) {
	limited := trace(20, 60, 100, 61e6) // 50 to 70 MB alive, and one goal
	for live := 50; live < 70; live++ {
		limited += fmt.Sprintf("gc %d @%d.0s 1%%: 0.01+2.0+0.01 ms clock, 0.02+1.0/3.0/7.0+0.02 ms cpu, 97->100->%d MB, 100 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", live-29, live, live)
	}
	near := "" // a memory limit leaves it no MiB
	for i := range 20 {
		near += fmt.Sprintf("gc %d @%d.0s 1%%: 0.01+2.0+0.01 ms clock, 0.02+1.0/3.0/7.0+0.02 ms cpu, 60->60->60 MB, 61 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", i+1, i+1)
	}
	for name, of := range map[string]struct {
		text string
		want error
	}{
		"near":      {near, ErrNear},
		"none":      {"hello", nil},
		"one":       {trace(1, 60, 100, 61e6), ErrOne},
		"gaps":      {strings.Replace(trace(2, 60, 100, 61e6), "gc 2 ", "gc 3 ", 1), ErrGaps},
		"small":     {trace(20, 2, 100, 61e6), ErrSmall},
		"restarted": {trace(20, 60, 100, 61e6) + trace(20, 60, 100, 61e6), ErrRestarted},
	} {
		_, _, err := ReadTrace(strings.NewReader(of.text))
		if err == nil || of.want != nil && !errors.Is(err, of.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w, _, err := ReadTrace(strings.NewReader(limited[strings.Index(limited, "gc 21 "):])); err != nil || !w.Limited {
		t.Errorf("goals that do not follow what lives: %+v, %v", w, err)
	}
	if w, _, err := ReadTrace(strings.NewReader(trace(20, 60, 100, 61e6))); err != nil || w.Limited {
		t.Errorf("goals that follow what lives: %+v, %v", w, err)
	}
}

// perCycle is how many bytes cyclesOf makes a cycle of.
const perCycle = 12

// cyclesOf returns the cycles that bytes say, at most 64: sizes up to those of a line that gctrace reads, cycles
// that are missing, that were forced, that take no time, and those of another process.
func cyclesOf(data []byte) (all []gctrace.Cycle) {
	var number int64
	var now time.Duration
	for ; len(data) >= perCycle && len(all) < 64; data = data[perCycle:] {
		size := func(at int) int64 { return int64(data[at]) << (data[1] % 32) }
		number += int64(data[0]%8) - 1
		now += time.Duration(data[2]) << (data[3] % 40)
		all = append(all, gctrace.Cycle{
			Number: number, Start: now, Working: time.Duration(data[4]) << (data[3] / 8), Forced: data[0]&8 != 0,
			Begin: size(5), End: size(6), Live: size(7), Goal: size(8), Stacks: size(9), Globals: size(10), Procs: int(data[11]),
		})
	}
	return all
}

// Whatever cycles there were, what is foretold of them is no panic, and no number that is none. FuzzRead of
// package gctrace has the texts.
func FuzzTrace(f *testing.F) {
	cycle := func(flags, live, end byte) []byte {
		return []byte{2 | flags, 0, 200, 24, 100, end - 2, end, live, end, 1, 1, 2}
	}
	f.Add(slices.Concat(cycle(0, 60, 120), cycle(0, 62, 121), cycle(0, 58, 119), cycle(0, 60, 120), cycle(0, 60, 120), cycle(0, 60, 120), cycle(0, 60, 120)))
	f.Add(slices.Concat(cycle(0, 60, 120), cycle(8, 60, 90), cycle(1, 80, 120)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var all Trace
		for _, c := range cyclesOf(data) {
			all.Add(c)
		}
		if all.lives == nil {
			return // gctrace.Read says that there is none
		}
		w, err := all.Window()
		if err != nil {
			return
		}
		number := func(e estimate.Estimate) bool {
			return !e.Known() || e.Low >= 0 && e.Low <= e.Mid && e.Mid <= e.High && !math.IsInf(e.High, 0)
		}
		if live := w.Live(); !number(live) {
			t.Errorf("%v alive", live)
		}
		for _, s := range w.Settings(1 << 30) {
			if row := w.Foretell(s); !number(row.Collections) || !number(row.Peak) || !number(row.Collector) {
				t.Errorf("%v: %+v", s, row)
			}
		}
	})
}

func TestUsual(t *testing.T) {
	for _, of := range []struct {
		gogc         float64
		usual, below int64
	}{{97, 100, 100}, {108, 100, 100}, {127, 127, 100}, {100, 100, 100}, {196, 200, 200}, {160, 150, 150}, {5000, 5000, 5000}, {0.2, 1, 1}} {
		if u, b := Usual(of.gogc), UsualBelow(of.gogc); u != of.usual || b != of.below {
			t.Errorf("%v is taken for %d, and %d where stacks are not known; want %d, %d", of.gogc, u, b, of.usual, of.below)
		}
	}
}
