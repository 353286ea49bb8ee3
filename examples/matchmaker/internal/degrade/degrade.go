// Package degrade turns features off where memory is scarce. The runtime raises no alarm at its
// memory limit; dewpond reads how near it is.
package degrade

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/pressure"
)

// Features that go off, in the order in which they do.
const (
	Score      = "score"      // from medium: no call of the scorer, candidates in the database's order
	Candidates = "candidates" // at high: half of them
	Uploads    = "uploads"    // at high: none
)

var off = map[pressure.Level][]string{
	pressure.Low:    {},
	pressure.Medium: {Score},
	pressure.High:   {Score, Candidates, Uploads},
}

// A State is which features are off. The zero State has all on. Its methods may be called by
// several goroutines at once.
type State struct {
	level   atomic.Int32
	changes atomic.Uint64
	mu      sync.Mutex // held for one change
}

// Follow makes the state follow the pressure until stop is called.
func (s *State) Follow() (stop func()) { return pressure.Watch(s.Set) }

// Set says what the pressure is. A change is logged once.
func (s *State) Set(l pressure.Level) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pressure.Level(s.level.Load()) == l {
		return
	}
	s.level.Store(int32(l))
	s.changes.Add(1)
	slog.Info("memory pressure has changed", "level", l.String(), "off", off[l])
}

// Off lists the features that are off. The caller must not change it.
func (s *State) Off() []string { return off[pressure.Level(s.level.Load())] }

// Without reports whether a feature is off.
func (s *State) Without(feature string) bool {
	for _, f := range s.Off() {
		if f == feature {
			return true
		}
	}
	return false
}

// Changes counts the changes of the level.
func (s *State) Changes() uint64 { return s.changes.Load() }
