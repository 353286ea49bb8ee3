package load

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/axis"
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/load/internal/chart"
)

// A Knee is the highest rate at which a target keeps what is asked of it, as dewload find looks
// for it.
type Knee struct {
	SLO  string     `json:"slo"`
	Rows []KneeRate `json:"rows"` // in the order in which they were tried
	// Holds is the rate that was found; 0 if the lowest does not hold. Fails is the lowest rate
	// that does not; 0 if none was found.
	Holds    float64 `json:"holds"`
	Fails    float64 `json:"fails"`
	Sentence string  `json:"sentence"`
}

// A KneeRate is one rate that was tried.
type KneeRate struct {
	Rate     float64  `json:"rate"`
	Achieved float64  `json:"achieved"` // finished a second, while sessions began
	P50      *float64 `json:"p50_ns,omitempty"`
	P99      *float64 `json:"p99_ns,omitempty"`
	P999     *float64 `json:"p999_ns,omitempty"`
	InFlight float64  `json:"in_flight"` // mean
	Holds    bool     `json:"holds"`
	Why      string   `json:"why,omitempty"` // it does not
	// Generator reports that the generator, and not the target, is why.
	Generator bool `json:"generator,omitempty"`
	// Little reports whether in flight = rate x response.
	Little bool `json:"little"`
}

// byRate returns the rows by rate.
func (k *Knee) byRate() []KneeRate {
	return slices.SortedStableFunc(slices.Values(k.Rows), func(a, b KneeRate) int { return cmp.Compare(a.Rate, b.Rate) })
}

// table has a row for each run.
func (k *Knee) table() [][]string {
	rows := [][]string{{"rate", "achieved", "P50", "P99", "P999", "in flight", "Little's law", ""}}
	for _, r := range k.byRate() {
		little, holds := "kept", "holds"
		if !r.Little {
			little = "BROKEN"
		}
		if !r.Holds {
			holds = "does not: " + r.Why
		}
		rows = append(rows, []string{
			PerSecond(r.Rate), PerSecond(r.Achieved), cell(r.P50), cell(r.P99), cell(r.P999), figure.Count(r.InFlight), little, holds,
		})
	}
	return rows
}

// notes says what a broken row means.
func (k *Knee) notes() []string {
	if !slices.ContainsFunc(k.Rows, func(r KneeRate) bool { return !r.Little }) {
		return nil
	}
	return []string{"A row that breaks Little's law has not as many in flight as rate x response: it is not in a steady state, or wrong."}
}

// PerSecond formats a rate.
func PerSecond(rate float64) string { return figure.Significant(rate) + "/s" }

// writeKnee writes the rows by rate and the sentence, and which rate the rest of the report is of.
func (r *Result) writeKnee(w io.Writer) {
	if r.Knee == nil {
		return
	}
	fmt.Fprintf(w, "%s\nSLO: %s\n\n", r.Knee.Sentence, r.Knee.SLO)
	rows := r.Knee.table()
	var whys []string // sentences stand at the left, and behind the figures
	for i, row := range rows {
		last := len(row) - 1
		whys = append(whys, row[last])
		rows[i] = row[:last]
	}
	for i, line := range (&table{rows: rows}).lines() {
		fmt.Fprintln(w, strings.TrimRight(line+"  "+whys[i], " "))
	}
	for _, n := range r.Knee.notes() {
		fmt.Fprintln(w, n)
	}
	fmt.Fprintf(w, "\nOf %s:\n\n", PerSecond(r.Rate))
}

// kneeCharts draw the percentiles of the response, and what was reached, over the rate. A rate
// that was run several times has the median of its runs.
func (r *Result) kneeCharts() []chart.Chart {
	if r.Knee == nil {
		return nil
	}
	p50, p99, p999 := chart.Line{Name: "P50"}, chart.Line{Name: "P99"}, chart.Line{Name: "P999"}
	achieved := chart.Line{Name: "reached"}
	rows := r.Knee.byRate()
	for len(rows) > 0 {
		rate := rows[0].Rate
		n := 1
		for n < len(rows) && rows[n].Rate == rate {
			n++
		}
		add := func(l *chart.Line, of func(KneeRate) *float64) {
			var all []float64
			for _, row := range rows[:n] {
				if v := of(row); v != nil {
					all = append(all, *v)
				}
			}
			if len(all) > 0 {
				slices.Sort(all)
				l.Points = append(l.Points, [2]float64{rate, (all[(len(all)-1)/2] + all[len(all)/2]) / 2})
			}
		}
		add(&p50, func(r KneeRate) *float64 { return r.P50 })
		add(&p99, func(r KneeRate) *float64 { return r.P99 })
		add(&p999, func(r KneeRate) *float64 { return r.P999 })
		add(&achieved, func(r KneeRate) *float64 { return &r.Achieved })
		rows = rows[n:]
	}
	var mark *chart.Mark
	if r.Knee.Holds > 0 {
		mark = &chart.Mark{X: r.Knee.Holds, Name: PerSecond(r.Knee.Holds) + " holds"}
	}
	var charts []chart.Chart
	for _, c := range []struct {
		title string
		lines []chart.Line
		time  bool // and not a rate
	}{
		{"Response over the rate", []chart.Line{p50, p99, p999}, true},
		{"Reached over the rate that was asked for", []chart.Line{achieved}, false},
	} {
		lines := slices.DeleteFunc(c.lines, func(l chart.Line) bool { return len(l.Points) < 2 })
		_, right := chart.Bounds(lines, chart.X)
		low, high := chart.Bounds(lines, chart.Y)
		y := axis.Linear(0, high, 5, PerSecond)
		if c.time {
			y = axis.Log(max(1, 0.85*low), 1.15*high, axis.Of("_ns"))
		}
		charts = append(charts, chart.Chart{Title: c.title, Lines: lines, X: axis.Linear(0, 1.02*right, 8, PerSecond), Y: y, Mark: mark})
	}
	return charts
}
