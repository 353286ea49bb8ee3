package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/rounds"
)

// every is the interval of the lines where there is no terminal.
const every = 5 * time.Second

// lines writes a line now and then.
type lines struct {
	out     io.Writer
	program string
	ticker
	state
}

func newLines(out io.Writer, program string, turns int) *lines {
	l := &lines{out: out, program: program, state: state{began: time.Now(), turns: turns}}
	l.start(every, func() { fmt.Fprintln(l.out, l.program+":", l.state.String()) })
	return l
}

func (l *lines) Begin(turn rounds.Turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.begin(turn)
}

func (l *lines) Close() { l.stop() }
