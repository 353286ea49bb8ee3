package command

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/secret"
	"github.com/dewpond/dewpond/instruments/internal/target"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/load"
)

// A Rate is how many there are a second, as a flag spells it: 200 or 200/s.
type Rate = amount.Rate

// ScenarioFlags override what a scenario says, and say how it is run: kong reads them. A flag that
// was not given is nil or empty, and then the scenario's own value holds.
type ScenarioFlags struct {
	Name        *string        `placeholder:"TEXT" help:"Title of the report."`
	Target      *string        `placeholder:"URL" help:"Base URL of the session's paths."`
	Rate        *Rate          `placeholder:"N/s" help:"Sessions per second, such as 200/s."`
	Duration    *time.Duration `placeholder:"TIME" help:"Start measured sessions for TIME, such as 30s."`
	Stage       []string       `sep:"none" placeholder:"TIME:RATE,..." help:"Change the rate in stages, instead of --rate and --duration: 30s:200/s,5s:800/s,60s:800/s rises in a straight line to each rate within its time; 0s is a step. @TIME sets when a stage ends, and :back returns to the rate before."`
	Warmup      *time.Duration `placeholder:"TIME" help:"Warm up for TIME first; these sessions are not measured."`
	Process     *string        `placeholder:"constant|poisson" help:"Arrival process: evenly spaced (constant) or random (poisson)."`
	Seed        *uint64        `placeholder:"N" help:"Seed of arrivals, data and think times: the same seed repeats them."`
	Mode        *string        `placeholder:"open|closed" help:"Load model: open (a fixed rate) or closed (--users, each starts a session when its last one ends, as wrk does)."`
	Users       *int           `placeholder:"N" help:"Closed mode: number of users."`
	Protocol    *string        `placeholder:"http/1.1|h2c|h2" help:"Protocol of all sessions. h2c is HTTP/2 without TLS."`
	Connections *string        `placeholder:"N|each" help:"Open N HTTP connections before the first arrival; or each: one for every session."`
	InFlight    *int           `placeholder:"N" help:"At most N sessions at a time. Further arrivals are dropped and counted."`
	Timeout     *time.Duration `placeholder:"TIME" help:"Timeout of a request, at most 60s."`
	Header      []string       `sep:"none" placeholder:"NAME:VALUE|@FILE" help:"Send a header with every request; repeatable. A file has one per line, and other users do not see it. With a scenario, names in a value are filled in, as in $${uid}."`
	// SecretHeader names headers whose values no report shows.
	SecretHeader []string `sep:"none" placeholder:"NAME" help:"Redact this header in reports, in addition to Authorization, Cookie, Proxy-Authorization and X-Api-Key; repeatable."`
	Body         string   `placeholder:"TEXT|@FILE" help:"With a URL: body to send as it is, by POST, as the message of a WebSocket, or as that of a gRPC call in JSON."`
	Insecure     bool     `help:"Accept any certificate."`
	CA           string   `name:"ca" type:"path" placeholder:"FILE" help:"Trust the certificate authorities in FILE, in PEM."`
	NoMark       bool     `help:"Do not send the header Dewpond-Run, by which the target can tell this load from its users."`
	Metrics      string   `placeholder:"URL" help:"Read the target's metrics from URL once per second, as Prometheus text or expvar, and draw them under the latency."`
	Pprof        string   `placeholder:"URL" help:"Take an execution trace from the target's net/http/pprof, such as http://127.0.0.1:6060, in the middle of the run, and report how much of the slowest requests coincides with its GC."`
	Capture      string   `type:"path" placeholder:"DIR" help:"With --pprof: write trace.out and cpu.pprof to DIR."`
	Descriptors  string   `type:"path" placeholder:"FILE" help:"Read protobuf descriptors from FILE (protoc --include_imports --descriptor_set_out) instead of asking the target."`
}

// Apply overrides what the scenario says, validates it, and returns how it is run. An error is a
// [UsageError] or an [*load.InvalidError].
func (f *ScenarioFlags) Apply(s *load.Scenario) (load.Options, error) {
	o := load.Options{Insecure: f.Insecure, NoMark: f.NoMark, Descriptors: f.Descriptors, SecretHeader: f.SecretHeader}
	secret.Headers(f.SecretHeader...) // before the first error
	if err := errors.Join(f.override(s), f.authorities(&o), f.observed(&o)); err != nil {
		return o, UsageError{Err: err}
	}
	err := s.Validate()
	var invalid *load.InvalidError
	switch {
	case !errors.As(err, &invalid):
	case f.gives(invalid.Where):
		return o, UsageError{Err: fmt.Errorf("--header: %s", invalid.Problem)}
	case len(f.Stage) > 0 && strings.HasPrefix(invalid.Where, "arrivals.stages"):
		return o, UsageError{Err: fmt.Errorf("--stage: %s", invalid.Problem)}
	}
	return o, err
}

