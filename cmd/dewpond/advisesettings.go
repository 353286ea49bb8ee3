package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/metricsample"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/settings"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/source"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/kit/progress"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// processFlags say what process is looked at.
type processFlags struct {
	Source []string `arg:"" name:"source" help:"The URL of a program, or files: a gctrace (- is standard input), an execution trace, or samples of its metrics in the order of time."`

	Seconds int    `default:"30" placeholder:"N" help:"Watch a URL for N seconds (default ${default})."`
	GOGC    string `name:"gogc" placeholder:"N" help:"The program's GOGC, or off (default: what its metrics say)."`
	Limit   string `name:"memory-limit" placeholder:"BYTES" help:"The program's GOMEMLIMIT; 0 is none (default: what its metrics say)."`
	JSON    string `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON; the schema is above."`
}

type adviseSettingsCommand struct {
	processFlags

	Rate     *amount.Rate `placeholder:"N/s" help:"Requests per second that the program served, such as 1500/s: GC cycles per request are printed."`
	TryLimit string       `placeholder:"BYTES" help:"Memory limit of the row with GOGC=off (default: the program's own, otherwise twice its peak heap)."`
	MinGain  float64      `default:"5" placeholder:"PERCENT" help:"Recommend only settings that save at least PERCENT of the GC's CPU time (default ${default} %)."`
	Check    bool         `help:"Exit with 1 if a larger GOGC saves --min-gain or more, or if live memory takes 70 % of the memory limit."`
}

// Help says what the sources are, and what the JSON has.
func (*adviseSettingsCommand) Help() string {
	return `Says how often the program is collected, what that costs, and what there would be of both with GOGC 50, 100, 200, 400, and with GOGC=off and a memory limit, with the highest heap. The formula is the pacer's own (docs/advise.md), and the collections of the window calibrate it. A gctrace and a trace do not say how GOGC is set; it is taken from how the goal follows what lives.

Sources: the URL of a program, which is asked for /debug/vars, /metrics or /debug/pprof, whichever has most; or files. A sample of metrics is a JSON object of the names and numbers of runtime/metrics, which may have a "time", or one of these pages.

Examples:

    # 30 s of a running program
    dewpond advise settings --rate 1500 http://localhost:6060
    # samples of it
    dewpond advise settings 1.json 2.json 3.json
    # until it ends
    GODEBUG=gctrace=1 ./service 2>&1 | dewpond advise settings -
    # fails in CI if three fifths could be saved
    dewpond advise settings --check --min-gain 60 1.json 2.json
    # an execution trace
    dewpond advise settings --try-limit 512MiB trace.out

JSON: an estimate is {"low", "mid", "high"}, or {"cannot_tell": "why"}. Times are in seconds, sizes in bytes, shares parts of 1.

    collector     collections_per_second, cpu (processors),
                  cpu_share (of the CPU used), live_bytes, goal_bytes: estimates
                  gogc (-1: off), limit_bytes (0: none), setting_known,
                  collections, forced_collections
    rows[]        gogc, limit_bytes, now (whether the program runs with it)
                  collections_per_second, collector_cpu (processors),
                  peak_bytes: estimates
    collections_per_request, live_share_of_limit: estimates
    verdict       limit, settings, nothing or cannot tell
    advice        sentences
    from, window_seconds, broken_lines (of a gctrace), gomaxprocs (0: not known)

Exit codes: 0 done, 1 --check found a setting worth having, or too little room below the memory limit, 2 the sources or the flags are wrong, 130 Ctrl-C, 143 SIGTERM.
`
}

