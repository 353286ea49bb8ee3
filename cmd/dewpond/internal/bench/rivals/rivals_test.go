package rivals_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/rivals"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// What needs more is lost and what needs less is won, in each figure of each cell, beside each rival.
// What is level, or less than Most apart, is neither.
func TestBothWays(t *testing.T) {
	for times, want := range map[float64]struct{ lost, won bool }{1.5: {true, false}, 1 / 1.5: {false, true}, 1: {}, 1.06: {}, 1 / 1.06: {}} {
		d := synthetic.Rivals(times)
		all := rivals.Matches(d)
		// dewpond beside four rivals and three, and dewsync beside one, in four figures.
		if len(all) != 4*(4+3+1+1) {
			t.Fatalf("%d matches", len(all))
		}
		seen := map[string]int{}
		for _, m := range all {
			seen[m.Cell.Name+" "+m.Figure.Label+" "+m.Ours+" "+m.Rival]++
			if m.Ratio == nil { // beside syncpool, which has no collections in the burst, anything is more
				if m.Cell.Name != "burst" || m.Figure.Label != "collections" || m.Rival != bench.Plain || !m.Lost() || m.Side != string(verdict.Worse) {
					t.Errorf("%v times: %+v", times, m)
				}
				continue
			}
			if math.Abs(m.Ratio.Median/times-1) > 0.04 {
				t.Errorf("%v times: %s of %s beside %s in %s is %+v", times, m.Figure.Label, m.Ours, m.Rival, m.Cell.Name, m.Ratio)
			}
			if m.Lost() != want.lost || m.Won() != want.won || !m.Judged() {
				t.Errorf("%v times: %s of %s beside %s: lost %v, won %v", times, m.Figure.Label, m.Ours, m.Rival, m.Lost(), m.Won())
			}
		}
		if len(seen) != len(all) || seen["burst peak RSS dewpond mcache"] != 1 || seen["steady-8-one time dewsync syncpool"] != 1 || seen["steady-8-one P99 dewpond nop"] != 0 {
			t.Errorf("%d of %d matches differ: %v", len(seen), len(all), seen)
		}
	}
}

// A match is lost above Most by an interval that excludes 1, and won likewise.
func TestLostAndWon(t *testing.T) {
	ratio := func(median, low, high float64, rounds int) bench.Beside {
		return bench.Beside{Ratio: &result.Ratio{Median: median, Low: low, High: high, Rounds: rounds}, Side: "some"}
	}
	difference := func(low, high float64, rounds int) bench.Beside {
		return bench.Beside{Difference: &result.Excess{Median: (low + high) / 2, Low: low, High: high, Rounds: rounds}, Side: "some"}
	}
	unjudged := ratio(2, 1.9, 2.1, 6)
	unjudged.Side = ""
	for _, test := range []struct {
		of        bench.Beside
		lost, won bool
	}{
		{ratio(1.11, 1.01, 1.3, 6), true, false},
		{ratio(1.11, 1, 1.3, 6), false, false},
		{ratio(1.1, 1.09, 1.11, 6), false, false},
		{ratio(1.11, 1.1, 1.12, 5), false, false},
		{ratio(0.9, 0.8, 0.99, 6), false, true},
		{ratio(0.9, 0.8, 1, 6), false, false},
		{ratio(0.91, 0.9, 0.92, 6), false, false},
		{ratio(0, 0, 0, 6), false, true},
		{difference(1, 3, 6), true, false},
		{difference(0, 3, 6), false, false},
		{difference(-3, -1, 6), false, true},
		{difference(1, 3, 5), false, false},
		{unjudged, false, false},
	} {
		m := rivals.Match{Beside: test.of}
		if m.Lost() != test.lost || m.Won() != test.won {
			t.Errorf("%+v %+v: lost %v, won %v", test.of.Ratio, test.of.Difference, m.Lost(), m.Won())
		}
	}
}

