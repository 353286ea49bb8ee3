package load

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	crand "crypto/rand"

	"github.com/dewpond/dewpond/instruments/internal/secret"
	"github.com/dewpond/dewpond/instruments/kit"
)

// Mark is the header of every request whose value is the run's ID.
const Mark = "Dewpond-Run"

// Run runs the scenario and returns what it measured. It returns an [*InvalidError] before
// anything is sent if the scenario has a mistake, and another error if the target cannot be
// connected to before the first arrival. If ctx ends, Run cuts the sessions that are on their way
// and returns what was measured until then. In a testing/synctest bubble it goes by the bubble's clock.
func Run(ctx context.Context, s Scenario, o Options) (Result, error) {
	p, err := s.compile()
	if err != nil {
		return Result{}, err
	}
	return newRun(p, &o).all(ctx)
}

// all runs the scenario from the first connection to the last.
func (r *run) all(ctx context.Context) (_ Result, err error) {
	r.knowSecrets(r.options)
	if err := r.prepare(ctx); err != nil {
		return Result{}, err
	}
	defer r.close()
	if r.options.Await != nil {
		if r.start, err = r.options.Await(ctx); err != nil {
			return Result{}, err
		}
	}
	return r.measure(ctx), nil
}

// ErrInterrupted is what a series of runs ends with if one of them was interrupted.
var ErrInterrupted = errors.New("interrupted: the report shows what was measured until then")

// A run is a scenario while it is run.
type run struct {
	*plan
	options *Options
	id      string

	dialers map[Protocol]*dialer
	pools   map[Protocol]*pool    // not with EachSession
	rpc     map[string]*grpcConns // by the host that is asked for

	pacer    func() (pacer, func()) // newPacer, but in tests
	start    time.Time              // when the first session is due
	sessions sync.WaitGroup
	inFlight atomic.Int64
	counts   counts
	session  *stream
	awake    *stream
	streams  []*stream // by the step's index; nil for thinking
	spoken   map[Protocol]*stream
	second   *kit.Recorder // response of the sessions that end in this second
	dropping *kit.Recorder // lag of the sessions that are dropped
	requests *requestLog
	slowest  *slowest
	stages   []*staged // of the arrivals, in order
	spans    *spans    // nil without Options.Pprof
	side     *side

	mu       sync.Mutex // held to count an error, which is rare
	errors   map[Kind]uint64
	messages map[Kind]string
	bad      badStatuses

	stop    context.CancelFunc
	aborted atomic.Pointer[string]
	series  []Second
	over    bool // no session is on its way any more

	ending    sync.RWMutex // read-locked while a session's end is recorded
	gathered  [4]uint64    // finished, failed, dropped and cut that were in a result
	intervals []Result     // with Options.Interval
	arrivals  string       // their digest
}

// counts are of measured sessions.
type counts struct {
	started, finished, failed, dropped, cut atomic.Uint64
}

func newRun(p *plan, o *Options) *run {
	r := &run{
		plan: p, options: o, id: o.RunID, pacer: newPacer,
		dialers: map[Protocol]*dialer{}, pools: map[Protocol]*pool{}, rpc: map[string]*grpcConns{}, spoken: map[Protocol]*stream{},
		session: newStream(sessionName), second: kit.NewRecorder(), dropping: kit.NewRecorder(),
		errors: map[Kind]uint64{}, messages: map[Kind]string{}, slowest: &slowest{}, side: &side{}, stages: stagedOf(p.Arrivals),
	}
	if r.id == "" {
		var b [6]byte
		crand.Read(b[:])
		r.id = hex.EncodeToString(b[:])
	}
	for _, step := range p.steps {
		if step.caller == nil {
			r.streams = append(r.streams, nil)
			if r.awake == nil {
				r.awake = newStream("session without thinking")
			}
			continue
		}
		r.streams = append(r.streams, newStream(step.Name))
	}
	if o.Requests != nil {
		r.requests = newRequestLog(o.Requests)
	}
	return r
}

