package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"

	"github.com/dewpond/dewpond/instruments/load"

	"github.com/dewpond/dewpond/examples/matchmaker/account"
	"github.com/dewpond/dewpond/examples/matchmaker/plainly"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

// A floodCommand plays the same flood on each variant of the service.
type floodCommand struct {
	backendFlags

	Rate        amount.Rate `placeholder:"N/s" help:"Send N requests per second before the flood, and four times as many in it. The default is a third of what the service takes without a measure."`
	Quick       bool        `help:"Measure in a tenth of the time: 17 s for each variant instead of 170."`
	Connections int         `default:"512" placeholder:"N" help:"Open N connections for the users, in all (default ${default})."`
	Only        []string    `placeholder:"NAME" help:"Measure the service without a measure, and only these variants, as in --only all --only '+ db'. The default is all variants." sep:"none"`

	program

	scale float64 // of time; 0: by Quick
	times times   // of the turns before; tests have shorter ones
}

// The stages of the flood that are looked at.
const (
	calm  = "calm"
	burst = "burst"
	peak  = "evening peak"
)

// incident is the flood: a burst 30 s after the start, and the evening peak with +300 %. examples/matchmaker's
// flood.yaml has it at 100 a second.
func incident(rate, scale float64) []load.Stage {
	flooded := 4 * rate
	stages := []load.Stage{
		{Name: calm, For: 30 * time.Second, Rate: rate},
		{Name: burst, For: 5 * time.Second, Rate: flooded, Back: true},
		{Name: "between", For: 25 * time.Second, Rate: rate},
		{Name: "to the peak", For: 10 * time.Second, Rate: flooded},
		{Name: peak, For: time.Minute, Rate: flooded},
		{Name: "from the peak", For: 10 * time.Second, Rate: rate},
		{Name: "after", For: 30 * time.Second, Rate: rate},
	}
	for i := range stages {
		stages[i].For = time.Duration(scale * float64(stages[i].For))
	}
	return stages
}

// Run measures and prints.
func (c *floodCommand) Run(ctx context.Context) error {
	return c.flood(ctx, plainly.Stdout, os.Stderr)
}

// A flooded is what the flood did to one variant.
type flooded struct {
	variant.Variant
	load.Result
	account.Window
	off []string // features that were off in an answer
}

func (c *floodCommand) flood(ctx context.Context, out, progress io.Writer) (err error) {
	before := &compareCommand{backendFlags: c.backendFlags, Connections: 64, Only: c.Only, program: c.program, times: c.times}
	if before.times == (times{}) {
		before.times = times{300 * time.Millisecond, 300 * time.Millisecond, 1500 * time.Millisecond, 0, 0}
	}
	if err := c.check(before); err != nil {
		return command.UsageError{Err: err}
	}
	switch {
	case c.scale != 0:
	case c.Quick:
		c.scale = 0.1
	default:
		c.scale = 1
	}
	t, most, end, err := before.ready(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	c.program = before.program
	throughput, alone, err := before.calibrate(ctx, t, most, progress)
	if err != nil {
		return err
	}
	rate := float64(c.Rate)
	if rate == 0 {
		rate = max(1, throughput/3)
	}
	e := kit.Environment()
	fmt.Fprintf(out, "%s, %d processors, %s, %s, load average %.2f; %s.\n", e.Machine, e.CPUs, e.GoVersion, e.Time, e.LoadAverage[0], t.what)
	fmt.Fprintf(out, "%s before and between, %s in the burst and at the evening peak; before takes %s in a closed loop.\n\n", figure.Significant(rate)+"/s", figure.Significant(4*rate)+"/s", figure.Significant(throughput)+"/s")
	rows := [][]string{{"", "P95 calm", "in the burst", "at the peak", "broke", "shed", "off", "back after the burst", "the peak", "peak memory"}}
	var words, spoiled []string
	for _, v := range chosen(variant.Variants(before.size(throughput, alone, most), most), c.Only) {
		fmt.Fprintf(progress, "%s: %.0f s\n", v.Name, seconds(c.scale*170).Seconds())
		f, err := c.turn(ctx, t, v, rate)
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		rows = append(rows, f.row())
		words = append(words, f.words())
		for _, why := range f.Why {
			spoiled = append(spoiled, v.Name+": not valid: "+why)
		}
	}
	columns.Write(out, rows)
	fmt.Fprintf(out, "\n%s\n", strings.Join(words, "\n"))
	fmt.Fprintln(out, "\nBroke is what had no answer, another status than 200, or no place among 20000 in flight; shed are those that the service refused. It is back from the first second on whose requests have no error and a median that is not above the calm P95, as all seconds after it.")
	if len(spoiled) > 0 {
		return &command.Ending{Text: strings.Join(spoiled, "; "), Code: 4}
	}
	return ctx.Err()
}

func (c *floodCommand) check(before *compareCommand) error {
	switch {
	case c.Rate < 0 || 4*c.Rate > 1e6:
		return fmt.Errorf("--rate %.0f/s: give requests per second, above 0 and at most 250000/s, or leave it out", float64(c.Rate))
	case c.Connections < 1:
		return fmt.Errorf("--connections %d: give 1 or more, such as 512", c.Connections)
	}
	if has, needs := kit.OpenFiles(), uint64(c.Connections)+openFiles; has > 0 && has < needs {
		return fmt.Errorf("--connections %d needs %d open files, and a process may have %d here: raise that, as with ulimit -n %d, or give less", c.Connections, needs, has, needs)
	}
	return before.known()
}

// turn plays the flood on one variant, from its start on.
func (c *floodCommand) turn(ctx context.Context, t targets, v variant.Variant, rate float64) (f flooded, err error) {
	f.Variant = v
	args, environment := t.service(v)
	s, err := c.start(ctx, args, environment...)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	scenario := (&compareCommand{Connections: c.Connections}).scenario(s.addresses.HTTP)
	scenario.Limits = load.Limits{InFlight: 20_000, Timeout: 5 * time.Second}
	scenario.Arrivals = load.Arrivals{Process: load.Poisson, Seed: 1, Stages: incident(rate, c.scale)}
	over, seen := make(chan struct{}), make(chan []string)
	go func() { seen <- s.degraded(ctx, over) }()
	f.Result, f.Window, err = s.measured(ctx, scenario)
	close(over)
	f.off = <-seen
	if err == nil {
		err = ctx.Err()
	}
	return f, err
}

// shed counts what the service refused, and broke what went wrong else.
func (f *flooded) shed() (n uint64) {
	for _, status := range []string{"503", "429"} {
		n += f.ErrorStatuses[status]
	}
	return n
}

func (f *flooded) broke() uint64 { return f.Failed + f.Dropped - min(f.shed(), f.Failed+f.Dropped) }

// what says how it broke, such as "3 timeout, 2 dropped".
func (f *flooded) what() string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(f.Errors)) {
		if n := f.Errors[kind]; kind != load.BadStatus && n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, kind))
		}
	}
	for _, status := range slices.Sorted(maps.Keys(f.ErrorStatuses)) {
		if status != "503" && status != "429" {
			out = append(out, fmt.Sprintf("%d with %s", f.ErrorStatuses[status], status))
		}
	}
	if f.Dropped > 0 {
		out = append(out, fmt.Sprintf("%d dropped", f.Dropped))
	}
	return strings.Join(out, ", ")
}

