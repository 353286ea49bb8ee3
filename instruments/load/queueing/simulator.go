package queueing

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"
)

// A simulator does what database/sql does, one event after the other. Times are in seconds.
type simulator struct {
	pool    Pool
	demand  Demand
	random  *rand.Rand
	events  events
	free    []*conn // the last one is lent next
	waiting []*loan // in order of their arrival
	open    int     // connections that are there or are being made

	now, due, begun, lastArrival float64
	arrived                      int
	counting                     bool // what arrives now counts
	nextClean                    float64
	out                          Simulation
}

type conn struct{ made, back float64 }

type loan struct {
	arrived float64
	counts  bool
	over    bool // granted, or given up
}

// An event is the end of a loan or of a dial, the end of a loan's patience, or a cleaning.
type event struct {
	at   float64
	conn *conn // that comes back, or has been made
	loan *loan // whose patience ends, or that the dial is for
}

func newSimulator(p Pool, d Demand, seed uint64) *simulator {
	s := &simulator{pool: p, demand: d, random: rand.New(rand.NewPCG(seed, 1))}
	s.due = s.next()
	s.nextClean = s.period()
	return s
}

// next draws the time between two arrivals.
func (s *simulator) next() float64 { return s.random.ExpFloat64() / s.demand.Rate }

// period is how often database/sql looks for idle connections to close: as often as its shortest
// bound, and not more often than once a second. It is 0 where there is no bound.
func (s *simulator) period() float64 {
	shortest := time.Duration(0)
	for _, d := range []time.Duration{s.pool.Lifetime, s.pool.IdleTime} {
		if d > 0 && (shortest == 0 || d < shortest) {
			shortest = d
		}
	}
	if shortest == 0 {
		return 0
	}
	return max(1, shortest.Seconds())
}

// arrive is a loan that is asked for.
func (s *simulator) arrive() {
	s.lastArrival = s.now
	s.clean()
	l := &loan{arrived: s.now, counts: s.counting}
	for len(s.free) > 0 {
		c := s.free[len(s.free)-1]
		s.free = s.free[:len(s.free)-1]
		if !s.aged(c) {
			s.grant(c, l)
			return
		}
		s.close(byAge)
	}
	if s.open < s.pool.Open {
		s.dial(l)
		return
	}
	if s.counting {
		s.out.Waited++
	}
	s.waiting = append(s.waiting, l)
	if s.demand.Patience > 0 {
		heap.Push(&s.events, event{at: s.now + s.demand.Patience.Seconds(), loan: l})
	}
}

// step is the next event.
func (s *simulator) step() {
	e := heap.Pop(&s.events).(event)
	s.now = e.at
	switch {
	case e.conn == nil:
		s.giveUp(e.loan)
	case e.loan != nil && !e.loan.over:
		s.grant(e.conn, e.loan)
	default:
		s.back(e.conn)
	}
}

func (s *simulator) giveUp(l *loan) {
	if l.over {
		return
	}
	l.over = true
	s.waiting = slices.DeleteFunc(s.waiting, func(w *loan) bool { return w == l })
	if l.counts {
		s.out.TimedOut++
	}
}

// grant lends a connection.
func (s *simulator) grant(c *conn, l *loan) {
	l.over = true
	hold := s.demand.Hold(s.random)
	if l.counts {
		s.out.Served++
		wait := s.now - l.arrived
		s.out.waits = append(s.out.waits, wait)
		s.out.responses = append(s.out.responses, wait+hold.Seconds())
	}
	heap.Push(&s.events, event{at: s.now + hold.Seconds(), conn: c})
}

// back is a connection that is lent no more.
func (s *simulator) back(c *conn) {
	if s.aged(c) {
		s.close(byAge)
		if len(s.waiting) > 0 {
			s.dial(nil)
		}
		return
	}
	if len(s.waiting) > 0 {
		s.grant(c, s.nextWaiting())
		return
	}
	if len(s.free) >= s.pool.Idle {
		s.close(byIdle)
		return
	}
	c.back = s.now
	s.free = append(s.free, c)
}

// nextWaiting removes who is served next. In order that takes no time, however long the queue is.
func (s *simulator) nextWaiting() *loan {
	if s.pool.FIFO {
		l := s.waiting[0]
		s.waiting = s.waiting[1:]
		return l
	}
	i := s.random.IntN(len(s.waiting))
	l := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return l
}

// dial makes a connection, for a loan or for whoever waits.
func (s *simulator) dial(l *loan) {
	s.open++
	if s.counting {
		s.out.Made++
	}
	at := s.now + s.demand.Dial.Seconds()
	heap.Push(&s.events, event{at: at, conn: &conn{made: at}, loan: l})
}

func (s *simulator) close(reason int) {
	s.open--
	if s.counting {
		s.out.closed[reason]++
	}
}

func (s *simulator) aged(c *conn) bool {
	return s.pool.Lifetime > 0 && s.now-c.made > s.pool.Lifetime.Seconds()
}

// clean closes idle connections that are past a bound, at the times at which database/sql does.
func (s *simulator) clean() {
	period := s.period()
	if period == 0 || s.now < s.nextClean {
		return
	}
	for s.nextClean <= s.now {
		s.nextClean += period
	}
	s.free = slices.DeleteFunc(s.free, func(c *conn) bool {
		switch {
		case s.pool.IdleTime > 0 && s.now-c.back > s.pool.IdleTime.Seconds():
			s.close(byIdleTime)
		case s.aged(c):
			s.close(byAge)
		default:
			return false
		}
		return true
	})
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }

func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
