package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/instruments/internal/secret"
	"github.com/dewpond/dewpond/instruments/internal/sessionlog"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/load/command"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"
)

// learnCommand learns a scenario.
type learnCommand struct {
	Logs   []string `arg:"" name:"log" placeholder:"LOG" help:"A log written by --requests, or a service's session log in the same format (see instruments/load/README.md)."`
	Output string   `default:"learned.yaml" type:"path" placeholder:"FILE" help:"Scenario file to write. The lists of ids that it draws from are written next to it."`
	Target string   `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Target of the scenario: a log does not contain it."`
	Force  bool     `help:"Overwrite an existing scenario."`
}

// Help says what is learned.
func (learnCommand) Help() string {
	return `Prints what the log shows: sizes, pauses, how many requests of a kind a session has at once, protocols, and the shares of the transitions from one state to the next.
The scenario makes such sessions. What differs between sessions, such as the ids in paths and bodies, is drawn anew for each.
What the log does not have, such as a body, has a filler and a comment.`
}

func (c *learnCommand) Run() error {
	if _, err := os.Stat(c.Output); err == nil && !c.Force {
		return command.UsageError{Err: fmt.Errorf("%s is there: give --output another name, or --force", c.Output)}
	}
	var l sessionlog.Log
	for _, name := range c.Logs {
		if err := addLog(&l, name); err != nil {
			return command.UsageError{Err: err}
		}
	}
	var text strings.Builder // what a log has is not written as it is to a terminal
	l.WriteText(&text)
	f, err := sessionlog.Learn(&l)
	if err == nil {
		f.WriteText(&text)
	}
	fmt.Print(secret.Shown(text.String()))
	if err != nil {
		return command.UsageError{Err: err}
	}
	name := strings.TrimSuffix(filepath.Base(c.Output), filepath.Ext(c.Output))
	s := f.Scenario("learned from "+filepath.Base(c.Logs[0]), c.Target, name+"-")
	for _, left := range s.Left {
		fmt.Println("left out:", secret.Shown(left))
	}
	return c.write(s)
}

func addLog(l *sessionlog.Log, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return l.Add(filepath.Base(name), f)
}

// writePrivate writes what a log has, which may hold secrets.
func writePrivate(path, text string) error {
	return outputs.WritePrivate(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// write writes the files and reads the scenario again, for it must be one.
func (c *learnCommand) write(s sessionlog.Scenario) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.Lists)) {
		errs = append(errs, writePrivate(filepath.Join(filepath.Dir(c.Output), name), s.Lists[name]))
	}
	if err := errors.Join(append(errs, writePrivate(c.Output, s.Text))...); err != nil {
		return err
	}
	f, err := scenariofile.Read(c.Output)
	if err == nil {
		err = f.Locate(f.Scenario.Validate())
	}
	if err != nil {
		return fmt.Errorf("what was learned is no scenario yet: %w", err)
	}
	fmt.Printf("\n%s is the scenario: dewload %s\n", c.Output, c.Output)
	return nil
}
