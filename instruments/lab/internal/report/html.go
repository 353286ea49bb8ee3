package report

import (
	_ "embed"
	"io"
	"slices"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

//go:embed page.html
var pageHTML string

var labPage = page.Template("lab", pageHTML)

type pageData struct {
	Report   Report
	Machine  string
	Sections []section
	page.Gallery
}

// A section shows one experiment.
type section struct {
	ID, Question string
	Pictures     []page.Picture
	Rows         []row
	Head         []string
	Figures      [][]string
}

// A row is a claim with its finding.
type row struct {
	Claim   experiment.Claim
	Finding experiment.Finding
	Class   int // of the verdict
}

// HTML writes one file that loads no others.
func HTML(w io.Writer, r Report) error {
	p := &pageData{Report: r, Machine: r.machine()}
	for _, o := range r.Outcomes {
		s := section{ID: o.ID, Question: o.Question, Pictures: pictures(&p.Gallery, o)}
		for i, f := range o.Findings {
			s.Rows = append(s.Rows, row{o.Claims[i], f, slices.Index(experiment.Verdicts, f.Verdict)})
		}
		s.Head, s.Figures = figures(o)
		p.Sections = append(p.Sections, s)
	}
	return labPage.Execute(w, p)
}

// figures returns a table with a row for each figure and a column for each case.
func figures(o Outcome) (head []string, rows [][]string) {
	head = append([]string{""}, o.Measured.Cases()...)
	for _, name := range o.Measured.Figures() {
		cells := []string{figure.Label(name)}
		for _, c := range o.Measured.Cases() {
			text := "–"
			if v := experiment.At(c, name); o.Measured.Has(v) {
				text = o.Measured.Text(v)
			}
			cells = append(cells, text)
		}
		rows = append(rows, cells)
	}
	return head, rows
}
