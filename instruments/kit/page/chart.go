package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/instruments/kit/axis"
)

// A Chart is curves over two axes.
type Chart struct {
	Title, Note string
	Over        Over
	Unit        string // of Y: ns, bytes or none
	X, Y        axis.Axis
	Curves      []Curve
	Marks       []Mark
}

// Over says what a chart's X is, so that the page can name the place below the mouse.
type Over string

// What charts are drawn over. A number that is none of the others is Plain.
const (
	Plain       Over = "plain"
	Percentiles Over = "percentile" // as 1/(1-p): each further nine has the same width
	Seconds     Over = "series"
)

// A Curve is a line through points, which are in ascending order of x.
type Curve struct {
	Number int    // on the page: see [Gallery.Number]
	Name   string // empty where the chart's title says it all
	Kind   Kind
	Points [][2]float64
}

// Kind is what sets a line, a bar or a name apart from the others.
type Kind string

// The kinds.
const (
	Other    Kind = ""
	Baseline Kind = "baseline" // what the others are compared with
	Ours     Kind = "ours"     // what the page is about
	Control  Kind = "control"  // what shows how far the others may be trusted
)

// A Mark is a place on the x axis that has a name.
type Mark struct {
	At   float64
	Name string
}

// A drawing is a chart as the template shows it. The page stretches the lines to whatever width it has,
// and writes the labels beside them, so that these keep their size.
type drawing struct {
	Title, Note string
	X, Y        []Tick
	Grid        string // a path
	Lines       []line
	Marked      []marked
	Key         []Legend // names the lines, where the page has no legend
	Number      int      // of its data on the page
}

// A Tick is a label of an axis at its place, in percent from the left or from the bottom.
type Tick struct {
	At    float64
	Label string
	Thin  bool
}

// A marked is a Mark on the drawing. Its name stands where there is room for it.
type marked struct {
	Path, Name, Side string
	At               float64 // percent from Side
}

// A line is one curve.
type line struct {
	Number int // on the page
	Class  Kind
	Path   string // of an SVG, in a square of side
}

// chartData is what the page's script needs to read values off a chart.
type chartData struct {
	Over  Over       `json:"kind"` // how the script prints the place
	Unit  string     `json:"unit"` // ns or bytes
	Log   bool       `json:"log"`  // of the horizontal axis
	X     [2]float64 `json:"x"`    // its ends
	Lines []readable `json:"lines"`
}

// A readable is a line with the values that it goes through.
type readable struct {
	Number int          `json:"c"`
	Points [][2]float64 `json:"p"`
}

// side is that of the square which a path is drawn in.
const side = 1000

// draw draws the curves over their axes. Ours lies over the others, and below the control, whose thin
// dashes let it show.
func (c Chart) draw() (drawing, chartData) {
	order := func(c Curve) int {
		return slices.Index([]Kind{Other, Baseline, Ours, Control}, c.Kind)
	}
	curves := slices.SortedStableFunc(slices.Values(c.Curves), func(a, b Curve) int { return order(a) - order(b) })
	d := drawing{Title: c.Title, Note: c.Note, X: thinned(Ticks(c.X)), Y: Ticks(c.Y)}
	data := chartData{Over: c.Over, Unit: c.Unit, Log: c.X.Log, X: [2]float64{c.X.Low, c.X.High}}
	for _, l := range curves {
		var path strings.Builder
		for k, p := range l.Points {
			verb := "L"
			if k == 0 {
				verb = "M"
			}
			// Far beyond an end is as good as just beyond it, and keeps the number short.
			up := min(max(c.Y.At(p[1]), -1), 2)
			fmt.Fprintf(&path, "%s%.1f %.1f", verb, side*c.X.At(p[0]), side*(1-up))
		}
		d.Lines = append(d.Lines, line{l.Number, l.Kind, path.String()})
		data.Lines = append(data.Lines, readable{l.Number, l.Points})
	}
	for _, m := range d.X {
		if m.Label != "" {
			d.Grid += fmt.Sprintf("M%.1f 0V%d", m.At*side/100, side)
		}
	}
	for _, m := range d.Y {
		if m.Label != "" {
			d.Grid += fmt.Sprintf("M0 %.1fH%d", side-m.At*side/100, side)
		}
	}
	for _, mark := range c.Marks {
		at := 100 * c.X.At(mark.At)
		m := marked{Path: fmt.Sprintf("M%.1f 0V%d", at*side/100, side), Name: mark.Name, Side: "left", At: at}
		if at > 85 || at > 50 && len(c.Marks) == 1 { // names of several do not run into each other
			m.Side, m.At = "right", 100-at
		}
		d.Marked = append(d.Marked, m)
	}
	return d, data
}

// key names the curves that have names.
func (c Chart) key() []Legend {
	var out []Legend
	for _, l := range c.Curves {
		if l.Name != "" {
			out = append(out, Legend{Index: l.Number, Name: l.Name})
		}
	}
	return out
}

// Ticks returns the ticks of an axis.
func Ticks(a axis.Axis) []Tick {
	var out []Tick
	for _, t := range a.Ticks {
		out = append(out, Tick{At: 100 * a.At(t.Value), Label: t.Label, Thin: t.Thin})
	}
	return out
}

// mostLabels is how many labels have room below a chart as narrow as a telephone.
const mostLabels = 5

// thinned leaves every second label out of a narrow chart, where there are too many for it.
func thinned(all []Tick) []Tick {
	var labels []*Tick
	for i := range all {
		if all[i].Label != "" && !all[i].Thin {
			labels = append(labels, &all[i])
		}
	}
	if len(labels) > mostLabels {
		for i := 1; i < len(labels); i += 2 {
			labels[i].Thin = true
		}
	}
	return all
}

// Bounds returns the least and the greatest value of curves on both axes. Of nothing it returns 1 and
// 10.
func Bounds(curves []Curve) (left, right, low, high float64) {
	left, low = math.Inf(1), math.Inf(1)
	right, high = math.Inf(-1), math.Inf(-1)
	for _, c := range curves {
		for _, p := range c.Points {
			left, right = min(left, p[0]), max(right, p[0])
			low, high = min(low, p[1]), max(high, p[1])
		}
	}
	if left > right {
		return 1, 10, 1, 10
	}
	return left, right, low, high
}

// Distribution returns the points of an encoded histogram for a chart over percentiles, as far as ten
// samples lie beyond. It begins at P10: the minimum of millions of samples is so low that it would take
// half of the height.
func Distribution(histogram []byte) ([][2]float64, error) {
	h, err := hdrhistogram.Decode(histogram)
	if err != nil {
		return nil, err
	}
	var points [][2]float64
	total := float64(h.TotalCount())
	for _, b := range h.CumulativeDistributionWithTicks(10) {
		left := 1 - b.Quantile/100
		if left <= 0 || total*left < 10 {
			break
		}
		if b.Quantile < 10 {
			continue
		}
		points = append(points, [2]float64{1 / left, max(1, float64(b.ValueAt))})
	}
	return points, nil
}

// Latencies returns a chart of distributions by percentile.
func Latencies(title, note string, curves []Curve) Chart {
	left, right, low, high := Bounds(curves)
	return Chart{
		Title: title, Note: note, Over: Percentiles, Unit: "ns", Curves: curves,
		X: axis.Tail(left, right), Y: axis.Log(0.85*low, 1.15*high, axis.Of("_ns")),
	}
}
