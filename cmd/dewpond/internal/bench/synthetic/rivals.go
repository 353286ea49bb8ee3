package synthetic

import (
	"math/rand/v2"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/rivals"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Rivals returns the document of scenario rivals with two cells, in which dewpond and dewsync need so
// many times what the others do, of everything. The second cell has no bpool, and no control.
func Rivals(times float64) bench.Document { return RivalsOf(RivalsRounds(times), false) }

// RivalsOf is Rivals of these rounds.
func RivalsOf(rounds map[string][]result.Round, quick bool) bench.Document {
	d := bench.Document{
		Schema: bench.Schema, Environment: Environment, Contenders: []bench.Contender{},
		Scenario: bench.Scenario{Name: bench.Contest, Rounds: 6, Quick: quick}, Command: []string{"dewpond", "bench", "rivals"},
	}
	for _, cell := range rivalsCells() {
		s := Mixed
		s.Goroutines, s.Quick = 8, quick
		part := Document(s, rounds[cell.Name])
		if err := rivals.Fill(&cell, part, rounds[cell.Name]); err != nil {
			panic(err)
		}
		d.Parts, d.Cells = append(d.Parts, part), append(d.Cells, cell)
	}
	d.Words = words.Of(d).All()
	return d
}

// rivalsCells are cells without the rivals that take part.
func rivalsCells() []bench.Cell {
	common := []bench.CellFigure{
		{Label: "P99", Figure: "pair_p99_ns", About: "of one Get and the Put of its block"},
		{Label: "peak RSS", Figure: "rss_peak_bytes", About: "of the process"},
		{Label: "collections", Figure: "gc_per_5s", About: "in 5 s"},
	}
	return []bench.Cell{
		{
			Name: "steady-8-one", About: "steady, 8 goroutines, one size", Zero: "ZeroNever",
			Figures: append([]bench.CellFigure{{Label: "time", Figure: "operation_cpu_ns", About: "processor time of an operation"}}, common...),
		},
		{
			Name: "burst", About: "bursts of 1500 blocks", Zero: "ZeroOnPut",
			Figures: append([]bench.CellFigure{{Label: "time", Figure: "second_burst_ns", About: "of a burst"}}, common...),
			Rivals: []bench.Rival{
				{Name: "nop", LeftOut: "what one goroutine gets another cannot put back"},
				{Name: "bpool", LeftOut: "its blocks are of one size"},
			},
		},
	}
}

// RivalsRounds returns six rounds of each contender in each cell.
func RivalsRounds(times float64) map[string][]result.Round {
	rng := rand.New(rand.NewPCG(90, 1))
	jitter := func(v float64) float64 { return v * (1 + 0.01*rng.NormFloat64()) }
	out := map[string][]result.Round{}
	for _, cell := range rivalsCells() {
		for i := range 6 {
			for k, name := range []string{"nop", bench.Plain, bench.Baseline, "mcache", "bpool", bench.Ours, bench.Synced} {
				left := false
				for _, r := range cell.Rivals {
					left = left || r.Name == name
				}
				if left {
					continue
				}
				needs := 1.0
				switch name {
				case bench.Ours, bench.Synced:
					needs = times
				case "nop":
					needs = 0.3
				}
				r := result.Round{Contender: name, Round: i, Ops: 1e6, Seconds: 1, RecorderBytes: 62_000}
				r.RSSPeakBytes = uint64(jitter(20e6 * needs))
				if r.GCCycles = uint64(jitter(100 * needs)); k == 1 && cell.Name == "burst" {
					r.GCCycles = 0 // of syncpool, so that there is no ratio to it
				}
				r.Figures = map[string]float64{cell.Figures[0].Figure: jitter(200 * needs)}
				r.Histograms = map[string][]byte{"pair": Lognormal(rng, 60*needs, 0.1, 5_000)}
				out[cell.Name] = append(out[cell.Name], r)
			}
		}
	}
	return out
}
