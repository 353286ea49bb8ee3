package load

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/load/internal/target"
)

// ScenarioFlags override what a scenario says, and say how it is run: kong reads them. A flag that
// was not given is nil or empty, and then the scenario's own value holds.
type ScenarioFlags struct {
	Name        *string        `placeholder:"TEXT" help:"The report's title."`
	Target      *string        `placeholder:"URL" help:"Where the session's paths are."`
	Rate        *float64       `placeholder:"N" help:"Sessions a second."`
	Duration    *time.Duration `placeholder:"TIME" help:"How long sessions begin that are measured, such as 30s."`
	Warmup      *time.Duration `placeholder:"TIME" help:"How long sessions begin before, which count nowhere."`
	Process     *string        `placeholder:"constant|poisson" help:"How arrivals are spread: evenly, or as those of many users are."`
	Seed        *uint64        `placeholder:"N" help:"The same seed gives the same arrivals, data and thinking."`
	Mode        *string        `placeholder:"open|closed" help:"closed: --users begin a session when the one before has ended, as wrk does, and the target sets the rate."`
	Users       *int           `placeholder:"N" help:"How many users there are in closed mode."`
	Protocol    *string        `placeholder:"http/1.1|h2c|h2" help:"What all sessions speak. h2c is HTTP/2 without TLS."`
	Connections *string        `placeholder:"N|each" help:"HTTP connections in all, open before the first arrival; or each: every session its own."`
	InFlight    *int           `placeholder:"N" help:"Sessions at once; one that is due beyond is dropped and counted."`
	Timeout     *time.Duration `placeholder:"TIME" help:"Of each request, at most 60s."`
	Header      []string       `sep:"none" placeholder:"NAME:VALUE" help:"Sent with every request. Give it again for more."`
	Body        string         `placeholder:"TEXT|@FILE" help:"With a URL: what is sent to it, by POST."`
	Insecure    bool           `help:"Accept any certificate."`
	CA          string         `name:"ca" type:"path" placeholder:"FILE" help:"Accept certificates of these authorities, in PEM."`
	NoMark      bool           `help:"Leave out the header Dewpond-Run, by which the target tells this load from its users."`
	Metrics     string         `placeholder:"URL" help:"The target's metrics, in Prometheus's text format or expvar's: read once a second and drawn under the latency."`
	Pprof       string         `placeholder:"URL" help:"The target's net/http/pprof, such as http://127.0.0.1:6060: an execution trace of the middle of the run says how much of the slowest requests coincides with its collector."`
	Capture     string         `type:"path" placeholder:"DIR" help:"With --pprof: leave trace.out and cpu.pprof there."`
	Descriptors string         `type:"path" placeholder:"FILE" help:"Protobuf descriptors (protoc --include_imports --descriptor_set_out), so that the target is not asked for them."`
}

// Flags are the flags of a command that runs a scenario and reports it.
type Flags struct {
	ScenarioFlags

	Threshold []string `sep:"none" placeholder:"TEXT" help:"What must hold, beside the scenario's own: 'STEP p99 < 100ms', 'errors < 0.1%', 'achieved >= 99%', 'dropped = 0'. STEP is session for all of it."`
	Abort     *string  `placeholder:"TEXT" help:"End early, such as 'errors > 20% for 3s'."`

	EachProtocol bool `help:"Run every protocol of the scenario alone and then the mixture, in turns, and say what mixing costs."`

	JSON     string `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON (docs/load.md describes it)."`
	HTML     string `name:"html" type:"path" placeholder:"FILE" help:"Also write a report with charts: one file that loads no others."`
	HGRM     string `name:"hgrm" type:"path" placeholder:"DIR" help:"Also write latency distributions that HdrHistogram's plotter opens."`
	Requests string `type:"path" placeholder:"FILE" help:"Also write one line of JSON for each request."`
}

// ExitCodes ends the help of every command that runs a scenario.
const ExitCodes = `Ctrl-C ends the run and reports what was measured until then.

Exit codes: 0 done, 1 could not run, 2 wrong usage or scenario, 3 a threshold was missed or the run aborted, 4 the result is not valid, 130 interrupted.`

