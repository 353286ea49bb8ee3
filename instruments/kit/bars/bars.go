// Package bars compares one figure of several contenders by the lengths of bars.
package bars

import (
	"math"

	"github.com/dewpond/dewpond/instruments/kit/axis"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A Chart compares one figure of several contenders, with the range over the rounds.
type Chart struct {
	Figure string
	Title  string
	Note   string
	Axis   axis.Axis
	Bars   []Bar
}

// A Value is a contender's figure.
type Value struct {
	Name string
	Ours bool // it stands out
	result.Figure
}

// A Bar is the bar of one contender. Its places are in percent of the axis.
type Bar struct {
	Name         string
	Ours         bool
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

// Compare returns the chart of one figure. Without values it has no bars. If one
// median is many times another, the axis is logarithmic, and the note says so.
func Compare(values []Value, name, title, note string) Chart {
	c := Chart{Figure: name, Title: title, Note: note}
	if len(values) == 0 {
		return c
	}
	most, least, high := 0.0, math.Inf(1), 0.0
	for _, f := range values {
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
	c.draw(values)
	return c
}

// Linear returns the chart of one figure on a linear axis, which begins at zero.
func Linear(values []Value, name, title string) Chart {
	c := Chart{Figure: name, Title: title, Axis: axis.Axis{High: 1e-9}}
	for _, f := range values {
		c.Axis.High = max(c.Axis.High, f.Max)
	}
	c.draw(values)
	return c
}

func (c *Chart) say(note string) {
	if c.Note != "" {
		c.Note += "; "
	}
	c.Note += note
}

// draw makes the bars.
func (c *Chart) draw(values []Value) {
	at := func(v float64) float64 { return 100 * min(max(c.Axis.At(v), 0), 1) }
	for _, f := range values {
		c.Bars = append(c.Bars, Bar{
			Name: f.Name, Ours: f.Ours, Text: figure.Format(c.Figure, f.Median),
			Spread: figure.Format(c.Figure, f.Min) + " to " + figure.Format(c.Figure, f.Max),
			Length: at(f.Median), Low: at(f.Min), High: at(f.Max),
		})
	}
}
