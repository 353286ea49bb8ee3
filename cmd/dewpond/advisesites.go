package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/advice"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/evidence"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/look"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/model"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/source"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/kit/progress"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

type adviseSitesCommand struct {
	Source []string `arg:"" name:"source" help:"The URL of a program's /debug/pprof, or files: profiles of the heap (two, or one with a duration), a CPU profile, a gctrace, and what heap?debug=1 has answered. The format of each file is detected."`

	Seconds int     `default:"30" placeholder:"N" help:"Watch a URL for N seconds (default ${default})."`
	CPU     bool    `name:"cpu-profile" default:"true" negatable:"" help:"Also take a CPU profile of the URL."`
	Src     string  `default:"." type:"path" placeholder:"DIR" help:"Directory of the program's source, to recognize kinds of allocations (default: the current module)."`
	MinGain float64 `default:"5" placeholder:"PERCENT" help:"Report only sites that save at least PERCENT of the GC's CPU time (default ${default} %)."`
	Check   bool    `help:"Exit with 1 if a site saves --min-gain or more."`
	Stacks  bool    `help:"Also print the callers of each site."`
	GOGC    string  `name:"gogc" placeholder:"N" help:"The program's GOGC, or off (default: what its metrics say, otherwise 100)."`
	Limit   string  `name:"memory-limit" placeholder:"BYTES" help:"The program's GOMEMLIMIT (default: what its metrics say, otherwise none)."`
	Idle    string  `placeholder:"BYTES" help:"Assume that each pool keeps BYTES idle (default: estimated from live memory)."`
	JSON    string  `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON; the schema is above."`
}

// leastSeconds and mostSeconds bound how long a URL is watched.
const (
	leastSeconds = 1
	mostSeconds  = 3600
)

// Run looks at the sources, and says what to pool.
func (c *adviseSitesCommand) Run() error {
	settings, program, err := c.settings()
	if err != nil {
		return command.UsageError{Err: err}
	}
	var files outputs.Files[advice.Document]
	if err := files.Open("--json", c.JSON, func(w io.Writer, d advice.Document) error {
		return json.NewEncoder(w).Encode(d)
	}); err != nil {
		return command.UsageError{Err: err}
	}
	src, err := evidence.Open(c.Src)
	if err != nil {
		return command.UsageError{Err: fmt.Errorf("--src: %w", err)}
	}
	ctx, end := interrupt.Context()
	defer end()
	seen, err := c.look(ctx, look.Reader{Program: sites.Program{Modules: src.Modules()}})
	if err == nil {
		var facts advice.Facts
		if facts, err = seen.Facts(program); err == nil {
			facts.Source = src.Of
			return c.report(advice.Make(facts, settings), files)
		}
	}
	if errors.As(err, new(interrupt.Error)) {
		return err
	}
	return command.UsageError{Err: err}
}

// settings reads the flags.
func (c *adviseSitesCommand) settings() (s advice.Settings, program look.Settings, err error) {
	s = advice.Settings{MinGain: c.MinGain / 100, Idle: -1, Stacks: c.Stacks}
	var errs []error
	add := func(flag string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	if !(c.MinGain >= 0 && c.MinGain <= 100) {
		errs = append(errs, errMinGain(c.MinGain))
	}
	if c.Seconds < leastSeconds || c.Seconds > mostSeconds {
		add("seconds", fmt.Errorf("%d: give %d to %d", c.Seconds, leastSeconds, mostSeconds))
	}
	if c.GOGC != "" {
		gogc, err := parseGOGC(c.GOGC)
		add("gogc", err)
		program.GOGC = &gogc
	}
	if c.Limit != "" {
		n, err := parseLimit(c.Limit)
		add("memory-limit", err)
		limit := float64(n)
		program.Limit = &limit
	}
	if c.Idle != "" {
		n, err := amount.Parse(c.Idle)
		add("idle", err)
		s.Idle = float64(n)
	}
	return s, program, errors.Join(errs...)
}

// errMinGain says what --min-gain may be.
func errMinGain(given float64) error { return fmt.Errorf("--min-gain: %v: give 0 to 100 %%", given) }

// leastLimit is the least GOMEMLIMIT that is taken. A Go program that does nothing has as much.
const leastLimit = 4 << 20

// parseLimit reads a GOMEMLIMIT. 0 is none.
func parseLimit(text string) (int64, error) {
	n, err := amount.Parse(text)
	if err == nil && n != 0 && n < leastLimit {
		err = fmt.Errorf("%q is less than any Go program takes: give at least %s, or 0 for none", text, amount.Text(leastLimit))
	}
	return n, err
}

// parseGOGC reads the environment variable's value. With 0 a program would do nothing but collect.
func parseGOGC(text string) (float64, error) {
	if text == "off" {
		return model.Off, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is no GOGC: give a number such as 100, or off", text)
	}
	return float64(n), nil
}

// look reads the files, or watches the URL.
func (c *adviseSitesCommand) look(ctx context.Context, r look.Reader) (*look.Look, error) {
	urls := 0
	for _, name := range c.Source {
		if source.IsURL(name) {
			urls++
		}
	}
	switch {
	case urls > 1, urls == 1 && len(c.Source) > 1:
		return nil, errors.New("give one URL alone, or files")
	case urls == 1:
		return c.watch(ctx, r, c.Source[0])
	}
	var all []*source.Source
	total := int64(0)
	for _, name := range c.Source {
		s, err := source.File(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
		total += s.Size
		if s.Kind == source.Profile { // it is read twice
			total += s.Size
		}
	}
	display := progress.NewAmount(os.Stderr, "dewpond advise", "reading", total, func(n int64) string { return figure.ByteSize(float64(n)) })
	defer display.Close()
	r.Reads = display.Add
	seen := new(look.Look)
	for _, s := range all {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := r.Read(ctx, seen, s); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

func (c *adviseSitesCommand) watch(ctx context.Context, r look.Reader, address string) (*look.Look, error) {
	program, err := source.At(address)
	if err != nil {
		return nil, err
	}
	window := time.Duration(c.Seconds) * time.Second
	fmt.Fprintln(os.Stderr, terminal.Wrap("", look.Cost(program, window, c.CPU), terminal.StyleOf(os.Stderr).Width))
	display := progress.NewAmount(os.Stderr, "dewpond advise", "watching", int64(window), func(n int64) string { return fmt.Sprintf("%.0f s", time.Duration(n).Seconds()) })
	defer display.Close()
	return r.Watch(ctx, program, window, c.CPU, func(d time.Duration) { display.Add(int64(d)) })
}

// report writes the answer.
func (c *adviseSitesCommand) report(d advice.Document, files outputs.Files[advice.Document]) error {
	if err := errors.Join(files.Write(d), advice.Text(os.Stdout, d, terminal.StyleOf(os.Stdout))); err != nil {
		return err
	}
	if n := len(d.Together.Sites); c.Check && n > 0 && d.Verdict != advice.Nothing {
		return &command.Ending{Text: fmt.Sprintf("--check: %s to pool", figure.Several(n, "site")), Code: command.Failure}
	}
	return nil
}
