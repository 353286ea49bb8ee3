package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/axis"
	"github.com/dewpond/dewpond/instruments/kit/bars"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/kit/palette"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// pictures draws the plots of an experiment.
func pictures(g *page.Gallery, o Outcome) []page.Picture {
	// The colours of one experiment are its own, so that its cases differ from each other.
	number := func(name string) int {
		return g.Number(o.ID+": "+name, palette.At(slices.Index(o.Measured.Cases(), name)))
	}
	var out []page.Picture
	for _, p := range o.Plots {
		if p.More != "" {
			if curves, best := trade(g, o, p, number); len(curves) > 0 {
				x, y := axes(p, curves)
				note := p.Note + "; no other beats " + strings.Join(best, ", ")
				out = append(out, g.Lines(page.Chart{Title: p.Title, Note: note, Over: page.Plain, Unit: p.Y, X: x, Y: y, Curves: curves}))
			}
			continue
		}
		if p.Figure != "" {
			if c := bars.Compare(o.Measured.Bars(p.Figure), p.Figure, p.Title, p.Note); len(c.Bars) > 0 {
				out = append(out, g.Bars(c, number))
			}
			continue
		}
		var curves []page.Curve
		for _, name := range o.Measured.Cases() {
			if points := o.Measured.Curve(name, p.Series); len(points) > 1 {
				curves = append(curves, page.Curve{Number: number(name), Name: name, Kind: kindOf(name), Points: points})
			}
		}
		if len(curves) > 0 {
			x, y := axes(p, curves)
			out = append(out, g.Lines(page.Chart{Title: p.Title, Note: p.Note, Over: page.Plain, Unit: p.Y, X: x, Y: y, Curves: curves}))
		}
	}
	return out
}

// kindOf returns what sets a case apart.
func kindOf(name string) page.Kind {
	if name == experiment.Ours {
		return page.Ours
	}
	return page.Other
}

func axes(p experiment.Plot, curves []page.Curve) (x, y axis.Axis) {
	left, right, low, high := page.Bounds(curves)
	make := func(log bool, unit string, low, high float64) axis.Axis {
		format := axis.Of("_" + unit)
		if log && low > 0 {
			return axis.Log(low, high, format)
		}
		return axis.Linear(min(low, 0), high, 5, format)
	}
	if low < 0 {
		low *= 1.1
	} else {
		low /= 1.1
	}
	return make(p.LogX, p.X, left, right), make(p.LogY, p.Y, low, high*1.05)
}

// trade returns a short line for each case that has both figures, and one along the front of them,
// with the cases on it.
func trade(g *page.Gallery, o Outcome, p experiment.Plot, number func(string) int) (curves []page.Curve, best []string) {
	var all [][2]float64
	for _, name := range o.Measured.Cases() {
		more, less := experiment.At(name, p.More), experiment.At(name, p.Less)
		if !o.Measured.Has(more, less) {
			continue
		}
		x, y := o.Measured.Figure(more), o.Measured.Figure(less).Median
		all = append(all, [2]float64{x.Median, y})
		curves = append(curves, page.Curve{Number: number(name), Name: name, Kind: kindOf(name), Points: [][2]float64{{x.Min, y}, {x.Max, y}}})
	}
	points := front(all)
	for i, c := range curves {
		if slices.Contains(points, all[i]) {
			best = append(best, c.Name)
		}
	}
	if len(points) > 1 {
		curves = append(curves, page.Curve{Number: g.Number(o.ID+": the front", palette.At(len(o.Measured.Cases()))), Name: "the front", Points: points})
	}
	return curves, best
}

// front returns the points that no other has more of x and no more of y, or as much of x and
// less of y, in ascending order of x.
func front(all [][2]float64) [][2]float64 {
	var out [][2]float64
	for _, a := range all {
		if !slices.ContainsFunc(all, func(b [2]float64) bool {
			return b != a && b[0] >= a[0] && b[1] <= a[1]
		}) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	return slices.Compact(out)
}
