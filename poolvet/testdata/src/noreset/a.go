package noreset

import (
	"encoding/json"
	"sync"

	"github.com/dewpond/dewpond"
)

// Fields of the last owner: https://github.com/prebid/prebid-cache/pull/64.
type entry struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

var entries = sync.Pool{New: func() any { return new(entry) }}

func parse(data []byte) (string, error) {
	e := entries.Get().(*entry)
	defer entries.Put(e) // want `e is put back with what its owner left in Kind, which the Get at a.go:\d+:\d+ does not set either \(noreset\)`
	if err := json.Unmarshal(data, e); err != nil {
		return "", err
	}
	return e.Kind + e.Value, nil
}

var mended = sync.Pool{New: func() any { return new(entry) }}

func parseMended(data []byte) (string, error) {
	e := mended.Get().(*entry)
	defer mended.Put(e)
	*e = entry{}
	if err := json.Unmarshal(data, e); err != nil {
		return "", err
	}
	return e.Kind + e.Value, nil
}

type state struct {
	depth int
	names []string
	seen  map[string]bool
}

func (s *state) Reset() {
	s.depth = 0
	s.names = s.names[:0]
	clear(s.seen)
}

var states = sync.Pool{New: func() any { return &state{seen: map[string]bool{}} }}

func resetBefore(n int) int {
	s := states.Get().(*state)
	s.depth += n
	defer states.Put(s)
	defer s.Reset()
	return s.depth
}

var piecemeal = sync.Pool{New: func() any { return &state{seen: map[string]bool{}} }}

func resetBetween(n int) int {
	s := piecemeal.Get().(*state)
	s.depth = n
	s.names = append(s.names, "x")
	s.seen["x"] = true
	k := s.depth + len(s.names) + len(s.seen)
	s.names = s.names[:0]
	clear(s.seen)
	piecemeal.Put(s)
	return k
}

var forgotten = sync.Pool{New: func() any { return &state{seen: map[string]bool{}} }}

func forgetsOne(n int) int {
	s := forgotten.Get().(*state)
	s.depth = n
	s.names = append(s.names[:0], "x")
	s.seen["x"] = true
	k := s.depth + len(s.names) + len(s.seen)
	forgotten.Put(s) // want `s is put back with what its owner left in seen`
	return k
}

var counting = sync.Pool{New: func() any { return new(state) }}

func counts() int {
	s := counting.Get().(*state)
	s.depth++
	n := s.depth
	counting.Put(s) // want `s is put back with what its owner left in depth`
	return n
}

var wrapped = sync.Pool{New: func() any { return &state{seen: map[string]bool{}} }}

func acquire() *state { return wrapped.Get().(*state) }

func release(s *state) {
	s.Reset()
	wrapped.Put(s)
}

func throughWrappers(n int) int {
	s := acquire()
	defer release(s)
	s.depth += n
	return s.depth
}

var dirty = dewpond.MustPool(dewpond.PoolOptions[state]{Name: "dirty", New: func() *state { return new(state) }})

func fromDewpond() int {
	s := dirty.Get()
	s.depth++
	n := s.depth
	dirty.Put(s) // want `s is put back with what its owner left in depth`
	return n
}

var clean = dewpond.MustPool(dewpond.PoolOptions[state]{Name: "clean", Reset: func(s *state) { s.depth = 0 }})

func fromDewpondReset() int {
	s := clean.Get()
	s.depth++
	n := s.depth
	clean.Put(s)
	return n
}

type service struct {
	states, cleared, either *dewpond.Pool[state]
	named                   *dewpond.Pool[state]
}

func newService() (*service, error) {
	s := &service{
		cleared: dewpond.MustPool(dewpond.PoolOptions[state]{Name: "cleared", New: newState, Reset: (*state).Reset}),
		named:   dewpond.MustPool(dewpond.PoolOptions[state]{Name: "named", New: newState}),
	}
	var err error
	s.states, err = dewpond.NewPool(dewpond.PoolOptions[state]{Name: "states", New: newState})
	s.either = dewpond.MustPool(dewpond.PoolOptions[state]{Name: "either", New: newState})
	return s, err
}

func (s *service) resetEither() {
	s.either = dewpond.MustPool(dewpond.PoolOptions[state]{Name: "either", New: newState, Reset: (*state).Reset})
}

func newState() *state { return &state{seen: map[string]bool{}} }

func (s *service) count() int {
	v := s.states.Get()
	v.depth++
	n := v.depth
	s.states.Put(v) // want `v is put back with what its owner left in depth`
	return n
}

func (s *service) countNamed() int {
	v := s.named.Get()
	v.depth++
	n := v.depth
	s.named.Put(v) // want `v is put back with what its owner left in depth`
	return n
}

func (s *service) countCleared() int {
	v := s.cleared.Get()
	v.depth++
	n := v.depth
	s.cleared.Put(v)
	return n
}

func (s *service) countEither() int {
	v := s.either.Get()
	v.depth++
	n := v.depth
	s.either.Put(v)
	return n
}
