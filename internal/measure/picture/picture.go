// Package picture draws a document as one small SVG, for a place that is too small for a report.
package picture

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/dewpond/dewpond/internal/measure/bars"
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/palette"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/words"
)

// A picture is the data of the SVG: three figures of each contender as bars, with the command
// that drew it.
type picture struct {
	Title  string
	Source string
	Names  []string // of the contenders, from the top
	Panels []bars.Chart
	Dark   bool
	Ink    string
}

var (
	//go:embed picture.svg
	pictureSVG string

	drawing = template.Must(template.New("picture").Funcs(template.FuncMap{
		"panelX": func(i int) int { return 140 + 210*i },
		"rowY":   func(i int) int { return 84 + 26*i },
		"width":  func(percent float64) string { return fmt.Sprintf("%.1f", max(1, 1.15*percent)) },
		"textX":  func(percent float64) string { return fmt.Sprintf("%.1f", 8+max(1, 1.15*percent)) },
	}).Parse(pictureSVG))
)

// Write returns a function that writes the picture, for a light or for a dark page. An image on a
// page such as a README cannot adapt its colours.
func Write(dark bool) func(io.Writer, result.Document) error {
	return func(w io.Writer, d result.Document) error {
		p := picture{Title: words.CommandLine(d.Command), Panels: panels(d), Dark: dark, Ink: "#1f2328"}
		if dark {
			p.Ink = "#f0f6fc"
		}
		if d.Scenario.Name == "burst" {
			p.Title = fmt.Sprintf("%s are held, returned, and held again %s later",
				figure.Several(d.Scenario.Blocks, "block"), figure.Several(d.Scenario.Collections, "collection"))
		}
		e := d.Environment
		p.Source = fmt.Sprintf("dewpond bench %s: %s, %s, %s, %.10s; medians of %s",
			d.Scenario.Name, e.Machine, figure.Several(e.CPUs, "CPU"), e.GoVersion, e.Time, figure.Several(d.Scenario.Rounds, "round"))
		for _, c := range d.Contenders {
			p.Names = append(p.Names, c.Name)
		}
		if err := drawing.Execute(w, p); err != nil {
			return fmt.Errorf("picture: %w", err)
		}
		return nil
	}
}

// hue returns the colour of a contender.
func (p picture) Hue(contender string) string {
	if h := palette.Of(contender); p.Dark {
		return h.Dark
	} else {
		return h.Light
	}
}

// Row returns the place of a contender, from the top.
func (p picture) Row(contender string) int { return slices.Index(p.Names, contender) }

// panels returns the figures that a picture shows: in burst what survives and what it costs,
// otherwise what every scenario has.
func panels(d result.Document) []bars.Chart {
	names := []string{"ops_per_sec", "gc_per_5s", "rss_peak_bytes"}
	titles := []string{"throughput, ops/s", "GC cycles in 5 s", "peak RSS"}
	if d.Scenario.Name == "burst" {
		names = []string{"second_burst_misses", "second_burst_ns", "rss_peak_bytes"}
		titles = []string{"blocks allocated again", "time of the second burst", "peak RSS"}
	}
	var out []bars.Chart
	for i, name := range names {
		out = append(out, bars.Linear(d, name, titles[i]))
	}
	return out
}
