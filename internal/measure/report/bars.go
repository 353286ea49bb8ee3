package report

import (
	"maps"
	"slices"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// A barChart compares one figure of all contenders, from zero, with the range
// over the rounds. The page draws it with boxes: their lengths are in percent.
type barChart struct {
	Title string
	Note  string
	Bars  []bar
}

type bar struct {
	Contender     int
	Name          string
	Text, Spread  string
	Length        float64 // percent of the longest maximum
	Low, RangeLen float64
}

func barCharts(d result.Document) []barChart {
	figureOf := func(name string) func(c *result.Contender) (result.Figure, bool) {
		return func(c *result.Contender) (result.Figure, bool) { f, ok := c.Figures[name]; return f, ok }
	}
	var out []barChart
	set := map[string]bool{}
	for _, c := range d.Contenders {
		for name := range c.Figures {
			set[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		out = append(out, bars(d, name, label(name), "", figureOf(name)))
	}
	throughput := ""
	if setRate(d.Scenario) {
		throughput = "the generator sets it"
	}
	fixed := []barChart{
		bars(d, "ops_per_sec", "Throughput, ops/s", throughput, func(c *result.Contender) (result.Figure, bool) { return c.OpsPerSec, true }),
		bars(d, "gc_per_5s", "GC cycles in 5 s", "", func(c *result.Contender) (result.Figure, bool) { return c.GCPer5s, true }),
		bars(d, "rss_peak_bytes", "Peak RSS", "", func(c *result.Contender) (result.Figure, bool) { return c.RSSPeakBytes, true }),
	}
	return append(fixed, out...)
}

func bars(d result.Document, name, title, note string, of func(*result.Contender) (result.Figure, bool)) barChart {
	b := barChart{Title: title, Note: note}
	most := 0.0
	for i := range d.Contenders {
		if f, ok := of(&d.Contenders[i]); ok {
			most = max(most, f.Max)
		}
	}
	if most <= 0 {
		most = 1 // all zero: bars of no length
	}
	for i := range d.Contenders {
		f, ok := of(&d.Contenders[i])
		if !ok {
			continue
		}
		b.Bars = append(b.Bars, bar{
			Contender: i, Name: d.Contenders[i].Name,
			Text: format(name, f.Median), Spread: format(name, f.Min) + " to " + format(name, f.Max),
			Length: 100 * f.Median / most, Low: 100 * f.Min / most, RangeLen: 100 * (f.Max - f.Min) / most,
		})
	}
	return b
}