// Losses begin with what the rival has none of, and then with the largest ratio.
func TestLosses(t *testing.T) {
	d := synthetic.Rivals(1.5)
	got := rivals.Losses(d)
	if len(got) != len(rivals.Matches(d)) {
		t.Fatalf("%d of %d matches are lost", len(got), len(rivals.Matches(d)))
	}
	for i, m := range got {
		switch {
		case i < 2 && m.Ratio != nil:
			t.Errorf("loss %d is %+v, want a difference first", i, m.Ratio)
		case i > 2 && m.Ratio.Median > got[i-1].Ratio.Median:
			t.Errorf("loss %d is larger than the one before", i)
		}
	}
	if got := rivals.Losses(synthetic.Rivals(0.5)); len(got) != 2 {
		t.Errorf("%d are lost where only a rival without collections has less, want dewpond's and dewsync's", len(got))
	}
}

// Where the control shows no less than both, the difference is the driver's: it has no other side,
// in either direction.
func TestUnseen(t *testing.T) {
	for _, times := range []float64{1.5, 1 / 1.5} {
		rounds := synthetic.RivalsRounds(times)
		const cell = "steady-8-one"
		for i, r := range rounds[cell] {
			if r.Contender == bench.Control {
				rounds[cell][i].Figures["operation_cpu_ns"] = 1000
			}
		}
		for _, m := range rivals.Matches(synthetic.RivalsOf(rounds, false)) {
			unseen := m.Cell.Name == cell && m.Figure.Label == "time"
			if (m.Side == string(verdict.Unseen)) != unseen {
				t.Errorf("%v times: %s in %s is %q", times, m.Figure.Label, m.Cell.Name, m.Side)
			}
		}
	}
}

// With --quick, and with five rounds, there are ratios and no verdict. A contender that was left out
// has a reason and no figures. Without dewpond there is nothing to say of it, and without syncpool
// nothing of dewsync.
func TestNothingToSay(t *testing.T) {
	rounds := synthetic.RivalsRounds(1.5)
	quick := synthetic.RivalsOf(rounds, true)
	few := map[string][]result.Round{}
	without := func(names ...string) map[string][]result.Round {
		out := map[string][]result.Round{}
		for cell, all := range rounds {
			out[cell] = slices.DeleteFunc(slices.Clone(all), func(r result.Round) bool { return slices.Contains(names, r.Contender) })
		}
		return out
	}
	for cell, all := range rounds {
		few[cell] = slices.DeleteFunc(slices.Clone(all), func(r result.Round) bool { return r.Round == 0 })
	}
	for name, test := range map[string]struct {
		d       bench.Document
		matches int
		why     string
	}{
		"quick":   {quick, 36, "--quick"},
		"few":     {synthetic.RivalsOf(few, false), 36, "too few rounds"},
		"neither": {synthetic.RivalsOf(without(bench.Ours, bench.Plain), false), 0, "it compares dewpond with others"},
		"alone":   {synthetic.RivalsOf(without(bench.Ours), false), 8, ""},
	} {
		all := rivals.Matches(test.d)
		if len(all) != test.matches {
			t.Errorf("%s: %d matches, want %d", name, len(all), test.matches)
		}
		for _, m := range all {
			if m.Judged() != (test.why == "") {
				t.Errorf("%s: judged is %v: %+v", name, m.Judged(), m)
			}
		}
		if got := words.Withheld(test.d); (got == "") != (test.why == "") || !strings.Contains(got, test.why) {
			t.Errorf("%s: withheld is %q, want %q", name, got, test.why)
		}
		if said := words.Of(test.d).All(); (len(said) == 0) != (test.why != "") {
			t.Errorf("%s: it says %q", name, said)
		}
	}
	last := quick.Cells[1].Rivals[len(quick.Cells[1].Rivals)-1]
	if last.Name != "bpool" || last.LeftOut == "" || last.Figures != nil {
		t.Errorf("bpool in the burst is %+v, want one that is left out", last)
	}
}

// Resident memory of a system that does not tell is not compared.
func TestNoRSS(t *testing.T) {
	rounds := synthetic.RivalsRounds(1.5)
	for _, all := range rounds {
		for i := range all {
			all[i].RSSPeakBytes = 0
		}
	}
	for _, m := range rivals.Matches(synthetic.RivalsOf(rounds, false)) {
		if m.Figure.Label == "peak RSS" {
			t.Errorf("peak RSS of 0 bytes is compared: %+v", m.Beside)
		}
	}
}
