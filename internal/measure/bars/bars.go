// Package bars compares one figure of all contenders by the lengths of bars.
package bars

import (
	"math"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/axis"
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/verdict"
)

// A Chart compares one figure of all contenders, with the range over the rounds.
type Chart struct {
	Figure string
	Title  string
	Note   string
	Axis   axis.Axis
	Bars   []Bar
}

// A Bar is the bar of one contender. Its places are in percent of the axis.
type Bar struct {
	Name         string
	Text, Spread string
	Length       float64 // of the median
	Low, High    float64 // of the range
}

const (
	// spread is how many times the least median the greatest may be on a linear axis. Beyond it
	// the small bars could not be told apart.
	spread = 25
	// reach is how many times the greatest median the axis goes. Some round may be far beyond
	// all medians, and would flatten the bars.
	reach = 1.6
)

// Of returns the charts of a document: the point of the scenario first, then what every scenario
// has. Where a figure is zero for all there is nothing to see, and the tables have it.
func Of(d result.Document) []Chart {
	var out []Chart
	add := func(name, title, note string) {
		if c := Compare(d, name, title, note); c.shows() {
			out = append(out, c)
		}
	}
	for _, name := range figure.Names(d) {
		label := figure.Label(name)
		add(name, strings.ToUpper(label[:1])+label[1:], "")
	}
	switch {
	case verdict.SetsRate(d.Scenario):
		add("ops_per_sec", "Throughput, ops/s", "more is better")
	case d.Scenario.Clocked():
		add("ops_per_sec", "Throughput, ops/s", "the clock sets it")
	}
	add("gc_per_5s", "GC cycles in 5 s", "")
	add("rss_peak_bytes", "Peak RSS", "")
	return out
}

// Compare returns the chart of one figure. It has no bars if no contender has the figure. If one
// median is many times another, the axis is logarithmic, and the note says so.
func Compare(d result.Document, name, title, note string) Chart {
	c := Chart{Figure: name, Title: title, Note: note}
	of := figures(d, name)
	if len(of) == 0 {
		return c
	}
	most, least, high := 0.0, math.Inf(1), 0.0
	for _, f := range of {
		most, high = max(most, f.Median), max(high, f.Max)
		if f.Median > 0 {
			least = min(least, f.Median)
		}
	}
	if high > reach*most && most > 0 {
		high = reach * most
		c.say("the range of some rounds is cut off")
	}
	c.Axis = axis.Axis{High: max(high, 1e-9)}
	if most > spread*least {
		c.Axis = axis.Log(least/2, high, axis.Of(name)) // the least bar has a length too
		c.Axis.KeepPowers()
		c.say("logarithmic axis")
	}
	c.draw(d)
	return c
}

// shows reports whether the chart has a bar of some length.
func (c Chart) shows() bool {
	return slices.ContainsFunc(c.Bars, func(b Bar) bool { return b.High > 0 })
}

// Linear returns the chart of one figure on a linear axis, which begins at zero.
func Linear(d result.Document, name, title string) Chart {
	c := Chart{Figure: name, Title: title, Axis: axis.Axis{High: 1e-9}}
	for _, f := range figures(d, name) {
		c.Axis.High = max(c.Axis.High, f.Max)
	}
	c.draw(d)
	return c
}

func figures(d result.Document, name string) []result.Figure {
	var out []result.Figure
	for i := range d.Contenders {
		if f, ok := figure.Of(&d.Contenders[i], name); ok {
			out = append(out, f)
		}
	}
	return out
}

func (c *Chart) say(note string) {
	if c.Note != "" {
		c.Note += "; "
	}
	c.Note += note
}

// draw makes the bars of the contenders that have the figure.
func (c *Chart) draw(d result.Document) {
	at := func(v float64) float64 { return 100 * min(max(c.Axis.At(v), 0), 1) }
	for i := range d.Contenders {
		f, ok := figure.Of(&d.Contenders[i], c.Figure)
		if !ok {
			continue
		}
		c.Bars = append(c.Bars, Bar{
			Name: d.Contenders[i].Name, Text: figure.Format(c.Figure, f.Median),
			Spread: figure.Format(c.Figure, f.Min) + " to " + figure.Format(c.Figure, f.Max),
			Length: at(f.Median), Low: at(f.Min), High: at(f.Max),
		})
	}
}
