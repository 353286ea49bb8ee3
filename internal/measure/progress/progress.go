// Package progress tells the person who waits how far a benchmark has come: by a
// live bar on a terminal, by a line every few seconds elsewhere.
package progress

import (
	"fmt"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/dewpond/dewpond/internal/measure/rounds"
)

// A Display shows a run of rounds. Only one goroutine may use it.
type Display interface {
	// Begin says whose turn it is now; the one before has ended.
	Begin(rounds.Turn)
	// Close takes the display away. Nothing may be written beside it before.
	Close()
}

// New shows a run of so many turns on f.
func New(f *os.File, turns int) Display {
	if cwriter.IsTerminal(int(f.Fd())) {
		return newBar(f, turns)
	}
	return newLines(f, turns)
}

// A state is where the run is.
type state struct {
	began   time.Time
	turns   int
	started int // turns begun
	now     rounds.Turn
	since   time.Time // when that began
}

func (s *state) begin(turn rounds.Turn) {
	s.started++
	s.now = turn
	s.since = time.Now()
}

// String is such as "14/66 rounds, 12 s gone, about 44 s left; now treiber, round 2".
// With a short bar it fits 80 columns.
func (s *state) String() string {
	done := max(s.started-1, 0)
	gone := time.Since(s.began)
	text := fmt.Sprintf("%d/%d rounds, %.0f s gone", done, s.turns, gone.Seconds())
	if done > 0 {
		each := s.since.Sub(s.began).Seconds() / float64(done)
		left := each*float64(s.turns-done) - time.Since(s.since).Seconds()
		text += fmt.Sprintf(", about %.0f s left", max(left, 0))
	}
	if s.started > 0 {
		text += fmt.Sprintf("; now %v", s.now)
	}
	return text
}
