package report

import (
	_ "embed"
	"io"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/instruments/internal/rates"
	"github.com/dewpond/dewpond/instruments/kit/axis"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/kit/palette"
	"github.com/dewpond/dewpond/instruments/load"
)

//go:embed page.html
var pageHTML string

//go:embed compare.html
var compareHTML string

// The page of a result, and of a comparison.
var (
	resultPage     = page.Template("result", pageHTML)
	comparisonPage = page.Template("comparison", compareHTML)
)

// A pageData is the data of the template. Texts from outside stay plain strings, so that
// html/template escapes them.
type pageData struct {
	load.Result
	gallery
	Lines       []string
	Charts      []page.Picture
	Tables      [][][]string
	Marked      bool
	About       []string // the target itself
	CommandLine string

	KneeTable  [][]string
	KneeNotes  []string
	KneeCharts []page.Picture
	KneeRate   string // that the rest is of
}

// A gallery draws the charts of one page.
type gallery struct{ page.Gallery }

// hues are the places in the palette of the lines that have names: those of one chart differ, and one
// has its colour in all charts.
var hues = map[string]int{
	"response": 0, "service": 1, "lag": 2,
	"P50": 0, "P99": 1, "P999": 2, "slowest": 3,
	"begun": 0, "finished": 1, "failed": 1, "dropped": 2,
}

// draw returns the charts that have something to show. One line is named by its chart's title alone.
func (g *gallery) draw(charts ...page.Chart) []page.Picture {
	var out []page.Picture
	for _, c := range charts {
		for i := range c.Curves {
			l := &c.Curves[i]
			hue, ok := hues[l.Name]
			if !ok {
				hue = i
			}
			l.Number = g.Number(l.Name, palette.At(hue))
			if len(c.Curves) == 1 {
				l.Name = ""
			}
		}
		if len(c.Curves) > 0 {
			out = append(out, g.Lines(c))
		}
	}
	return out
}

// WriteHTML writes the report as one file that loads no others.
func WriteHTML(w io.Writer, r *load.Result) error {
	p := &pageData{Result: *r, Lines: summaryLines(r), CommandLine: strings.Join(quoted(r.Command), " ")}
	latency, err := latencyChart(r)
	if err != nil {
		return err
	}
	p.KneeCharts = p.draw(kneeCharts(r)...)
	p.Charts = p.draw(slices.Concat([]page.Chart{latency}, marked(r, slices.Concat(timeCharts(r), metricCharts(r))))...)
	if r.Knee != nil {
		p.KneeTable, p.KneeNotes, p.KneeRate = kneeTable(r.Knee), kneeNotes(r.Knee), rates.Text(r.Rate)
	}
	times, generator := timesTable(r)
	p.Tables, p.Marked = [][][]string{times}, generator
	if len(r.Stages) > 0 {
		p.Tables = append(p.Tables, stagesTable(r), courseTable(r))
	}
	if statuses := statusesTable(r); len(statuses) > 1 {
		p.Tables = append(p.Tables, statuses)
	}
	if connections := connectionsTable(r); len(connections) > 1 {
		p.Tables = append(p.Tables, connections)
	}
	if slowest := slowestTable(r); len(slowest) > 1 {
		p.Tables = append(p.Tables, slowest)
	}
	if agents := agentsTable(r); len(agents) > 1 {
		p.Tables = append(p.Tables, agents)
	}
	p.About = aboutTarget(r)
	return resultPage.Execute(w, p)
}

// latencyChart draws response, service and lag of the sessions by percentile.
func latencyChart(r *load.Result) (page.Chart, error) {
	var curves []page.Curve
	for _, t := range timesOf(&r.Session)[:3] {
		if err := addLatency(&curves, t.name, t.Times); err != nil {
			return page.Chart{}, err
		}
	}
	return page.Latencies("Session, by percentile", "", curves), nil
}

// addLatency adds a line of times by percentile, if there are enough of them for one.
func addLatency(curves *[]page.Curve, name string, t *load.Times) error {
	if t.Samples == 0 {
		return nil
	}
	points, err := page.Distribution(t.Histogram)
	if len(points) > 1 {
		*curves = append(*curves, page.Curve{Name: name, Points: points})
	}
	return err
}

// timeCharts draws what each second had.
func timeCharts(r *load.Result) []page.Chart {
	var p50, p99, worst, started, ended, failed, dropped, inFlight page.Curve
	p50.Name, p99.Name, worst.Name = "P50", "P99", "slowest"
	started.Name, ended.Name, failed.Name, dropped.Name, inFlight.Name = "begun", "finished", "failed", "dropped", "in flight"
	for _, s := range r.Series {
		add := func(l *page.Curve, v float64) { l.Points = append(l.Points, [2]float64{s.At, v}) }
		if s.Response.P50 != nil {
			add(&p50, *s.Response.P50)
		}
		if s.Response.P99 != nil {
			add(&p99, *s.Response.P99)
		}
		if s.Response.Samples > 0 {
			add(&worst, s.Response.Max)
		}
		add(&started, float64(s.Started))
		add(&ended, float64(s.Ended))
		add(&failed, float64(s.Failed))
		add(&dropped, float64(s.Dropped))
		add(&inFlight, s.InFlightMean)
	}
	var charts []page.Chart
	for _, c := range []struct {
		title string
		lines []page.Curve
		time  bool // and not a count
	}{
		{"Response of the sessions over time", []page.Curve{worst, p99, p50}, true},
		{"Sessions a second", []page.Curve{started, ended}, false},
		{"Errors a second", []page.Curve{failed, dropped}, false},
		{"In flight", []page.Curve{inFlight}, false},
	} {
		var lines []page.Curve
		for _, l := range c.lines {
			if len(l.Points) > 1 {
				lines = append(lines, l)
			}
		}
		_, _, low, high := page.Bounds(lines)
		unit, y := "", axis.Linear(0, max(1, 1.05*high), 5, figure.Count)
		if c.time {
			unit, y = "ns", axis.Log(max(1, 0.85*low), 1.15*high, axis.Of("_ns"))
		}
		charts = append(charts, page.Chart{Title: c.title, Over: page.Seconds, Unit: unit, X: seconds(r), Y: y, Curves: lines})
	}
	return charts
}

// seconds is the axis of all charts over time: what stands under each other is of one moment.
func seconds(r *load.Result) axis.Axis {
	last := 1.0
	for _, s := range r.Series {
		last = max(last, s.At)
	}
	for _, m := range r.Metrics {
		for _, at := range m.At {
			last = max(last, at)
		}
	}
	return axis.Linear(0, last, 8, axis.Seconds)
}
