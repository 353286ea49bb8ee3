package swarm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dewpond/dewpond/load"
)

// AgentOptions are what an agent does.
type AgentOptions struct {
	Allow []string // hosts with ports to which it makes requests, beside loopback
	Token string   // of a NATS that wants one
	Once  bool     // one run, and not one after the other
	Log   func(string)

	calls string        // the subject of the calls that it follows, in tests; "" is anybody's
	times int           // that each result is published, in tests; 0 is once
	skew  time.Duration // of this agent's clock, in tests
}

// Times in which a run is set up. What decides about results is never one of these.
const (
	callEvery  = 100 * time.Millisecond
	answerTime = 10 * time.Second
	retryAfter = 100 * time.Millisecond
)

// Agent waits to be called, and takes part in runs until ctx ends.
func Agent(ctx context.Context, url string, o AgentOptions) error {
	nc, err := connect(url, o.Token)
	if err != nil {
		return err
	}
	defer nc.Close()
	a := agent{nc: nc, options: o}
	if a.js, err = jetstream.New(nc); err != nil {
		return err
	}
	called, err := nc.SubscribeSync(cmp.Or(o.calls, calls))
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for {
		m, err := called.NextMsgWithContext(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		var c call
		if json.Unmarshal(m.Data, &c) != nil || c.Run == "" || seen[c.Run] {
			continue
		}
		seen[c.Run] = true
		took, err := a.join(ctx, c.Run)
		if err != nil && o.Log != nil {
			o.Log(err.Error())
		}
		if took && o.Once {
			return err
		}
	}
}

// connect connects, and again whenever the connection breaks.
func connect(url, token string) (*nats.Conn, error) {
	options := append(parseToken(token).options(), nats.Name("dewload"), nats.MaxReconnects(-1), nats.ReconnectWait(retryAfter), nats.Timeout(answerTime))
	nc, err := nats.Connect(url, options...)
	if err != nil {
		return nil, fmt.Errorf("no NATS at %s: %w", url, err)
	}
	return nc, nil
}

type agent struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	options AgentOptions
}

// join takes part in a run, and reports whether there was a place in it.
func (a *agent) join(ctx context.Context, run string) (bool, error) {
	var b [4]byte
	rand.Read(b[:])
	name := hex.EncodeToString(b[:])
	orders, err := a.nc.SubscribeSync(agentSubject(run, name))
	if err != nil {
		return false, err
	}
	defer orders.Unsubscribe()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stopped, err := a.nc.Subscribe(stopSubject(run), func(*nats.Msg) { stop() })
	if err != nil {
		return false, err
	}
	defer stopped.Unsubscribe()
	var p place
	if err := ask(ctx, a.nc, joinSubject(run), joining{name}, &p); err != nil {
		return false, err
	}
	if p.Plan == nil {
		return false, nil
	}
	s, o, err := p.Plan.Scenario()
	for {
		m, wait := orders.NextMsgWithContext(ctx)
		if wait != nil {
			return true, wait
		}
		var ordered order
		if err := json.Unmarshal(m.Data, &ordered); err != nil {
			return true, err
		}
		reply := answer{Clock: time.Now().Add(a.options.skew)}
		if err != nil {
			reply.Error = err.Error()
		}
		if sent := m.Respond(encoded(reply)); sent != nil {
			return true, sent
		}
		if err != nil {
			return true, err
		}
		if !ordered.Start.IsZero() {
			// Of a clock that goes on if somebody sets the wall clock.
			o.Start = time.Now().Add(time.Until(ordered.Start.Add(-a.options.skew)))
			break
		}
	}
	return true, a.run(ctx, run, p, s, o)
}

// run runs the agent's part, and returns when all that it measured is in the stream.
func (a *agent) run(ctx context.Context, run string, p place, s load.Scenario, o load.Options) error {
	o.RunID = run
	o.Part = load.Slice{Index: p.Index, Of: p.Of}
	o.Dial = dialer(a.options.Allow)
	out := outbox{agent: a, run: run, index: p.Index, more: make(chan struct{}, 1)}
	o.Began = out.began
	o.Interval = func(r load.Result) { out.put(report{Result: r}) }
	publishing, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	context.AfterFunc(ctx, func() { time.AfterFunc(answerTime, done) }) // what is measured may still be told
	sent := make(chan error, 1)
	go func() { sent <- out.publish(publishing) }()
	s.Thresholds, s.Abort = nil, load.Abort{} // the coordinator's, for they are of the whole
	r, err := load.Run(ctx, s, o)
	last := report{Final: true, Result: load.Result{Interrupted: r.Interrupted, Seconds: r.Seconds}}
	if err != nil {
		last.Error = err.Error()
	}
	out.put(last)
	return errors.Join(err, <-sent)
}

// An outbox publishes reports in order, each until the stream has it.
type outbox struct {
	agent *agent
	run   string
	index int
	late  time.Duration
	more  chan struct{}

	mu      sync.Mutex
	waiting []report
	number  int
}

func (b *outbox) began(late time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.late = late
}

func (b *outbox) put(r report) {
	b.mu.Lock()
	r.Agent, r.Number, r.Late = b.index, b.number, b.late
	b.number++
	b.waiting = append(b.waiting, r)
	b.mu.Unlock()
	select {
	case b.more <- struct{}{}:
	default:
	}
}

func (b *outbox) take() (report, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		return report{}, false
	}
	r := b.waiting[0]
	b.waiting = b.waiting[1:]
	return r, true
}

// publish returns when the final report is in the stream, or the stream is gone.
func (b *outbox) publish(ctx context.Context) error {
	for {
		r, ok := b.take()
		if !ok {
			select {
			case <-b.more:
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		}
		data := encoded(r)
		subject := "dewload." + b.run + ".result." + strconv.Itoa(b.index) + "." + strconv.Itoa(r.Number)
		if err := b.once(ctx, subject, data); err != nil || r.Final {
			return err
		}
		for range b.agent.options.times - 1 {
			b.once(ctx, subject, data)
		}
	}
}

// once publishes until the stream has the message. That it has one already is as good: an answer
// was lost.
func (b *outbox) once(ctx context.Context, subject string, data []byte) error {
	for {
		trying, cancel := context.WithTimeout(ctx, answerTime)
		_, err := b.agent.js.Publish(trying, subject, data, jetstream.WithExpectLastSequencePerSubject(0))
		cancel()
		var known *jetstream.APIError
		switch {
		case err == nil, errors.As(err, &known) && known.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case b.gone(ctx):
			return errors.New("the run is over, and takes no more results")
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
	}
}

// gone reports whether the coordinator has ended the run.
func (b *outbox) gone(ctx context.Context) bool {
	looking, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	_, err := b.agent.js.Stream(looking, streamName(b.run))
	return errors.Is(err, jetstream.ErrStreamNotFound)
}

// ask requests an answer in JSON.
func ask(ctx context.Context, nc *nats.Conn, subject string, question, into any) error {
	asking, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	m, err := nc.RequestWithContext(asking, subject, encoded(question))
	if err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	return json.Unmarshal(m.Data, into)
}

// encoded writes what is only of types that JSON has.
func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