// speaks returns the stream of a protocol, which a step speaks.
func (r *run) speaks(p Protocol) *stream {
	if r.spoken[p] == nil {
		r.spoken[p] = newStream(string(p))
	}
	return r.spoken[p]
}

// A preparer is a caller that needs the run before the first arrival.
type preparer interface {
	prepare(context.Context, *run) error
}

// prepare opens all connections, so that none is dialed in the time that is measured.
func (r *run) prepare(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.side, err = openSide(ctx, r); err != nil {
		return err
	}
	asks := false
	for _, step := range r.steps {
		if p, ok := step.caller.(preparer); ok {
			if err := p.prepare(ctx, r); err != nil {
				return err
			}
		}
		if _, ok := step.caller.(*request); ok {
			asks = true
		}
	}
	if !asks {
		return nil
	}
	for _, share := range r.Protocols {
		if share.Weight > 0 {
			r.dialers[share.Protocol] = newDialer(r.plan, share.Protocol, r.options)
			r.speaks(share.Protocol)
		}
	}
	for _, share := range r.Protocols {
		d := r.dialers[share.Protocol]
		if d == nil {
			continue
		}
		n := r.connectionsOf()[share.Protocol]
		if n == 0 { // each session opens its own: see here whether it can
			n = 1
		}
		p := d.pool(n)
		r.pools[share.Protocol] = p
		opening, cancel := context.WithTimeout(ctx, connectTimeout)
		err := p.open(opening)
		cancel()
		if err != nil {
			return r.cannotConnect(err, n)
		}
		if r.Connections == EachSession {
			p.close()
			delete(r.pools, share.Protocol)
			d.opened.Store(0)
			d.handshakes.Store(0)
			d.connecting.Take()
		}
	}
	return nil
}

// tooManyFiles is the text of the system's error: its number would take package syscall.
const tooManyFiles = "too many open files"

// connectTimeout bounds how long all connections of a protocol take to open.
const connectTimeout = 30 * time.Second

func (r *run) cannotConnect(err error, n int) error {
	if strings.Contains(err.Error(), tooManyFiles) {
		return fmt.Errorf("cannot open %d connections: this process may have %d files open (ulimit -n): %w", n, kit.OpenFiles(), err)
	}
	return fmt.Errorf("cannot connect to %s: %w", secret.Text(r.plan.Target), err)
}

func (r *run) close() {
	for _, p := range r.pools {
		p.close()
	}
	for _, g := range r.rpc {
		g.close()
	}
	r.requests.flush()
}

// measure runs the schedule and returns the result.
func (r *run) measure(ctx context.Context) Result {
	environment := kit.Environment()
	ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	account := openAccount()
	if r.start.IsZero() {
		r.start = time.Now()
	}
	r.side.begin(ctx, r)
	watched := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(watched)
		r.watch(done)
	}()
	var last time.Time // when the last session was due
	if r.Arrivals.Users > 0 {
		last = r.closed(ctx)
	} else {
		last = r.open(ctx)
	}
	interrupted := ctx.Err() != nil
	if interrupted {
		for _, p := range r.pools {
			p.close()
		}
	}
	r.sessions.Wait()
	close(done)
	<-watched
	r.side.end()
	r.over = true
	result := r.result()
	result.Generator = account.close()
	result.Generator.Lost = r.lost()
	if r.options.Interval != nil {
		result = r.whole(result)
	}
	r.side.report(r, &result)
	result.Environment = environment
	result.Interrupted, result.Partial = interrupted, interrupted
	result.Seconds = max(0, (last.Sub(r.start) - r.Arrivals.Warmup).Seconds())
	if aborted := r.aborted.Load(); aborted != nil {
		result.Aborted, result.Interrupted = *aborted, false
	}
	result.judge()
	for _, t := range r.Thresholds {
		result.Thresholds = append(result.Thresholds, t.of(&result))
	}
	result.hide()
	return result
}

