package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/capacity"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/process"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

type adviseCapacityCommand struct {
	processFlags

	Rate    amount.Rate   `required:"" placeholder:"N/s" help:"Requests per second to serve, such as 1500/s."`
	Latency time.Duration `required:"" placeholder:"TIME" help:"Mean time that a request takes at that rate, such as 42ms."`
	Now     *amount.Rate  `placeholder:"N/s" help:"Requests per second that it served while the sources were collected (default: --rate)."`
	PID     int           `name:"pid" placeholder:"N" help:"The program's process on this machine: the CPU limit of its cgroups is printed."`
	Check   bool          `help:"Exit with 1 if live memory would take 70 % of the memory limit or more."`
	Held    string        `placeholder:"BYTES" help:"Bytes that a request holds while it runs, its goroutine's stack included (default: all that it allocates, the upper bound)."`
}

// Help says how the answer is reckoned, and what the JSON has.
func (*adviseCapacityCommand) Help() string {
	return `Says how high the heap and the resident memory go at a rate of requests. What is alive is what the program keeps, and what the requests hold that are under way, rate x latency of them; GOGC says how far the heap grows above that. How much garbage a request makes has no part in it: that says how often the heap is collected. An article multiplies just that by rate, latency and 1.8 to 2.5, which is printed beside.

The sources are those of dewpond advise settings.

Examples:

    dewpond advise capacity --rate 1500 --latency 42ms http://localhost:6060
    dewpond advise capacity --rate 1500 --latency 42ms --now 200 --held 20KiB \
        1.json 2.json
    # fails in CI if that is too little
    dewpond advise capacity --rate 1500 --latency 42ms \
        --memory-limit 512MiB --check URL

JSON: an estimate is {"low", "mid", "high"}, or {"cannot_tell": "why"}. Sizes are in bytes.

    peak_heap_bytes, rss_bytes, in_flight_bytes, article_bytes,
    live_bytes (now), requests_in_flight, allocated_per_request,
    live_share_of_limit (then): estimates
    from, window_seconds, gogc (-1: off), limit_bytes (0: none), setting_known,
    gomaxprocs (0: not known), cpu_limit: numbers, and texts

Exit codes: 0 done, 1 --check found too little room below the memory limit, 2 the sources or the flags are wrong, 130 Ctrl-C, 143 SIGTERM.
`
}

// Run reads the sources, and says how much memory the program needs.
func (c *adviseCapacityCommand) Run() error {
	ask := capacity.Ask{Rate: float64(c.Rate), Latency: c.Latency, Now: float64(c.Rate), Held: -1}
	errs := []error{checkRate("rate", float64(c.Rate))}
	if c.Latency <= 0 {
		errs = append(errs, fmt.Errorf("--latency: %v: give how long a request is under way, such as 42ms", c.Latency))
	}
	if c.Now != nil {
		ask.Now = float64(*c.Now)
		errs = append(errs, checkRate("now", float64(*c.Now)))
	}
	if c.Held != "" {
		held, err := amount.Parse(c.Held)
		if err != nil {
			errs = append(errs, fmt.Errorf("--held: %w", err))
		}
		ask.Held = float64(held)
	}
	if err := errors.Join(errs...); err != nil {
		return command.UsageError{Err: err}
	}
	var files outputs.Files[capacity.Document]
	if err := files.Open("--json", c.JSON, asJSON[capacity.Document]); err != nil {
		return command.UsageError{Err: err}
	}
	ctx, end := interrupt.Context()
	defer end()
	w, _, err := c.window(ctx)
	if err != nil {
		return err
	}
	d := capacity.Make(w, ask)
	if d.CPULimit, err = c.cpuLimit(); err != nil {
		return command.UsageError{Err: fmt.Errorf("--pid: %w", err)}
	}
	switch {
	case c.Check && d.Limit == 0:
		return command.UsageError{Err: errors.New("--check: there is no memory limit, and so nothing that the memory could be too much for: give one, as in --memory-limit 512MiB")}
	case c.Check && !d.Share.Known():
		return command.UsageError{Err: fmt.Errorf("--check: %s", d.Share.Why)}
	}
	if err := errors.Join(files.Write(d), capacity.Text(os.Stdout, d, terminal.StyleOf(os.Stdout))); err != nil {
		return err
	}
	if c.Check && d.Near() {
		return &command.Ending{Text: "--check: what lives would be too near to the memory limit", Code: command.Failure}
	}
	return nil
}

// cpuLimit says how many processors the program's cgroups let it use.
func (c *adviseCapacityCommand) cpuLimit() (string, error) {
	if c.PID == 0 {
		return "not known without --pid", nil
	}
	limit, err := process.System{}.CPULimit(c.PID)
	switch {
	case err != nil:
		return "", err
	case limit == 0:
		return "none", nil
	}
	return figure.Significant(limit), nil
}
