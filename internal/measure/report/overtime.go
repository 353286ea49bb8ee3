package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// A curve over time is of one contender's median round. This file draws them, and
// says in a table what a terminal can show of them.

// timed are the series that reports know, in the order in which they show them.
var timed = []struct{ name, title, silent string }{
	{"idle_bytes", "Idle bytes over time", "cannot tell what it holds"},
	{"in_use_bytes", "Bytes in use over time", "not counted"},
	{"rss_bytes", "Resident memory (RSS) over time", "this system does not say"},
	{"collections", "Collections since the start", "not counted"},
	{"goroutines", "Goroutines over time", "not counted"},
	{"pressure", "Memory pressure over time (0 low, 1 medium, 2 high)", "not asked"},
}

// seriesNames are the series of a document, those that are known first.
func seriesNames(d result.Document) []string {
	var known, other []string
	for _, t := range timed {
		if slices.ContainsFunc(d.Contenders, func(c result.Contender) bool { return c.Series[t.name] != nil }) {
			known = append(known, t.name)
		}
	}
	for _, c := range d.Contenders {
		for name := range c.Series {
			if !slices.Contains(known, name) && !slices.Contains(other, name) {
				other = append(other, name)
			}
		}
	}
	slices.Sort(other)
	return append(known, other...)
}

// silent says which contenders, of those that were watched, have nothing to show in
// a known series: no line and no cell must not be taken for nothing there.
func silent(d result.Document, name, why string) string {
	var names []string
	for _, c := range d.Contenders {
		if len(c.Series) > 0 && len(c.Series[name]) == 0 {
			names = append(names, c.Name)
		}
	}
	if names == nil {
		return ""
	}
	return why + ": " + strings.Join(names, ", ")
}

// overTime draws a chart for each series, with a line for each contender.
func overTime(d result.Document) ([]chart, error) {
	var out []chart
	for _, name := range seriesNames(d) {
		title, note := label(name)+" over time", "the median round of each contender"
		for _, t := range timed {
			if t.name != name {
				continue
			}
			title = t.title
			if s := silent(d, name, t.silent); s != "" {
				note += "; " + s
			}
		}
		data := chartData{Kind: "series", Unit: unit(name)}
		for i, c := range d.Contenders {
			if len(c.Series[name]) < 2 {
				continue
			}
			l := line{Contender: i, name: c.Name}
			for _, p := range c.Series[name] {
				l.Points = append(l.Points, [2]float64{p.Seconds, p.Value})
			}
			data.Lines = append(data.Lines, l)
		}
		if len(data.Lines) == 0 {
			continue
		}
		seconds := func(v float64) string { return significant(v) + " s" }
		c, err := plotLines(title, note, linear(seconds), linear(func(v float64) string { return format(name, v) }), data)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// seriesSummary is what a terminal can show of the curves: where each begins, its
// peak, its end, and how soon after it last came up it was back.
func seriesSummary(d result.Document) grid {
	type column struct {
		head, name string
		of         func(name string, points []result.Point) string
	}
	var all []column
	var notes []string
	for _, name := range seriesNames(d) {
		l := label(name)
		switch name {
		case "collections":
			all = append(all, column{l, name, lastOf})
			continue
		case "in_use_bytes", "goroutines", "pressure": // the scenario's own doing, or judged elsewhere
			all = append(all, column{l + " peak", name, peakOf})
			continue
		}
		all = append(all, column{l + " start", name, firstOf}, column{l + " peak", name, peakOf}, column{l + " end", name, lastOf}, column{l + " back in", name, backIn})
		for _, t := range timed {
			if s := silent(d, name, t.silent); s != "" && t.name == name {
				notes = append(notes, fmt.Sprintf("%s: %s.", l, s))
			}
		}
	}
	var heads []string
	for _, c := range all {
		heads = append(heads, c.head)
	}
	g := columns(d, "Over time, in the median round", heads, func(c *result.Contender, i int) cell {
		points := c.Series[all[i].name]
		if len(points) == 0 {
			return cell{text: none}
		}
		return cell{text: all[i].of(all[i].name, points)}
	})
	g.notes = append(notes, fmt.Sprintf("Back in: how long after it last came up to within %s of its peak it was as near to its start; %s where it hardly rose.", percent(nearly), none))
	return g
}

func firstOf(name string, points []result.Point) string { return format(name, points[0].Value) }

func peakOf(name string, points []result.Point) string {
	return format(name, points[highest(points)].Value)
}

func lastOf(name string, points []result.Point) string {
	return format(name, points[len(points)-1].Value)
}

const (
	// nearly is the share of its rise within which a curve is back at its start, or
	// up at its peak.
	nearly = 0.1
	// steps is into how many a series is divided at most: what is less than one before
	// the end is the end.
	steps = 100
)

// backIn says how long after a curve last came up to its peak it was back. It may come
// up with every burst, and the next burst may empty what the one before left.
func backIn(_ string, points []result.Point) string {
	from, high := points[0].Value, points[highest(points)].Value
	rise := high - from
	if rise <= nearly*high {
		return none
	}
	down, up := from+nearly*rise, high-nearly*rise
	top := len(points) - 1
	for points[top].Value < up {
		top--
	}
	for top > 0 && points[top-1].Value > down {
		top--
	}
	for points[top].Value < up {
		top++
	}
	for _, p := range points[top:] {
		if p.Value <= down {
			return duration(1e9 * (p.Seconds - points[top].Seconds))
		}
	}
	last := points[len(points)-1].Seconds
	left := last - points[top].Seconds
	if left < (last-points[0].Seconds)/steps {
		return "peak is last"
	}
	return "not in " + duration(1e9*left)
}

// highest is the index of the first of the highest points.
func highest(points []result.Point) int {
	top := 0
	for i, p := range points {
		if p.Value > points[top].Value {
			top = i
		}
	}
	return top
}
