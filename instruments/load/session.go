package load

import (
	"math/rand/v2"
	"net/url"
	"slices"
	"time"
)

// A Session is one user's way through the steps. Its goroutine is its owner: calls of a parallel
// step may read its values, but must not set them.
type Session struct {
	// Number counts the arrivals from 0, the warm-up's included.
	Number int
	// Protocol is what its HTTP requests speak.
	Protocol Protocol

	run      *run
	rand     *rand.Rand // nil before the first draw
	values   []named
	own      *pool // its own connection, with EachSession
	measured bool
	intended time.Time
	thought  time.Duration
}

type named struct {
	name  string
	value any
}

// Rand returns the session's random numbers: the same for the same seed and Number.
func (s *Session) Rand() *rand.Rand {
	if s.rand == nil { // most sessions of a URL draw nothing
		s.rand = rand.New(rand.NewPCG(s.run.Arrivals.Seed, sessionStream|uint64(s.Number)))
	}
	return s.rand
}

// Value returns what the name stands for in this session, and whether it has a value.
func (s *Session) Value(name string) (any, bool) {
	i := slices.IndexFunc(s.values, func(v named) bool { return v.name == name })
	if i < 0 {
		return nil, false
	}
	return s.values[i].value, true
}

// Set gives a name a value, as what is taken from an answer does. Values are those of
// encoding/json.
func (s *Session) Set(name string, value any) {
	i := slices.IndexFunc(s.values, func(v named) bool { return v.name == name })
	if i < 0 {
		s.values = append(s.values, named{name, value})
		return
	}
	s.values[i].value = value
}

// has reports whether the name has a value that is something.
func (s *Session) has(name string) bool {
	v, ok := s.Value(name)
	return ok && there(v)
}

// A Call is one request of a step, and its clock. Only the goroutine that its ActionFunc runs on may
// use it.
type Call struct {
	*Session

	item           named // of Each
	intended       time.Time
	began          time.Time
	waited         time.Duration
	connecting     time.Duration // of waited
	phases         []string      // the answer's Server-Timing
	absent         bool          // what was to be taken is not there
	status         int
	answered       bool // with that status
	sent, received int64
	firstByte      time.Duration
	protocol       Protocol
	method, path   string
	url            *url.URL // instead of path
	body           []byte   // what was sent, for the log of requests
}

// Value returns what the name stands for: the item of the step's Each, or the session's.
func (c *Call) Value(name string) (any, bool) {
	if c.item.name != "" && c.item.name == name {
		return c.item.value, true
	}
	return c.Session.Value(name)
}

// Intended returns the time from which the call's response counts.
func (c *Call) Intended() time.Time { return c.intended }

// Waited tells the call that it has waited for a connection for so long, before anything was
// sent. It counts as response, and not as service.
func (c *Call) Waited(d time.Duration) { c.waited += d }