// gives reports whether what an error is about is a header that the flags give, and not the file.
func (f *ScenarioFlags) gives(where string) bool {
	name, of := strings.CutPrefix(where, "header.")
	given, err := HeaderLines(f.Header)
	return of && err == nil && slices.ContainsFunc(given, func(h string) bool {
		own, _, _ := strings.Cut(h, ":")
		return strings.EqualFold(strings.TrimSpace(own), name)
	})
}

func (f *ScenarioFlags) override(s *load.Scenario) error {
	sends := f.body(s) // before --name, for it names what is sent
	override(&s.Name, f.Name)
	override(&s.Target, f.Target)
	if err := f.rate(&s.Arrivals); err != nil {
		return err
	}
	override(&s.Arrivals.Warmup, f.Warmup)
	override(&s.Arrivals.Seed, f.Seed)
	override(&s.Limits.InFlight, f.InFlight)
	override(&s.Limits.Timeout, f.Timeout)
	if f.InFlight != nil && *f.InFlight <= 0 {
		return fmt.Errorf("--in-flight: %d: give 1 or more", *f.InFlight)
	}
	if f.Process != nil {
		s.Arrivals.Process = load.Process(*f.Process)
	}
	if f.Protocol != nil {
		s.Protocols = []load.Share{{Protocol: load.Protocol(*f.Protocol), Weight: 1}}
	}
	if err := f.mode(&s.Arrivals); err != nil {
		return err
	}
	if f.Connections != nil {
		n, err := load.ParseConnections(*f.Connections)
		if err != nil {
			return fmt.Errorf("--connections: %w", err)
		}
		s.Connections = n
	}
	return errors.Join(f.headers(s), sends)
}

// rate is how many sessions are due, at one rate or in stages.
func (f *ScenarioFlags) rate(a *load.Arrivals) error {
	if len(f.Stage) > 0 {
		if f.Rate != nil || f.Duration != nil {
			return errors.New("--stage: does not go with --rate and --duration, for it says which rate there is for how long: leave these out")
		}
		stages, err := load.ParseStages(strings.Join(f.Stage, ","))
		if err != nil {
			return fmt.Errorf("--stage: %w", err)
		}
		a.Rate, a.Duration, a.Users, a.Stages = 0, 0, 0, stages
		return nil
	}
	if len(a.Stages) > 0 && (f.Rate != nil || f.Duration != nil) {
		return errors.New("--rate and --duration: the scenario has stages: give --stage, such as 30s:200/s, in their place")
	}
	override(&a.Rate, (*float64)(f.Rate))
	override(&a.Duration, f.Duration)
	return nil
}

func override[T any](value, given *T) {
	if given != nil {
		*value = *given
	}
}

func (f *ScenarioFlags) mode(a *load.Arrivals) error {
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

func (f *ScenarioFlags) headers(s *load.Scenario) error {
	if len(f.Header) > 0 {
		s.Header = s.Header.Clone()
	}
	if s.Header == nil {
		s.Header = http.Header{}
	}
	given, err := HeaderLines(f.Header)
	if err != nil {
		return err
	}
	for _, h := range given {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return fmt.Errorf("--header: %q: give NAME:VALUE, or @FILE", h)
		}
		if name = strings.TrimSpace(name); http.CanonicalHeaderKey(name) == "Host" { // there is one alone
			s.Header.Del(name)
		}
		s.Header.Add(name, strings.TrimSpace(value))
	}
	return nil
}

// HeaderLines returns the values of --header with the lines of a file in the place of @FILE. Empty
// lines, and those that begin with #, are none.
func HeaderLines(given []string) ([]string, error) {
	var out []string
	for _, h := range given {
		path, isFile := strings.CutPrefix(h, "@")
		if !isFile {
			out = append(out, h)
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("--header: %w", err)
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				out = append(out, line)
			}
		}
	}
	return out, nil
}

// body makes a URL's request one that sends something.
func (f *ScenarioFlags) body(s *load.Scenario) error {
	if f.Body == "" {
		return nil
	}
	body := f.Body
	if path, isFile := strings.CutPrefix(f.Body, "@"); isFile {
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("--body: %w", err)
		}
		body = string(data)
	}
	if err := s.Send(body); err != nil {
		return fmt.Errorf("--body: %w", err)
	}
	return nil
}

// observed says what is looked at of the target itself.
func (f *ScenarioFlags) observed(o *load.Options) (err error) {
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

func (f *ScenarioFlags) authorities(o *load.Options) error {
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
