package swarm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dewpond/dewpond/load"
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
	Token         string // of a NATS that wants one
	Log           func(string)

	calls string           // the subject on which it calls agents, in tests; "" is everybody's
	came  func(index int)  // told of each agent that got a place, in tests
	now   func() time.Time // by which agents are silent, in tests; nil is time.Now
	heard func(report)     // told of each report before it is added, in tests
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
	if o.Resume != "" {
		err = c.resume(ctx)
	} else {
		err = c.begin(ctx, p)
	}
	if err != nil {
		return load.Result{}, err
	}
	return c.collect(ctx)
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
}

func (c *coordinator) log(format string, args ...any) {
	if c.options.Log != nil {
		c.options.Log(fmt.Sprintf(format, args...))
	}
}

// begin calls agents, looks at their clocks, and starts them.
func (c *coordinator) begin(ctx context.Context, p Plan) (err error) {
	if _, _, err := p.Scenario(); err != nil {
		return err
	}
	var b [6]byte
	rand.Read(b[:])
	c.run = hex.EncodeToString(b[:])
	c.stream, err = c.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: streamName(c.run), Subjects: []string{resultSubjects(c.run)}, Storage: jetstream.FileStorage,
	})
	if err != nil {
		return fmt.Errorf("NATS at %s has no JetStream for the results: %w", c.options.URL, err)
	}
	defer func() {
		if err != nil {
			c.forget()
		}
	}()
	c.first.Plan = p
	if err := c.gather(ctx); err != nil {
		return err
	}
	for i, name := range c.first.Agents {
		offset, err := c.clock(ctx, name)
		if err != nil {
			return fmt.Errorf("agent %d: %w", i, err)
		}
		c.first.Offsets = append(c.first.Offsets, offset)
	}
	c.first.Start = time.Now().Add(ahead)
	if _, err := c.js.Publish(ctx, planSubject(c.run), encoded(c.first)); err != nil {
		return err
	}
	for i, name := range c.first.Agents {
		var reply answer
		if err := ask(ctx, c.nc, agentSubject(c.run, name), order{c.first.Start.Add(c.first.Offsets[i])}, &reply); err != nil {
			return fmt.Errorf("agent %d: %w", i, err)
		}
	}
	c.log("run %s: %d agents start, clocks are off by %v", c.run, len(c.first.Agents), c.first.Offsets)
	return nil
}

// gather calls until all agents have come.
func (c *coordinator) gather(ctx context.Context) error {
	asked, err := c.nc.SubscribeSync(joinSubject(c.run))
	if err != nil {
		return err
	}
	defer asked.Unsubscribe()
	until := time.Now().Add(c.options.Join)
	for len(c.first.Agents) < c.options.Agents {
		if err := c.nc.Publish(cmp.Or(c.options.calls, calls), encoded(call{c.run})); err != nil {
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
			if err := m.Respond(encoded(p)); err != nil {
				return err
			}
			c.first.Agents = append(c.first.Agents, j.Name)
			if c.options.came != nil {
				c.options.came(p.Index)
			}
		case time.Now().After(until):
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
		if reply.Error != "" {
			return 0, errors.New(reply.Error)
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
	return json.Unmarshal(m.Data, &c.first)
}

// forget removes what the run has stored.
func (c *coordinator) forget() {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	c.js.DeleteStream(ctx, streamName(c.run))
}

// stop tells all agents to end.
func (c *coordinator) stop() { c.nc.Publish(stopSubject(c.run), nil) }

// look is how often it is looked who says nothing.
const look = 100 * time.Millisecond

// collect adds up reports until every agent has given its last one, or is lost.
func (c *coordinator) collect(ctx context.Context) (load.Result, error) {
	s, _, err := c.first.Plan.Scenario()
	if err != nil {
		return load.Result{}, err
	}
	clock := c.options.now
	if clock == nil {
		clock = time.Now
	}
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
		case <-tick.C:
			for _, i := range c.tally.silent(clock(), c.options.Silence) {
				c.tally.lose(i)
				c.log("agent %d says nothing for %v: it is lost", i, c.options.Silence)
				if c.options.AbortOnLoss {
					c.tally.aborted = fmt.Sprintf("agent %d was lost", i)
					c.stop()
				}
			}
		case <-interrupted:
			interrupted = nil
			c.stop()
		}
	}
	consuming.Stop()
	c.forget()
	return c.tally.result(s)
}
