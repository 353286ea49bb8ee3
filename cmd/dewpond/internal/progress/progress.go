// Package progress tells the person who waits how far a benchmark has come, on
// standard error: a live bar on a terminal, a line every few seconds elsewhere.
package progress

import (
	"fmt"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

// A Display shows a run of rounds. Only one goroutine may use it.
type Display interface {
	// Begin says which round runs now; the one before has ended.
	Begin(workload.Spec)
	// Close takes the display away. Nothing may be written beside it before.
	Close()
}

// New shows a run of so many rounds on f.
func New(f *os.File, rounds int) Display {
	if cwriter.IsTerminal(int(f.Fd())) {
		return newBar(f, rounds)
	}
	return newLines(f, rounds)
}

// A state is where the run is.
type state struct {
	began   time.Time
	rounds  int
	started int // rounds begun
	now     workload.Spec
	since   time.Time // when that began
}

func (s *state) begin(spec workload.Spec) {
	s.started++
	s.now = spec
	s.since = time.Now()
}

// String is such as "14/66 rounds, 12 s gone, about 44 s left; now treiber, round 2".
// With a short bar it fits 80 columns.
func (s *state) String() string {
	done := max(s.started-1, 0)
	gone := time.Since(s.began)
	text := fmt.Sprintf("%d/%d rounds, %.0f s gone", done, s.rounds, gone.Seconds())
	if done > 0 {
		each := s.since.Sub(s.began).Seconds() / float64(done)
		left := each*float64(s.rounds-done) - time.Since(s.since).Seconds()
		text += fmt.Sprintf(", about %.0f s left", max(left, 0))
	}
	if s.started > 0 {
		text += fmt.Sprintf("; now %s, round %d", s.now.Contender, s.now.Round+1)
	}
	return text
}
