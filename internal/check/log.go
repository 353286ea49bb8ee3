package check

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// A Logger says what there is to say, in the place of standard error.
type Logger struct {
	Report func(Report)
	Note   func(text, key, value string) // a mistake in a setting
	Inform func(text, key, value string) // what a setting does
}

// logger is the one of package checks, or nil if the program does not import it.
var logger atomic.Pointer[Logger]

// SetLogger makes Log and Note use a Logger.
func SetLogger(l *Logger) { logger.Store(l) }

// stderr is os.Stderr but in tests.
var stderr io.Writer = os.Stderr

// advertised has said once that there is a Logger and a profile to be had.
var advertised sync.Once

// Log passes a Report to the Logger, or writes it to standard error, at once, for other
// goroutines write there too.
func (r Report) Log() {
	if l := logger.Load(); l != nil {
		l.Report(r)
		return
	}
	text := r.String() + "\n"
	advertised.Do(func() {
		text += "(To have this in log/slog, and the pprof profile dewpond_inuse, import _ \"" + library + "/checks\".)\n"
	})
	io.WriteString(stderr, text)
}

// Note passes a mistake in a setting to the Logger, or writes it to standard error.
func Note(text, key, value string) {
	if l := logger.Load(); l != nil {
		l.Note(text, key, value)
		return
	}
	write(text, key, value)
}

// Inform passes what a setting does to the Logger, or writes it to standard error.
func Inform(text, key, value string) {
	if l := logger.Load(); l != nil {
		l.Inform(text, key, value)
		return
	}
	write(text, key, value)
}

func write(text, key, value string) {
	fmt.Fprintf(stderr, "dewpond: %s: %s is %q\n", text, key, value)
}

// Rest returns a report without its first line, each frame in a line.
func (r Report) Rest() []string {
	lines := r.details()
	for _, s := range r.stacks() {
		lines = append(lines, s.title+" at")
		for _, f := range Lines(s.stack) {
			lines = append(lines, "    "+f)
		}
	}
	if r.Advice != "" {
		lines = append(lines, r.Advice)
	}
	return lines
}

// Lines returns a line for each frame of a stack: the function and the place.
func Lines(s Stack) (lines []string) {
	for _, f := range s.Frames() {
		lines = append(lines, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
	}
	return lines
}
