package swarm

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/command"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"
)

// A Plan is a scenario that travels: a URL, or a file's text with the files that it draws from.
type Plan struct {
	Name  string // of the file, or the URL
	Text  string // empty for a URL
	Files map[string][]byte
	Flags command.ScenarioFlags
	CA    string // whose certificates are accepted, in PEM; empty is the agent's system's
	// Thresholds are what the sum must keep, beside the scenario's own, and Abort ends the run in place of
	// the scenario's own.
	Thresholds []string
	Abort      string
}

// Address returns the host and the port that the plan asks.
func (p *Plan) Address() (string, error) {
	s, _, err := p.Scenario()
	if err != nil {
		return "", err
	}
	u, err := url.Parse(s.Target)
	if err != nil {
		return "", err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "ws": "80", "grpc": "80", "https": "443", "wss": "443", "grpcs": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// errStays is about what an agent must not take from a plan: it would read the agent's own files.
var errStays = errors.New("a plan for agents names files or another side of its coordinator")

// Scenario reads the plan. It reads no file.
func (p *Plan) Scenario() (load.Scenario, load.Options, error) {
	f := p.Flags
	if f.CA+f.Descriptors+f.Metrics+f.Pprof+f.Capture != "" || strings.HasPrefix(f.Body, "@") ||
		slices.ContainsFunc(f.Header, func(h string) bool { return strings.HasPrefix(h, "@") }) {
		return load.Scenario{}, load.Options{}, errStays
	}
	s, err := p.scenario()
	if err != nil {
		return s, load.Options{}, err
	}
	for _, text := range p.Thresholds {
		t, err := load.ParseThreshold(text)
		if err != nil {
			return s, load.Options{}, err
		}
		s.Thresholds = append(s.Thresholds, t)
	}
	if p.Abort != "" {
		if s.Abort, err = load.ParseAbort(p.Abort); err != nil {
			return s, load.Options{}, err
		}
	}
	o, err := f.Apply(&s)
	if p.CA != "" {
		o.RootCAs = x509.NewCertPool()
		if !o.RootCAs.AppendCertsFromPEM([]byte(p.CA)) {
			err = errors.Join(err, errors.New("--ca: there is no certificate in PEM"))
		}
	}
	if err == nil && s.Arrivals.Users > 0 {
		err = errors.New("agents share a schedule, and closed mode has none")
	}
	return s, o, err
}

func (p *Plan) scenario() (load.Scenario, error) {
	if p.Text == "" {
		return load.Get(p.Name)
	}
	f, err := scenariofile.ParseWith(p.Name, []byte(p.Text), p.Files)
	if err != nil {
		return load.Scenario{}, err
	}
	return f.Scenario, nil
}

// The messages between coordinator and agents, in JSON.
type (
	// call asks agents to come.
	call struct{ Run string }
	// joining is an agent that comes; place is the answer, which is empty if all places are taken.
	joining struct{ Name string }
	place   struct {
		Index, Of int
		Plan      *Plan
	}
	// news is what an agent says each second, from when it has its place until it has told its last
	// result: that it lives, and whether its connections are open. heed is the answer.
	news struct {
		Index int
		Ready bool
		Error string // why it cannot be ready
	}
	heed struct{ Stop bool }
	// order is what a coordinator says to an agent that is ready: to tell its clock, or to start at a
	// time of that clock.
	order  struct{ Start time.Time }
	answer struct{ Clock time.Time }
	// report is what an agent measured in an interval.
	report struct {
		Agent, Number int
		Late          time.Duration // how late its first session began
		Result        load.Result
		Final         bool
		Error         string
		Early         string // why it ended before its time, where that was not the coordinator's doing
	}
	// beginning is the first message of a run's stream: who resumes it needs no more.
	beginning struct {
		Plan    Plan
		Agents  []string
		Start   time.Time // of the coordinator's clock
		Offsets []time.Duration
	}
)

// name names an agent for people.
func (b *beginning) name(i int) string { return fmt.Sprintf("agent %d (%s)", i, b.Agents[i]) }

// The subjects and the stream of a run.
const calls = "dewload.call"

func joinSubject(run string) string        { return "dewload." + run + ".join" }
func newsSubject(run string) string        { return "dewload." + run + ".news" }
func stopSubject(run string) string        { return "dewload." + run + ".stop" }
func agentSubject(run, name string) string { return "dewload." + run + ".agent." + name }
func planSubject(run string) string        { return "dewload." + run + ".result.plan" }
func resultSubjects(run string) string     { return "dewload." + run + ".result.>" }
func streamName(run string) string         { return "dewload_" + run }
