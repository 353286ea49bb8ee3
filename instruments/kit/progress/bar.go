package progress

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/rounds"
)

const (
	// repaint is a long interval, because painting takes a processor from what is measured.
	repaint = 500 * time.Millisecond
	// barWidth is how many columns the bar itself has.
	barWidth = 12
	// wipe goes to the beginning of a terminal's line and clears it.
	wipe = "\r\x1b[K"
)

// A bar repaints one line of a terminal.
type bar struct {
	out     io.Writer
	columns int
	ticker
	state
}

func newBar(out io.Writer, columns, turns int) *bar {
	b := &bar{out: out, columns: columns, state: state{began: time.Now(), turns: turns}}
	b.start(repaint, func() { fmt.Fprint(b.out, wipe+b.line()) })
	return b
}

// line returns the bar with its text, cut to the width of the terminal so that it stays one line.
func (b *bar) line() string {
	done := max(b.started-1, 0)
	filled := barWidth * done / max(b.turns, 1)
	line := "[" + strings.Repeat("=", filled) + strings.Repeat(" ", barWidth-filled) + "] " + b.state.String()
	return line[:min(len(line), max(b.columns-1, 0))]
}

func (b *bar) Begin(turn rounds.Turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state.begin(turn)
}

func (b *bar) Close() {
	b.stop()
	fmt.Fprint(b.out, wipe)
}
