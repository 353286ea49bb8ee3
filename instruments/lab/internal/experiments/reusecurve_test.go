package experiments

import (
	"math"
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestReuseCurve(t *testing.T) {
	made := func(r2, small, large float64) figures {
		return figures{"bursts of 30": {"r_squared": r2, "knee": small}, "bursts of 120": {"r_squared": r2, "knee": 300}, "bursts of 480": {"r_squared": r2, "knee": large}}
	}
	judges(t, "reuse-curve/fit", 0, made(0.95, 100, 1000), experiment.Impossible)
	var fits [][2]float64
	for _, p := range published {
		fits = append(fits, [2]float64{p[0], logistic{7.6, 0.012, 120}.at(p[0])})
	}
	judgesBy(t, "reuse-curve/fit", judgeCurveFit(fits), 0, made(0.95, 100, 1000), experiment.Reproduced)
	judgesBy(t, "reuse-curve/fit", judgeCurveFit(fits), 0, made(0.2, 100, 1000), experiment.NotReproduced)
	uses := func(small, large float64) figures {
		return figures{"dewpond": {"uses_16": small, "uses_1024": large}}
	}
	judges(t, "reuse-curve/size", 0, uses(2.1, 7.5), experiment.Reproduced)
	judges(t, "reuse-curve/size", 0, uses(2, 2), experiment.NotReproduced)
	judges(t, "reuse-curve/knee", 0, made(0.95, 100, 1000), experiment.Reproduced)
	judges(t, "reuse-curve/knee", 0, made(0.5, 100, 1000), experiment.DirectionOnly)
	judges(t, "reuse-curve/knee", 0, made(0.95, 100, 100), experiment.NotReproduced)
}

// The fit finds a curve that is there, and knows its quality.
func TestFitLogistic(t *testing.T) {
	want := logistic{0.98, 0.01, 150}
	var points [][2]float64
	for _, x := range curveBounds {
		points = append(points, [2]float64{float64(x), want.at(float64(x))})
	}
	got := fitLogistic(points)
	if math.Abs(got.top-want.top) > 0.01 || math.Abs(got.rate-want.rate) > 0.001 || math.Abs(got.middle-want.middle) > 15 || rSquared(got, points) < 0.999 {
		t.Errorf("the fit is %+v with R squared %v, want %+v", got, rSquared(got, points), want)
	}
	if r2 := rSquared(logistic{7.6, 0.012, 120}, published); r2 < 0.3 || r2 > 0.5 {
		t.Errorf("R squared of the published curve is %v, want 0.39", r2)
	}
}
