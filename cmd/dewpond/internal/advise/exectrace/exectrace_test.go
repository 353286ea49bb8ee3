package exectrace

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/trace"
	"strings"
	"testing"
	"time"
)

var sink, live [][]byte

// traced returns a trace of this process while it is collected some times, and how often that was.
func traced(t testing.TB) (text []byte, collections uint64) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	live = nil
	for range 20_000 {
		live = append(live, make([]byte, 1<<10))
	}
	runtime.GC()
	count := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/cycles/automatic:gc-cycles"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skip("another trace runs: ", err)
	}
	first := count()
	for now := first; now < first+12; now = count() {
		for range 1000 {
			sink = append(sink[:0], make([]byte, 4<<10))
		}
		time.Sleep(time.Millisecond)
	}
	collections = count() - first
	trace.Stop()
	runtime.KeepAlive(live)
	return out.Bytes(), collections
}

// A trace of this Go has the collections that this Go counts.
func TestRead(t *testing.T) {
	text, collections := traced(t)
	if !Is(text) {
		t.Fatalf("it begins with %q", text[:16])
	}
	w, err := Read(bytes.NewReader(text))
	if errors.Is(err, ErrVersion) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The window is from the end of one collection to the end of another, and the trace may have begun or ended within one.
	if n := uint64(w.Collections); n+2 < collections || n > collections {
		t.Errorf("%d collections, and the runtime counts %d", n, collections)
	}
	if mean := w.Live().Mid; mean < 20e6 || mean > 60e6 {
		t.Errorf("%v bytes alive, of which 20 MB are kept", mean)
	}
	if goal := w.Goal.Mid; math.Abs(goal/w.Live().Mid-2) > 0.3 || w.Setting.GOGC < 75 || w.Setting.GOGC > 150 {
		t.Errorf("a goal of %v for %v alive, and GOGC %d, with GOGC=100", goal, w.Live().Mid, w.Setting.GOGC)
	}
	if between := w.Allocated.Mid / float64(w.Collections); between < 8e6 || between > 60e6 {
		t.Errorf("%v bytes between two collections", between)
	}
	if !(w.Collector.Mid > 0 && w.Collector.Mid < w.Used.Mid && w.Used.Mid < w.Seconds*float64(w.Procs)*1.1) || w.Procs != runtime.GOMAXPROCS(0) {
		t.Errorf("%v s of the collector, %v s used, %v s on %d processors", w.Collector, w.Used, w.Seconds, w.Procs)
	}
	for _, cut := range []int{20, len(text) / 3, len(text) - 100} {
		if _, err := Read(bytes.NewReader(text[:cut])); err == nil {
			t.Errorf("%d bytes of %d are read without an error", cut, len(text))
		} else if !errors.Is(err, ErrCut) && !errors.Is(err, ErrTrace) && !errors.Is(err, ErrVersion) {
			t.Errorf("%d bytes of %d: %v", cut, len(text), err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]error{
		"":                                 ErrTrace,
		"hello, this is no trace":          ErrTrace,
		"go 1.99 trace\x00\x00\x00" + "xx": ErrVersion,
		"go 1.26 trace\x00\x00\x00":        ErrNothing,
		"go 1.26 trace\x00\x00\x00" + strings.Repeat("x", 100): ErrTrace,
	} {
		if _, err := Read(strings.NewReader(text)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	text, _ := traced(f)
	f.Add(text[:min(len(text), 64<<10)])
	f.Add([]byte("go 1.26 trace\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := Read(bytes.NewReader(text))
		if (w == nil) == (err == nil) {
			t.Errorf("%v and %v", w, err)
		}
	})
}
