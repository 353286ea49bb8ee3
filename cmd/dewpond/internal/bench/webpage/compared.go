package webpage

import (
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/bars"
)

// compared returns the charts of a document: the point of the scenario first, then what every scenario
// has. Where a figure is zero for all there is nothing to see, and the tables have it.
func compared(d bench.Document) []bars.Chart {
	var out []bars.Chart
	add := func(name, title, note string) {
		if c := bars.Compare(figures.Values(d, name), name, title, note); shows(c) {
			out = append(out, c)
		}
	}
	for _, name := range figures.Names(d) {
		label := figures.Label(name)
		add(name, strings.ToUpper(label[:1])+label[1:], "")
	}
	switch {
	case d.Scenario.SetsRate():
		add("ops_per_sec", "Throughput, ops/s", "more is better")
	case d.Scenario.Clocked():
		add("ops_per_sec", "Throughput, ops/s", "the clock sets it")
	}
	add("gc_per_5s", "GC cycles in 5 s", "")
	add("rss_peak_bytes", "Peak RSS", "")
	return out
}

// shows reports whether the chart has a bar of some length.
func shows(c bars.Chart) bool {
	return slices.ContainsFunc(c.Bars, func(b bars.Bar) bool { return b.High > 0 })
}
