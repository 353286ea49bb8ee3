// Package webpage writes a document as one HTML file that loads no others.
package webpage

import (
	_ "embed"
	"fmt"
	"io"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/table"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var (
	//go:embed page.html
	pageHTML string

	layout = page.Template("page", pageHTML)
)

// A pageData is the data of the template. Strings from outside (names, the command, the machine)
// stay plain strings, so that html/template escapes them.
type pageData struct {
	Document bench.Document
	Command  string
	Answers  answers
	Fields   []field
	Legend   []page.Legend
	Sections []*section
	page.Gallery
}

// A section shows one scenario. A page has one, that of a tour several.
type section struct {
	Name       string
	Tour       bool   // it is part of one
	Cell       string // what it is, if it is a cell of rivals
	Withheld   string
	Words      words.Verdict
	Pictures   []page.Picture
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

// Write returns a function that writes one self-contained file, in which hue gives each contender its
// colour: no font, script, style or image comes from elsewhere, and the page's own policy forbids any
// request.
func Write(hue func(name string) palette.Hue) func(io.Writer, bench.Document) error {
	return func(w io.Writer, d bench.Document) error { return write(w, d, hue) }
}

func write(w io.Writer, d bench.Document, hue func(name string) palette.Hue) error {
	p := &pageData{Document: d, Command: words.CommandLine(d.Command), Answers: answersOf(d)}
	parts := d.Parts
	if d.Scenario.Name != bench.Touring { // whose answers are all that it has of its own
		parts = append([]bench.Document{d}, parts...)
	}
	index := p.name(parts, hue)
	p.Fields = fields(d, index)
	for i, part := range parts {
		s, err := p.section(part, index)
		if err != nil {
			return err
		}
		s.Tour = d.Scenario.Name == bench.Touring
		if d.Cells != nil && i > 0 {
			s.Name, s.Cell = d.Cells[i-1].Name, d.Cells[i-1].About
		}
		p.Sections = append(p.Sections, s)
	}
	if err := layout.Execute(w, p); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// name fills the legend with the contenders of all parts, and returns their numbers.
func (p *pageData) name(parts []bench.Document, hue func(name string) palette.Hue) map[string]int {
	index := map[string]int{}
	for _, d := range parts {
		for _, c := range d.Contenders {
			if _, ok := index[c.Name]; ok {
				continue
			}
			i := p.Number(c.Name, hue(c.Name))
			index[c.Name] = i
			l := page.Legend{Index: i, Name: c.Name, About: c.About, Kind: kindOf(c.Name)}
			if l.Kind == page.Baseline && parts[0].Cells != nil { // of its cells, and not of the whole
				l.Kind = page.Other
			}
			p.Legend = append(p.Legend, l)
		}
	}
	return index
}

// kindOf returns what sets a contender apart.
func kindOf(contender string) page.Kind {
	switch contender {
	case bench.Control:
		return page.Control
	case bench.Baseline:
		return page.Baseline
	case bench.Ours:
		return page.Ours
	}
	return page.Other
}

// section makes the section of a document, and keeps the data of its charts.
func (p *pageData) section(d bench.Document, index map[string]int) (*section, error) {
	s := &section{
		Name: d.Scenario.Name, Withheld: words.Withheld(d), Words: words.Of(d),
		Conditions: words.Conditions(d),
	}
	lines, err := latencies(d, index)
	if err != nil {
		return nil, err
	}
	lines = append(lines, overTime(d, index)...)
	var drawn []page.Picture
	for _, c := range lines {
		drawn = append(drawn, p.Bare(c))
	}
	var others []page.Picture
	for _, c := range compared(d) {
		others = append(others, p.Bars(c, func(name string) int { return index[name] }))
	}
	if d.Scenario.Shape().Point == bench.Figures { // that of the others is in distributions and curves
		s.Pictures = append(others, drawn...)
	} else {
		s.Pictures = append(drawn, others...)
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
