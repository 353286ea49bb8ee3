// Package checks has what only few programs want of checked mode: see dewpond.CheckMode. Import it for
// its effect:
//
//	import _ "github.com/dewpond/dewpond/checks"
//
// Then misuse is logged with [log/slog], and no longer written to standard error, and the pprof
// profile dewpond_inuse has every watched block that is out, by the stack of its Get. A program
// that does not import it links neither log/slog nor runtime/pprof for the sake of pools.
package checks

import (
	"log/slog"
	"runtime/pprof"

	"github.com/dewpond/dewpond/internal/check"
)

func init() {
	check.SetLogger(&check.Logger{Report: report, Note: note, Inform: inform})
	check.SetProfile(pprof.NewProfile("dewpond_inuse"))
}

// note logs a mistake in a setting, and inform what one does.
func note(text, key, value string) { slog.Error("dewpond: "+text, key, value) }

func inform(text, key, value string) { slog.Info("dewpond: "+text, key, value) }
