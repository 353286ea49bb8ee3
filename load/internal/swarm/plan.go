package swarm

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/dewpond/dewpond/load"
	"github.com/dewpond/dewpond/load/scenariofile"
)

// A Plan is a scenario that travels: a URL, or a file's text with the files that it draws from.
type Plan struct {
	Name  string // of the file, or the URL
	Text  string // empty for a URL
	Files map[string][]byte
	Flags load.ScenarioFlags
	// Thresholds are what the sum must keep, beside the scenario's own.
	Thresholds []string
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
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// errStays is about what an agent must not take from a plan: it would read the agent's own files.
var errStays = errors.New("--ca, --descriptors, --metrics, --pprof, --capture and --body @FILE do not travel to agents")

// Scenario reads the plan. It reads no file.
func (p *Plan) Scenario() (load.Scenario, load.Options, error) {
	f := p.Flags
	if f.CA+f.Descriptors+f.Metrics+f.Pprof+f.Capture != "" || strings.HasPrefix(f.Body, "@") {
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
	o, err := f.Apply(&s)
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
	// order is what a coordinator says to one agent: to tell its clock, or to start at a time of
	// that clock.
	order  struct{ Start time.Time }
	answer struct {
		Clock time.Time
		Error string
	}
	// report is what an agent measured in an interval.
	report struct {
		Agent, Number int
		Late          time.Duration // how late its first session began
		Result        load.Result
		Final         bool
		Error         string
	}
	// beginning is the first message of a run's stream: who resumes it needs no more.
	beginning struct {
		Plan    Plan
		Agents  []string
		Start   time.Time // of the coordinator's clock
		Offsets []time.Duration
	}
)

// The subjects and the stream of a run.
const calls = "dewload.call"

func joinSubject(run string) string        { return "dewload." + run + ".join" }
func stopSubject(run string) string        { return "dewload." + run + ".stop" }
func agentSubject(run, name string) string { return "dewload." + run + ".agent." + name }
func planSubject(run string) string        { return "dewload." + run + ".result.plan" }
func resultSubjects(run string) string     { return "dewload." + run + ".result.>" }
func streamName(run string) string         { return "dewload_" + run }
