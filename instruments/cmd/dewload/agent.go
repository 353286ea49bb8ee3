package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/secret"
	"github.com/dewpond/dewpond/instruments/internal/swarm"
	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/command"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"
)

// agentCommand takes part in runs of others.
type agentCommand struct {
	NATS  string   `name:"nats" required:"" placeholder:"URL" help:"Address of the coordinator, such as nats://127.0.0.1:4222."`
	Token string   `env:"DEWLOAD_TOKEN" placeholder:"TOKEN" help:"Token that the coordinator printed with --listen. Prefer the environment variable: other users can see flags."`
	Allow []string `placeholder:"HOST:PORT" help:"Allow requests to HOST:PORT, in addition to loopback. The agent makes no others, whatever a plan says."`
	Once  bool     `help:"Exit after one run."`

	Grace time.Duration `default:"30s" placeholder:"TIME" help:"Continue a run for TIME without a message from its coordinator (default ${default}), so that another one can --resume it. Then stop, keep the counts, and wait again."`
}

func (c *agentCommand) Run() error {
	if c.Grace < leastSilence {
		return command.UsageError{Err: fmt.Errorf("--grace: %v: give %v or more, for agents hear of the coordinator each second", c.Grace, leastSilence)}
	}
	secret.KnowURL(c.NATS)
	secret.Know(c.Token)
	ctx, end := interrupt.Context()
	defer end()
	return swarm.Agent(ctx, c.NATS, swarm.AgentOptions{Allow: c.Allow, Token: c.Token, Once: c.Once, Grace: c.Grace, Log: func(s string) { fmt.Fprintln(os.Stderr, "dewload agent:", secret.Shown(s)) }})
}

// swarmFlags spread a run over agents.
type swarmFlags struct {
	Agents  int           `placeholder:"N" help:"Distribute the load over N agents: local processes or, with --nats, waiting agents (dewload agent)."`
	NATS    string        `name:"nats" placeholder:"URL" help:"NATS server with JetStream where agents wait (default: start one on loopback)."`
	Token   string        `env:"DEWLOAD_TOKEN" placeholder:"TOKEN" help:"Token of the NATS server given by --nats. Prefer the environment variable: other users can see flags."`
	Listen  string        `placeholder:"HOST:PORT" help:"Accept agents from other machines on HOST:PORT, over TLS. The token that they need is printed once."`
	Join    time.Duration `default:"30s" placeholder:"TIME" help:"Wait up to TIME for agents to connect (default ${default})."`
	Silence time.Duration `default:"10s" placeholder:"TIME" help:"Consider an agent lost after TIME without a message (default ${default})."`
	OnLoss  string        `default:"report" enum:"report,abort" help:"If an agent is lost, report it and continue (report), or abort (default ${default})."`
	Resume  string        `placeholder:"RUN" help:"Resume a run whose coordinator ended. Requires --nats and the same scenario."`
}

// check returns an error where flags do not go together.
func (f *swarmFlags) check() error {
	switch {
	case f.Agents < 0 || f.Agents > 1000:
		return fmt.Errorf("--agents: %d: give 1 to 1000", f.Agents)
	case f.Resume != "" && f.NATS == "":
		return errors.New("--resume: also give --nats, where the run is")
	case f.NATS != "" && f.Agents == 0 && f.Resume == "":
		return errors.New("--nats: also give --agents")
	case f.Listen != "" && f.NATS != "":
		return errors.New("--listen: is of the NATS within; with --nats agents come to that one")
	case f.Listen != "" && f.Agents == 0:
		return errors.New("--listen: also give --agents, how many shall come")
	case f.Silence < leastSilence:
		return fmt.Errorf("--silence: %v: give %v or more, for agents say something each second", f.Silence, leastSilence)
	}
	return nil
}

// leastSilence is more than an agent says nothing where all is well.
const leastSilence = 2 * time.Second

// run runs a plan on agents. The metrics are those of the target.
func (f *swarmFlags) run(ctx context.Context, p swarm.Plan, metrics string) (load.Result, error) {
	display := command.NewDisplay(os.Stderr)
	defer display.Close()
	var mu sync.Mutex // held to show something
	log := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		display.Begin(secret.Shown(s))
	}
	progress := func(p load.Progress) {
		mu.Lock()
		defer mu.Unlock()
		display.Show(p)
	}
	o := swarm.Options{
		URL: f.NATS, Agents: f.Agents, Join: f.Join, Silence: f.Silence, AbortOnLoss: f.OnLoss == "abort", Resume: f.Resume,
		Metrics: metrics, Log: log, Progress: progress,
	}
	secret.KnowURL(f.NATS)
	secret.Know(f.Token)
	if f.NATS != "" {
		o.Token = f.Token
		return swarm.Run(ctx, p, o)
	}
	if f.Listen != "" {
		return f.listen(ctx, p, o)
	}
	s, err := swarm.Serve()
	if err != nil {
		return load.Result{}, err
	}
	defer s.Close()
	o.URL = s.URL
	o.Token, o.Within = s.Token, true
	end, err := startAgents(s, f.Agents, p, log)
	if err != nil {
		return load.Result{}, err
	}
	defer end()
	return swarm.Run(ctx, p, o)
}

