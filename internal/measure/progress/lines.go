package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/dewpond/dewpond/internal/measure/rounds"
)

// every is the interval of the lines when there is no terminal.
const every = 5 * time.Second

type lines struct {
	out  io.Writer
	done chan struct{}
	wg   sync.WaitGroup

	mu    sync.Mutex
	state state
}

func newLines(out io.Writer, turns int) *lines {
	l := &lines{out: out, done: make(chan struct{}), state: state{began: time.Now(), turns: turns}}
	l.wg.Go(l.run)
	return l
}

func (l *lines) run() {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-l.done:
			return
		case <-tick.C:
			l.mu.Lock()
			text := l.state.String()
			l.mu.Unlock()
			fmt.Fprintln(l.out, "dewpond bench:", text)
		}
	}
}

func (l *lines) Begin(turn rounds.Turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.begin(turn)
}

func (l *lines) Close() {
	close(l.done)
	l.wg.Wait()
}
