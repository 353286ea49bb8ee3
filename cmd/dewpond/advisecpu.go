package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/attribution"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/process"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/profiles"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/source"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/kit/progress"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

type adviseCPUCommand struct {
	Source string `arg:"" name:"source" help:"A CPU profile, or the URL of a program's /debug/pprof, which is profiled then."`

	Seconds int    `default:"30" placeholder:"N" help:"Profile the program for N seconds (default ${default})."`
	PID     int    `name:"pid" placeholder:"N" help:"The program's process on this machine: Linux's counts for it during --seconds are printed too."`
	JSON    string `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON; the schema is above."`

	// What the other questions have and this one refuses.
	Check   bool     `hidden:""`
	MinGain *float64 `hidden:""`
}

// Help has examples.
func (*adviseCPUCommand) Help() string {
	return `What a CPU profile does not see: who waits or sleeps, and what the kernel does for a page that is touched
for the first time, which is in the functions that touch it. --pid counts the latter. There is no --check and no --min-gain:
a profile says what memory costs, and not what of that could be saved; dewpond advise sites and settings have them.

Examples:

    dewpond advise cpu http://localhost:6060
    dewpond advise cpu --pid 4711 http://localhost:6060
    dewpond advise cpu cpu.pb.gz

JSON: an estimate is {"low", "mid", "high"}, or {"cannot_tell": "why"}.

    kinds[]     kind, samples, share (of the profile, an estimate)
    memory      the same of all kinds together, but for idle_marking
    samples, cpu_seconds
    system      seconds, minor_faults_per_second, major_faults_per_second,
                mappings, mappings_more, rss_bytes, huge_page_bytes,
                lazily_freed_bytes, missing; or system_cannot_tell

Exit codes: 0 done, 2 the source or the flags are wrong, 130 Ctrl-C, 143 SIGTERM.
`
}

// A cpuDocument is the answer, and its JSON.
type cpuDocument struct {
	attribution.Shares
	System  *process.Change `json:"system,omitempty"`
	Missing string          `json:"system_cannot_tell,omitempty"`
}

// Run shares a profile out among what memory costs.
func (c *adviseCPUCommand) Run() error {
	if c.Seconds < leastSeconds || c.Seconds > mostSeconds {
		return command.UsageError{Err: fmt.Errorf("--seconds: %d: give %d to %d", c.Seconds, leastSeconds, mostSeconds)}
	}
	if c.Check || c.MinGain != nil {
		return command.UsageError{Err: errors.New("--check, --min-gain: a CPU profile says what memory costs, and not what of that could be saved, so there is nothing to find: dewpond advise sites and dewpond advise settings have these flags")}
	}
	if c.PID < 0 {
		return command.UsageError{Err: fmt.Errorf("--pid: %d: give the number of a process on this machine", c.PID)}
	}
	var files outputs.Files[cpuDocument]
	if err := files.Open("--json", c.JSON, asJSON[cpuDocument]); err != nil {
		return command.UsageError{Err: err}
	}
	ctx, end := interrupt.Context()
	defer end()
	d, err := c.look(ctx)
	if err != nil {
		if errors.As(err, new(interrupt.Error)) {
			return err
		}
		return command.UsageError{Err: err}
	}
	style := terminal.StyleOf(os.Stdout)
	return errors.Join(files.Write(d), attribution.Text(os.Stdout, d.Shares, style), d.system(os.Stdout, style))
}

func (c *adviseCPUCommand) look(ctx context.Context) (d cpuDocument, err error) {
	var first *process.Counters
	if c.PID > 0 {
		if first, err = (process.System{}).Read(c.PID); err != nil {
			return d, fmt.Errorf("--pid: %w", err)
		}
	}
	window := time.Duration(c.Seconds) * time.Second
	began := time.Now()
	var s *source.Source
	if source.IsURL(c.Source) {
		s, err = c.profile(ctx, window)
	} else {
		s, err = source.File(c.Source)
	}
	if err != nil {
		return d, err
	}
	if d.Shares, err = sharesOf(ctx, s); err != nil {
		return d, fmt.Errorf("%s: %w", s.Name, err)
	}
	if first == nil {
		d.Missing = "give --pid of the process on this machine, which must be Linux, for its page faults, mappings and huge pages"
		return d, nil
	}
	if left := window - time.Since(began); left > 0 { // a file was read at once
		select {
		case <-ctx.Done():
			return d, context.Cause(ctx)
		case <-time.After(left):
		}
	}
	last, err := process.System{}.Read(c.PID)
	if err == nil {
		var change process.Change
		change, err = process.Between(first, last)
		d.System = &change
	}
	if err != nil {
		return d, fmt.Errorf("--pid: %w", err)
	}
	return d, nil
}

// profile has a program profiled.
func (c *adviseCPUCommand) profile(ctx context.Context, window time.Duration) (*source.Source, error) {
	program, err := source.At(c.Source)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, terminal.Wrap("", fmt.Sprintf("%s is asked once for profile?seconds=%d. That interrupts each of its busy processors 100 times a second, for some microseconds. Nothing in it is changed.", program.Shown(), c.Seconds), terminal.StyleOf(os.Stderr).Width))
	data, err := program.Get(ctx, fmt.Sprintf("profile?seconds=%d", c.Seconds), window)
	if err != nil {
		return nil, err
	}
	return source.Bytes(program.Shown()+"/profile", data)
}

// sharesOf reads a CPU profile, piece by piece.
func sharesOf(ctx context.Context, s *source.Source) (attribution.Shares, error) {
	if s.Kind != source.Profile {
		return attribution.Shares{}, attribution.ErrType
	}
	display := progress.NewAmount(os.Stderr, "dewpond advise", "reading", 2*s.Size, func(n int64) string { return figure.ByteSize(float64(n)) })
	defer display.Close()
	var counter attribution.Counter
	err := profiles.Each(s.Counted(ctx, display.Add), counter.Add)
	if errors.Is(err, profiles.ErrCut) {
		err = errors.New("the profile is cut off: save it again, and wait until it is whole")
	}
	if err != nil {
		return attribution.Shares{}, err
	}
	return counter.Shares(), nil
}

// system writes what Linux has counted.
func (d cpuDocument) system(w io.Writer, style terminal.Style) error {
	text := "Linux's counters: cannot tell: " + d.Missing + "."
	if c := d.System; c != nil {
		text = fmt.Sprintf("Linux counted in %s s: %s minor page faults a second, %s major ones; %.0f mappings (%+.0f); %s resident, of which %s in transparent huge pages, and %s given back that are still there. It does not count %s.",
			figure.Significant(c.Seconds), figure.Count(c.Minor), figure.Count(c.Major), c.Mappings, c.More, figure.ByteSize(c.RSS), figure.ByteSize(c.Huge), figure.ByteSize(c.Lazy), c.Missing)
	}
	var out bytes.Buffer
	out.WriteString("\n" + strings.TrimRight(terminal.Wrap("", text, style.Width), "\n") + "\n")
	_, err := w.Write(out.Bytes())
	return err
}
