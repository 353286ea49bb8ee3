package digest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

// walk returns samples around a line of 3 bytes a minute. Each correlates with the one before by r.
func walk(rng *rand.Rand, n int, r float64) (points []result.Point) {
	rest := rng.NormFloat64()
	for i := range n {
		points = append(points, result.Point{Seconds: 6 * float64(i), Value: 100 + 3*float64(i)/10 + rest})
		rest = r*rest + math.Sqrt(1-r*r)*rng.NormFloat64()
	}
	return points
}

func TestTrendOfALine(t *testing.T) {
	got := Trend([]result.Point{{Seconds: 0, Value: 10}, {Seconds: 30, Value: 12}, {Seconds: 60, Value: 14}, {Seconds: 90, Value: 16}})
	if got == nil || math.Abs(got.Slope-4) > 1e-9 || got.Mean != 13 || got.Samples != 4 || got.Seconds != 90 || got.High-got.Low > 1e-9 {
		t.Errorf("trend is %+v, want 4 a minute around 13, exactly", got)
	}
	flat := Trend([]result.Point{{Seconds: 0, Value: 5}, {Seconds: 1, Value: 5}, {Seconds: 2, Value: 5}, {Seconds: 3, Value: 5}})
	if flat == nil || flat.Slope != 0 || flat.Low != 0 || flat.High != 0 {
		t.Errorf("trend of what is constant is %+v", flat)
	}
	for _, few := range [][]result.Point{nil, {{Seconds: 1, Value: 1}}, {{Seconds: 0, Value: 1}, {Seconds: 1, Value: 2}}, {{Value: 1}, {Value: 2}, {Value: 3}, {Value: 4}}} {
		if got := Trend(few); got != nil {
			t.Errorf("trend of %v is %+v", few, got)
		}
	}
}

// The interval contains the truth as often as its confidence says, or somewhat less often if samples
// resemble those before them. Without the correction it would contain it in half of the cases.
func TestTrendCovers(t *testing.T) {
	for r, least := range map[float64]float64{0: 0.92, 0.5: 0.88, 0.8: 0.8} {
		rng := rand.New(rand.NewPCG(9, uint64(100*r)))
		const tries = 1000
		held, told := 0, 0
		for range tries {
			tr := Trend(walk(rng, 50, r))
			if tr == nil {
				continue
			}
			told++
			if tr.Low <= 3 && 3 <= tr.High {
				held++
			}
		}
		share := float64(held) / float64(told)
		t.Logf("correlation %v: %d of %d intervals hold the slope", r, held, told)
		if share < least || share > 0.99 || told < tries*9/10 {
			t.Errorf("correlation %v: %v of %d intervals hold the slope", r, share, told)
		}
	}
}

func TestSecondHalf(t *testing.T) {
	var points []result.Point
	for i := range 11 {
		points = append(points, result.Point{Seconds: float64(i)})
	}
	if got := secondHalf(points); len(got) != 6 || got[0].Seconds != 5 {
		t.Errorf("the second half is %v", got)
	}
	if got := secondHalf(nil); got != nil {
		t.Errorf("the second half of nothing is %v", got)
	}
}
