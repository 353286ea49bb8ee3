package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// grids lays a document out: what the scenario is about first, then times with
// their ratios and excess, then what the contenders cost.
func grids(d result.Document) []grid {
	all := []grid{flatGrid(d), figures(d), figureRatios(d), figureExcess(d), toolGrid(d), decayGrid(d), seriesSummary(d)}
	for _, ops := range reading(d.Scenario) {
		all = append(all, latencies(d, ops))
		if ops[0].key == "lag" { // the generator's: nothing to compare
			all = append(all, extremes(d, ops))
			continue
		}
		for _, op := range ops {
			all = append(all, latencyRatios(d, op))
		}
		all = append(all, latencyExcess(d, ops), extremes(d, ops))
	}
	main := []grid{throughput(d), resources(d)}
	switch {
	case slices.Contains([]string{"micro", "burst", "churn", soaked}, d.Scenario.Name):
		all = append(all, main...)
	default:
		all = append(main, all...)
	}
	return slices.DeleteFunc(all, grid.empty)
}

// reading is the operations in the order in which a reader needs them, those
// that share a table together.
func reading(sc result.Scenario) [][]operation {
	waits, pool := [][]operation{pick("response", "service"), pick("lag")}, [][]operation{pick("get", "put"), pick("push")}
	if sc.Mode == "open" {
		return append(waits, pool...)
	}
	return append(pool, waits...)
}

func throughput(d result.Document) grid {
	names := []string{"ops_per_sec", "alloc_bytes_per_op", "allocs_per_op", "rss_peak_bytes"}
	heads := []string{"ops/s", "min", "max"}
	for _, n := range names {
		heads = append(heads, label(n)+" ratio")
	}
	g := columns(d, "Throughput, and ratios to "+baseline, heads, func(c *result.Contender, i int) cell {
		switch i {
		case 0:
			return cell{text: count(c.OpsPerSec.Median)}
		case 1:
			return cell{text: count(c.OpsPerSec.Min)}
		case 2:
			return cell{text: count(c.OpsPerSec.Max)}
		}
		r, ok := c.Ratios[names[i-3]]
		return compared(names[i-3], r, ok)
	})
	g.notes = []string{confidences(d, names...)}
	switch d.Scenario.Mode {
	case "paced":
		g.notes = append(g.notes, "The pace is set, so ops/s tells only whether the contender kept up.")
	case "open":
		g.notes = append(g.notes, "Open mode: the generator sets the rate, so ops/s tells only whether the contender kept up.")
	}
	return g
}

func resources(d result.Document) grid {
	heads := []string{"GC / 5 s", "bytes/op", "allocs/op", "GC CPU", "peak RSS", "recorder"}
	names := []string{"gc_per_5s", "alloc_bytes_per_op", "allocs_per_op", "gc_cpu_share", "rss_peak_bytes", "recorder_bytes"}
	g := columns(d, "Garbage collection and memory", heads, func(c *result.Contender, i int) cell {
		f := []result.Figure{c.GCPer5s, c.AllocBytesPerOp, c.AllocsPerOp, c.GCCPUShare, c.RSSPeakBytes, c.RecorderBytes}
		return value(names[i], f[i])
	})
	g.notes = []string{"Peak RSS is the child process's and holds the recorder's bytes too."}
	return g
}

// figures are what only this scenario has.
func figures(d result.Document) grid {
	names := figureNames(d, func(name string) bool { return d.Scenario.Name != soaked || !inFlatGrid(name) })
	g := columns(d, "Scenario "+d.Scenario.Name, labelled(names), func(c *result.Contender, i int) cell {
		f, ok := c.Figures[names[i]]
		if !ok {
			return cell{text: none}
		}
		return value(names[i], f)
	})
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "_out_of_range") }) {
		g.notes = append(g.notes, "Out of range: times that the recorder could not keep. The percentiles of that operation miss them.")
	}
	return g
}

func figureRatios(d result.Document) grid {
	names := figureNames(d, func(string) bool { return true })
	g := columns(d, "Ratios to "+baseline, labelled(names), func(c *result.Contender, i int) cell {
		r, ok := c.Ratios[names[i]]
		return compared(names[i], r, ok)
	})
	g.notes = []string{confidences(d, names...)}
	return g
}

func figureExcess(d result.Document) grid {
	names := figureNames(d, isTime)
	return columns(d, excessTitle, labelled(names), func(c *result.Contender, i int) cell {
		return over(c, names[i])
	})
}

func figureNames(d result.Document, keep func(string) bool) []string {
	set := map[string]bool{}
	for _, c := range d.Contenders {
		for name := range c.Figures {
			if keep(name) {
				set[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func labelled(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, label(n))
	}
	return out
}
