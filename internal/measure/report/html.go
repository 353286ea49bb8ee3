package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/dewpond/dewpond/internal/measure/result"
)

var (
	//go:embed page/report.html
	pageHTML string
	//go:embed page/report.css
	pageCSS string
	//go:embed page/report.js
	pageJS string

	page = template.Must(template.New("report").Parse(pageHTML))
)

// A pageData is what the template shows. Strings from outside (names, the
// command, the machine) stay plain strings, so that html/template escapes them.
type pageData struct {
	Document   result.Document
	Legend     []legend
	Words      []string
	Withheld   string
	Charts     []chart
	Data       []chartData
	Names      []string
	Bars       []barChart
	Grids      []pageGrid
	Conditions [][2]string
	Command    string
	Light      template.CSS
	Dark       template.CSS
	Style      template.CSS
	Script     template.JS
}

type legend struct {
	Index             int
	Name, About, Kind string // Kind marks the control, the baseline and dewpond
}

type pageGrid struct {
	Title string
	Notes []string
	Head  []string
	Rows  []pageRow
}

type pageRow struct {
	Index int // of the contender; -1 where the row is not one
	Kind  string
	Name  string
	Cells []pageCell
}

type pageCell struct{ Text, Spread, Tone string }

// HTML writes one self-contained file: no font, script, style or image comes
// from anywhere else, and the page's own policy forbids any request.
func HTML(w io.Writer, d result.Document) error {
	drawn, err := charts(d)
	if err != nil {
		return err
	}
	hs := hues(d)
	p := pageData{
		Document: d, Words: d.Words, Withheld: withheld(d), Charts: drawn, Bars: barCharts(d),
		Conditions: conditions(d), Command: commandLine(d.Command),
		Light: template.CSS(variables(hs, false)), Dark: template.CSS(variables(hs, true)),
		Style: template.CSS(pageCSS), Script: template.JS(pageJS),
	}
	for _, c := range drawn {
		p.Data = append(p.Data, c.Data)
	}
	index := map[string]int{}
	for i, c := range d.Contenders {
		index[c.Name] = i
		kind := map[string]string{control: "control", baseline: "baseline", ours: "ours"}[c.Name]
		p.Legend = append(p.Legend, legend{i, c.Name, c.About, kind})
		p.Names = append(p.Names, c.Name)
	}
	for _, g := range grids(d) {
		pg := pageGrid{Title: g.title, Notes: g.notes, Head: g.head}
		for _, r := range g.rows {
			pr := pageRow{Index: -1, Kind: string(r.kind), Name: r.name}
			if r.kind == ofContender {
				pr.Index = index[r.name]
			}
			for _, c := range r.cells {
				pr.Cells = append(pr.Cells, pageCell{c.text, c.spread, string(c.tone)})
			}
			pg.Rows = append(pg.Rows, pr)
		}
		p.Grids = append(p.Grids, pg)
	}
	if err := page.Execute(w, p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
