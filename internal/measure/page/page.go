// Package page writes a document as one HTML file that loads no others. Only this package uses
// gonum/plot, which draws the charts.
package page

import (
	"github.com/dewpond/dewpond/internal/measure/bars"
	"github.com/dewpond/dewpond/internal/measure/palette"
	"github.com/dewpond/dewpond/internal/measure/table"
	"github.com/dewpond/dewpond/internal/measure/words"

	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/dewpond/dewpond/internal/measure/result"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string

	page = template.Must(template.New("page").Parse(pageHTML))
)

// A pageData is the data of the template. Strings from outside (names, the command, the machine)
// stay plain strings, so that html/template escapes them.
type pageData struct {
	Document   result.Document
	Legend     []legend
	Words      []string
	Withheld   string
	Charts     []chart
	Data       []chartData
	Names      []string
	Bars       []bars.Chart
	Tables     []pageTable
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

// A pageTable is a table whose rows can be hidden by a click in the legend.
type pageTable struct {
	table.Table
	Rows []pageRow
}

type pageRow struct {
	table.Row
	Index int // of the contender; -1 if the row is not a contender
}

// Write writes one self-contained file: no font, script, style or image comes from elsewhere, and
// the page's own policy forbids any request.
func Write(w io.Writer, d result.Document) error {
	drawn, err := charts(d)
	if err != nil {
		return err
	}
	hues := palette.Of(d)
	p := pageData{
		Document: d, Words: d.Words, Withheld: words.Withheld(d), Charts: drawn, Bars: bars.Of(d),
		Conditions: words.Conditions(d), Command: words.CommandLine(d.Command),
		Light: template.CSS(variables(hues, false)), Dark: template.CSS(variables(hues, true)),
		Style: template.CSS(pageCSS), Script: template.JS(pageJS),
	}
	for _, c := range drawn {
		p.Data = append(p.Data, c.Data)
	}
	index := map[string]int{}
	for i, c := range d.Contenders {
		index[c.Name] = i
		kind := map[string]string{result.Control: "control", result.Baseline: "baseline", result.Ours: "ours"}[c.Name]
		p.Legend = append(p.Legend, legend{i, c.Name, c.About, kind})
		p.Names = append(p.Names, c.Name)
	}
	for _, t := range table.Of(d) {
		pt := pageTable{Table: t}
		for _, r := range t.Rows {
			pr := pageRow{r, -1}
			if r.Kind == table.OfContender {
				pr.Index = index[r.Name]
			}
			pt.Rows = append(pt.Rows, pr)
		}
		p.Tables = append(p.Tables, pt)
	}
	if err := page.Execute(w, p); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}
