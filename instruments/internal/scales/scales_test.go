package scales

import (
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// TestQueueRows has a queue whose service is as long as it says, and one on a machine so busy that the
// queue has no steady state: the figures of the other targets are printed all the same.
func TestQueueRows(t *testing.T) {
	p50 := 5e6
	response := &load.Times{P50: &p50}
	q := queueing.Queue{Rate: 220, Service: 10 * time.Millisecond, Slots: 4}
	if rows := queueRows(q, response); len(rows) != 3 || rows[0].measured != &p50 || rows[0].truth == 0 {
		t.Errorf("%+v", rows)
	}
	q.Service = 20 * time.Millisecond
	if rows := queueRows(q, response); len(rows) != 1 || rows[0].measured != nil || truth(rows[0].truth) != "-" {
		t.Errorf("of no steady state: %+v", rows)
	}
}
