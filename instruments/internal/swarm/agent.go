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
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dewpond/dewpond/instruments/load"
)

// AgentOptions are what an agent does.
type AgentOptions struct {
	Allow []string // hosts with ports to which it makes requests, beside loopback
	Token string   // of a NATS that wants one
	Once  bool     // one run, and not one after the other
	// Grace is how long it goes on with a run whose coordinator says nothing: another one may resume it.
	Grace time.Duration
	Log   func(string) // is told when the agent waits, takes part, and ends

	calls string        // the subject of the calls that it follows, in tests; "" is anybody's
	times int           // that each result is published, in tests; 0 is once
	skew  time.Duration // of this agent's clock, in tests
	hold  func(int)     // is called with the agent's index when it knows when to begin, in tests
	// now is by what a coordinator is silent, in tests; nil is time.Now.
	now func() time.Time
}

func (o *AgentOptions) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// Times in which a run is set up. What decides about results is never one of these.
const (
	callEvery  = 100 * time.Millisecond
	answerTime = 10 * time.Second
	retryAfter = 100 * time.Millisecond
)

// Agent waits to be called, and takes part in runs until ctx ends.
func Agent(ctx context.Context, url string, o AgentOptions) error {
	o.Grace = cmp.Or(o.Grace, DefaultGrace)
	nc, err := connect(url, o.Token,
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.log("has lost NATS: %v", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { o.log("has NATS again") }))
	if err != nil {
		return err
	}
	defer nc.Close()
	a := agent{nc: nc, options: o}
	var lose func()
	a.kept, lose = context.WithCancel(ctx)
	defer func() {
		defer time.AfterFunc(answerTime, lose).Stop()
		a.keeping.Wait()
		lose()
	}()
	if a.js, err = jetstream.New(nc); err != nil {
		return err
	}
	called, err := nc.SubscribeSync(cmp.Or(o.calls, calls))
	if err != nil {
		return err
	}
	o.log("waits for a run at %s", url)
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
		took, err := a.join(ctx, c.Run)
		seen[c.Run] = took // who had no answer asks again
		old(called)
		if err != nil {
			o.log("run %s: %v", c.Run, err)
		}
		if took && o.Once {
			return err
		}
		if took {
			o.log("waits for the next run")
		}
	}
}

// old drops the calls that have come meanwhile: a run that still calls does so again soon.
func old(called *nats.Subscription) {
	for {
		if n, _, err := called.Pending(); n == 0 || err != nil {
			return
		}
		if _, err := called.NextMsg(callEvery); err != nil {
			return
		}
	}
}

// connect connects, and again whenever the connection breaks.
func connect(url, token string, more ...nats.Option) (*nats.Conn, error) {
	options := append(more, parseToken(token).options()...)
	options = append(options, nats.Name("dewload"), nats.MaxReconnects(-1), nats.ReconnectWait(retryAfter), nats.Timeout(answerTime))
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
	kept    context.Context // ends when the agent has ended
	keeping sync.WaitGroup  // what it has measured for runs that may be resumed
}

// Why an agent leaves a run before its end.
var (
	errStopped = errors.New("the coordinator ended the run")
	errGone    = errors.New("the run is over, and takes no more results")
)

// A silentError is why an agent leaves a run that had begun. What it has measured is kept for who resumes
// the run.
type silentError struct{ grace time.Duration }

func (e silentError) Error() string {
	return fmt.Sprintf("the coordinator says nothing for %v", e.grace)
}

