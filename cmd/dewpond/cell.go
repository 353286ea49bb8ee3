package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

// A cell is one way to use a pool in scenario rivals: another scenario with parameters of its own.
type cell struct {
	name, about string
	times       []string // the figures that may be its time: the first that the system has
	scenario    workload.Scenario
	adapt       func(*workload.Spec)
}

var (
	// perOperation is the time of a cell that runs as many operations as it can. Other processes
	// change the processor time less than the wall time.
	perOperation = []string{"operation_cpu_ns", "operation_ns"}

	oneSize   = workload.Mix{{Size: 512, Percent: 100}}
	manySizes = workload.Mix{{Size: 64, Percent: 25}, {Size: 300, Percent: 25}, {Size: 1000, Percent: 20}, {Size: 2000, Percent: 15}, {Size: 5000, Percent: 10}, {Size: 12_000, Percent: 5}}
)

// cells returns all cells, in the order of the report.
func cells() []cell {
	var all []cell
	add := func(name, about string, times []string, s workload.Scenario, adapt func(*workload.Spec)) {
		all = append(all, cell{name, about, times, s, adapt})
	}
	traffic := func(name, about string, adapt func(*workload.Spec)) {
		for _, sizes := range []struct {
			name, about string
			mix         workload.Mix
		}{{"one", "one size", oneSize}, {"many", "many sizes", manySizes}} {
			add(name+"-"+sizes.name, about+", "+sizes.about, perOperation, workload.Mixed, func(s *workload.Spec) {
				s.Mix, s.Duration, s.Clearing = sizes.mix, 300*time.Millisecond, false
				// To time an operation takes longer than the operation. One in 64 leaves a
				// thousand of them, which P99 takes, in a quarter of the time.
				s.Sample = 64
				adapt(s)
			})
		}
	}
	for _, n := range []int{1, 8, 64} {
		goroutines := "1 goroutine"
		if n > 1 {
			goroutines = fmt.Sprintf("%d goroutines", n)
		}
		traffic(fmt.Sprintf("steady-%d", n), "steady, "+goroutines, func(s *workload.Spec) { s.Goroutines = n })
	}
	traffic("collector", "beside a collector, 8 goroutines", func(s *workload.Spec) { s.Goroutines, s.Garbage = 8, 200e6 })
	traffic("pipeline", "got here and put there, 8 goroutines", func(s *workload.Spec) {
		s.Goroutines, s.Hold = 8, workload.Hold{Pass: true}
	})
	// P99 takes a thousand blocks in each round, and so in one burst.
	add("burst", "bursts of 1500 blocks of 16 KiB, 3 collections between them", []string{"second_burst_ns"}, workload.Burst, func(s *workload.Spec) {
		s.Mix, s.Blocks, s.Duration = workload.Mix{{Size: 16 << 10, Percent: 100}}, 1500, 800*time.Millisecond
	})
	add("beyond", "bursts of 8000 blocks of 64 KiB, beyond the idle bound", []string{"cpu_time_ns"}, workload.Beyond, func(s *workload.Spec) {
		s.Blocks, s.Bursts, s.Duration = 8000, 4, 300*time.Millisecond
	})
	// P99 as in beyond. A quarter of the limit and 64 MiB are 5120 of the blocks.
	add("limit", "bursts of 8000 blocks of 64 KiB, memory limit 1 GiB", []string{"cpu_time_ns"}, workload.Beyond, func(s *workload.Spec) {
		s.Blocks, s.Bursts, s.Duration, s.MemoryLimit = 8000, 4, 300*time.Millisecond, 1<<30
	})
	for _, c := range []struct {
		name, about string
		size        int
	}{{"default-8k", "8 KiB", 8 << 10}, {"default-64k", "64 KiB", 64 << 10}} {
		add(c.name, "steady, 1 goroutine, blocks of "+c.about+" written at both ends", perOperation, workload.Mixed, func(s *workload.Spec) {
			s.Goroutines, s.Mix, s.Duration, s.Sample = 1, workload.Mix{{Size: c.size, Percent: 100}}, 300*time.Millisecond, 64
			s.Written, s.Clearing, s.ZeroDefault = 8, false, true
		})
	}
	return all
}

// cellNames returns the names of cells.
func cellNames(all []cell) []string {
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	return names
}

// findCells returns the cells with these names, in the order of all; all if there are none.
func findCells(names []string) ([]cell, error) {
	all := cells()
	for _, name := range names {
		if !slices.Contains(cellNames(all), name) {
			return nil, fmt.Errorf("unknown cell %q: valid are %s", name, strings.Join(cellNames(all), ", "))
		}
	}
	if names == nil {
		return all, nil
	}
	return slices.DeleteFunc(all, func(c cell) bool { return !slices.Contains(names, c.name) }), nil
}

// spec returns what the cell asks of a round.
func (c cell) spec() workload.Spec {
	s := c.scenario.Defaults
	s.Scenario, s.Pairs = c.scenario.Name, true
	c.adapt(&s)
	return s
}

// plan returns what the cell runs.
func (c cell) plan(contenders []string, rounds int, quick bool) plan {
	p := plan{scenario: c.scenario, spec: c.spec(), contenders: contenders, rounds: rounds}
	if quick {
		p.spec.Duration /= quickDivisor
	}
	return p
}

// describe returns the cell as the report has it, without its rivals. part is what was measured.
func (c cell) describe(part bench.Document) bench.Cell {
	time, collections := had(part, c.times), had(part, []string{"collections", "gc_per_5s"})
	return bench.Cell{Name: c.name, About: c.about, Zero: c.spec().Policy(), Figures: []bench.CellFigure{
		{Label: "time", Figure: time, About: figureAbout[time]},
		{Label: "P99", Figure: "pair_p99_ns", About: "of one Get and the Put of its block, timed together; in bursts with the first write to the block"},
		{Label: "peak RSS", Figure: "rss_peak_bytes", About: "of the process"},
		{Label: "collections", Figure: collections, About: figureAbout[collections]},
	}}
}

// had returns the first of the names whose figure only this scenario has, or the last.
func had(part bench.Document, names []string) string {
	own := figures.Names(part)
	for _, name := range names {
		if slices.Contains(own, name) {
			return name
		}
	}
	return names[len(names)-1]
}

// figureAbout says what a figure is that is not the same in all cells.
var figureAbout = map[string]string{
	"operation_cpu_ns": "processor time of the process, divided by its operations",
	"operation_ns":     "wall time divided by the operations of all goroutines",
	"second_burst_ns":  "of a burst after collections",
	"cpu_time_ns":      "processor time of all bursts",
	"gc_per_5s":        "in 5 s",
	"collections":      "in all bursts",
}
