package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/axis"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/load"
)

// stagesTable has a row for each stage of the arrivals: the sessions that were due in it.
func stagesTable(r *load.Result) [][]string {
	head := []string{"due in", "from", "for", "rate", "offered", "finished", "failed", "dropped"}
	for _, p := range percentiles {
		head = append(head, p.label)
	}
	rows := [][]string{append(head, "max")}
	for i := range r.Stages {
		s := &r.Stages[i]
		row := []string{s.Name, axis.Seconds(s.At), axis.Seconds(s.Seconds), s.Text()}
		for _, n := range []uint64{s.Offered(), s.Finished, s.Failed, s.Dropped} {
			row = append(row, strconv.FormatUint(n, 10))
		}
		for _, p := range percentiles {
			row = append(row, cell(p.of(s.Response)))
		}
		longest := "-"
		if s.Response.Samples > 0 {
			longest = figure.Duration(s.Response.Max)
		}
		rows = append(rows, append(row, longest))
	}
	return rows
}

// mostRows is about how many rows a table over time has.
const mostRows = 30

// spans are the seconds that a row of it may have.
var spans = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800}

// courseTable has what there was over time, in steps that are as long as the run wants them, and says
// where a stage begins. A row of several seconds has the median of their P50, and the worst of their
// P95, where each has one.
func courseTable(r *load.Result) [][]string {
	rows := [][]string{{"until", "begun", "finished", "failed", "dropped", "in flight", "P50", "P95", "slowest", ""}}
	if len(r.Series) == 0 {
		return rows
	}
	end := r.Series[len(r.Series)-1].At
	span := spans[len(spans)-1]
	for _, s := range spans {
		if end/s <= mostRows {
			span = s
			break
		}
	}
	number := func(at float64) float64 { return math.Ceil(math.Round(at)/span) - 1 } // of the row, from 0
	begin, stage := 0.0, 0
	for left := r.Series; len(left) > 0; {
		n := 1
		for n < len(left) && number(left[n].At) == number(left[0].At) {
			n++
		}
		row := left[:n]
		left = left[n:]
		last := row[n-1]
		var stages []string
		for stage < len(r.Stages) && (r.Stages[stage].At < math.Round(last.At) || len(left) == 0) {
			stages = append(stages, r.Stages[stage].Name+": "+r.Stages[stage].Text())
			stage++
		}
		rows = append(rows, append(courseRow(row, last.At-begin), strings.Join(stages, "; ")))
		begin = last.At
	}
	return rows
}

// courseRow has some seconds.
func courseRow(all []load.Second, seconds float64) []string {
	var sum load.Second
	var p50, p95 []float64
	slowest := 0.0
	for _, s := range all {
		sum.Started += s.Started
		sum.Ended += s.Ended
		sum.Failed += s.Failed
		sum.Dropped += s.Dropped
		if s.Response.P50 != nil {
			p50 = append(p50, *s.Response.P50)
		}
		if s.Response.P95 != nil {
			p95 = append(p95, *s.Response.P95)
		}
		slowest = max(slowest, s.Response.Max)
	}
	times := []string{"-", "-", "-"}
	if len(p50) > 0 {
		times[0] = figure.Duration(quantile.Median(p50))
	}
	if len(p95) < len(p50) { // the worst of some seconds could be less than the median of all
		p95 = nil
	}
	for i, v := range []float64{slices.Max(append(p95, 0)), slowest} {
		if v > 0 {
			times[1+i] = figure.Duration(v)
		}
	}
	each := func(n uint64) string { return figure.Count(float64(n)/seconds) + "/s" }
	last := all[len(all)-1]
	return append([]string{
		axis.Seconds(math.Round(last.At)), each(sum.Started), each(sum.Ended), strconv.FormatUint(sum.Failed, 10), strconv.FormatUint(sum.Dropped, 10), strconv.Itoa(last.InFlight),
	}, times...)
}

// marked marks where the stages begin in charts over time.
func marked(r *load.Result, charts []page.Chart) []page.Chart {
	var marks []page.Mark
	for i := range r.Stages {
		s := &r.Stages[i]
		marks = append(marks, page.Mark{At: s.At, Name: fmt.Sprintf("%s: %s", strings.TrimPrefix(s.Name, "stage "), s.Text())})
	}
	if len(marks) > mostNamed {
		for i := range marks {
			marks[i].Name = strings.TrimPrefix(r.Stages[i].Name, "stage ")
		}
	}
	for i := range charts {
		charts[i].Marks = marks
	}
	return charts
}

// mostNamed is for how many marks a chart has room for what the rate does.
const mostNamed = 3
