package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// An Amount shows how much of something is done, such as the bytes of a file that is read: a bar on
// a terminal, elsewhere a line every few seconds. One goroutine at a time may use it.
type Amount struct {
	out     io.Writer
	columns int // of the terminal; 0 if it is none
	program string
	doing   string
	text    func(int64) string
	began   time.Time
	total   int64
	done    int64
	ticker
}

// NewAmount shows on f that a program does something, such as "reading heap.pb.gz". text formats a
// part, and the total, with its unit. A total of 0 is unknown. The caller calls Close.
func NewAmount(f *os.File, program, doing string, total int64, text func(int64) string) *Amount {
	columns := 0
	if terminal.Is(f) {
		columns = terminal.StyleOf(f).Width
	}
	return newAmount(f, columns, program, doing, total, text)
}

func newAmount(out io.Writer, columns int, program, doing string, total int64, text func(int64) string) *Amount {
	a := &Amount{out: out, columns: columns, program: program, doing: doing, text: text, began: time.Now(), total: total}
	interval := every
	if columns > 0 {
		interval = repaint
	}
	a.start(interval, func() { fmt.Fprint(a.out, a.line()) })
	return a
}

// Add notes that so much more is done.
func (a *Amount) Add(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done += n
}

// Close removes the bar. Until then nothing else may be written to its file.
func (a *Amount) Close() {
	a.stop()
	if a.columns > 0 {
		fmt.Fprint(a.out, wipe)
	}
}

// line returns what is written now: "reading heap.pb.gz [===         ] 30 MB of 100 MB, 3 s gone, about
// 7 s left".
func (a *Amount) line() string {
	gone := time.Since(a.began).Seconds()
	text := a.text(a.done)
	if a.total > 0 {
		text += " of " + a.text(a.total)
	}
	text += fmt.Sprintf(", %.0f s gone", gone)
	if a.total > 0 && a.done > 0 {
		text += fmt.Sprintf(", about %.0f s left", max(0, gone*float64(a.total-a.done)/float64(a.done)))
	}
	if a.columns == 0 {
		return a.program + ": " + a.doing + ": " + text + "\n"
	}
	bar := " "
	if a.total > 0 {
		filled := min(barWidth, int(barWidth*a.done/a.total))
		bar = " [" + strings.Repeat("=", filled) + strings.Repeat(" ", barWidth-filled) + "] "
	}
	line := []rune(a.doing + bar + text)
	return wipe + string(line[:min(len(line), max(a.columns-1, 0))])
}
