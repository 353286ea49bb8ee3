package command

import (
	"fmt"
	"os"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
	"github.com/dewpond/dewpond/instruments/load"
)

// A Display shows progress: a line that changes on a terminal, and a line every 5 s elsewhere.
type Display struct {
	out      *os.File
	terminal bool
	shown    int // calls
}

// NewDisplay shows progress on f. Until Close nothing else may be written to it.
func NewDisplay(f *os.File) *Display {
	return &Display{out: f, terminal: terminal.Is(f)}
}

const eraseLine = "\r\x1b[K"

// Show shows how far a run is: give it as [load.Options.Progress].
func (d *Display) Show(p load.Progress) {
	d.shown++
	if d.terminal {
		fmt.Fprint(d.out, eraseLine, progress(p))
	} else if d.shown%5 == 0 {
		fmt.Fprintln(d.out, "dewload:", progress(p))
	}
}

// Begin shows what begins now.
func (d *Display) Begin(what string) {
	if d.terminal {
		fmt.Fprint(d.out, eraseLine)
	}
	fmt.Fprintln(d.out, "dewload:", what)
}

// Close removes the line.
func (d *Display) Close() {
	if d.terminal && d.shown > 0 {
		fmt.Fprint(d.out, eraseLine)
	}
}

// progress returns a line such as "12 s: 1000/s, 31 in flight, P99 8.21 ms, 3 failed, 0 dropped".
func progress(p load.Progress) string {
	at := p.Elapsed.Round(time.Second).Seconds()
	if p.Warmup {
		return fmt.Sprintf("%.0f s: warming up, %d in flight", at, p.InFlight)
	}
	tail := "none finished"
	switch {
	case p.P99 > 0:
		tail = "P99 " + figure.Duration(float64(p.P99))
	case p.Worst > 0:
		tail = "slowest " + figure.Duration(float64(p.Worst))
	}
	return fmt.Sprintf("%.0f s: %.0f/s, %d in flight, %s, %d failed, %d dropped", at, p.Rate, p.InFlight, tail, p.Failed, p.Dropped)
}
