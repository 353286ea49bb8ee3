// Package page writes a document as one HTML file that loads no others.
package page

import (
	_ "embed"
	"fmt"
	"io"

	"github.com/dewpond/dewpond/internal/measure/bars"
	"github.com/dewpond/dewpond/internal/measure/palette"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/table"
	"github.com/dewpond/dewpond/internal/measure/words"
)

var (
	//go:embed page.html
	pageHTML string

	page = Template("page", pageHTML)
)

// A pageData is the data of the template. Strings from outside (names, the command, the machine)
// stay plain strings, so that html/template escapes them.
type pageData struct {
	Document result.Document
	Command  string
	Answers  answers
	Legend   []legend
	Sections []*section
	Gallery
}

// A legend names a contender.
type legend struct {
	Index             int
	Name, About, Kind string // Kind marks the control, the baseline and dewpond
}

// A section shows one scenario. A page has one, that of a tour several.
type section struct {
	Name       string
	Tour       bool // it is part of one
	Withheld   string
	Words      words.Verdict
	Pictures   []Picture
	Tables     []pageTable
	Conditions [][2]string
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
	p := &pageData{Document: d, Command: words.CommandLine(d.Command), Answers: answersOf(d)}
	parts := d.Parts
	if d.Scenario.Name != result.Touring {
		parts = []result.Document{d}
	}
	index := p.name(parts)
	for _, part := range parts {
		s, err := p.section(part, index)
		if err != nil {
			return err
		}
		s.Tour = d.Scenario.Name == result.Touring
		p.Sections = append(p.Sections, s)
	}
	if err := page.Execute(w, p); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// name fills the legend with the contenders of all parts, and returns their numbers.
func (p *pageData) name(parts []result.Document) map[string]int {
	index := map[string]int{}
	for _, d := range parts {
		for _, c := range d.Contenders {
			if _, ok := index[c.Name]; ok {
				continue
			}
			i := p.Number(c.Name, palette.Of(c.Name))
			index[c.Name] = i
			kind := map[string]string{result.Control: "control", result.Baseline: "baseline", result.Ours: "ours"}[c.Name]
			p.Legend = append(p.Legend, legend{i, c.Name, c.About, kind})
		}
	}
	return index
}

// section makes the section of a document, and keeps the data of its charts.
func (p *pageData) section(d result.Document, index map[string]int) (*section, error) {
	s := &section{
		Name: d.Scenario.Name, Withheld: words.Withheld(d), Words: words.Of(d),
		Conditions: words.Conditions(d),
	}
	lines, err := latencies(d, index)
	if err != nil {
		return nil, err
	}
	lines = append(lines, overTime(d, index)...)
	var drawn []Picture
	for _, c := range lines {
		drawn = append(drawn, p.lines(c))
	}
	var compared []Picture
	for _, c := range bars.Of(d) {
		compared = append(compared, p.Bars(c, func(name string) int { return index[name] }))
	}
	// The point of micro and burst is in single figures, that of the others in distributions and
	// curves.
	if s.Name == "micro" || s.Name == "burst" {
		s.Pictures = append(compared, drawn...)
	} else {
		s.Pictures = append(drawn, compared...)
	}
	for _, t := range table.Of(d) {
		pt := pageTable{Table: t}
		for _, r := range t.Rows {
			row := pageRow{r, -1}
			if r.Kind == table.OfContender {
				row.Index = index[r.Name]
			}
			pt.Rows = append(pt.Rows, row)
		}
		s.Tables = append(s.Tables, pt)
	}
	return s, nil
}
