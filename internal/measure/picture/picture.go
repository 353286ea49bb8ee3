// Package picture draws a document as one small SVG, for a place that is too small for a report.
package picture

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/dewpond/dewpond/internal/measure/bars"
	"github.com/dewpond/dewpond/internal/measure/palette"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/words"
)

// A picture is the data of the SVG: three figures of each contender as bars, with the command
// that drew it.
type picture struct {
	Title  string
	Source string
	Panels []bars.Chart
	Hues   []string // of each contender
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
		p := picture{Title: words.CommandLine(d.Command), Panels: panels(d), Ink: "#1f2328"}
		if dark {
			p.Ink = "#f0f6fc"
		}
		if d.Scenario.Name == "burst" {
			p.Title = fmt.Sprintf("%d blocks are held, returned, and held again %d collections later",
				d.Scenario.Blocks, d.Scenario.Collections)
		}
		e := d.Environment
		p.Source = fmt.Sprintf("%s: %s, %d CPUs, %s, %.10s; medians of %d rounds",
			"dewpond bench "+d.Scenario.Name, e.Machine, e.CPUs, e.GoVersion, e.Time, d.Scenario.Rounds)
		for _, h := range palette.Of(d) {
			if dark {
				p.Hues = append(p.Hues, h.Dark)
			} else {
				p.Hues = append(p.Hues, h.Light)
			}
		}
		if err := drawing.Execute(w, p); err != nil {
			return fmt.Errorf("picture: %w", err)
		}
		return nil
	}
}

// panels returns the figures that a picture shows: in burst what survives and what it costs,
// otherwise what every scenario has.
func panels(d result.Document) []bars.Chart {
	if d.Scenario.Name != "burst" {
		return bars.Of(d)[:3]
	}
	figure := func(name, title string) bars.Chart {
		return bars.Compare(d, name, title, "", func(c *result.Contender) (result.Figure, bool) { f, ok := c.Figures[name]; return f, ok })
	}
	return []bars.Chart{
		figure("second_burst_misses", "blocks allocated again"),
		figure("second_burst_ns", "time of the second burst"),
		bars.Compare(d, "rss_peak_bytes", "peak RSS", "", func(c *result.Contender) (result.Figure, bool) { return c.RSSPeakBytes, true }),
	}
}
