package table

import (
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Of returns the tables of a document: first the point of the scenario, then times with their
// ratios and excess, then what the contenders cost. [Answers] is not among them.
func Of(d bench.Document) []Table {
	all := []Table{rivals(d), own(d), figureRatios(d), figureExcess(d), tools(d), decay(d), overTime(d)}
	for _, ops := range figures.InReadingOrder(d.Scenario) {
		all = append(all, latencies(d, ops))
		if ops[0].Key == "lag" { // the generator's: there is nothing to compare
			all = append(all, extremes(d, ops))
			continue
		}
		for _, op := range ops {
			all = append(all, latencyRatios(d, op))
		}
		all = append(all, latencyExcess(d, ops), extremes(d, ops))
	}
	main := []Table{throughput(d), resources(d)}
	if d.Scenario.Shape().Point == bench.Rate {
		all = append(main, all...)
	} else {
		all = append(all, main...)
	}
	for i := range all {
		all[i].Notes = slices.DeleteFunc(all[i].Notes, func(n string) bool { return n == "" })
	}
	return slices.DeleteFunc(all, Table.empty)
}

// throughput shows the rate if the contender sets it or must keep up with it, and ratios of what
// every scenario has.
func throughput(d bench.Document) Table {
	title := "Throughput, and ratios to " + bench.Baseline
	heads := []string{"ops/s", "min", "max"}
	var names []string
	switch {
	case d.Scenario.SetsRate():
		names = []string{"ops_per_sec"}
	case !d.Scenario.Clocked():
		title, heads = "Ratios to "+bench.Baseline, nil
	}
	rates := len(heads)
	names = append(names, "alloc_bytes_per_op", "allocs_per_op", "rss_peak_bytes")
	for _, n := range names {
		heads = append(heads, figures.Label(n)+" ratio")
	}
	g := columns(d, title, heads, func(c *bench.Contender, i int) Cell {
		if i < rates {
			return Cell{Text: figure.Count([]float64{c.OpsPerSec.Median, c.OpsPerSec.Min, c.OpsPerSec.Max}[i])}
		}
		return compared(d, c, names[i-rates])
	})
	g.Notes = []string{confidences(d, names...)}
	switch d.Scenario.Mode {
	case "paced":
		g.Notes = append(g.Notes, "The clock sets the pace, so ops/s tells only whether the contender kept up.")
	case "open":
		g.Notes = append(g.Notes, "Open mode: the generator sets the rate, so ops/s tells only whether the contender kept up.")
	}
	return g
}

func resources(d bench.Document) Table {
	heads := []string{"GC / 5 s", "bytes/op", "allocs/op", "GC CPU", "peak RSS", "recorder"}
	names := []string{"gc_per_5s", "alloc_bytes_per_op", "allocs_per_op", "gc_cpu_share", "rss_peak_bytes", "recorder_bytes"}
	g := columns(d, "Garbage collection and memory", heads, func(c *bench.Contender, i int) Cell {
		f := []result.Figure{c.GCPer5s, c.AllocBytesPerOp, c.AllocsPerOp, c.GCCPUShare, c.RSSPeakBytes, c.RecorderBytes}
		return value(names[i], f[i])
	})
	g.Notes = []string{"Peak RSS is that of the child process, with the recorder in it."}
	return g
}

// own shows the figures of this scenario alone.
func own(d bench.Document) Table {
	names := figures.Names(d)
	g := columns(d, "Scenario "+d.Scenario.Name, labelled(names), func(c *bench.Contender, i int) Cell {
		f, ok := c.Figures[names[i]]
		if !ok {
			return Cell{Text: none}
		}
		return value(names[i], f)
	})
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "_out_of_range") }) {
		g.Notes = append(g.Notes, "Out of range: times that the recorder could not keep. The percentiles of that operation lack them.")
	}
	return g
}

func figureRatios(d bench.Document) Table {
	names := figures.Names(d)
	g := columns(d, "Ratios to "+bench.Baseline, labelled(names), func(c *bench.Contender, i int) Cell {
		return compared(d, c, names[i])
	})
	g.Notes = []string{confidences(d, names...)}
	if differs(d, names...) {
		g.Notes = append(g.Notes, differing)
	}
	return g
}

func figureExcess(d bench.Document) Table {
	names := slices.DeleteFunc(figures.Names(d), func(name string) bool { return !figure.IsTime(name) })
	return columns(d, excessTitle, labelled(names), func(c *bench.Contender, i int) Cell {
		return over(c, names[i])
	})
}

func labelled(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, figures.Label(n))
	}
	return out
}
