package bars

import (
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

func values(medians ...float64) []Value {
	var all []Value
	for i, v := range medians {
		all = append(all, Value{Name: string(rune('a' + i)), Figure: result.Figure{Median: v, Min: 0.9 * v, Max: 1.1 * v}})
	}
	return all
}

// A contender far beyond the others gets a logarithmic axis, and the chart says so. Zero has no
// length on any axis.
func TestOutlier(t *testing.T) {
	even := Compare(values(10, 20, 0), "x_ns", "x", "")
	if even.Note != "" || even.Axis.Log || even.Bars[0].Length <= 0.4*even.Bars[1].Length || even.Bars[2].Length != 0 {
		t.Errorf("values alike: %+v", even)
	}
	far := Compare(values(10, 20, 0, 3000), "x_ns", "x", "time")
	if far.Note != "time; logarithmic axis" || len(far.Axis.Ticks) == 0 || far.Bars[0].Length < 5 || far.Bars[0].Length >= far.Bars[1].Length || far.Bars[2].Length != 0 {
		t.Errorf("one is far beyond: %+v", far)
	}
	if linear := Linear(values(10, 3000), "x_ns", "x"); linear.Axis.Log || linear.Bars[0].Length > 1 {
		t.Errorf("a linear chart has no linear axis: %+v", linear)
	}
}

// A single round far beyond all medians flattens nothing.
func TestRangeIsCutOff(t *testing.T) {
	d := values(10, 20)
	d[0].Figure = result.Figure{Median: 10, Min: 9, Max: 5000}
	c := Compare(d, "x_ns", "x", "")
	if !strings.Contains(c.Note, "cut off") || c.Bars[1].Length < 50 || c.Bars[0].High != 100 {
		t.Errorf("%+v", c)
	}
	if c := Compare(nil, "x_ns", "x", ""); len(c.Bars) != 0 {
		t.Errorf("a figure that nobody has: %+v", c)
	}
}
