package estimate

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
)

// The intervals are those of published tables of exact Poisson limits.
func TestPoisson(t *testing.T) {
	for n, want := range map[int64][2]float64{0: {0, 3.689}, 1: {0.0253, 5.572}, 10: {4.795, 18.39}, 100: {81.36, 121.63}} {
		got := Poisson(n)
		if got.Mid != float64(n) || math.Abs(got.Low-want[0]) > 0.01 || math.Abs(got.High-want[1]) > 0.01 {
			t.Errorf("Poisson(%d) = %v, want %v", n, got, want)
		}
	}
	for n, want := range map[int64]float64{1174: 0.06, 82: 0.23, 2e6: 0.0014} { // half the interval, relative
		got := Poisson(n)
		if half := (got.High - got.Low) / 2 / got.Mid; math.Abs(half-want) > want/20 {
			t.Errorf("%d samples have an error of %.4f, want %.4f", n, half, want)
		}
	}
}

// A total has the relative error of what was seen of it.
func TestWeighted(t *testing.T) {
	seen, total := Poisson(100), Weighted(5e6, 100)
	if total.Mid != 5e6 || math.Abs(total.Low-seen.Low*5e4) > 1 || math.Abs(total.High-seen.High*5e4) > 1 {
		t.Errorf("of 100 seen %v, and the total %v", seen, total)
	}
	below, above := Weighted(1, 99), Weighted(1, 101) // on both sides of where another formula holds
	if math.Abs(below.Low-above.Low) > 0.003 || math.Abs(below.High-above.High) > 0.004 {
		t.Errorf("of 99 seen %v, of 101 %v", below, above)
	}
	if e := Poisson(-1); e.Known() {
		t.Errorf("a count of -1 is %v", e)
	}
}

func TestOver(t *testing.T) {
	a, b := Estimate{Low: 90, Mid: 100, High: 110}, Estimate{Low: 45, Mid: 50, High: 55}
	got := a.Over(b)
	if got.Mid != 2 || math.Abs(got.High-2*(1+math.Hypot(0.1, 0.1))) > 1e-9 || got.Low >= 2 {
		t.Errorf("%v over %v is %v", a, b, got)
	}
	if a.Over(Estimate{High: 1}).Known() || a.Over(CannotTell("why")).Why != "why" || CannotTell("who").Over(b).Why != "who" {
		t.Error("a divisor that may be 0, or is refused, has a quotient")
	}
}

func TestSum(t *testing.T) {
	got := Sum(Estimate{Low: 7, Mid: 10, High: 14}, Estimate{Low: 16, Mid: 20, High: 23})
	if want := (Estimate{Low: 25, Mid: 30, High: 35}); got != want {
		t.Errorf("the sum is %v, want %v", got, want)
	}
	if Sum(Exact(1), CannotTell("why")).Known() {
		t.Error("a sum with a refused part has a figure")
	}
}

func TestJSON(t *testing.T) {
	for _, e := range []Estimate{{Low: 1, Mid: 2, High: 3.5}, {}, Exact(7), CannotTell("no samples: collect for longer")} {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Estimate
		if err := json.Unmarshal(text, &back); err != nil || back != e {
			t.Errorf("%s is read as %v, %v", text, back, err)
		}
	}
	if text, _ := json.Marshal(Estimate{}); string(text) != `{"low":0,"mid":0,"high":0}` {
		t.Errorf("exactly 0 is %s", text)
	}
	if text, _ := json.Marshal(CannotTell("x")); string(text) != `{"cannot_tell":"x"}` {
		t.Errorf("a refused figure is %s", text)
	}
	for _, wrong := range []string{`{}`, `{"low":1}`, `7`} {
		if err := json.Unmarshal([]byte(wrong), new(Estimate)); err == nil {
			t.Errorf("%s is read without an error", wrong)
		}
	}
}

// The interval has no unit of its own where it is that of the figure.
func TestText(t *testing.T) {
	format := func(v float64) string {
		if v >= 1000 {
			return fmt.Sprint(v/1000, " kB")
		}
		return fmt.Sprint(v, " B")
	}
	for want, e := range map[string]Estimate{
		"2 kB [1, 3]":      {Low: 1000, Mid: 2000, High: 3000},
		"1 kB [900 B, 2]":  {Low: 900, Mid: 1000, High: 2000},
		"7 B":              Exact(7),
		"cannot tell: why": CannotTell("why"),
	} {
		if got := e.Text(format); got != want {
			t.Errorf("%+v is %q, want %q", e, got, want)
		}
	}
}
