package scales

import (
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
)

func TestExplained(t *testing.T) {
	for _, c := range []struct {
		all              []load.Attribution
		says             string
		guilty, innocent bool // whether it is right of such a collector
	}{
		{nil, "cannot tell", false, true},
		{[]load.Attribution{{CannotTell: "fewer than ten requests"}}, "cannot tell: fewer than ten requests", false, true},
		{[]load.Attribution{{Requests: 15, Explained: 0.85, Low: 0.7, High: 1}, {Explained: 0}}, "85 % [70 %, 100 %] of 15", true, false},
		{[]load.Attribution{{Requests: 15, Explained: 0.04, High: 0.2}}, "4 % [0 %, 20 %] of 15", false, true},
		{[]load.Attribution{{Requests: 15, Explained: 0.5, High: 0.9}}, "50 % [0 %, 90 %] of 15", false, false},
	} {
		says, holds := explained(c.all)
		if says != c.says || holds(true) != c.guilty || holds(false) != c.innocent {
			t.Errorf("%+v: %q, holds of a guilty one %v, of another %v", c.all, says, holds(true), holds(false))
		}
	}
}

// TestTraceCost has six seconds of which the trace has the third and the fourth whole.
func TestTraceCost(t *testing.T) {
	w := watch{ticks: []tick{{cpu: time.Second}}}
	cpu := time.Second
	for i := range 7 {
		took := time.Second / 10 // of 100 requests: 1 ms each
		if i == 2 || i == 3 {
			took = time.Second / 5
		}
		if i == 1 || i == 4 || i == 6 { // half traced, or after the run
			took = 5 * time.Second
		}
		cpu += took
		w.ticks = append(w.ticks, tick{load.Result{Schema: load.Schema, Finished: 100}, cpu})
	}
	c := w.cost(6 * time.Second)
	if c.traced.requests != 200 || c.untraced.requests != 200 || c.traced.cpu != 2*time.Second/5 || c.untraced.cpu != time.Second/5 {
		t.Errorf("%+v", c)
	}
	if s := c.String(); !strings.Contains(s, "takes 2.00 ms of the target's processors and 1.00 ms without: 2.00x as much") {
		t.Error(s)
	}
	w.ticks = w.ticks[:2]
	if s := w.cost(6 * time.Second).String(); !strings.Contains(s, "was not measured") {
		t.Error(s)
	}
}
