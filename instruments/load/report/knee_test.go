package report_test

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// TestKnee wants the rates that were tried in every report.
func TestKnee(t *testing.T) {
	var r load.Result
	synctest.Test(t, func(t *testing.T) {
		var err error
		r, err = load.Run(t.Context(), load.Scenario{
			Target: "http://127.0.0.1:1", Arrivals: load.Arrivals{Rate: 300, Duration: 4 * time.Second},
			Session: []load.Step{{Name: "call", Do: load.ActionFunc(func(context.Context, *load.Call) error { time.Sleep(time.Millisecond); return nil })}},
		}, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
	})
	ms := func(v float64) *float64 { v *= 1e6; return &v }
	r.Knee = &load.Knee{
		SLO: "session p99 < 100ms", Holds: 300, Fails: 400, Sentence: "300/s holds, 400/s does not: p99 153 ms.",
		Rows: []load.KneeRate{
			{Rate: 200, Achieved: 200, P50: ms(1), P99: ms(2), InFlight: 0.4, Holds: true, Little: true},
			{Rate: 400, Achieved: 390, P50: ms(100), P99: ms(153), InFlight: 4000, Why: "p99 153 ms"},
			{Rate: 300, Achieved: 300, P50: ms(2), P99: ms(40), InFlight: 1, Holds: true, Little: true},
			{Rate: 300, Achieved: 300, P50: ms(4), P99: ms(60), InFlight: 1, Holds: true, Little: true},
		},
	}
	var text, page, file bytes.Buffer
	if err := report.WriteText(&text, &r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n300/s holds, 400/s does not: p99 153 ms.\nSLO: session p99 < 100ms\n", "BROKEN  does not: p99 153 ms\n", "A row that breaks Little's law", "\nOf 300/s:\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, &text)
		}
	}
	if first, second := strings.Index(text.String(), "\n200/s "), strings.Index(text.String(), "\n400/s "); first < 0 || second < first {
		t.Errorf("the rows are not by rate: %s", &text)
	}
	if err := report.WriteHTML(&page, &r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<b>Response over the rate</b>", "<b>Reached over the rate that was asked for</b>", ">300/s holds</span>", "<h2>At 300/s</h2>"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if err := r.WriteJSON(&file); err != nil {
		t.Fatal(err)
	}
	again, err := load.ReadJSON(&file)
	if err != nil || !reflect.DeepEqual(again.Knee, r.Knee) {
		t.Errorf("%v: read again it is %+v", err, again.Knee)
	}
}
