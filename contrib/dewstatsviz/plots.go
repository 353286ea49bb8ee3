package dewstatsviz

import (
	"errors"
	"html"
	"net/http"
	"slices"

	"github.com/arl/statsviz"
	"github.com/dewpond/dewpond/pressure"
)

// Root is where the page is.
const Root = "/debug/statsviz"

// Register serves the page at [Root], with the plots of the pools and, below them, statsviz's
// own. The options may not be a statsviz.Root. While nobody looks at the page, no pool is
// asked for anything.
func Register(mux *http.ServeMux, options ...statsviz.Option) error {
	w, connections := newWatch(), new(connections)
	w.watchers = connections.open.Load
	plots, err := w.plots()
	if err != nil {
		return err
	}
	server, err := statsviz.NewServer(slices.Concat(options, plots, []statsviz.Option{statsviz.Root(Root)})...)
	if err != nil {
		return err
	}
	mux.Handle(Root+"/", ours{server.Index()})
	mux.Handle(Root+"/ws", connections.counted(server.Ws()))
	return nil
}

// Plots returns the plots of the pools, for those who have a [statsviz.Server] of their own.
// They are for one Server, which puts them below its own and asks all pools once in each of its
// intervals, whether anybody looks or not.
func Plots() ([]statsviz.Option, error) { return newWatch().plots() }

func (w *watch) plots() ([]statsviz.Option, error) {
	var options []statsviz.Option
	var errs []error
	for _, p := range []struct {
		name, title, axis, format, info string
		value                           func(change) float64
	}{
		{"hits", "Hit rate", "% of Gets", ".1f", "The share of Gets that found an idle block.", change.hitRate},
		{"misses", "Misses", "a second", ".3s", "Gets that allocated a block.", change.misses},
		{"used", "Bytes in use", "bytes", ".4s", "In blocks that callers have.", func(c change) float64 { return float64(c.InUseBytes) }},
		{"idle", "Idle bytes", "bytes", ".4s", "In blocks in the pool.", func(c change) float64 { return float64(c.IdleBytes) }},
		{"waits", "Callers that wait", "at once", ".1f", "In GetContext and GetBatch: seconds waited in a second.", change.waiting},
		{"trims", "Trimmed", "bytes a second", ".4s", "Idle blocks that the pool let go.", change.trimmed},
		{"violations", "Violations", "found", ".0f", "Misuses that checked mode has found.", func(c change) float64 { return float64(c.Violations) }},
	} {
		options, errs = build(options, errs, p.name, p.title, p.axis, p.info, w.lines(p.format, p.value))
	}
	level := statsviz.TimeSeries{Name: "level", Unitfmt: ".0f", GetValue: func() float64 { return float64(pressure.Current()) }}
	options, errs = build(options, errs, "pressure", "Memory pressure", "0 low, 1 medium, 2 high",
		"How scarce memory is for the process.", []statsviz.TimeSeries{level})
	return options, errors.Join(errs...)
}

func build(options []statsviz.Option, errs []error, name, title, axis, info string, lines []statsviz.TimeSeries) ([]statsviz.Option, []error) {
	p, err := statsviz.TimeSeriesPlotConfig{
		Name: "dewpond-" + name, Title: "dewpond: " + title, YAxisTitle: axis, InfoText: info, Series: lines,
	}.Build()
	if err != nil {
		return options, append(errs, err)
	}
	return append(options, statsviz.TimeseriesPlot(p)), errs
}

// later is the line of the pools that were made after the page.
const later = "pools made later"

// lines returns a line for each pool.
func (w *watch) lines(format string, value func(change) float64) (all []statsviz.TimeSeries) {
	for _, pool := range append(w.names, later) {
		seen := 0
		all = append(all, statsviz.TimeSeries{
			Name: html.EscapeString(pool), Unitfmt: format, HoverOn: statsviz.HoverOnPoints,
			GetValue: func() float64 { return value(w.look(pool, &seen)) },
		})
	}
	return all
}
