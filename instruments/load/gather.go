package load

// result gathers what was recorded since the last call.
func (r *run) result() Result {
	r.mu.Lock()
	errors, messages, bad := r.errors, r.messages, r.bad
	r.errors, r.messages, r.bad = map[Kind]uint64{}, map[Kind]string{}, badStatuses{}
	r.mu.Unlock()
	out := Result{
		Schema: Schema, Name: r.Name, Mode: Open, RunID: r.id, Rate: r.Arrivals.Mean(), Users: r.Arrivals.Users,
		Errors: errors, Messages: messages, ErrorStatuses: bad.counts, StatusMessages: bad.messages, Series: r.series,
		Target: Target{URL: r.plan.Target, Shared: shared(r.plan.address)},
	}
	session, awake, stages := r.takeSessions(&out)
	out.Session = session.part() // without the lock, for who ends a session would wait
	if r.awake != nil {
		part := awake.part()
		out.Awake = &part
	}
	for _, s := range stages {
		out.Stages = append(out.Stages, s.part())
	}
	if r.Arrivals.Users > 0 {
		out.Mode, out.Rate = Closed, 0
	} else {
		out.Digest = r.digest()
	}
	for _, s := range r.streams {
		if s != nil {
			out.Steps = append(out.Steps, s.part())
		}
	}
	for _, p := range []Protocol{HTTP1, H2C, H2, WebSocket, GRPC} {
		if s := r.spoken[p]; s != nil {
			out.Protocols = append(out.Protocols, r.protocolPart(p, s))
		}
	}
	out.hide()
	return out
}

// takeSessions gives a result the sessions that ended since the last call. Its counts and its
// times are of the same sessions, for an interval can be the last that is heard of an agent.
func (r *run) takeSessions(out *Result) (session, awake taking, stages []stageTaking) {
	r.ending.Lock()
	defer r.ending.Unlock()
	before := r.gathered
	r.gathered = [...]uint64{r.counts.finished.Load(), r.counts.failed.Load(), r.counts.dropped.Load(), r.counts.cut.Load()}
	out.Finished, out.Failed = r.gathered[0]-before[0], r.gathered[1]-before[1]
	out.Dropped, out.Cut = r.gathered[2]-before[2], r.gathered[3]-before[3]
	// A session counts as started in the interval in which it ends.
	out.Started = out.Finished + out.Failed
	out.Offered = out.Started + out.Dropped
	if out.Dropped > 0 {
		out.DroppedLag = timesOf(r.dropping.Take())
	}
	session = r.session.take()
	if r.awake != nil {
		awake = r.awake.take()
	}
	return session, awake, r.takeStages()
}

// lost is how many times were too long to be kept.
func (r *run) lost() (n uint64) {
	for _, s := range r.streams {
		if s != nil {
			n += s.response.OutOfRange() + s.failing.OutOfRange()
		}
	}
	return n
}

// digest is of all arrivals. It is found once.
func (r *run) digest() string {
	if r.arrivals == "" {
		r.arrivals = r.Arrivals.Digest()
	}
	return r.arrivals
}

// whole gives the last interval away, and returns the sum of all.
func (r *run) whole(last Result) Result {
	series := last.Series
	last.Series = nil
	r.options.Interval(last)
	sum := Merge(append(r.intervals, last)...)
	sum.Series = series
	return sum
}

func (r *run) protocolPart(p Protocol, s *stream) ProtocolPart {
	out := ProtocolPart{Part: s.part()}
	d := r.dialers[p]
	if d == nil {
		return out
	}
	now := [...]uint64{d.requests.Load(), d.opened.Load(), d.handshakes.Load(), d.resent.Load(), d.idle.Load()}
	out.Connected = now[0] - d.gathered[0]
	out.Connections, out.Handshakes = now[1]-d.gathered[1], now[2]-d.gathered[2]
	out.Resent, out.ClosedIdle = now[3]-d.gathered[3], now[4]-d.gathered[4]
	d.gathered = now
	out.Connecting = timesOf(d.connecting.Take())
	out.reused()
	return out
}

// reused finds how often each connection was used.
func (p *ProtocolPart) reused() {
	if p.Connected > 0 {
		p.Reuse = max(0, 1-float64(p.Connections)/float64(p.Connected))
	}
	if p.Connections > 0 {
		p.PerConn = float64(p.Connected) / float64(p.Connections)
	}
}
