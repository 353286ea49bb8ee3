package table

import (
	"fmt"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// overTime shows of each curve what a terminal can show: its start, its peak, its end, and how
// soon after its last peak it was back.
func overTime(d bench.Document) Table {
	type column struct {
		head, name string
		of         func(name string, points []result.Point) string
	}
	var all []column
	var notes []string
	for _, cv := range figures.Curves(d) {
		name := cv.Name
		l := figures.Label(name)
		switch name {
		case "collections":
			all = append(all, column{l, name, lastOf})
			continue
		case "in_use_bytes": // set by the scenario
			all = append(all, column{l + " peak", name, peakOf})
			continue
		}
		all = append(all, column{l + " start", name, firstOf}, column{l + " peak", name, peakOf}, column{l + " end", name, lastOf}, column{l + " back in", name, backIn})
		if s := cv.Silence(d); s != "" {
			notes = append(notes, fmt.Sprintf("%s: %s.", l, s))
		}
	}
	var heads []string
	for _, c := range all {
		heads = append(heads, c.head)
	}
	g := columns(d, "Over time, in the median round", heads, func(c *bench.Contender, i int) Cell {
		points := c.Series[all[i].name]
		if len(points) == 0 {
			return Cell{Text: none}
		}
		return Cell{Text: all[i].of(all[i].name, points)}
	})
	g.Notes = append(notes, fmt.Sprintf("Back in: the time from when it was last within %s of its peak until it was as near to its start; > is longer than the series, %s hardly rose.", figure.Percent(nearly), none))
	return g
}

func firstOf(name string, points []result.Point) string { return figure.Format(name, points[0].Value) }

func peakOf(name string, points []result.Point) string {
	return figure.Format(name, points[highest(points)].Value)
}

func lastOf(name string, points []result.Point) string {
	return figure.Format(name, points[len(points)-1].Value)
}

const (
	// nearly is the share of its rise within which a curve counts as back at its start, or as at
	// its peak.
	nearly = 0.1
	// steps is the largest number of steps of a series: the last step counts as the end.
	steps = 100
)

// backIn returns how long after a curve last reached its peak it was back. It may reach the peak
// with every burst, and the next burst may use up what the previous one left.
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
			return figure.Duration(1e9 * (p.Seconds - points[top].Seconds))
		}
	}
	last := points[len(points)-1].Seconds
	left := last - points[top].Seconds
	if left < (last-points[0].Seconds)/steps {
		return "peak is last"
	}
	return "> " + figure.Duration(1e9*left)
}

// highest returns the index of the first of the highest points.
func highest(points []result.Point) int {
	top := 0
	for i, p := range points {
		if p.Value > points[top].Value {
			top = i
		}
	}
	return top
}
