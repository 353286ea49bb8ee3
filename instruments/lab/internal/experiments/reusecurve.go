package experiments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// reuseCurve gives a pool that has a bound, as sync.Pool has none, different bounds, and fits the
// curve that the claim is about.
var reuseCurve = experiment.Experiment{
	ID:       "reuse-curve",
	Question: "How does the hit rate of a bounded pool depend on its bound, and where is the knee?",
	Claims: []experiment.Claim{{
		ID: "reuse-curve/fit", Text: "reuse follows 7.6 / (1 + exp(-0.012 (size - 120))) with an R squared of 0.993", Publication: sizing, Judge: judgeCurveFit(published),
	}, {
		ID: "reuse-curve/knee", Text: "the hit rate saturates along a logistic curve, and a larger pool than at its knee buys little", Publication: sizing, Judge: judgeCurveKnee,
	}},
	Cases:  []string{"bursts of 30", "bursts of 120", "bursts of 480"},
	Rounds: 3,
	Each:   300 * time.Millisecond,
	Run:    runReuseCurve,
	Plots: []experiment.Plot{
		{Series: "hit rate", Title: "Hit rate by the pool's bound", Note: "bursts of random depth, exponential with that mean", Y: "share", LogX: true},
		{Series: "residual", Title: "What is left beside the fitted curve", Note: "measured minus fitted", LogX: true},
	},
}

var curveBounds = []int{8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048}

func runReuseCurve(r *experiment.Run) error {
	mean, err := strconv.Atoi(r.Case[len("bursts of "):])
	if err != nil {
		return err
	}
	var points [][2]float64
	for _, bound := range curveBounds {
		random := rand.New(rand.NewPCG(uint64(mean), uint64(r.Round)))
		pool := make(chan *[64]byte, bound)
		hits, gets := 0, 0
		var held []*[64]byte
		for range max(r.Count(20_000), 200) {
			depth := 1 + int(random.ExpFloat64()*float64(mean))
			for range depth {
				gets++
				select {
				case b := <-pool:
					hits++
					held = append(held, b)
				default:
					held = append(held, new([64]byte))
				}
			}
			for _, b := range held {
				select {
				case pool <- b:
				default: // full: dropped
				}
			}
			held = held[:0]
		}
		points = append(points, [2]float64{float64(bound), float64(hits) / float64(gets)})
		r.Point("hit rate", float64(bound), float64(hits)/float64(gets))
	}
	c := fitLogistic(points)
	for _, p := range points {
		r.Point("residual", p[0], p[1]-c.at(p[0]))
	}
	r.Set("r_squared", rSquared(c, points))
	r.Set("knee", knee(points))
	r.Set("mean_burst", float64(mean))
	return nil
}

// A logistic is the curve top / (1 + exp(-rate (x - middle))).
type logistic struct{ top, rate, middle float64 }

func (c logistic) at(x float64) float64 { return c.top / (1 + math.Exp(-c.rate*(x-c.middle))) }

// rSquared returns the share of the variance of y that a curve explains. It is negative if their
// mean explains more.
func rSquared(c logistic, points [][2]float64) float64 {
	mean := 0.0
	for _, p := range points {
		mean += p[1] / float64(len(points))
	}
	left, all := 0.0, 0.0
	for _, p := range points {
		left += (p[1] - c.at(p[0])) * (p[1] - c.at(p[0]))
		all += (p[1] - mean) * (p[1] - mean)
	}
	return 1 - left/all
}

// fitLogistic returns the curve with the least squares: from several starts it goes to the best
// by ever smaller steps.
func fitLogistic(points [][2]float64) logistic {
	top := 0.0
	for _, p := range points {
		top = max(top, p[1])
	}
	best := logistic{top, 1, 1}
	for _, p := range points {
		for _, steepness := range []float64{0.5, 2, 8} {
			if c := climb(logistic{top, steepness / p[0], p[0]}, points); rSquared(c, points) > rSquared(best, points) {
				best = c
			}
		}
	}
	return best
}