// listen waits for agents on other machines.
func (f *swarmFlags) listen(ctx context.Context, p swarm.Plan, o swarm.Options) (load.Result, error) {
	allow, err := p.Address()
	if err != nil {
		return load.Result{}, err
	}
	s, err := swarm.Listen(f.Listen)
	if err != nil {
		return load.Result{}, fmt.Errorf("--listen: %w", err)
	}
	defer s.Close()
	o.URL, o.Token, o.Within = s.URL, s.Token, true
	// The log hides tokens, and this is the one place that shows it.
	fmt.Fprintf(os.Stderr, "dewload: agents come with: DEWLOAD_TOKEN=%s dewload agent --nats %s --allow %s\n", s.Token, fromElsewhere(s.URL), allow)
	return swarm.Run(ctx, p, o)
}

// fromElsewhere returns a URL with this machine's name where it has all of its addresses.
func fromElsewhere(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	name, err := os.Hostname()
	if ip := net.ParseIP(u.Hostname()); err != nil || ip == nil || !ip.IsUnspecified() {
		return raw
	}
	u.Host = net.JoinHostPort(name, u.Port())
	return u.String()
}

// A childCommand is an agent that a coordinator has started here. Its standard input says where that is.
type childCommand struct{}

// A childhood is what such an agent is told.
type childhood struct {
	NATS, Token string
	Allow       []string
}

func (childCommand) Run() error {
	return child.Serve(func(ctx context.Context, q childhood) (struct{}, error) {
		// Where the coordinator has ended, so has the NATS within it, and nobody wants what this one has.
		defer context.AfterFunc(ctx, func() {
			if context.Cause(ctx) == child.ErrOrphaned {
				os.Exit(1)
			}
		})()
		var waited atomic.Bool
		err := swarm.Agent(ctx, q.NATS, swarm.AgentOptions{Allow: q.Allow, Token: q.Token, Once: true, Log: func(string) { waited.Store(true) }})
		if waited.Load() {
			err = nil // the coordinator was told
		}
		return struct{}{}, err
	})
}

// startAgents starts processes here that end with this one. They may ask the target that the command was
// given.
func startAgents(s *swarm.Server, n int, p swarm.Plan, log func(string)) (end func(), err error) {
	allow, err := p.Address()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for range n {
		running.Go(func() {
			var none struct{}
			err := child.Run(ctx, []string{"child"}, childhood{s.URL, s.Token, []string{allow}}, &none)
			if err != nil && ctx.Err() == nil {
				log(fmt.Sprintf("an agent has ended: %v", err))
			}
		})
	}
	return func() {
		cancel() // its part is done, or nobody wants it
		running.Wait()
	}, nil
}

// plan is the scenario as it travels.
func (c *runCommand) plan(name string) (swarm.Plan, error) {
	p := swarm.Plan{Name: name, Flags: c.ScenarioFlags}
	var err error
	if p.Flags.Header, err = command.HeaderLines(p.Flags.Header); err != nil {
		return p, command.UsageError{Err: err}
	}
	p.Flags.Metrics = "" // which the coordinator reads
	if p.Flags.CA != "" {
		pem, err := os.ReadFile(p.Flags.CA)
		if err != nil {
			return p, command.UsageError{Err: fmt.Errorf("--ca: %w", err)}
		}
		p.CA, p.Flags.CA = string(pem), ""
	}
	if path, isFile := strings.CutPrefix(p.Flags.Body, "@"); isFile {
		data, err := os.ReadFile(path)
		if err != nil {
			return p, command.UsageError{Err: fmt.Errorf("--body: %w", err)}
		}
		p.Flags.Body = string(data)
	}
	if strings.Contains(name, "://") {
		return p, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return p, err
	}
	f, err := scenariofile.ParseBelow(name, data, c.DataRoot)
	if err != nil {
		return p, err
	}
	p.Text, p.Files = string(data), f.Files
	return p, nil
}
