// Package bars compares one figure of all contenders by the lengths of bars.
package bars

import (
	"maps"
	"slices"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// A Chart compares one figure of all contenders, from zero, with the range over the rounds. The
// page draws it with boxes, whose lengths are in percent.
type Chart struct {
	Title string
	Note  string
	Bars  []Bar
}

// A Bar is the bar of one contender.
type Bar struct {
	Contender     int
	Name          string
	Text, Spread  string
	Length        float64 // percent of the longest maximum
	Low, RangeLen float64
}

// Of returns the charts of a document: those of every scenario, then those of this one alone.
func Of(d result.Document) []Chart {
	figureOf := func(name string) func(c *result.Contender) (result.Figure, bool) {
		return func(c *result.Contender) (result.Figure, bool) { f, ok := c.Figures[name]; return f, ok }
	}
	var out []Chart
	set := map[string]bool{}
	for _, c := range d.Contenders {
		for name := range c.Figures {
			set[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		out = append(out, Compare(d, name, figure.Label(name), "", figureOf(name)))
	}
	throughput := ""
	if d.Scenario.Clocked() {
		throughput = "the generator sets it"
	}
	fixed := []Chart{
		Compare(d, "ops_per_sec", "Throughput, ops/s", throughput, func(c *result.Contender) (result.Figure, bool) { return c.OpsPerSec, true }),
		Compare(d, "gc_per_5s", "GC cycles in 5 s", "", func(c *result.Contender) (result.Figure, bool) { return c.GCPer5s, true }),
		Compare(d, "rss_peak_bytes", "Peak RSS", "", func(c *result.Contender) (result.Figure, bool) { return c.RSSPeakBytes, true }),
	}
	return append(fixed, out...)
}

// Compare returns the chart of one figure. of finds the figure of a contender.
func Compare(d result.Document, name, title, note string, of func(*result.Contender) (result.Figure, bool)) Chart {
	b := Chart{Title: title, Note: note}
	most := 0.0
	for i := range d.Contenders {
		if f, ok := of(&d.Contenders[i]); ok {
			most = max(most, f.Max)
		}
	}
	if most <= 0 {
		most = 1 // all values are zero: bars of no length
	}
	for i := range d.Contenders {
		f, ok := of(&d.Contenders[i])
		if !ok {
			continue
		}
		b.Bars = append(b.Bars, Bar{
			Contender: i, Name: d.Contenders[i].Name,
			Text: figure.Format(name, f.Median), Spread: figure.Format(name, f.Min) + " to " + figure.Format(name, f.Max),
			Length: 100 * f.Median / most, Low: 100 * f.Min / most, RangeLen: 100 * (f.Max - f.Min) / most,
		})
	}
	return b
}