func (f *flooded) stage(name string) load.StagePart {
	i := slices.IndexFunc(f.Stages, func(s load.StagePart) bool { return s.Name == name })
	if i < 0 {
		return load.StagePart{Response: &load.Times{}}
	}
	return f.Stages[i]
}

// back returns how long after the end of a stage all was as in the calm one, until the rate next changes
// for the worse; false if it was not.
func (f *flooded) back(of string) (time.Duration, bool) {
	if len(f.Series) == 0 { // it was over before its first second
		return 0, false
	}
	end := f.stage(of).At + f.stage(of).Seconds
	until := f.Series[len(f.Series)-1].At
	if again := f.stage("to the peak").At; again > end {
		until = again
	}
	calmed := tail(f.stage(calm).Response)
	from, well := 0.0, false
	for _, s := range f.Series {
		if s.At <= end || s.At > until {
			continue
		}
		fine := s.Failed+s.Dropped == 0 && (s.Response.Samples > 0 || s.InFlight == 0) && middle(s.Response) <= calmed
		if fine && !well {
			from = max(0, s.At-1-end)
		}
		well = fine
	}
	return seconds(from), well
}

// tail is the P95, or the longest where there are too few samples for it.
func tail(t *load.Times) float64 {
	if t.P95 != nil {
		return *t.P95
	}
	return t.Max
}

func middle(t *load.Times) float64 {
	if t.P50 != nil {
		return *t.P50
	}
	return t.Mean
}

func (f *flooded) backText(of string) string {
	after, ok := f.back(of)
	if !ok {
		return "not back"
	}
	return after.Round(100 * time.Millisecond).String()
}

func (f *flooded) row() []string {
	off := "-"
	if len(f.off) > 0 {
		off = strings.Join(f.off, ", ")
	}
	row := []string{f.Variant.Name}
	for _, stage := range []string{calm, burst, peak} {
		row = append(row, figure.Duration(tail(f.stage(stage).Response)))
	}
	return append(row, fmt.Sprint(f.broke()), fmt.Sprint(f.shed()), off, f.backText(burst), f.backText(peak), fmt.Sprintf("%d MiB", f.Window.PeakRSS>>20))
}

// words say what the flood did.
func (f *flooded) words() string {
	var out []string
	if n := f.broke(); n > 0 {
		out = append(out, fmt.Sprintf("%d of %d requests broke (%s)", n, f.Offered, f.what()))
	} else {
		out = append(out, "nothing broke")
	}
	if n := f.shed(); n > 0 {
		out = append(out, fmt.Sprintf("%d were shed", n))
	} else {
		out = append(out, "none was shed")
	}
	if len(f.off) > 0 {
		out = append(out, "off was "+strings.Join(f.off, ", "))
	}
	if f.Overload != "" {
		out = append(out, "it "+f.Overload)
	}
	for _, of := range []string{burst, peak} {
		if after, ok := f.back(of); ok {
			out = append(out, fmt.Sprintf("all was back %v after the %s", after.Round(100*time.Millisecond), of))
		} else {
			out = append(out, fmt.Sprintf("it was not back after the %s", of))
		}
	}
	return fmt.Sprintf("%s: %s; peak memory %d MiB.", f.Variant.Name, strings.Join(out, ", "), f.Window.PeakRSS>>20)
}