// Run reads the sources, and says what other settings would make of the program.
func (c *adviseSettingsCommand) Run() error {
	var errs []error
	ask := settings.Ask{GOGC: c.GOGC != "", MinGain: c.MinGain / 100}
	if !(c.MinGain >= 0 && c.MinGain <= 100) {
		errs = append(errs, errMinGain(c.MinGain))
	}
	if c.Rate != nil {
		ask.Requests = float64(*c.Rate)
		errs = append(errs, checkRate("rate", float64(*c.Rate)))
	}
	if c.TryLimit != "" {
		var err error
		if ask.Limit, err = amount.Parse(c.TryLimit); err != nil || ask.Limit < leastLimit {
			errs = append(errs, fmt.Errorf("--try-limit: %q: give bytes, such as 512MiB, and at least %s", c.TryLimit, amount.Text(leastLimit)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return command.UsageError{Err: err}
	}
	var files outputs.Files[settings.Document]
	if err := files.Open("--json", c.JSON, asJSON[settings.Document]); err != nil {
		return command.UsageError{Err: err}
	}
	ctx, end := interrupt.Context()
	defer end()
	w, broken, err := c.window(ctx)
	if err != nil {
		return err
	}
	d := settings.Make(w, broken, ask)
	if err := errors.Join(files.Write(d), settings.Text(os.Stdout, d, terminal.StyleOf(os.Stdout))); err != nil {
		return err
	}
	switch {
	case c.Check && d.Verdict == settings.Limit:
		return &command.Ending{Text: "--check: what lives is too near to the memory limit", Code: command.Failure}
	case c.Check && d.Verdict == settings.More:
		return &command.Ending{Text: fmt.Sprintf("--check: another setting saves %s of the collector's CPU or more", figure.Percent(ask.MinGain)), Code: command.Failure}
	}
	return nil
}

// The rates that are taken. Beyond them figures are no longer finite.
const leastRequests, mostRequests = 1e-3, 1e9

// checkRate returns an error of a flag whose rate no program has.
func checkRate(flag string, rate float64) error {
	if rate >= leastRequests && rate <= mostRequests {
		return nil
	}
	return fmt.Errorf("--%s: %v: give requests per second, such as 1500/s, from %v to %v", flag, rate, leastRequests, mostRequests)
}

func asJSON[D any](w io.Writer, d D) error { return json.NewEncoder(w).Encode(d) }

// window reads the files, or watches the URL.
func (c *processFlags) window(ctx context.Context) (*pacer.Window, int64, error) {
	w, broken, err := c.look(ctx)
	if err != nil && !errors.As(err, new(interrupt.Error)) {
		err = command.UsageError{Err: err}
	}
	return w, broken, err
}

func (c *processFlags) look(ctx context.Context) (*pacer.Window, int64, error) {
	if c.Seconds < leastSeconds || c.Seconds > mostSeconds {
		return nil, 0, fmt.Errorf("--seconds: %d: give %d to %d", c.Seconds, leastSeconds, mostSeconds)
	}
	given, err := c.given()
	if err != nil {
		return nil, 0, err
	}
	reader := settings.Reader{Given: given}
	urls := 0
	for _, name := range c.Source {
		if source.IsURL(name) {
			urls++
		}
	}
	switch {
	case urls > 0 && len(c.Source) > 1:
		return nil, 0, errors.New("give one URL alone, or files")
	case urls == 1:
		w, err := c.watch(ctx, reader)
		return w, 0, err
	}
	total := int64(0)
	for _, name := range c.Source {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
	}
	display := progress.NewAmount(os.Stderr, "dewpond advise", "reading", total, func(n int64) string { return figure.ByteSize(float64(n)) })
	defer display.Close()
	reader.Reads = display.Add
	return reader.Files(ctx, c.Source)
}

// given reads the flags that say what the program is set to.
func (c *processFlags) given() (given metricsample.Given, err error) {
	if c.GOGC != "" {
		n, err := parseGOGC(c.GOGC)
		if err != nil {
			return given, fmt.Errorf("--gogc: %w", err)
		}
		gogc := int64(n)
		given.GOGC = &gogc
	}
	if c.Limit != "" {
		limit, err := parseLimit(c.Limit)
		if err != nil {
			return given, fmt.Errorf("--memory-limit: %w", err)
		}
		given.Limit = &limit
	}
	return given, nil
}

func (c *processFlags) watch(ctx context.Context, reader settings.Reader) (*pacer.Window, error) {
	page, err := settings.At(c.Source[0])
	if err != nil {
		return nil, err
	}
	window := time.Duration(c.Seconds) * time.Second
	fmt.Fprintln(os.Stderr, terminal.Wrap("", page.Cost(window), terminal.StyleOf(os.Stderr).Width))
	display := progress.NewAmount(os.Stderr, "dewpond advise", "watching", int64(window), func(n int64) string { return fmt.Sprintf("%.0f s", time.Duration(n).Seconds()) })
	defer display.Close()
	return reader.Watch(ctx, page, window, func(d time.Duration) { display.Add(int64(d)) })
}