func climb(c logistic, points [][2]float64) logistic {
	step := 1.5 // a factor
	for range 200 {
		improved := false
		for i := range 3 {
			for _, f := range []float64{step, 1 / step} {
				next := c
				*[]*float64{&next.top, &next.rate, &next.middle}[i] *= f
				if rSquared(next, points) > rSquared(c, points) {
					c, improved = next, true
				}
			}
		}
		if !improved {
			step = math.Sqrt(step)
		}
	}
	return c
}

// knee returns the bound above which doubling the pool buys less than one hit in a hundred Gets.
func knee(points [][2]float64) float64 {
	at := func(x float64) float64 {
		for i := 1; i < len(points); i++ {
			if a, b := points[i-1], points[i]; x <= b[0] {
				return a[1] + (b[1]-a[1])*(x-a[0])/(b[0]-a[0])
			}
		}
		return points[len(points)-1][1]
	}
	for _, p := range points {
		if at(2*p[0])-p[1] < 0.01 {
			return p[0]
		}
	}
	return points[len(points)-1][0]
}

// published are the four rows that the published curve was fitted to.
var published = [][2]float64{{16, 2.1}, {64, 5.8}, {256, 7.3}, {1024, 7.5}}

// judgeCurveFit judges the published curve by the rows that it is said to fit, and then by how well
// a curve of its kind fits here.
func judgeCurveFit(rows [][2]float64) func(experiment.Measured) experiment.Finding {
	return func(m experiment.Measured) experiment.Finding { return judgePublishedCurve(m, rows) }
}

func judgePublishedCurve(m experiment.Measured, rows [][2]float64) experiment.Finding {
	fit := experiment.At("bursts of 120", "r_squared")
	if f, lacking := m.Lacking(fit); lacking {
		return f
	}
	claimed := logistic{7.6, 0.012, 120}
	var predicted string
	for i, p := range rows {
		if i > 0 {
			predicted += ", "
		}
		predicted += fmt.Sprintf("%.2f for %.1f", claimed.at(p[0]), p[1])
	}
	own := rSquared(claimed, rows)
	f := experiment.Finding{
		Measured: fmt.Sprintf("on its own four rows that curve gives %s: R squared %.2f", predicted, own),
		Control:  fmt.Sprintf("a curve fitted to a bounded pool here has R squared %s", m.Text(fit)),
		Do:       "Compute the fit of a published curve on its own rows before you use it.",
	}
	switch here := m.Median(fit.Case, fit.Figure); {
	case own < 0.9:
		f.Verdict, f.Why = experiment.Impossible, fmt.Sprintf("R squared is %.2f and not 0.993, and sync.Pool has no size at all", own)
	case here > 0.9:
		f.Verdict, f.Why = experiment.Reproduced, "the curve fits its own rows, and one of its kind what was measured here"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "the curve fits its own rows, but none of its kind what was measured here"
	}
	return f
}

func judgeCurveKnee(m experiment.Measured) experiment.Finding {
	small, middle, large := experiment.At("bursts of 30", "r_squared"), experiment.At("bursts of 120", "r_squared"), experiment.At("bursts of 480", "r_squared")
	if f, lacking := m.Lacking(small, middle, large); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("R squared of the fits %s, %s and %s; knees at %s, %s and %s", m.Text(small), m.Text(middle), m.Text(large),
			m.Text(experiment.At(small.Case, "knee")), m.Text(experiment.At(middle.Case, "knee")), m.Text(experiment.At(large.Case, "knee"))),
		Control: "three demands: bursts of 30, 120 and 480 objects on average",
		Do:      "Bound a pool at four to six times the typical burst, and read the knee off your own counts.",
	}
	worst := min(m.Median(small.Case, small.Figure), m.Median(middle.Case, middle.Figure), m.Median(large.Case, large.Figure))
	grows := m.Median(large.Case, "knee") > 2*m.Median(small.Case, "knee")
	switch {
	case worst > 0.9 && grows:
		f.Verdict, f.Why = experiment.Reproduced, "the curve fits, and its knee follows the demand"
	case grows:
		f.Verdict, f.Why = experiment.DirectionOnly, "it saturates, and the knee follows the demand, but along another curve than a logistic: the worst R squared is "+figure.Significant(worst)
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "no knee follows the demand"
	}
	return f
}
