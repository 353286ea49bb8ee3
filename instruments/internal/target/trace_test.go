package target_test

import (
	"bytes"
	"runtime"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/target"
)

var kept [][]byte

// TestReadTrace reads a trace of this program, in which three collections were forced: a moment
// that was within one is within a phase.
func TestReadTrace(t *testing.T) {
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skip("somebody else traces:", err)
	}
	began := time.Now()
	for range 3 {
		for range 1000 {
			kept = append(kept, make([]byte, 4096))
		}
		runtime.GC()
	}
	ended := time.Now()
	trace.Stop()
	kept = nil
	whole := bytes.Clone(out.Bytes())
	p, err := target.ReadTrace(&out)
	if err != nil {
		t.Fatal(err)
	}
	if p.Cut != "" || len(p.Mark) < 3 || len(p.Stop) < 6 {
		t.Errorf("cut %q, %d mark phases, %d stops: want 3 and 6 at least", p.Cut, len(p.Mark), len(p.Stop))
	}
	for _, v := range p.Collector() {
		if v.From < 0 || v.To < v.From || v.To > p.Window.To {
			t.Errorf("a phase from %v to %v in a window of %v", v.From, v.To, p.Window.To)
		}
	}
	// The wall clock of the trace is this program's: what was done within it is in its window.
	if v, in := p.Interval(began, ended); !in || v.To > p.Window.To {
		t.Errorf("what was traced is from %v to %v, the window ends at %v", v.From, v.To, p.Window.To)
	}
	for _, m := range p.Mark {
		if from := p.Begin.Add(m.From); from.After(ended) || p.Begin.Add(m.To).Before(began.Add(-time.Second)) {
			t.Errorf("a mark phase at %v, the program was at it from %v to %v", from, began, ended)
		}
	}
	if _, err := target.ReadTrace(strings.NewReader("no trace")); err == nil {
		t.Error("a text was read as a trace")
	}
	if p, err := target.ReadTrace(bytes.NewReader(whole[:len(whole)/2])); err == nil && p.Cut == "" {
		t.Error("half of a trace was read as a whole one")
	}
}
