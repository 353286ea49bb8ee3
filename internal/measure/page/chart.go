package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/axis"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// A chart is lines over two axes. The page stretches the lines to whatever width it has, and writes
// the labels beside them, so that these keep their size.
type chart struct {
	Title, Note string
	X, Y        []mark
	Grid        string // a path
	Lines       []line
	Key         []legend // names the lines, where the page has no legend
	Data        chartData
}

// A mark is a tick at its place on the chart, in percent from the left or from the bottom.
type mark struct {
	At    float64
	Label string
	Thin  bool
}

// A line is one contender's.
type line struct {
	Contender int    // on the page
	Class     string // what sets it apart
	Path      string // of an SVG, in a square of side
	name      string
	points    [][2]float64
}

// chartData is what the page's script needs to read values off a chart.
type chartData struct {
	Kind  string     `json:"kind"` // how the script prints: percentile, series or plain
	Unit  string     `json:"unit"` // ns or bytes
	Log   bool       `json:"log"`  // of the horizontal axis
	X     [2]float64 `json:"x"`    // its ends
	Lines []readable `json:"lines"`
}

// A readable is a line with the values that it goes through.
type readable struct {
	Contender int          `json:"c"`
	Points    [][2]float64 `json:"p"`
}

// side is that of the square which a path is drawn in.
const side = 1000

// draw draws the lines over their axes. Dewpond's lies over the others, and below the control's,
// whose thin dashes let it show.
func (c *chart) draw(x, y axis.Axis, lines []line) {
	order := func(l line) int {
		return slices.Index([]string{"", result.Baseline, result.Ours, result.Control}, class(l.name))
	}
	slices.SortStableFunc(lines, func(a, b line) int { return order(a) - order(b) })
	for i := range lines {
		l := &lines[i]
		l.Class = map[string]string{result.Control: "control", result.Baseline: "baseline", result.Ours: "ours"}[l.name]
		var path strings.Builder
		for k, p := range l.points {
			verb := "L"
			if k == 0 {
				verb = "M"
			}
			// Far beyond an end is as good as just beyond it, and keeps the number short.
			up := min(max(y.At(p[1]), -1), 2)
			fmt.Fprintf(&path, "%s%.1f %.1f", verb, side*x.At(p[0]), side*(1-up))
		}
		l.Path = path.String()
		c.Data.Lines = append(c.Data.Lines, readable{l.Contender, l.points})
	}
	c.Lines = lines
	c.X, c.Y = marks(x), marks(y)
	for _, m := range c.X {
		if m.Label != "" {
			c.Grid += fmt.Sprintf("M%.1f 0V%d", m.At*side/100, side)
		}
	}
	for _, m := range c.Y {
		if m.Label != "" {
			c.Grid += fmt.Sprintf("M0 %.1fH%d", side-m.At*side/100, side)
		}
	}
	c.Data.Log, c.Data.X = x.Log, [2]float64{x.Low, x.High}
}

// class returns the name of a contender that is drawn in a way of its own, or "".
func class(name string) string {
	switch name {
	case result.Control, result.Baseline, result.Ours:
		return name
	}
	return ""
}

func marks(a axis.Axis) []mark {
	var out []mark
	for _, t := range a.Ticks {
		out = append(out, mark{At: 100 * a.At(t.Value), Label: t.Label, Thin: t.Thin})
	}
	return out
}

// bounds returns the least and the greatest value of lines on both axes.
func bounds(lines []line) (left, right, low, high float64) {
	left, low = math.Inf(1), math.Inf(1)
	right, high = math.Inf(-1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.points {
			left, right = min(left, p[0]), max(right, p[0])
			low, high = min(low, p[1]), max(high, p[1])
		}
	}
	return left, right, low, high
}
