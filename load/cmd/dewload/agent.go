package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/dewpond/dewpond/load"
	"github.com/dewpond/dewpond/load/internal/swarm"
	"github.com/dewpond/dewpond/load/scenariofile"
)

// agentCommand takes part in runs of others.
type agentCommand struct {
	NATS  string   `name:"nats" required:"" placeholder:"URL" help:"Where the coordinator is, such as nats://127.0.0.1:4222."`
	Token string   `env:"DEWLOAD_TOKEN" placeholder:"TOKEN" help:"What the coordinator has printed with --listen; better in the environment, where other users do not see it."`
	Allow []string `placeholder:"HOST:PORT" help:"Where this agent makes requests, beside loopback. It makes none elsewhere, whatever a plan says."`
	Once  bool     `help:"End after one run."`
}

func (c *agentCommand) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return swarm.Agent(ctx, c.NATS, swarm.AgentOptions{Allow: c.Allow, Token: c.Token, Once: c.Once, Log: func(s string) { fmt.Fprintln(os.Stderr, "dewload agent:", s) }})
}

// swarmFlags spread a run over agents.
type swarmFlags struct {
	Agents  int           `placeholder:"N" help:"Spread the load over so many agents: processes here, or with --nats those that wait there (dewload agent)."`
	NATS    string        `name:"nats" placeholder:"URL" help:"A NATS with JetStream at which agents wait. By itself one is started here, on loopback."`
	Listen  string        `placeholder:"HOST:PORT" help:"Let agents on other machines come to the NATS within: over TLS, and with a token that is printed once."`
	Join    time.Duration `default:"30s" placeholder:"TIME" help:"How long agents may take to come."`
	Silence time.Duration `default:"10s" placeholder:"TIME" help:"How long an agent may say nothing before it is lost."`
	OnLoss  string        `default:"report" enum:"report,abort" help:"What is done when an agent is lost: report (and go on), or abort."`
	Resume  string        `placeholder:"RUN" help:"Go on with a run whose coordinator ended. Give --nats and the same scenario."`
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

// run runs a plan on agents.
func (f *swarmFlags) run(ctx context.Context, p swarm.Plan) (load.Result, error) {
	o := swarm.Options{
		URL: f.NATS, Agents: f.Agents, Join: f.Join, Silence: f.Silence, AbortOnLoss: f.OnLoss == "abort", Resume: f.Resume,
		Log: func(s string) { fmt.Fprintln(os.Stderr, "dewload:", s) },
	}
	if f.NATS != "" {
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
	end, err := startAgents(s.URL, f.Agents, p)
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
	o.URL, o.Token = s.URL, s.Token
	o.Log(fmt.Sprintf("agents come with: DEWLOAD_TOKEN=%s dewload agent --nats %s --allow %s", s.Token, fromElsewhere(s.URL), allow))
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

// startAgents starts processes here. They may ask the target that the command was given.
func startAgents(at string, n int, p swarm.Plan) (end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	allow, err := p.Address()
	if err != nil {
		return nil, err
	}
	var children []*exec.Cmd
	end = func() {
		for _, c := range children {
			c.Process.Kill() // its part is done, or nobody wants it
			c.Wait()
		}
	}
	for range n {
		c := exec.Command(self, "agent", "--nats", at, "--once", "--allow", allow)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			end()
			return nil, err
		}
		children = append(children, c)
	}
	return end, nil
}

// plan is the scenario as it travels.
func (c *runCommand) plan(name string) (swarm.Plan, error) {
	p := swarm.Plan{Name: name, Flags: c.ScenarioFlags}
	if path, isFile := strings.CutPrefix(p.Flags.Body, "@"); isFile {
		data, err := os.ReadFile(path)
		if err != nil {
			return p, load.UsageError{Err: fmt.Errorf("--body: %w", err)}
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
	f, err := scenariofile.Parse(name, data)
	if err != nil {
		return p, err
	}
	p.Text, p.Files = string(data), f.Files
	return p, nil
}
