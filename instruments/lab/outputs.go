package main

import (
	"errors"

	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/lab/internal/report"
)

// outputFlags name the files that a report is written to, besides standard output.
type outputFlags struct {
	JSON     string `name:"json" type:"path" placeholder:"FILE" help:"Write the findings and all figures to FILE, as JSON."`
	HTML     string `name:"html" type:"path" placeholder:"FILE" help:"Write a report with charts to FILE, as HTML that loads no other files."`
	Markdown string `name:"markdown" type:"path" placeholder:"FILE" help:"Write the document that the repository keeps of a full run, instruments/lab/results.md, to FILE."`
}

func (f outputFlags) open() (*outputs.Files[report.Report], error) {
	var files outputs.Files[report.Report]
	err := errors.Join(files.Open("--json", f.JSON, report.JSON), files.Open("--html", f.HTML, report.HTML), files.Open("--markdown", f.Markdown, report.Markdown))
	return &files, err
}
