package load

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/instruments/kit"
)

// Merge returns the sum of results of one scenario: of agents, or of intervals. Histograms are
// added up, and percentiles taken from the sum. What
// says where single requests were slow, and the series, are not in the sum.
func Merge(results ...Result) Result {
	out := Result{Schema: Schema}
	if len(results) > 0 {
		out = results[0]
	}
	out.Errors, out.Messages = map[Kind]uint64{}, map[Kind]string{}
	var bad badStatuses
	out.Offered, out.Started, out.Finished, out.Failed, out.Dropped, out.NotMade, out.Cut = 0, 0, 0, 0, 0, 0, 0
	out.Generator = Generator{CPUShare: -1}
	out.Slowest, out.Attribution, out.Metrics, out.Series, out.Thresholds, out.Agents = nil, nil, nil, nil, nil, nil
	out.Valid, out.Why, out.Knee = false, nil, nil
	out.Overload, out.DroppedLag = "", nil
	out.Stages = mergeStages(results)
	var session, awake parts
	session.add(Part{Name: sessionName}) // where no result has one, it is of no sessions
	var steps, protocols parts
	connections := map[string]*ProtocolPart{}
	connecting := map[string]*sum{}
	dropping := newSum()
	for i := range results {
		r := &results[i]
		out.Offered += r.Offered
		out.Started += r.Started
		out.Finished += r.Finished
		out.Failed += r.Failed
		out.Dropped += r.Dropped
		dropping.add(r.DroppedLag)
		out.NotMade += r.NotMade
		out.Cut += r.Cut
		out.Seconds = max(out.Seconds, r.Seconds)
		out.Interrupted = out.Interrupted || r.Interrupted
		out.Partial = out.Partial || r.Partial
		if out.Aborted == "" {
			out.Aborted = r.Aborted
		}
		for kind, n := range r.Errors {
			out.Errors[kind] += n
			if out.Messages[kind] == "" {
				out.Messages[kind] = r.Messages[kind]
			}
		}
		for status, n := range r.ErrorStatuses {
			bad.add(status, n, r.StatusMessages[status])
		}
		if out.Environment.GOMAXPROCS == 0 { // an interval does not say where it ran
			out.Environment = r.Environment
		}
		out.Generator.add(r.Generator)
		session.add(r.Session)
		if r.Awake != nil {
			awake.add(*r.Awake)
		}
		for _, p := range r.Steps {
			steps.add(p)
		}
		for _, p := range r.Protocols {
			protocols.add(p.Part)
			if connections[p.Name] == nil {
				connections[p.Name], connecting[p.Name] = &ProtocolPart{}, newSum()
			}
			connections[p.Name].Connections += p.Connections
			connections[p.Name].Connected += p.Connected
			connections[p.Name].Handshakes += p.Handshakes
			connections[p.Name].Resent += p.Resent
			connections[p.Name].ClosedIdle += p.ClosedIdle
			connecting[p.Name].add(p.Connecting)
		}
	}
	if out.Dropped > 0 {
		out.DroppedLag = dropping.times()
	}
	out.ErrorStatuses, out.StatusMessages = bad.counts, bad.messages
	out.Session = session.all()[0]
	if all := awake.all(); len(all) > 0 {
		out.Awake = &all[0]
	}
	out.Steps, out.Protocols = steps.all(), nil
	for _, p := range protocols.all() {
		c := *connections[p.Name]
		c.Part, c.Connecting = p, connecting[p.Name].times()
		c.reused()
		out.Protocols = append(out.Protocols, c)
	}
	return out
}

// Judge says whether a merged result is valid, and whether it keeps the scenario's thresholds.
func (r *Result) Judge(s Scenario) {
	r.judge()
	for _, t := range s.Thresholds {
		r.Thresholds = append(r.Thresholds, t.of(r))
	}
}

func (g *Generator) add(o Generator) {
	g.CPUShare = max(g.CPUShare, o.CPUShare)
	g.Collections += o.Collections
	g.Pauses += o.Pauses
	g.LongestPause = max(g.LongestPause, o.LongestPause)
	g.Lost += o.Lost
}

// A sum adds up times.
type sum struct{ h *hdrhistogram.Histogram }

func newSum() *sum { return &sum{kit.NewRecorder().Take()} }

func (s *sum) add(t *Times) {
	if t == nil || t.Samples == 0 {
		return
	}
	// What WriteJSON wrote decodes, and the histograms are of one shape: nothing is lost.
	if h, err := hdrhistogram.Decode(t.Histogram); err == nil {
		s.h.Merge(h)
	}
}

func (s *sum) times() *Times { return timesOf(s.h) }

// parts add up parts by their names, in the order in which these came.
type parts struct {
	order []string
	by    map[string]*partSum
}

type partSum struct {
	Part
	response, service, lag, waiting, failed *sum
}

func (p *parts) add(o Part) {
	one := p.by[o.Name]
	if one == nil {
		if p.by == nil {
			p.by = map[string]*partSum{}
		}
		one = &partSum{Part{Name: o.Name}, newSum(), newSum(), newSum(), newSum(), newSum()}
		p.by[o.Name] = one
		p.order = append(p.order, o.Name)
	}
	one.Requests += o.Requests
	one.Failed += o.Failed
	one.Waited += o.Waited
	addStatuses(&one.Statuses, o.Statuses)
	one.Sent += o.Sent
	one.Received += o.Received
	one.response.add(o.Response)
	one.service.add(o.Service)
	one.lag.add(o.Lag)
	one.waiting.add(o.Waiting)
	one.failed.add(o.FailedResponse)
}

func (p *parts) all() []Part {
	var out []Part
	for _, name := range p.order {
		s := p.by[name]
		s.Response, s.Service, s.Lag, s.Waiting, s.FailedResponse = s.response.times(), s.service.times(), s.lag.times(), s.waiting.times(), s.failed.times()
		s.Generator = generatorMade(s.Response, s.Lag)
		out = append(out, s.Part)
	}
	return out
}
