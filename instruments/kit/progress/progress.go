// Package progress shows how far a benchmark is: a bar on a terminal, elsewhere a line every few
// seconds.
package progress

import (
	"fmt"
	"os"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/rounds"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// A Display shows a run of rounds. Only one goroutine may use it.
type Display interface {
	// Begin shows the turn that starts now; the previous turn has ended.
	Begin(rounds.Turn)
	// Close removes the display. Until then nothing else may be written to its file.
	Close()
}

// New shows a run of that many turns on f. Where f is no terminal, each line begins with the name
// of the program.
func New(f *os.File, program string, turns int) Display {
	if terminal.Is(f) {
		return newBar(f, terminal.StyleOf(f).Width, turns)
	}
	return newLines(f, program, turns)
}

// A state is the progress of the run.
type state struct {
	began   time.Time
	turns   int
	started int // turns that have begun
	now     rounds.Turn
	since   time.Time // when that turn began
}

func (s *state) begin(turn rounds.Turn) {
	s.started++
	s.now = turn
	s.since = time.Now()
}

// String returns a line such as "14/66 rounds, 12 s gone, about 44 s left; now treiber, round 2".
// With a short bar it fits into 80 columns.
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
