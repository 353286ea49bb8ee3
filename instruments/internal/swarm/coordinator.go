package swarm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dewpond/dewpond/instruments/load"
)

// Options are how a run is spread.
type Options struct {
	URL    string // of NATS
	Agents int
	// Join bounds how long agents take to come, and Silence how long one may say nothing before
	// it is lost.
	Join, Silence time.Duration
	AbortOnLoss   bool
	Resume        string // a run whose coordinator ended
	Within        bool   // NATS is within this process, and nothing outlives it
	Token         string // of a NATS that wants one
	Log           func(string)
	Metrics       string              // a URL of the target's, which the coordinator reads
	Progress      func(load.Progress) // is called for each second of the schedule

	calls string           // the subject on which it calls agents, in tests; "" is everybody's
	came  func(index int)  // told of each agent that got a place, in tests
	now   func() time.Time // by which agents are silent, in tests; nil is time.Now
	heard func(report)     // told of each report before it is added, in tests
	told  func(news)       // told of all news of agents, in tests
}

// storage is where results are until they are added up.
func (o *Options) storage() jetstream.StorageType {
	if o.Within {
		return jetstream.MemoryStorage
	}
	return jetstream.FileStorage
}

// ahead is how long before the start agents are told of it.
const ahead = time.Second

// Run spreads the plan over agents, and returns the sum of what they measured.
func Run(ctx context.Context, p Plan, o Options) (load.Result, error) {
	nc, err := connect(o.URL, o.Token)
	if err != nil {
		return load.Result{}, err
	}
	defer nc.Close()
	c := coordinator{nc: nc, options: o, run: o.Resume}
	if c.js, err = jetstream.New(nc); err != nil {
		return load.Result{}, err
	}
	read, err := openMetrics(ctx, &p, o.Metrics)
	if err != nil {
		return load.Result{}, err
	}
	defer read.close()
	if o.Resume != "" {
		err = c.resume(ctx)
	} else {
		err = c.begin(ctx, p)
	}
	if err != nil {
		return load.Result{}, err
	}
	read.begin()
	r, err := c.collect(ctx)
	read.end(&r, c.first.Start)
	return r, err
}

// A coordinator is one run.
type coordinator struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	options Options
	run     string
	stream  jetstream.Stream
	first   beginning
	tally   *tally
	aborts  func(load.Second) string

	mu      sync.Mutex
	placed  []placed // by the agent's index
	stopped bool     // agents are told so
}

// A placed agent has its place in the run, and says how far it is.
type placed struct {
	news
	at time.Time // when it last said so
}

func (c *coordinator) now() time.Time {
	if c.options.now != nil {
		return c.options.now()
	}
	return time.Now()
}

// listen takes the news of agents.
func (c *coordinator) listen() error {
	_, err := c.nc.Subscribe(newsSubject(c.run), func(m *nats.Msg) {
		var n news
		if json.Unmarshal(m.Data, &n) != nil {
			return
		}
		if c.options.told != nil {
			c.options.told(n)
		}
		c.mu.Lock()
		if n.Index >= 0 && n.Index < len(c.placed) {
			c.placed[n.Index] = placed{n, c.now()}
		}
		reply := heed{c.stopped}
		c.mu.Unlock()
		m.Respond(encoded(reply))
	})
	return err
}

// fit returns how many agents are ready, or why they cannot all be.
func (c *coordinator) fit() (ready int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range c.placed {
		silent := c.now().Sub(p.at)
		switch {
		case p.Error != "":
			err = errors.Join(err, fmt.Errorf("%s: %s", c.name(i), p.Error))
		case silent > c.options.Silence:
			err = errors.Join(err, fmt.Errorf("%s says nothing for %v, and had not begun", c.name(i), c.options.Silence))
		case p.Ready:
			ready++
		}
	}
	return ready, err
}

// name names an agent for people.
func (c *coordinator) name(i int) string { return c.first.name(i) }

