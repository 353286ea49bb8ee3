package turns

import (
	"strings"
	"testing"
)

type fake struct {
	rounds int
	units  map[string]float64
}

func (f *fake) Loop() bool { f.rounds--; return f.rounds >= 0 }

func (f *fake) ReportMetric(v float64, unit string) { f.units[unit] = v }

var made []byte

// Both run equally often, each is first in every other round, and what is reported is of one
// call.
func TestTake(t *testing.T) {
	f := &fake{rounds: 4, units: map[string]float64{}}
	var order strings.Builder
	Take(f, 2, func() { order.WriteByte('o') }, func() {
		order.WriteByte('c')
		made = make([]byte, 4096)
	})
	if got, want := order.String(), "oc"+"oocc"+"ccoo"+"oocc"+"ccoo"; got != want {
		t.Errorf("they ran as %s, want %s", got, want)
	}
	if f.units["control-allocs"] < 1 || f.units["control-B"] < 4096 || f.units["ratio"] <= 0 {
		t.Errorf("%v", f.units)
	}
	for _, unit := range []string{"dewpond-ns", "dewpond-allocs", "dewpond-B", "control-ns", "ns/op", "ratio-low", "ratio-high"} {
		if _, ok := f.units[unit]; !ok {
			t.Errorf("%s is not reported", unit)
		}
	}
}

// The ends are those of the table of the sign test, or one further out.
func TestInterval(t *testing.T) {
	for _, c := range []struct{ n, low, high int }{{1, 0, 0}, {2, 0, 1}, {6, 0, 5}, {30, 9, 21}, {100, 40, 60}, {1000, 469, 531}} {
		if low, high := interval(c.n); low != c.low || high != c.high {
			t.Errorf("of %d values they are %d and %d, want %d and %d", c.n, low, high, c.low, c.high)
		}
	}
}
