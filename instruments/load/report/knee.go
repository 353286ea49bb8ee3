package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/dewpond/dewpond/instruments/internal/rates"
	"github.com/dewpond/dewpond/instruments/kit/axis"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/load"
)

// byRate returns the rows by rate.
func byRate(k *load.Knee) []load.KneeRate {
	return slices.SortedStableFunc(slices.Values(k.Rows), func(a, b load.KneeRate) int { return cmp.Compare(a.Rate, b.Rate) })
}

// kneeTable has a row for each run.
func kneeTable(k *load.Knee) [][]string {
	rows := [][]string{{"rate", "achieved", "P50", "P99", "P999", "in flight", "Little's law", ""}}
	for _, r := range byRate(k) {
		little, holds := "kept", "holds"
		if !r.Little {
			little = "BROKEN"
		}
		if !r.Holds {
			holds = "does not: " + r.Why
		}
		rows = append(rows, []string{
			rates.Text(r.Rate), rates.Text(r.Achieved), cell(r.P50), cell(r.P99), cell(r.P999), figure.Count(r.InFlight), little, holds,
		})
	}
	return rows
}

// kneeNotes says what a broken row means.
func kneeNotes(k *load.Knee) []string {
	if !slices.ContainsFunc(k.Rows, func(r load.KneeRate) bool { return !r.Little }) {
		return nil
	}
	return []string{"A row that breaks Little's law has not as many in flight as rate x response: it is not in a steady state, or wrong."}
}

// writeKnee writes the rows by rate and the sentence, and which rate the rest of the report is of.
func writeKnee(w io.Writer, r *load.Result) {
	if r.Knee == nil {
		return
	}
	fmt.Fprintf(w, "%s\nSLO: %s\n\n", r.Knee.Sentence, r.Knee.SLO)
	for _, line := range columns.Remarked(kneeTable(r.Knee)) {
		fmt.Fprintln(w, line)
	}
	for _, n := range kneeNotes(r.Knee) {
		fmt.Fprintln(w, n)
	}
	fmt.Fprintf(w, "\nOf %s:\n\n", rates.Text(r.Rate))
}

// kneeCharts draw the percentiles of the response, and what was reached, over the rate. A rate
// that was run several times has the median of its runs.
func kneeCharts(r *load.Result) []page.Chart {
	if r.Knee == nil {
		return nil
	}
	p50, p99, p999 := page.Curve{Name: "P50"}, page.Curve{Name: "P99"}, page.Curve{Name: "P999"}
	achieved := page.Curve{Name: "reached"}
	rows := byRate(r.Knee)
	for len(rows) > 0 {
		rate := rows[0].Rate
		n := 1
		for n < len(rows) && rows[n].Rate == rate {
			n++
		}
		add := func(l *page.Curve, of func(load.KneeRate) *float64) {
			var all []float64
			for _, row := range rows[:n] {
				if v := of(row); v != nil {
					all = append(all, *v)
				}
			}
			if len(all) > 0 {
				l.Points = append(l.Points, [2]float64{rate, quantile.Median(all)})
			}
		}
		add(&p50, func(r load.KneeRate) *float64 { return r.P50 })
		add(&p99, func(r load.KneeRate) *float64 { return r.P99 })
		add(&p999, func(r load.KneeRate) *float64 { return r.P999 })
		add(&achieved, func(r load.KneeRate) *float64 { return &r.Achieved })
		rows = rows[n:]
	}
	var marks []page.Mark
	if r.Knee.Holds > 0 {
		marks = []page.Mark{{At: r.Knee.Holds, Name: rates.Text(r.Knee.Holds) + " holds"}}
	}
	var charts []page.Chart
	for _, c := range []struct {
		title string
		lines []page.Curve
		time  bool // and not a rate
	}{
		{"Response over the rate", []page.Curve{p50, p99, p999}, true},
		{"Reached over the rate that was asked for", []page.Curve{achieved}, false},
	} {
		lines := slices.DeleteFunc(c.lines, func(l page.Curve) bool { return len(l.Points) < 2 })
		_, right, low, high := page.Bounds(lines)
		unit, y := "", axis.Linear(0, 1.05*high, 5, rates.Text)
		if c.time {
			unit, y = "ns", axis.Log(max(1, 0.85*low), 1.15*high, axis.Of("_ns"))
		}
		charts = append(charts, page.Chart{Title: c.title, Over: page.Plain, Unit: unit, X: axis.Linear(0, 1.02*right, 8, rates.Text), Y: y, Curves: lines, Marks: marks})
	}
	return charts
}
