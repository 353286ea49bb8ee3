package digest

import (
	"math"

	"github.com/aclements/go-moremath/stats"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
)

// Trend fits a straight line through points by least squares. It returns nil if there are too few
// points for an interval, or they carry too little information.
//
// The interval is Student's, which needs independent samples. Samples of memory over time are
// not: a peak lasts for several of them. If each residual correlates with the one before by r,
// n samples carry as much information as n(1-r)/(1+r) independent ones, and Trend counts them
// as that many.
func Trend(points []result.Point) *bench.Trend {
	n := float64(len(points))
	if n < 3 {
		return nil
	}
	var meanX, meanY float64
	for _, p := range points {
		meanX += p.Seconds / 60 / n
		meanY += p.Value / n
	}
	var xx, xy float64
	for _, p := range points {
		x := p.Seconds/60 - meanX
		xx += x * x
		xy += x * (p.Value - meanY)
	}
	if xx == 0 {
		return nil
	}
	t := &bench.Trend{Mean: meanY, Slope: xy / xx, Confidence: summary.Confidence, Samples: len(points), Seconds: points[len(points)-1].Seconds - points[0].Seconds}
	var sum, lagged, before float64
	for i, p := range points {
		rest := p.Value - meanY - t.Slope*(p.Seconds/60-meanX)
		sum += rest * rest
		if i > 0 {
			lagged += rest * before
		}
		before = rest
	}
	r := 0.0
	if sum > 0 {
		r = max(0, lagged/sum)
	}
	t.Independent = n * (1 - r) / (1 + r)
	freedom := t.Independent - 2
	if freedom < 1 {
		return nil
	}
	// sum/n is the variance of a residual, and xx/n that of x, whatever the number of samples.
	deviation := math.Sqrt(sum / n / freedom / (xx / n))
	reach := stats.InvCDF(stats.TDist{V: freedom})(0.5+summary.Confidence/2) * deviation
	t.Low, t.High = t.Slope-reach, t.Slope+reach
	return t
}

// secondHalf returns the points of the second half of the time.
func secondHalf(points []result.Point) []result.Point {
	if len(points) == 0 {
		return nil
	}
	middle := (points[0].Seconds + points[len(points)-1].Seconds) / 2
	for i, p := range points {
		if p.Seconds >= middle {
			return points[i:]
		}
	}
	return nil
}