func (c *coordinator) log(format string, args ...any) {
	if c.options.Log != nil {
		c.options.Log(fmt.Sprintf(format, args...))
	}
}

// begin calls agents, waits until they are connected, looks at their clocks, and starts them.
func (c *coordinator) begin(ctx context.Context, p Plan) (err error) {
	if _, _, err := p.Scenario(); err != nil {
		return err
	}
	var b [6]byte
	rand.Read(b[:])
	c.run = hex.EncodeToString(b[:])
	if !c.options.Within {
		sweep(ctx, c.nc, c.js, time.Now())
	}
	c.stream, err = c.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: streamName(c.run), Subjects: []string{resultSubjects(c.run)}, Storage: c.options.storage(),
	})
	if err != nil {
		return fmt.Errorf("NATS at %s has no JetStream for the results: %w", c.options.URL, err)
	}
	defer func() {
		if err != nil {
			c.stop() // who has a place waits for the next run
			c.forget()
		}
	}()
	c.first.Plan = p
	if err := c.listen(); err != nil {
		return err
	}
	if err := c.gather(ctx); err != nil {
		return err
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	for i, name := range c.first.Agents {
		offset, err := c.clock(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name(i), err)
		}
		c.first.Offsets = append(c.first.Offsets, offset)
	}
	c.first.Start = time.Now().Add(ahead)
	if _, err := c.js.Publish(ctx, planSubject(c.run), encoded(c.first)); err != nil {
		return err
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	c.log("run %s: %d agents start, clocks are off by %v", c.run, len(c.first.Agents), c.first.Offsets)
	return nil
}

// start tells all agents at the same time when the first session is due.
func (c *coordinator) start(ctx context.Context) error {
	errs := make([]error, len(c.first.Agents))
	var asking sync.WaitGroup
	for i, name := range c.first.Agents {
		asking.Go(func() {
			var reply answer
			if err := ask(ctx, c.nc, agentSubject(c.run, name), order{c.first.Start.Add(c.first.Offsets[i])}, &reply); err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.name(i), err)
			}
		})
	}
	asking.Wait()
	return errors.Join(errs...)
}

// connect waits until all agents have opened their connections. Only then the clocks are looked at,
// so that nothing lies between that and the start.
func (c *coordinator) connect(ctx context.Context) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		ready, err := c.fit()
		if err != nil || ready == len(c.first.Agents) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// gather calls until all agents have come.
func (c *coordinator) gather(ctx context.Context) error {
	asked, err := c.nc.SubscribeSync(joinSubject(c.run))
	if err != nil {
		return err
	}
	defer asked.Unsubscribe()
	c.log("run %s: waits for %d agents to come", c.run, c.options.Agents)
	until := c.now().Add(c.options.Join)
	for len(c.first.Agents) < c.options.Agents {
		if err := c.nc.Publish(cmp.Or(c.options.calls, calls), encoded(call{c.run})); err != nil {
			return err
		}
		if _, err := c.fit(); err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(ctx, callEvery)
		m, err := asked.NextMsgWithContext(waiting)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			var j joining
			if json.Unmarshal(m.Data, &j) != nil || j.Name == "" {
				continue
			}
			p := place{Index: len(c.first.Agents), Of: c.options.Agents, Plan: &c.first.Plan}
			c.mu.Lock()
			c.first.Agents = append(c.first.Agents, j.Name)
			c.placed = append(c.placed, placed{at: c.now()})
			c.mu.Unlock()
			if err := m.Respond(encoded(p)); err != nil {
				return err
			}
			if c.options.came != nil {
				c.options.came(p.Index)
			}
		case c.now().After(until):
			return fmt.Errorf("%d of %d agents came within %v: %v", len(c.first.Agents), c.options.Agents, c.options.Join, c.first.Agents)
		}
	}
	return nil
}

// asks is how often a clock is looked at; the fastest answer counts.
const asks = 8

