package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dewpond/dewpond/load"
)

// reportCommand makes reports from results.
type reportCommand struct {
	HTML    string   `name:"html" type:"path" placeholder:"FILE" help:"Also write the report with charts: one file that loads no others."`
	Results []string `arg:"" placeholder:"RESULT.json" help:"What --json wrote. Several are compared: paired round by round where they are rounds of two commands, and otherwise side by side."`
}

func (c *reportCommand) Run() error {
	var results []load.Result
	for _, name := range c.Results {
		r, err := readResult(name)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	if len(results) > 1 {
		both := load.Compare(results)
		return errors.Join(both.WriteText(os.Stdout), c.page(both))
	}
	return errors.Join(results[0].WriteText(os.Stdout), c.page(&results[0]))
}

// page writes the page, if one is asked for.
func (c *reportCommand) page(r interface{ WriteHTML(io.Writer) error }) error {
	if c.HTML == "" {
		return nil
	}
	f, err := os.Create(c.HTML)
	if err != nil {
		return err
	}
	return errors.Join(r.WriteHTML(f), f.Close())
}

func readResult(name string) (load.Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return load.Result{}, load.UsageError{Err: err}
	}
	defer f.Close()
	r, err := load.ReadJSON(f)
	if err != nil {
		return r, load.UsageError{Err: fmt.Errorf("%s: %w", name, err)}
	}
	return r, nil
}
