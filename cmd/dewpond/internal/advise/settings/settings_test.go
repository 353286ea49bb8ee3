package settings

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// steady is a process with 50 MB alive and GOGC 100, whose collector takes a tenth of the CPU used.
func steady() *pacer.Window {
	return &pacer.Window{
		From: "runtime/metrics", Seconds: 100, Collections: 100, Procs: 2,
		Allocated: estimate.Exact(5e9), Goal: estimate.Exact(100e6), Lives: []pacer.Live{{Bytes: 50e6, Allocated: 5e9}},
		Outside: estimate.Exact(10e6), Collector: estimate.Exact(4), Used: estimate.Exact(40),
		Setting: pacer.Setting{GOGC: 100}, Known: true,
	}
}

func text(t *testing.T, d Document) string {
	t.Helper()
	var out bytes.Buffer
	if err := Text(&out, d, terminal.Style{Width: 200}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestVerdicts(t *testing.T) {
	for name, of := range map[string]struct {
		change func(*pacer.Window)
		want   Verdict
		says   []string
	}{
		"more": {func(*pacer.Window) {}, More, []string{
			"collector: 1 [0.99, 1.01] collections/s, 10 % of the CPU used, live 50.0 MB", "GOGC 100, no memory limit (runtime/metrics, 100 collections in 100 s)",
			"> GOGC=100", "GOGC=off, limit 220 MB", "GOGC=200 would have 0.5 [0.44, 0.56] collections a second instead of 1",
		}},
		"near the limit": {func(w *pacer.Window) { w.Setting.Limit = 75e6 }, Limit, []string{
			"What lives takes 80 %", "up to half of the CPU before memory runs out", "a larger limit; fewer idle bytes", "pressure.Watch", "examples/gcfloor", "GOGC=off, limit 75.0 MB",
		}},
		"far from it": {func(w *pacer.Window) { w.Setting.Limit = 300e6 }, More, []string{"memory limit 300 MB", "GOGC=off, limit 300 MB"}},
		"not felt":    {func(w *pacer.Window) { w.Used = estimate.Exact(400) }, Nothing, []string{"would buy nothing that you could feel: the collector takes 1 %"}},
		"too few":     {func(w *pacer.Window) { w.Collections = 2 }, CannotTell, []string{"cannot tell", "collect for longer"}},
		"unknown": {func(w *pacer.Window) { w.Known = false; w.Used = estimate.CannotTell("why"); w.Forced = 3 }, CannotTell, []string{
			"4 % of one CPU", "as if GOGC 100", "and 3 that the program asked for", "could be felt cannot be told: why.", "GOGC is not known: give --gogc",
		}},
		"unknown CPU":              {func(w *pacer.Window) { w.Used = estimate.CannotTell("why") }, CannotTell, []string{"could be felt cannot be told: why."}},
		"unknown GOGC":             {func(w *pacer.Window) { w.Known = false }, CannotTell, []string{"as if GOGC 100", "GOGC is not known: give --gogc"}},
		"unknown GOGC, not felt":   {func(w *pacer.Window) { w.Known = false; w.Used = estimate.Exact(400) }, Nothing, []string{"nothing that you could feel"}},
		"unknown GOGC, near limit": {func(w *pacer.Window) { w.Known = false; w.Setting.Limit = 75e6 }, Limit, []string{"What lives takes 80 %"}},
		"limit alone":              {func(w *pacer.Window) { w.Setting = pacer.Setting{GOGC: pacer.Off, Limit: 115e6} }, Nothing, []string{"GOGC off, memory limit 115 MB", "> GOGC=off, limit 115 MB", "None of these settings would save 5 % of the collector's CPU or more."}},
	} {
		w := steady()
		of.change(w)
		d := Make(w, 0, Ask{MinGain: 0.05})
		said := text(t, d)
		if d.Verdict != of.want {
			t.Errorf("%s: the verdict is %s, want %s", name, d.Verdict, of.want)
		}
		for _, want := range of.says {
			if !strings.Contains(strings.Join(strings.Fields(said), " "), want) {
				t.Errorf("%s: it does not say %q:\n%s", name, want, said)
			}
		}
		for _, never := range []string{"pause", "relie", "pressure on"} {
			if strings.Contains(said, never) {
				t.Errorf("%s: it says %q", name, never)
			}
		}
		for _, row := range d.Rows { // no advice is a lower GOGC
			if row.GOGC >= 0 && row.GOGC < w.Setting.GOGC && strings.Contains(strings.Join(d.Advice, " "), Name(row)+" ") {
				t.Errorf("%s: it advises a lower GOGC: %s", name, d.Advice)
			}
		}
	}
}

func TestAsked(t *testing.T) {
	said100 := steady()
	said100.Known = false // the limit is not known
	if d := Make(said100, 0, Ask{GOGC: true}); d.Verdict != More {
		t.Errorf("with a GOGC that the user has said: %s, %s", d.Verdict, d.Advice)
	}
	d := Make(steady(), 3, Ask{Requests: 200, Limit: 500e6})
	if d.PerRequest.Mid != 0.005 || d.Rows[4].Limit != 500e6 {
		t.Errorf("%+v", d)
	}
	said := text(t, d)
	for _, want := range []string{"one for 200 requests", "3 lines of gctrace could not be read", "GOGC=off, limit 500 MB"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
}

// What saves less than was asked for is not advised: twice the GOGC saves half, and four times three quarters.
func TestMinGain(t *testing.T) {
	off := func(w *pacer.Window) { w.Setting = pacer.Setting{GOGC: pacer.Off, Limit: 115e6} }
	for _, of := range []struct {
		change func(*pacer.Window)
		ask    Ask
		want   Verdict
		says   string
	}{
		{nil, Ask{MinGain: 0.4}, More, "GOGC=200 would have"},
		{nil, Ask{MinGain: 0.6}, More, "GOGC=400 would have"},
		{nil, Ask{MinGain: 0.8}, Nothing, "None of these settings would save 80 % of the collector's CPU or more."},
		{off, Ask{MinGain: 0.4, Limit: 300e6}, More, "GOGC=off, limit 300 MB would have"},
		{off, Ask{MinGain: 0.4, Limit: 100e6}, Nothing, "None of these"},
		{func(w *pacer.Window) { w.Setting.Limit = 75e6 }, Ask{MinGain: 1}, Limit, "larger limit"},
	} {
		w := steady()
		if of.change != nil {
			of.change(w)
		}
		if d := Make(w, 0, of.ask); d.Verdict != of.want || !strings.Contains(strings.Join(d.Advice, " "), of.says) {
			t.Errorf("%+v: %s, %q; want %s, %q", of.ask, d.Verdict, d.Advice, of.want, of.says)
		}
	}
}

// The JSON is the whole answer.
func TestJSON(t *testing.T) {
	d := Make(steady(), 0, Ask{})
	out, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back Document
	if err := json.Unmarshal(out, &back); err != nil || !reflect.DeepEqual(d, back) {
		t.Errorf("%v: %+v is read as %+v", err, d, back)
	}
	var names struct {
		Rows []map[string]json.RawMessage
	}
	if err := json.Unmarshal(out, &names); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gogc", "limit_bytes", "collections_per_second", "collector_cpu", "peak_bytes"} {
		if names.Rows[0][name] == nil {
			t.Errorf("no %s in %s", name, out)
		}
	}
	if math.IsNaN(d.Rows[4].Peak.Mid) {
		t.Error("the peak is no number")
	}
}
