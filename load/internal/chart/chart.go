// Package chart draws lines over two axes, as HTML that stands in a page by itself. The page
// stretches the lines to whatever width it has; the labels are text beside them and keep their
// size. Colours come from the page: a line and its name have the class l0, l1 and so on.
package chart

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/axis"
)

// A Line is one series.
type Line struct {
	Name   string
	Points [][2]float64 // x and y, in ascending order of x
}

// A Chart is lines over two axes.
type Chart struct {
	Title string
	X, Y  axis.Axis
	Lines []Line
	Mark  *Mark // nil is none
}

// A Mark is a place on the x axis that has a name.
type Mark struct {
	X    float64
	Name string
}

// side is that of the square which the lines are drawn in, before the page stretches it.
const side = 1000

// HTML returns the chart. Its texts are escaped. A chart of one line is named by its title alone.
func (c Chart) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<figure><figcaption><b>%s</b>`, html.EscapeString(c.Title))
	for i, l := range c.Lines {
		if len(c.Lines) > 1 {
			fmt.Fprintf(&b, ` <span class="name l%d">%s</span>`, i, html.EscapeString(l.Name))
		}
	}
	fmt.Fprintf(&b, `</figcaption><div class="plot"><svg viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%s">`, side, side, html.EscapeString(c.Title))
	fmt.Fprintf(&b, `<path class="grid" d="%s"/>`, c.grid())
	if c.Mark != nil {
		fmt.Fprintf(&b, `<path class="mark" d="M%.1f 0V%d"/>`, side*c.X.At(c.Mark.X), side)
	}
	for i, l := range c.Lines {
		fmt.Fprintf(&b, `<path class="line l%d" d="%s"/>`, i, c.path(l))
	}
	b.WriteString("</svg>")
	for i, t := range labelled(c.X) {
		class := "x"
		if t.Thin || i%2 == 1 {
			class = "x thin"
		}
		fmt.Fprintf(&b, `<span class="%s" style="left:%.2f%%">%s</span>`, class, 100*c.X.At(t.Value), html.EscapeString(t.Label))
	}
	for _, t := range labelled(c.Y) {
		fmt.Fprintf(&b, `<span class="y" style="bottom:%.2f%%">%s</span>`, 100*c.Y.At(t.Value), html.EscapeString(t.Label))
	}
	if c.Mark != nil {
		from, at := "left", 100*c.X.At(c.Mark.X)
		if at > 50 { // the name stands where there is room for it
			from, at = "right", 100-at
		}
		fmt.Fprintf(&b, `<span class="marked" style="%s:%.2f%%">%s</span>`, from, at, html.EscapeString(c.Mark.Name))
	}
	b.WriteString("</div></figure>\n")
	return b.String()
}

func labelled(a axis.Axis) []axis.Tick {
	var out []axis.Tick
	for _, t := range a.Ticks {
		if at := a.At(t.Value); t.Label != "" && at > -1e-6 && at < 1+1e-6 {
			out = append(out, t)
		}
	}
	return out
}

func (c Chart) grid() string {
	var b strings.Builder
	for _, t := range labelled(c.X) {
		fmt.Fprintf(&b, "M%.1f 0V%d", side*c.X.At(t.Value), side)
	}
	for _, t := range labelled(c.Y) {
		fmt.Fprintf(&b, "M0 %.1fH%d", side*(1-c.Y.At(t.Value)), side)
	}
	return b.String()
}

func (c Chart) path(l Line) string {
	var b strings.Builder
	for k, p := range l.Points {
		verb := "L"
		if k == 0 {
			verb = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, side*c.X.At(p[0]), side*(1-c.Y.At(p[1])))
	}
	return b.String()
}

// Bounds returns the least and the greatest value of lines, of x or of y. Of nothing it returns 1 and
// 10.
func Bounds(lines []Line, of func([2]float64) float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.Points {
			low, high = min(low, of(p)), max(high, of(p))
		}
	}
	if low > high {
		return 1, 10
	}
	return low, high
}

// X and Y are what [Bounds] is asked for.
func X(p [2]float64) float64 { return p[0] }
func Y(p [2]float64) float64 { return p[1] }