// join takes part in a run, and reports whether there was a place in it.
func (a *agent) join(ctx context.Context, run string) (took bool, err error) {
	var b [4]byte
	rand.Read(b[:])
	name := hex.EncodeToString(b[:])
	p := part{agent: a, run: run, changed: make(chan struct{}, 1)}
	if p.orders, err = a.nc.SubscribeSync(agentSubject(run, name)); err != nil {
		return false, err
	}
	defer p.orders.Unsubscribe()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	stopped, err := a.nc.Subscribe(stopSubject(run), func(*nats.Msg) { leave(errStopped) })
	if err != nil {
		return false, err
	}
	defer stopped.Unsubscribe()
	switch err := ask(ctx, a.nc, joinSubject(run), joining{name}, &p.place); {
	case ctx.Err() != nil, errors.Is(err, nats.ErrNoResponders): // others were faster, or it ended
		return false, nil
	case err != nil:
		return false, err
	case p.Plan == nil:
		return false, nil
	}
	a.options.log("run %s: takes part as agent %d of %d (%s), in %s", run, p.Index, p.Of, name, p.Plan.Name)
	telling, told := context.WithCancel(context.WithoutCancel(ctx))
	var news sync.WaitGroup
	news.Go(func() { p.tell(telling, leave) })
	defer news.Wait()
	defer told()
	err = p.take(ctx)
	switch why := context.Cause(ctx); {
	case why == errStopped: // which is no mistake of anybody
		a.options.log("run %s: ends early: %v", run, why)
		return true, nil
	case why != nil:
		return true, fmt.Errorf("ends early: %w", why)
	}
	if err == nil {
		a.options.log("run %s: over", run)
	}
	return true, err
}

// A part is an agent's place in a run.
type part struct {
	*agent
	place
	run     string
	orders  *nats.Subscription
	changed chan struct{} // news is
	begun   atomic.Bool   // the agent knows when its first session is due

	mu   sync.Mutex
	news news
}

// DefaultGrace is how long an agent goes on by itself when its coordinator says nothing, and keepTime
// how long it keeps what NATS has not taken.
const (
	DefaultGrace = 30 * time.Second
	keepTime     = 24 * time.Hour
)

// tellEvery is how often an agent says how far it is.
const tellEvery = time.Second

// sayTime is how long it waits for an answer to that, and to a report, before it says it again.
const sayTime = 3 * time.Second

// placedTime is how long an agent that has its place, and has not begun, waits for a coordinator that
// says nothing. It is less than agents may take to come: the next run finds it.
const placedTime = 10 * time.Second

// tell says how far the agent is until ctx ends, each second and when that changes. It calls leave if
// the coordinator wants the agent to stop, and if there is no coordinator any more.
func (p *part) tell(ctx context.Context, leave context.CancelCauseFunc) {
	heard := p.now()
	for ctx.Err() == nil {
		stop, err := p.say(ctx)
		switch {
		case stop:
			leave(errStopped)
		case err == nil:
			heard = p.now()
		case errors.Is(err, nats.ErrNoResponders) && p.gone(ctx, p.run):
			leave(errGone)
		case !p.begun.Load() && p.now().Sub(heard) > placedTime:
			leave(fmt.Errorf("the coordinator says nothing for %v, and had not begun", placedTime))
		case p.now().Sub(heard) > p.options.Grace:
			leave(silentError{p.options.Grace})
		}
		select {
		case <-time.After(tellEvery):
		case <-p.changed:
		case <-ctx.Done():
		}
	}
}

func (p *part) now() time.Time {
	if p.options.now != nil {
		return p.options.now()
	}
	return time.Now()
}

// say says it once, and returns whether the coordinator wants the agent to stop.
func (p *part) say(ctx context.Context) (stop bool, err error) {
	p.mu.Lock()
	n := p.news
	p.mu.Unlock()
	n.Index = p.Index
	ctx, cancel := context.WithTimeout(ctx, sayTime) // what NATS has lost is soon said again
	defer cancel()
	var reply heed
	err = ask(ctx, p.nc, newsSubject(p.run), n, &reply)
	return reply.Stop, err
}

