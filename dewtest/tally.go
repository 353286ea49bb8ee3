package dewtest

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/dewpond/dewpond/misuse"
)

// A tally knows which misuses have been told of, so that one mistake in a loop is one report.
// Its zero value knows of none. It is not safe for concurrent use.
type tally struct {
	places map[string]*place
	order  []*place
}

// A place is where the same misuse has happened again and again.
type place struct {
	first misuse.Violation
	more  int // misuses after the first report
}

// first adds a violation, and reports whether it is the first of its place.
func (t *tally) first(v misuse.Violation) bool {
	key := fmt.Sprint(v.Kind, v.Got, v.Owners, v.Offence)
	if p := t.places[key]; p != nil {
		p.more += v.Count
		return false
	}
	if t.places == nil {
		t.places = make(map[string]*place)
	}
	p := &place{first: v}
	t.places[key] = p
	t.order = append(t.order, p)
	return true
}

// rest returns a line for each place that has had more misuses than the first report says.
func (t *tally) rest() (lines []string) {
	for _, p := range t.order {
		if p.more > 0 {
			lines = append(lines, fmt.Sprintf("%v, %d times more: %s", p.first.Kind, p.more, where(p.first)))
		}
	}
	return lines
}

// where returns the innermost frame outside the library of the call that was wrong or, where
// that is not known, of the one before it.
func where(v misuse.Violation) string {
	stack := v.Offence
	switch {
	case v.Kind == misuse.WriteAfterPut:
		stack = v.Put
	case v.Kind == misuse.Leak:
		stack = v.Got
	}
	frames := runtime.CallersFrames(stack)
	for more := len(stack) > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, library+".") && !strings.HasPrefix(f.Function, library+"/internal/") {
			return fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line)
		}
	}
	return "in an unknown place"
}

const library = "github.com/dewpond/dewpond"
