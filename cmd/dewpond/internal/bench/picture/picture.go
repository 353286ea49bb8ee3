// Package picture draws a document as one small SVG, for a place that is too small for a report.
package picture

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/bars"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/palette"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// A picture is the data of the SVG: three figures of each contender as bars, with the command
// that drew it. It is 400 units wide, so that it can be read on a phone, and has room for a font as
// wide as DejaVu Sans.
type picture struct {
	Title  string
	Source string
	Names  []string                      // of the contenders, from the top
	Panels []bars.Chart                  // titles have lines
	Hues   func(name string) palette.Hue // of the contenders
	Dark   bool
	Ink    string
}

var (
	//go:embed picture.svg
	pictureSVG string

	drawing = template.Must(template.New("picture").Funcs(template.FuncMap{
		"wrap":    func(text string, width int) string { return terminal.Wrap("", text, width) },
		"lines":   func(text string) []string { return strings.Split(text, "\n") },
		"titleY":  func(i int) int { return 18 + 18*i },
		"headY":   func(i int) int { return 62 + 14*i },
		"rowY":    rowY,
		"sourceY": func(i int) int { return 14 * i },
		"panelX":  func(i int) int { return 124 + 92*i },
		"width":   func(percent float64) string { return fmt.Sprintf("%.1f", max(1, 0.28*percent)) },
		"textX":   func(percent float64) string { return fmt.Sprintf("%.1f", 5+max(1, 0.28*percent)) },
	}).Parse(pictureSVG))
)

// rowY returns the base line of the row with an index.
func rowY(i int) int { return 114 + 22*i }

// Height returns the height of the picture, with two lines for its source.
func (p picture) Height() int { return rowY(len(p.Names)) + 22 }

// Write returns a function that writes the picture, for a light or for a dark page. An image on a
// page such as a README cannot adapt its colours, of which hue gives each contender one.
func Write(dark bool, hue func(name string) palette.Hue) func(io.Writer, bench.Document) error {
	return func(w io.Writer, d bench.Document) error {
		p := picture{Title: words.CommandLine(d.Command), Panels: panels(d), Hues: hue, Dark: dark, Ink: "#1f2328"}
		if dark {
			p.Ink = "#f0f6fc"
		}
		if d.Scenario.Name == "burst" {
			p.Title = fmt.Sprintf("%s%s are held, returned, and held again %s later",
				figure.Several(d.Scenario.Blocks, "block"), ofSize(d.Scenario.Mix), figure.Several(d.Scenario.Collections, "collection"))
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

// ofSize returns " of 64 KiB" for a mix of blocks of that size alone, and nothing for another.
func ofSize(mix string) string {
	if size, all := strings.CutSuffix(mix, ":100"); all {
		if n, err := strconv.Atoi(size); err == nil && n%1024 == 0 {
			return fmt.Sprintf(" of %d KiB", n/1024)
		}
	}
	return ""
}

// Hue returns the colour of a contender.
func (p picture) Hue(contender string) string {
	if h := p.Hues(contender); p.Dark {
		return h.Dark
	} else {
		return h.Light
	}
}

// Row returns the place of a contender, from the top.
func (p picture) Row(contender string) int { return slices.Index(p.Names, contender) }

// panels returns the figures that a picture shows: in burst what survives and what it costs,
// otherwise what every scenario has.
func panels(d bench.Document) []bars.Chart {
	names := []string{"ops_per_sec", "gc_per_5s", "rss_peak_bytes"}
	titles := []string{"throughput,\nops/s", "GC cycles\nin 5 s", "peak RSS"}
	if d.Scenario.Name == "burst" {
		names = []string{"second_burst_misses", "second_burst_ns", "rss_peak_bytes"}
		titles = []string{"blocks\nallocated\nagain", "time of the\nsecond burst", "peak RSS"}
	}
	var out []bars.Chart
	for i, name := range names {
		out = append(out, bars.Linear(figures.Values(d, name), name, titles[i]))
	}
	return out
}
