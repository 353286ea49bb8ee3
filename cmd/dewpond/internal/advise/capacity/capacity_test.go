package capacity

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// service has 50 MB alive, and serves 1000 requests a second that allocate 12.4 KiB each.
func service() *pacer.Window {
	allocated := 1e4 * 1000 * 12.4 * 1024
	return &pacer.Window{
		From: "runtime/metrics", Seconds: 1e4, Collections: int64(allocated / 50e6), Procs: 2,
		Allocated: estimate.Exact(allocated), Goal: estimate.Exact(100e6), Lives: []pacer.Live{{Bytes: 50e6, Allocated: allocated}},
		Outside: estimate.Exact(10e6), Collector: estimate.Exact(4), Used: estimate.Exact(40),
		Setting: pacer.Setting{GOGC: 100}, Known: true,
	}
}

func about(e estimate.Estimate, want float64) bool {
	return e.Known() && math.Abs(e.Mid-want) <= 0.02*want && e.Low <= e.Mid && e.Mid <= e.High
}

func TestMake(t *testing.T) {
	for name, of := range map[string]struct {
		change              func(*pacer.Window)
		ask                 Ask
		inFlight, peak, rss float64
	}{
		"at the rate of now": {nil, Ask{1000, 42 * time.Millisecond, 1000, 10e3}, 420e3, 100e6, 116e6},
		"at another":         {nil, Ask{11000, 100 * time.Millisecond, 1000, 10e3}, 11e6, 120e6, 137.6e6},
		"at a lower one":     {nil, Ask{0.1, 100 * time.Millisecond, 1000, 100e3}, 1e3, 80e6, 94.4e6},
		"nobody knows":       {nil, Ask{1000, 42 * time.Millisecond, 1000, -1}, 42 * 12.4 * 1024, 100e6, 116e6},
		"GOGC 400": {func(w *pacer.Window) {
			w.Setting.GOGC = 400
			w.Goal = estimate.Exact(250e6)
			w.Collections = int64(w.Allocated.Mid / 200e6)
		}, Ask{11000, 100 * time.Millisecond, 1000, 10e3}, 11e6, 300e6, 332e6},
		"a limit that binds": {func(w *pacer.Window) { w.Setting.Limit = 120e6 }, Ask{11000, 100 * time.Millisecond, 1000, 10e3}, 11e6, 110e6 * 0.97, 110e6*0.97*1.08 + 8e6},
		"stacks and globals": {func(w *pacer.Window) {
			w.Stacks = estimate.Exact(10e6)
			w.Goal = estimate.Exact(110e6)
			w.Collections = int64(w.Allocated.Mid / 60e6)
		}, Ask{1000, 42 * time.Millisecond, 1000, 10e3}, 420e3, 120e6, 137.6e6},
	} {
		w := service()
		if of.change != nil {
			of.change(w)
		}
		d := Make(w, of.ask)
		if !about(d.InFlight, of.inFlight) || !about(d.PeakHeap, of.peak) || !about(d.RSS, of.rss) {
			t.Errorf("%s: %v in flight, a peak of %v, %v resident; want %v, %v, %v", name, d.InFlight, d.PeakHeap, d.RSS, of.inFlight, of.peak, of.rss)
		}
	}
}

// The formula of the article says 2 MB where the heap has 100: rate 1500, 42 ms, and 12.4 KiB for a request.
func TestArticle(t *testing.T) {
	w := service()
	w.Allocated = w.Allocated.Scaled(1.5)
	w.Collections = int64(w.Allocated.Mid / 50e6)
	w.Lives[0].Allocated = w.Allocated.Mid
	d := Make(w, Ask{1500, 42 * time.Millisecond, 1500, 12.4 * 1024})
	if math.Abs(d.Article.High-2.0e6) > 0.05e6 || math.Abs(d.Article.Low-1.44e6) > 0.05e6 || !about(d.PeakHeap, 100e6) {
		t.Errorf("the article has %v, and the heap %v", d.Article, d.PeakHeap)
	}
	var out bytes.Buffer
	if err := Text(&out, d, terminal.Style{Width: 200}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"live 50.0 MB", "GOGC 100, GOMAXPROCS 2", "requests under way", "do not give a container that limit"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
}

func TestCannotTell(t *testing.T) {
	w := service()
	w.Collections = 2
	d := Make(w, Ask{1000, time.Second, 1000, 10e3})
	if d.PeakHeap.Known() || d.RSS.Known() || !d.InFlight.Known() {
		t.Errorf("of two collections: %+v", d)
	}
	w = service()
	w.Setting.Limit = 80e6
	d = Make(w, Ask{1000, time.Second, 1000, 10e3})
	var out bytes.Buffer
	if err := Text(&out, d, terminal.Style{Width: 200}); err != nil || !strings.Contains(out.String(), "What lives would take 75 %") {
		t.Errorf("%v\n%s", err, out.String())
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`"peak_heap_bytes":{"low"`, `"rss_bytes":{"low"`, `"in_flight_bytes":{"low"`, `"article_bytes":{"low"`} {
		if !strings.Contains(string(text), name) {
			t.Errorf("no %s in %s", name, text)
		}
	}
}