func (p *part) change(n news) {
	p.mu.Lock()
	p.news = n
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// take makes the part's arrivals, and returns when all that was measured is in the stream.
func (p *part) take(ctx context.Context) error {
	s, o, err := p.Plan.Scenario()
	if err != nil {
		return p.cannot(ctx, err)
	}
	s.Thresholds, s.Abort = nil, load.Abort{} // the coordinator's, for they are of the whole
	out := outbox{agent: p.agent, run: p.run, index: p.Index, more: make(chan struct{}, 1)}
	publishing, done := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { // what is measured may still be told
		if !errors.As(context.Cause(ctx), new(silentError)) {
			time.AfterFunc(answerTime, done)
			return
		}
		time.AfterFunc(keepTime, done)
		context.AfterFunc(p.kept, done)
	})
	var sent chan error
	o.RunID = p.run
	o.Part = load.Slice{Index: p.Index, Of: p.Of}
	o.Dial = dialer(p.options.Allow)
	o.Began = out.began
	o.Interval = func(r load.Result) { out.put(report{Result: r}) }
	o.Await = func(ctx context.Context) (time.Time, error) {
		start, err := p.await(ctx)
		if err == nil {
			sent = make(chan error, 1)
			go func() { sent <- out.publish(publishing) }()
		}
		return start, err
	}
	r, err := load.Run(ctx, s, o)
	if sent == nil {
		done()
		return p.cannot(ctx, err)
	}
	last := report{Final: true, Result: load.Result{Interrupted: r.Interrupted, Seconds: r.Seconds}}
	if err != nil {
		last.Error = err.Error()
	}
	if why := context.Cause(ctx); r.Interrupted && why != errStopped {
		last.Early = why.Error()
	}
	out.put(last)
	told := func() error {
		defer done()
		return errors.Join(err, <-sent)
	}
	if !errors.As(context.Cause(ctx), new(silentError)) {
		return told()
	}
	p.keeping.Go(func() { // and NATS may have gone with the coordinator
		if err := told(); err != nil {
			p.options.log("run %s: its results are lost: %v", p.run, err)
		}
	})
	return nil
}

// cannot tells the coordinator why this agent does not begin, if it is not the coordinator that ended it.
func (p *part) cannot(ctx context.Context, err error) error {
	ended := p.kept.Err() != nil
	if ended {
		err = fmt.Errorf("it was ended: %w", context.Cause(ctx))
	}
	if ended || ctx.Err() == nil {
		p.change(news{Error: err.Error()})
		p.say(context.WithoutCancel(ctx))
	}
	return err
}

// await says that the connections are open, tells its clock whenever it is asked, and returns when
// the first session is due.
func (p *part) await(ctx context.Context) (time.Time, error) {
	p.change(news{Ready: true})
	for {
		m, err := p.orders.NextMsgWithContext(ctx)
		if err != nil {
			return time.Time{}, err
		}
		var ordered order
		if err := json.Unmarshal(m.Data, &ordered); err != nil {
			return time.Time{}, err
		}
		if err := m.Respond(encoded(answer{time.Now().Add(p.options.skew)})); err != nil {
			return time.Time{}, err
		}
		if ordered.Start.IsZero() {
			continue
		}
		p.begun.Store(true)
		if p.options.hold != nil {
			p.options.hold(p.Index)
		}
		// Of a clock that goes on if somebody sets the wall clock.
		return time.Now().Add(time.Until(ordered.Start.Add(-p.options.skew))), nil
	}
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
		trying, cancel := context.WithTimeout(ctx, sayTime) // less than after which it is lost
		_, err := b.agent.js.Publish(trying, subject, data, jetstream.WithExpectLastSequencePerSubject(0))
		cancel()
		var known *jetstream.APIError
		switch {
		case err == nil, errors.As(err, &known) && known.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case b.agent.gone(ctx, b.run):
			return errGone
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
	}
}

// gone reports whether the coordinator has ended the run.
func (a *agent) gone(ctx context.Context, run string) bool {
	looking, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	_, err := a.js.Stream(looking, streamName(run))
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
