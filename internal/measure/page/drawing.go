package page

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/dewpond/dewpond/internal/measure/result"
)

type plotFont = font.Font

const chartWidth, chartHeight = 560, 300 // points; the page scales it

// A chart is a drawing, with what the page's script needs to read values off it.
type chart struct {
	Title string
	Note  string
	SVG   template.HTML
	Data  chartData
}

type chartData struct {
	Kind  string     `json:"kind"` // how the script prints: percentile or series
	Unit  string     `json:"unit"` // ns or bytes
	Box   [4]float64 `json:"box"`  // left, top, right, bottom in the drawing's units
	XLog  bool       `json:"xlog"`
	X     [2]float64 `json:"x"` // range of the axis
	Lines []line     `json:"lines"`
}

type line struct {
	Contender int          `json:"c"` // index in the document
	Points    [][2]float64 `json:"p"`
	name      string
}

// plotLines draws lines over two axes.
func plotLines(title, note string, x, y axis, data chartData) (chart, error) {
	c := chart{Title: title, Note: note, Data: data}
	p := plot.New()
	p.BackgroundColor = nil
	xlo, xhi, ylo, yhi := bounds(data.Lines, y.log)
	x.apply(&p.X, xlo, xhi)
	y.apply(&p.Y, ylo, yhi)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = rule, rule
	grid.Vertical.Width, grid.Horizontal.Width = 0.5, 0.5
	p.Add(grid)
	// The control is drawn last, so that its dashes show over a line below it.
	pools := slices.DeleteFunc(slices.Clone(data.Lines), func(l line) bool { return l.name == result.Control })
	nop := slices.DeleteFunc(slices.Clone(data.Lines), func(l line) bool { return l.name != result.Control })
	for _, l := range append(pools, nop...) {
		xy := make(plotter.XYs, len(l.Points))
		for i, pt := range l.Points {
			xy[i] = plotter.XY{X: pt[0], Y: pt[1]}
		}
		drawn, err := plotter.NewLine(xy)
		if err != nil {
			return c, fmt.Errorf("page: chart %q: %w", title, err)
		}
		drawn.Color = marker(l.Contender)
		drawn.Width = 1.4
		switch l.name {
		case result.Ours, result.Baseline:
			drawn.Width = 2.4
		case result.Control:
			drawn.Width = 1.8
			drawn.Dashes = []vg.Length{vg.Points(6), vg.Points(4)}
		}
		p.Add(drawn)
	}
	canvas := vgsvg.New(chartWidth, chartHeight)
	area := draw.New(canvas)
	p.Draw(area)
	inner := p.DataCanvas(area)
	c.Data.XLog = x.log
	c.Data.X = [2]float64{xlo, xhi}
	c.Data.Box = [4]float64{float64(inner.Min.X), chartHeight - float64(inner.Max.Y), float64(inner.Max.X), chartHeight - float64(inner.Min.Y)}
	var buf bytes.Buffer
	if _, err := canvas.WriteTo(&buf); err != nil {
		return c, fmt.Errorf("page: chart %q: %w", title, err)
	}
	c.SVG = inline(buf.String())
	return c, nil
}

// inline makes gonum's stand-alone SVG a part of the page: without its XML head, sized by the
// page, coloured by CSS variables. The drawing holds only lines and numbers, no text from
// outside, so it may be trusted.
func inline(svg string) template.HTML {
	_, body, _ := strings.Cut(svg, "<svg")
	_, body, _ = strings.Cut(body, ">")
	head := fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img">`, chartWidth, chartHeight)
	return template.HTML(head + recolour(body, maxContenders))
}

// maxContenders is how many marker colours are replaced; more than any document has.
const maxContenders = 64

// bounds returns the range of the axes with some margin, so that no line is cut.
func bounds(lines []line, log bool) (xlo, xhi, ylo, yhi float64) {
	xlo, ylo = math.Inf(1), math.Inf(1)
	xhi, yhi = math.Inf(-1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.Points {
			xlo, xhi = min(xlo, p[0]), max(xhi, p[0])
			ylo, yhi = min(ylo, p[1]), max(yhi, p[1])
		}
	}
	if log { // on the right also room for the label of the last tick
		return xlo, max(xhi*1.5, xlo*2), ylo * 0.85, max(yhi*1.15, ylo*2)
	}
	// On the right room for half the label of the last tick.
	return xlo, max(xlo+1.04*(xhi-xlo), xlo+1e-9), 0, max(yhi*1.05, 1)
}
