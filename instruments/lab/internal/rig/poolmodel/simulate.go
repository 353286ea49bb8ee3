package poolmodel

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"
)

// A simulation does what database/sql does, one event after the other. Times are in seconds.
type simulation struct {
	pool    Pool
	load    Load
	random  *rand.Rand
	events  events
	free    []*conn // the last one is lent next
	waiting []*loan // in order of their arrival
	open    int     // connections that are there or are being made

	now, due, begun, lastArrival float64
	arrived                      int
	counting                     bool // what arrives now counts
	nextClean                    float64
	result                       Result
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

func newSimulation(p Pool, l Load, seed uint64) *simulation {
	s := &simulation{pool: p, load: l, random: rand.New(rand.NewPCG(seed, 1))}
	s.due = s.next()
	s.nextClean = s.period()
	return s
}

// next draws the time between two arrivals.
func (s *simulation) next() float64 { return s.random.ExpFloat64() / s.load.Rate }

// period is how often database/sql looks for idle connections to close: as often as its shortest
// bound, and not more often than once a second. It is 0 where there is no bound.
func (s *simulation) period() float64 {
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
func (s *simulation) arrive() {
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
		s.result.Waited++
	}
	s.waiting = append(s.waiting, l)
	if s.load.Patience > 0 {
		heap.Push(&s.events, event{at: s.now + s.load.Patience.Seconds(), loan: l})
	}
}

// step is the next event.
func (s *simulation) step() {
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

func (s *simulation) giveUp(l *loan) {
	if l.over {
		return
	}
	l.over = true
	s.waiting = slices.DeleteFunc(s.waiting, func(w *loan) bool { return w == l })
	if l.counts {
		s.result.TimedOut++
	}
}

// grant lends a connection.
func (s *simulation) grant(c *conn, l *loan) {
	l.over = true
	hold := s.load.Hold(s.random)
	if l.counts {
		s.result.Loans++
		s.result.sorted = append(s.result.sorted, s.now-l.arrived)
	}
	heap.Push(&s.events, event{at: s.now + hold.Seconds(), conn: c})
}

// back is a connection that is lent no more.
func (s *simulation) back(c *conn) {
	if s.aged(c) {
		s.close(byAge)
		if len(s.waiting) > 0 {
			s.dial(nil)
		}
		return
	}
	if len(s.waiting) > 0 {
		i := 0
		if !s.pool.FIFO {
			i = s.random.IntN(len(s.waiting))
		}
		l := s.waiting[i]
		s.waiting = slices.Delete(s.waiting, i, i+1)
		s.grant(c, l)
		return
	}
	if len(s.free) >= s.pool.Idle {
		s.close(byIdle)
		return
	}
	c.back = s.now
	s.free = append(s.free, c)
}

// dial makes a connection, for a loan or for whoever waits.
func (s *simulation) dial(l *loan) {
	s.open++
	if s.counting {
		s.result.Made++
	}
	at := s.now + s.load.Dial.Seconds()
	heap.Push(&s.events, event{at: at, conn: &conn{made: at}, loan: l})
}

func (s *simulation) close(reason int) {
	s.open--
	if s.counting {
		s.result.closed[reason]++
	}
}

func (s *simulation) aged(c *conn) bool {
	return s.pool.Lifetime > 0 && s.now-c.made > s.pool.Lifetime.Seconds()
}

// clean closes idle connections that are past a bound, at the times at which database/sql does.
func (s *simulation) clean() {
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
