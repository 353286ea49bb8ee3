package load

import (
	_ "embed"
	htmltemplate "html/template"
	"io"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/internal/measure/axis"
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/load/internal/chart"
)

//go:embed page.html
var pageHTML string

//go:embed compare.html
var compareHTML string

// The page of a result, and of a comparison in the same style.
var (
	page       = htmltemplate.Must(htmltemplate.New("page").Parse(pageHTML))
	comparison = htmltemplate.Must(htmltemplate.Must(page.Clone()).New("comparison").Parse(compareHTML))
)

// A pageData is the data of the template. Texts from outside stay plain strings, so that
// html/template escapes them.
type pageData struct {
	Result
	Lines       []string
	Charts      []htmltemplate.HTML
	Tables      [][][]string
	Marked      bool
	About       []string // the target itself
	CommandLine string

	KneeTable  [][]string
	KneeNotes  []string
	KneeCharts []htmltemplate.HTML
	KneeRate   string // that the rest is of
}

// drawn returns the charts that have something to show.
func drawn(charts []chart.Chart) []htmltemplate.HTML {
	var out []htmltemplate.HTML
	for _, c := range charts {
		if len(c.Lines) > 0 {
			out = append(out, htmltemplate.HTML(c.HTML())) // its texts are escaped
		}
	}
	return out
}

// WriteHTML writes the report as one file that loads no others.
func (r *Result) WriteHTML(w io.Writer) error {
	p := pageData{Result: *r, Lines: r.summary(), CommandLine: strings.Join(quoted(r.Command), " ")}
	latency, err := r.latencyChart()
	if err != nil {
		return err
	}
	p.KneeCharts = drawn(r.kneeCharts())
	p.Charts = drawn(slices.Concat([]chart.Chart{latency}, r.timeCharts(), r.metricCharts()))
	if r.Knee != nil {
		p.KneeTable, p.KneeNotes, p.KneeRate = r.Knee.table(), r.Knee.notes(), PerSecond(r.Rate)
	}
	times, marked := r.timesTable()
	p.Tables, p.Marked = [][][]string{times}, marked
	if connections := r.connectionsTable(); len(connections) > 1 {
		p.Tables = append(p.Tables, connections)
	}
	if slowest := r.slowestTable(); len(slowest) > 1 {
		p.Tables = append(p.Tables, slowest)
	}
	if agents := r.agentsTable(); len(agents) > 1 {
		p.Tables = append(p.Tables, agents)
	}
	p.About = r.aboutTarget()
	return page.Execute(w, p)
}

// latencyChart draws response, service and lag of the sessions by percentile.
func (r *Result) latencyChart() (chart.Chart, error) {
	c := chart.Chart{Title: "Session, by percentile"}
	for _, t := range r.Session.times()[:3] {
		if err := addLatency(&c, t.name, t.Times); err != nil {
			return c, err
		}
	}
	overPercentiles(&c)
	return c, nil
}

// addLatency adds a line of times by percentile, as far as ten samples lie beyond, over 1/(1-p):
// each further nine has the same width.
func addLatency(c *chart.Chart, name string, t *Times) error {
	if t.Samples == 0 {
		return nil
	}
	h, err := hdrhistogram.Decode(t.Histogram)
	if err != nil {
		return err
	}
	line := chart.Line{Name: name}
	for _, b := range h.CumulativeDistributionWithTicks(10) {
		beyond := 1 - b.Quantile/100
		if beyond <= 0 || float64(t.Samples)*beyond < 10 {
			break
		}
		if b.Quantile < 10 { // the fastest of thousands would take half of the height
			continue
		}
		line.Points = append(line.Points, [2]float64{1 / beyond, max(1, float64(b.ValueAt))})
	}
	if len(line.Points) > 1 {
		c.Lines = append(c.Lines, line)
	}
	return nil
}

// overPercentiles gives a chart of latencies its axes.
func overPercentiles(c *chart.Chart) {
	left, right := chart.Bounds(c.Lines, chart.X)
	low, high := chart.Bounds(c.Lines, chart.Y)
	c.X, c.Y = axis.Tail(left, right), axis.Log(0.85*low, 1.15*high, axis.Of("_ns"))
}

// timeCharts draws what each second had.
func (r *Result) timeCharts() []chart.Chart {
	var p50, p99, worst, started, ended, failed, dropped, inFlight chart.Line
	p50.Name, p99.Name, worst.Name = "P50", "P99", "slowest"
	started.Name, ended.Name, failed.Name, dropped.Name, inFlight.Name = "begun", "finished", "failed", "dropped", "in flight"
	for _, s := range r.Series {
		add := func(l *chart.Line, v float64) { l.Points = append(l.Points, [2]float64{s.At, v}) }
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
	var charts []chart.Chart
	for _, c := range []struct {
		title string
		lines []chart.Line
		time  bool // and not a count
	}{
		{"Response of the sessions over time", []chart.Line{worst, p99, p50}, true},
		{"Sessions a second", []chart.Line{started, ended}, false},
		{"Errors a second", []chart.Line{failed, dropped}, false},
		{"In flight", []chart.Line{inFlight}, false},
	} {
		var lines []chart.Line
		for _, l := range c.lines {
			if len(l.Points) > 1 {
				lines = append(lines, l)
			}
		}
		low, high := chart.Bounds(lines, chart.Y)
		y := axis.Linear(0, max(1, high), 5, figure.Count)
		if c.time {
			y = axis.Log(max(1, 0.85*low), 1.15*high, axis.Of("_ns"))
		}
		charts = append(charts, chart.Chart{Title: c.title, Lines: lines, X: r.seconds(), Y: y})
	}
	return charts
}

// seconds is the axis of all charts over time: what stands under each other is of one moment.
func (r *Result) seconds() axis.Axis {
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