// Main runs the scenario as a command with all flags of dewload, and exits.
func Main(s Scenario) {
	var flags Flags
	parser := kong.Must(&flags, kong.Description(s.Name+"\n\n"+ExitCodes))
	if _, err := parser.Parse(os.Args[1:]); err != nil {
		os.Exit(Exit(UsageError{err}))
	}
	os.Exit(Exit(flags.Run(s)))
}

// A UsageError is a mistake in the arguments.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e UsageError) Unwrap() error { return e.Err }

// What a run that was reported ended with.
var (
	ErrInterrupted = errors.New("interrupted: the report shows what was measured until then")
	ErrMissed      = errors.New("a threshold was missed")
	ErrAborted     = errors.New("aborted")
	ErrNotValid    = errors.New("not valid")
)

// Exit prints the error of a command on standard error, and returns its exit code.
func Exit(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "dewload:", err)
	switch {
	case errors.Is(err, ErrInterrupted):
		return 130
	case errors.Is(err, ErrNotValid):
		return 4
	case errors.Is(err, ErrMissed), errors.Is(err, ErrAborted):
		return 3
	case errors.As(err, new(UsageError)), errors.As(err, new(*InvalidError)):
		return 2
	}
	return 1
}

// Run runs the scenario as the flags say and reports it: on standard output, and into the files
// that they name.
func (f *Flags) Run(s Scenario) error { return f.RunBy(s, Run) }

// RunBy is Run with another way to run a scenario.
func (f *Flags) RunBy(s Scenario, run func(context.Context, Scenario, Options) (Result, error)) error {
	if err := f.conditions(&s); err != nil {
		return UsageError{err}
	}
	o, err := f.Apply(&s)
	if err != nil {
		return err
	}
	if f.EachProtocol && f.HGRM+f.HTML != "" {
		return UsageError{errors.New("--each-protocol: writes --json, and no --html or --hgrm")}
	}
	files, err := f.files(&o)
	if err != nil {
		return err
	}
	defer files.Close()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	display := NewDisplay(os.Stderr)
	o.Progress = display.Show
	if f.EachProtocol {
		m, err := EachProtocol(ctx, s, o, display.Begin)
		display.Close()
		if err != nil {
			return err
		}
		return errors.Join(m.WriteText(os.Stdout), files.writeMixing(m))
	}
	r, err := run(ctx, s, o)
	display.Close()
	if err != nil {
		return err
	}
	r.Command = append([]string{"dewload"}, os.Args[1:]...)
	if err := errors.Join(r.WriteText(os.Stdout), files.Write(r)); err != nil {
		return err
	}
	return r.conclude()
}

// conclude returns the error of a result that was reported, or nil if all is well.
func (r *Result) conclude() error {
	switch {
	case r.Interrupted:
		return ErrInterrupted
	case r.Aborted != "":
		return fmt.Errorf("%w: %s", ErrAborted, r.Aborted)
	case !r.Valid:
		return fmt.Errorf("%w: %s", ErrNotValid, strings.Join(r.Why, "; "))
	}
	for _, v := range r.Thresholds {
		if !v.OK {
			return fmt.Errorf("%w: %s: %s", ErrMissed, v.Text, v.Shown)
		}
	}
	return nil
}

// Apply overrides what the scenario says, validates it, and returns how it is run. An error is a
// [UsageError] or an [*InvalidError].
func (f *ScenarioFlags) Apply(s *Scenario) (Options, error) {
	o := Options{Insecure: f.Insecure, NoMark: f.NoMark, Descriptors: f.Descriptors}
	if err := errors.Join(f.override(s), f.authorities(&o), f.observed(&o)); err != nil {
		return o, UsageError{err}
	}
	return o, s.Validate()
}

func (f *ScenarioFlags) override(s *Scenario) error {
	override(&s.Name, f.Name)
	override(&s.Target, f.Target)
	override(&s.Arrivals.Rate, f.Rate)
	override(&s.Arrivals.Duration, f.Duration)
	override(&s.Arrivals.Warmup, f.Warmup)
	override(&s.Arrivals.Seed, f.Seed)
	override(&s.Limits.InFlight, f.InFlight)
	override(&s.Limits.Timeout, f.Timeout)
	if f.InFlight != nil && *f.InFlight <= 0 {
		return fmt.Errorf("--in-flight: %d: give 1 to %d", *f.InFlight, mostInFlight)
	}
	if f.Process != nil {
		s.Arrivals.Process = Process(*f.Process)
	}
	if f.Protocol != nil {
		s.Protocols = []Share{{Protocol(*f.Protocol), 1}}
	}
	if err := f.mode(&s.Arrivals); err != nil {
		return err
	}
	if f.Connections != nil {
		n, err := ParseConnections(*f.Connections)
		if err != nil {
			return fmt.Errorf("--connections: %w", err)
		}
		s.Connections = n
	}
	return errors.Join(f.headers(s), f.body(s))
}

