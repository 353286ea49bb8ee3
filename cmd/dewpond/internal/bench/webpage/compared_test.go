package webpage

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A figure that is zero for all has no picture. One that some round has at more has one.
func TestNothingToSee(t *testing.T) {
	var d bench.Document
	for _, name := range []string{"a", "b"} {
		d.Contenders = append(d.Contenders, bench.Contender{Name: name, Figures: map[string]result.Figure{"x_ns": {}}})
	}
	if charts := compared(d); len(charts) != 0 {
		t.Errorf("%+v", charts)
	}
	d.Contenders[1].Figures["x_ns"] = result.Figure{Max: 3}
	if charts := compared(d); len(charts) != 1 || charts[0].Figure != "x_ns" {
		t.Errorf("%+v", charts)
	}
}
