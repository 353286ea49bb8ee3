package summary_test

import (
	"math"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/summary"
)

func TestIntervalSaysWhatItHas(t *testing.T) {
	for n := 1; n <= 12; n++ {
		var values []float64
		for i := range n {
			values = append(values, float64(i+1))
		}
		got := summary.Interval(values)
		if got.Rounds != n || got.Low < 1 || got.High > float64(n) || got.Low > got.Median || got.High < got.Median {
			t.Errorf("n=%d: %+v", n, got)
		}
		if n < summary.VerdictRounds {
			if want := 1 - math.Pow(2, 1-float64(n)); got.Confidence != want || got.Low != 1 || got.High != float64(n) {
				t.Errorf("n=%d: %+v, want least to greatest with confidence %v", n, got, want)
			}
		} else if got.Confidence < summary.Confidence {
			t.Errorf("n=%d: confidence %v is below the %v that a verdict takes", n, got.Confidence, summary.Confidence)
		}
	}
}