// open begins each session when it is due, whatever the sessions before do. It returns when the
// last one was due, or when ctx ended.
func (r *run) open(ctx context.Context) time.Time {
	pace, release := r.pacer()
	defer release()
	began := r.options.Began
	for i, t := range r.Arrivals.Times() {
		if !r.options.Part.has(i) {
			continue
		}
		due := r.start.Add(t)
		if !pace.until(ctx, due) {
			return time.Now()
		}
		if began != nil {
			began(time.Since(due))
			began = nil
		}
		measured := t >= r.Arrivals.Warmup
		stage := r.stage(due)
		stage.begin(r.start, due)
		if r.inFlight.Load() >= int64(r.Limits.InFlight) {
			if measured {
				r.dropping.Record(i, time.Since(due))
				r.counts.dropped.Add(1)
				if stage != nil {
					stage.dropped.Add(1)
				}
			}
			continue
		}
		r.begin()
		go func() {
			defer r.end()
			r.one(ctx, i, due, measured)
		}()
	}
	end := r.start.Add(r.Arrivals.Warmup + r.Arrivals.Length())
	pace.until(ctx, end)
	return end
}

// closed lets users begin a session whenever the one before has ended.
func (r *run) closed(ctx context.Context) time.Time {
	var number atomic.Int64
	warm := r.start.Add(r.Arrivals.Warmup)
	end := warm.Add(r.Arrivals.Duration)
	var users sync.WaitGroup
	for range r.Arrivals.Users {
		users.Go(func() {
			for ctx.Err() == nil {
				now := time.Now()
				if !now.Before(end) {
					return
				}
				r.begin()
				r.one(ctx, int(number.Add(1)-1), now, !now.Before(warm))
				r.end()
			}
		})
	}
	users.Wait()
	if now := time.Now(); now.Before(end) {
		return now
	}
	return end
}

func (r *run) begin() {
	r.inFlight.Add(1)
	r.sessions.Add(1)
}

func (r *run) end() {
	r.inFlight.Add(-1)
	r.sessions.Done()
}

// newSession draws what the session with this number has.
func (r *run) newSession(number int, due time.Time, measured bool) *Session {
	s := &Session{Number: number, run: r, measured: measured, intended: due, Protocol: r.Protocols[0].Protocol}
	if len(r.Protocols) > 1 {
		s.Protocol = r.protocol(s.Rand().Float64())
	}
	if d := r.dialers[s.Protocol]; d != nil && r.Connections == EachSession {
		s.own = d.pool(1)
	}
	for _, d := range r.Data {
		s.Set(d.Name, d.Draw(s.Rand()))
	}
	return s
}

// one runs a session from its beginning to its end.
func (r *run) one(ctx context.Context, number int, due time.Time, measured bool) {
	s := r.newSession(number, due, measured)
	if measured {
		r.counts.started.Add(1)
	}
	began := time.Now()
	end, err := s.steps(ctx)
	if s.own != nil {
		s.own.close()
	}
	if !measured {
		return
	}
	if err != nil && ctx.Err() != nil { // the run is over, and not the target at fault
		r.counts.cut.Add(1)
		return
	}
	t := timing{response: end.Sub(due), lag: began.Sub(due)}
	t.service = t.response - t.lag
	r.ending.RLock()
	defer r.ending.RUnlock()
	r.session.record(number, t, err)
	r.stage(due).record(number, t, err)
	if r.awake != nil {
		t.response -= s.thought
		t.service -= s.thought
		r.awake.record(number, t, err)
	}
	if err != nil {
		r.counts.failed.Add(1)
		return
	}
	r.counts.finished.Add(1)
	r.second.Record(number, end.Sub(due))
}

// fail counts the error of a call.
func (r *run) fail(c *Call, step *planned, err error) {
	kind := KindOf(err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors[kind]++
	status := ""
	if kind == BadStatus && c.answered {
		status = statusName(c.place())
	}
	first := r.messages[kind] == "" || status != "" && r.bad.messages[status] == ""
	message := ""
	if first {
		var known *KindError
		if errors.As(err, &known) {
			err = known.Err
		}
		message = secret.Without(err.Error(), secretsOf(step.caller, c)...)
	}
	if r.messages[kind] == "" {
		r.messages[kind] = message
	}
	if status != "" {
		r.bad.add(status, 1, message)
	}
}
