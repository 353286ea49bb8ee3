package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/axis"
	"github.com/dewpond/dewpond/internal/measure/bars"
	"github.com/dewpond/dewpond/internal/measure/palette"
)

var (
	//go:embed gallery.html
	galleryHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// Template returns a page's template, in which the templates "picture" and "legend" show what a
// [Gallery] makes. It panics if the text is no template.
func Template(name, text string) *template.Template {
	return template.Must(template.Must(template.New(name).Parse(galleryHTML)).Parse(text))
}

// A Gallery makes the pictures of one page. On it each line and bar has a number, which stands
// for a colour. A template embeds it for Light, Dark, Style, Data, Names and Script.
type Gallery struct {
	Names []string
	Data  []chartData // of the charts of lines, for the script

	index       map[string]int
	light, dark strings.Builder
}

// Number returns the number of a name, which it gives the colour when it first sees it.
func (g *Gallery) Number(name string, hue palette.Hue) int {
	if i, ok := g.index[name]; ok {
		return i
	}
	if g.index == nil {
		g.index = map[string]int{}
	}
	i := len(g.Names)
	g.index[name] = i
	g.Names = append(g.Names, name)
	fmt.Fprintf(&g.light, "--c%d:%s;", i, hue.Light)
	fmt.Fprintf(&g.dark, "--c%d:%s;", i, hue.Dark)
	return i
}

// Light returns the colours for a light page, and Dark those for a dark one.
func (g *Gallery) Light() template.CSS { return template.CSS(g.light.String()) }
func (g *Gallery) Dark() template.CSS  { return template.CSS(g.dark.String()) }

// Style and Script are what the pictures look like, and how they answer to a mouse.
func (g *Gallery) Style() template.CSS { return template.CSS(pageCSS) }
func (g *Gallery) Script() template.JS { return template.JS(pageJS) }

// A Picture is one chart of a page.
type Picture interface {
	IsBars() bool // for the template "picture"
}

// A barChart is a chart of bars with the contenders' places on the page.
type barChart struct {
	bars.Chart
	Ticks []mark
	Rows  []barRow
}

type barRow struct {
	bars.Bar
	Index int
	Span  float64 // of the range
}

// A lineChart is a chart with its number on the page.
type lineChart struct {
	chart
	Number int
}

func (barChart) IsBars() bool  { return true }
func (lineChart) IsBars() bool { return false }

// Bars makes a picture of a chart. number returns the number of a bar's name.
func (g *Gallery) Bars(c bars.Chart, number func(name string) int) Picture {
	b := barChart{Chart: c, Ticks: marks(c.Axis)}
	for _, bar := range c.Bars {
		b.Rows = append(b.Rows, barRow{bar, number(bar.Name), bar.High - bar.Low})
	}
	return b
}

// A Curve is a line through points, which are in ascending order of x.
type Curve struct {
	Number int // on the page
	Name   string
	Points [][2]float64
}

// Lines makes a picture of curves over two axes, with their names below. unit is that of y: ns,
// bytes or none.
func (g *Gallery) Lines(title, note, unit string, x, y axis.Axis, curves []Curve) Picture {
	c := chart{Title: title, Note: note, Data: chartData{Kind: "plain", Unit: unit}}
	var lines []line
	for _, l := range curves {
		lines = append(lines, line{Contender: l.Number, name: l.Name, points: l.Points})
		c.Key = append(c.Key, legend{Index: l.Number, Name: l.Name})
	}
	c.draw(x, y, lines)
	return g.lines(c)
}

func (g *Gallery) lines(c chart) Picture {
	g.Data = append(g.Data, c.Data)
	return lineChart{c, len(g.Data) - 1}
}
