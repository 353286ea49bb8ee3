package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/command"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// reportCommand makes reports from results.
type reportCommand struct {
	HTML    string   `name:"html" type:"path" placeholder:"FILE" help:"Also write the report with charts: one file that loads no others."`
	HGRM    string   `name:"hgrm" type:"path" placeholder:"DIR" help:"Also write the latency distributions of one result, for HdrHistogram's plotter."`
	Results []string `arg:"" placeholder:"RESULT.json" help:"Results written by --json. Several are compared: paired round by round if they are rounds of two commands, otherwise side by side."`
}

// A shown is what a report is made of: one result, or several that are compared.
type shown []load.Result

func (s shown) writeText(w io.Writer) error {
	if len(s) > 1 {
		return report.Compare(s).WriteText(w)
	}
	return report.WriteText(w, &s[0])
}

func (s shown) writeHTML(w io.Writer) error {
	if len(s) > 1 {
		return report.Compare(s).WriteHTML(w)
	}
	return report.WriteHTML(w, &s[0])
}

func (c *reportCommand) Run() error {
	if c.HGRM != "" && len(c.Results) > 1 {
		return command.UsageError{Err: errors.New("--hgrm: goes with one RESULT.json; give each result its own folder")}
	}
	files := outputs.Files[shown]{Private: true}
	if err := errors.Join(
		files.Open("--html", c.HTML, func(w io.Writer, s shown) error { return s.writeHTML(w) }),
		files.OpenDir("--hgrm", c.HGRM, func(dir string, s shown) error { return report.WriteHGRM(dir, &s[0]) })); err != nil {
		return err
	}
	var results shown
	for _, name := range c.Results {
		r, err := readResult(name)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	return errors.Join(files.Write(results), results.writeText(os.Stdout))
}

func readResult(name string) (load.Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return load.Result{}, command.UsageError{Err: err}
	}
	defer f.Close()
	r, err := load.ReadJSON(f)
	if err != nil {
		return r, command.UsageError{Err: fmt.Errorf("%s: %w", name, err)}
	}
	return r, nil
}