// conditions adds thresholds to the scenario's, and overrides what ends it early.
func (f *Flags) conditions(s *Scenario) error {
	s.Thresholds = slices.Clone(s.Thresholds)
	for _, text := range f.Threshold {
		t, err := ParseThreshold(text)
		if err != nil {
			return fmt.Errorf("--threshold: %w", err)
		}
		s.Thresholds = append(s.Thresholds, t)
	}
	if f.Abort != nil {
		var err error
		if s.Abort, err = ParseAbort(*f.Abort); err != nil {
			return fmt.Errorf("--abort: %w", err)
		}
	}
	return nil
}

func override[T any](value, given *T) {
	if given != nil {
		*value = *given
	}
}

func (f *ScenarioFlags) mode(a *Arrivals) error {
	mode := ""
	override(&mode, f.Mode)
	override(&a.Users, f.Users)
	switch {
	case mode != "" && mode != "open" && mode != "closed":
		return fmt.Errorf("--mode: %q: give open or closed", mode)
	case mode == "closed" && a.Users <= 0:
		return errors.New("--mode closed: also give --users, 1 or more")
	case mode != "closed" && f.Users != nil:
		return errors.New("--users: goes with --mode closed")
	case mode == "open":
		a.Users = 0
	}
	return nil
}

func (f *ScenarioFlags) headers(s *Scenario) error {
	if len(f.Header) > 0 {
		s.Header = s.Header.Clone()
	}
	if s.Header == nil {
		s.Header = http.Header{}
	}
	for _, h := range f.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return fmt.Errorf("--header: %q: give NAME:VALUE", h)
		}
		s.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return nil
}

// body makes a URL's request one that sends something.
func (f *ScenarioFlags) body(s *Scenario) error {
	if f.Body == "" {
		return nil
	}
	q, ok := s.Session[0].Do.(Request)
	if !ok || len(s.Session) > 1 || s.Session[0].Name != urlStep {
		return errors.New("--body: goes with a URL; a scenario says itself what it sends")
	}
	q.Method, q.Body = "POST", []byte(f.Body)
	if path, isFile := strings.CutPrefix(f.Body, "@"); isFile {
		var err error
		if q.Body, err = os.ReadFile(path); err != nil {
			return fmt.Errorf("--body: %w", err)
		}
	}
	if f.Name == nil {
		s.Name = strings.Replace(s.Name, "GET", "POST", 1)
	}
	s.Session = []Step{{Name: urlStep, Do: q}}
	return nil
}

// observed says what is looked at of the target itself.
func (f *ScenarioFlags) observed(o *Options) (err error) {
	if f.Capture != "" && f.Pprof == "" {
		return errors.New("--capture: goes with --pprof")
	}
	if f.Pprof != "" {
		if o.Pprof, err = target.ProfileURL(f.Pprof); err != nil {
			return fmt.Errorf("--pprof: %w", err)
		}
	}
	if u, err := url.Parse(f.Metrics); f.Metrics != "" && (err != nil || u.Host == "") {
		return fmt.Errorf("--metrics: %q is no URL: give one such as http://127.0.0.1:8080/metrics", f.Metrics)
	}
	o.Metrics, o.Capture = f.Metrics, f.Capture
	return nil
}

func (f *ScenarioFlags) authorities(o *Options) error {
	if f.CA == "" {
		return nil
	}
	pem, err := os.ReadFile(f.CA)
	if err != nil {
		return fmt.Errorf("--ca: %w", err)
	}
	o.RootCAs = x509.NewCertPool()
	if !o.RootCAs.AppendCertsFromPEM(pem) {
		return fmt.Errorf("--ca: %s has no certificate in PEM", f.CA)
	}
	return nil
}
