package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/axis"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/load"
)

// inUnit writes a value in the metric's unit, as far as its name tells.
func inUnit(m load.Metric, v float64) string {
	if strings.HasSuffix(m.Name, "bytes") {
		return figure.Plain("_bytes", v)
	}
	return figure.Count(v)
}

// aboutTarget returns what the report says of the target itself.
func aboutTarget(r *load.Result) []string {
	lines := slices.Clone(r.Target.Notes)
	told := false
	for _, a := range r.Attribution {
		beyond := a.Beyond
		for _, p := range percentiles {
			if p.name == a.Beyond {
				beyond = p.label
			}
		}
		if a.CannotTell != "" {
			lines = append(lines, fmt.Sprintf("%s: cannot tell what lies beyond %s: %s", a.Cause, beyond, a.CannotTell))
			continue
		}
		told = true
		lines = append(lines, fmt.Sprintf("%s [%s, %s] of what lies beyond %s coincides with the %s beyond chance (%d requests: observed %s, by chance %s)",
			figure.Percent(a.Explained), figure.Percent(a.Low), figure.Percent(a.High), beyond, a.Cause, a.Requests, figure.Percent(a.Observed), figure.Percent(a.Chance)))
	}
	if told {
		lines = append(lines, "That is not what would be gained without it.")
	}
	for _, m := range r.Metrics {
		low, high := slices.Min(m.Values), slices.Max(m.Values)
		rate := ""
		if m.Rate {
			rate = " a second"
		}
		lines = append(lines, fmt.Sprintf("target's %s: %s to %s%s", m.Name, inUnit(m, low), inUnit(m, high), rate))
	}
	return lines
}

// metricCharts draws the target's metrics, on the same seconds as the latency above them.
func metricCharts(r *load.Result) []page.Chart {
	var charts []page.Chart
	for _, m := range r.Metrics {
		line := page.Curve{Name: m.Name}
		for i, at := range m.At {
			line.Points = append(line.Points, [2]float64{at, m.Values[i]})
		}
		if len(line.Points) < 2 {
			continue
		}
		title := "Target: " + m.Name
		if m.Rate {
			title += ", a second"
		}
		lines := []page.Curve{line}
		_, _, _, high := page.Bounds(lines)
		charts = append(charts, page.Chart{Title: title, Over: page.Seconds, Curves: lines, X: seconds(r), Y: axis.Linear(0, max(1, 1.05*high), 5, func(v float64) string { return inUnit(m, v) })})
	}
	return charts
}
