// Package page draws charts, and makes the pages that show them: one HTML file each, which loads no
// others.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/bars"
	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var (
	//go:embed gallery.html
	galleryHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// Template returns a page's template. In it the templates "policy", "style" and "script" are what every page
// has in its head and at its end, "picture" and "legend" show what a [Gallery] makes, and "table" shows
// rows of texts, whose first is the head. It panics if the text is no template.
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

// A Legend is a name on the page, and what it stands for.
type Legend struct {
	Index       int // its number
	Name, About string
	Kind        Kind
}

// A Picture is one chart of a page.
type Picture interface {
	IsBars() bool // for the template "picture"
}

// A barChart is a chart of bars with the contenders' places on the page.
type barChart struct {
	bars.Chart
	Ticks []Tick
	Rows  []barRow
}

type barRow struct {
	bars.Bar
	Index int
	Span  float64 // of the range
}

func (barChart) IsBars() bool { return true }
func (drawing) IsBars() bool  { return false }

// Bars makes a picture of a chart. number returns the number of a bar's name.
func (g *Gallery) Bars(c bars.Chart, number func(name string) int) Picture {
	b := barChart{Chart: c, Ticks: Ticks(c.Axis)}
	for _, bar := range c.Bars {
		b.Rows = append(b.Rows, barRow{bar, number(bar.Name), bar.High - bar.Low})
	}
	return b
}

// Lines makes a picture of a chart, with the names of its curves below.
func (g *Gallery) Lines(c Chart) Picture {
	d := g.draw(c)
	d.Key = c.key()
	return d
}

// Bare is Lines for a page with a legend, which names the curves of all its charts.
func (g *Gallery) Bare(c Chart) Picture { return g.draw(c) }

func (g *Gallery) draw(c Chart) drawing {
	d, data := c.draw()
	d.Number = len(g.Data)
	g.Data = append(g.Data, data)
	return d
}