// clock returns how far an agent's clock is before this one.
func (c *coordinator) clock(ctx context.Context, name string) (offset time.Duration, err error) {
	best := time.Duration(-1)
	for range asks {
		var reply answer
		sent := time.Now()
		if err := ask(ctx, c.nc, agentSubject(c.run, name), order{}, &reply); err != nil {
			return 0, err
		}
		took := time.Since(sent)
		if best < 0 || took < best {
			best = took
			offset = reply.Clock.Round(0).Sub(sent.Round(0).Add(took / 2)) // wall clocks
		}
	}
	return offset, nil
}

// resume finds what the coordinator before had begun.
func (c *coordinator) resume(ctx context.Context) (err error) {
	if c.stream, err = c.js.Stream(ctx, streamName(c.run)); err != nil {
		return fmt.Errorf("no run %s to resume: %w", c.run, err)
	}
	m, err := c.stream.GetLastMsgForSubject(ctx, planSubject(c.run))
	if err != nil {
		return fmt.Errorf("run %s had not begun: %w", c.run, err)
	}
	if err := json.Unmarshal(m.Data, &c.first); err != nil {
		return err
	}
	c.placed = make([]placed, len(c.first.Agents))
	return c.listen()
}

// forget removes what the run has stored.
func (c *coordinator) forget() {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	c.js.DeleteStream(ctx, streamName(c.run))
}

// stop tells all agents to end, and whoever does not hear it is told when it next says something.
func (c *coordinator) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.nc.Publish(stopSubject(c.run), nil)
	c.nc.FlushTimeout(flushTime)
}

// flushTime bounds how long a message takes on its way to NATS that nobody answers.
const flushTime = time.Second

// look is how often it is looked who says nothing.
const look = 100 * time.Millisecond

// collect adds up reports until every agent has given its last one, or is lost.
func (c *coordinator) collect(ctx context.Context) (load.Result, error) {
	s, _, err := c.first.Plan.Scenario()
	if err != nil {
		return load.Result{}, err
	}
	c.aborts = s.Abort.Watch()
	clock := c.now
	c.tally = newTally(&c.first, clock())
	consumer, err := c.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return load.Result{}, err
	}
	reports, enough := make(chan report, 64), make(chan struct{})
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		var r report
		if m.Subject() != planSubject(c.run) && json.Unmarshal(m.Data(), &r) == nil {
			select {
			case reports <- r:
			case <-enough:
			}
		}
	})
	if err != nil {
		return load.Result{}, err
	}
	defer close(enough)
	tick := time.NewTicker(look)
	defer tick.Stop()
	interrupted := ctx.Done()
	for !c.tally.complete() {
		select {
		case r := <-reports:
			if c.options.heard != nil {
				c.options.heard(r)
			}
			c.tally.add(r, clock())
			c.progress()
		case <-tick.C:
			for _, i := range c.tally.silent(clock(), c.options.Silence) {
				c.tally.lose(i, c.options.Silence)
				c.log("agent %d says nothing for %v: it is lost", i, c.options.Silence)
				c.progress()
				if c.options.AbortOnLoss {
					c.tally.aborted = fmt.Sprintf("agent %d was lost", i)
					c.stop()
				}
			}
		case <-interrupted:
			interrupted = nil
			c.tally.stopped = true
			c.stop()
		}
	}
	consuming.Stop()
	c.tally.stopped = c.tally.stopped || ctx.Err() != nil // and agents heard of it by themselves, first
	c.forget()
	return c.tally.result(s)
}

// progress shows the seconds that all have told now, and ends the run where the scenario says so.
func (c *coordinator) progress() {
	for {
		s, p, ok := c.tally.next()
		if !ok {
			return
		}
		if why := c.aborts(s); why != "" && c.tally.aborted == "" {
			c.tally.aborted = why
			c.stop()
		}
		if c.options.Progress != nil {
			c.options.Progress(p)
		}
	}
}
