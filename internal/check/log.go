package check

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/misuse"
)

// A Logger says what there is to say, in the place of standard error.
type Logger struct {
	Report func(misuse.Violation)
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

// Log passes a Violation to the Logger, or writes it to standard error, at once, for other
// goroutines write there too.
func Log(v misuse.Violation) {
	if l := logger.Load(); l != nil {
		l.Report(v)
		return
	}
	text := v.String() + "\n"
	advertised.Do(func() {
		text += "(To have this in log/slog, and the pprof profile dewpond_inuse, import _ \"github.com/dewpond/dewpond/checks\".)\n"
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
