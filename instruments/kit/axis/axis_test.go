package axis

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

func labels(a Axis) []string {
	var out []string
	for _, t := range a.Ticks {
		if t.Label != "" {
			out = append(out, t.Label)
		}
	}
	return out
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// Ticks are at round values, and every tick is on the axis.
func TestTicks(t *testing.T) {
	powers := Log(3, 4000, number)
	sparse := Log(3, 40, number)
	sparse.KeepPowers()
	for name, test := range map[string]struct {
		axis Axis
		want []string
	}{
		"linear":           {Linear(0, 17, 4, number), []string{"0", "5", "10", "15"}},
		"linear, below 1":  {Linear(0, 0.29, 5, number), []string{"0", "0.1", "0.2"}},
		"linear, one spot": {Linear(0, 0, 2, number), []string{"0", "0.5", "1"}},
		"long":             {powers, []string{"10", "100", "1000"}},
		"short":            {Log(3, 40, number), []string{"5", "10", "20"}},
		"powers":           {sparse, []string{"10"}},
		"tail":             {Tail(1.2, 20_000), []string{"P50", "P90", "P99", "P999", "P9999"}},
	} {
		if got := labels(test.axis); !slices.Equal(got, test.want) {
			t.Errorf("%s: the labels are %q, want %q", name, got, test.want)
		}
		for _, tick := range test.axis.Ticks {
			if at := test.axis.At(tick.Value); at < -0.001 || at > 1.001 {
				t.Errorf("%s: the tick at %v has the place %v", name, tick.Value, at)
			}
		}
	}
	if a := Tail(1.2, 1e7); !slices.ContainsFunc(a.Ticks, func(t Tick) bool { return t.Thin }) || a.Ticks[len(a.Ticks)-1].Thin {
		t.Errorf("no label but the last is for wide charts only: %+v", a.Ticks)
	}
}

// Of many powers a narrow chart leaves out every other one.
func TestKeepPowersThins(t *testing.T) {
	for high, want := range map[float64]int{1e3: 0, 1e6: 3} {
		a := Log(1, high, Of("_ns"))
		a.KeepPowers()
		thin, labels := 0, 0
		for _, tick := range a.Ticks {
			if tick.Thin && tick.Label == "" {
				t.Errorf("up to %v: a tick without a label is thin", high)
			}
			if tick.Thin {
				thin++
			}
			if tick.Label != "" {
				labels++
			}
		}
		if thin != want {
			t.Errorf("up to %v: %d of %d labels are thin, want %d", high, thin, labels, want)
		}
	}
}

func TestAt(t *testing.T) {
	linear, log := Axis{Low: 10, High: 20}, Axis{Low: 1, High: 100, Log: true}
	for _, test := range []struct {
		axis    Axis
		v, want float64
	}{{linear, 10, 0}, {linear, 15, 0.5}, {linear, 30, 2}, {log, 1, 0}, {log, 10, 0.5}, {log, 100, 1}, {log, 0, math.Inf(-1)}} {
		if got := test.axis.At(test.v); got != test.want && math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v lies at %v, want %v", test.v, got, test.want)
		}
	}
}
