package experiments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// reuseCurve gives a pool that has a bound, as sync.Pool has none, different bounds, and fits the
// curve that the claim is about.
var reuseCurve = experiment.Experiment{
	ID:       "reuse-curve",
	Question: "How does the hit rate of a bounded pool depend on its bound, and where is the knee?",
	Claims: []experiment.Claim{{
		ID: "reuse-curve/fit", Text: "reuse follows 7.6 / (1 + exp(-0.012 (size - 120))) with an R squared of 0.993", Publication: sizing, Judge: judgeCurveFit(published), Reach: experiment.Reach{Computed: true},
	}, {
		ID: "reuse-curve/size", Text: "an object is used 2.1, 5.8, 7.3 and 7.5 times in a cycle of the collector by a pool of 16, 64, 256 and 1024", Publication: sizing, Judge: judgeCurveSize, Reach: experiment.Reach{
			Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("dewpond", ""): experiment.At("no pool", "")},
		},
	}, {
		ID: "reuse-curve/knee", Text: "the hit rate saturates along a logistic curve, and a larger pool than at its knee buys little", Publication: sizing, Judge: judgeCurveKnee, Reach: experiment.Reach{Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("bursts of 480", ""): experiment.At("bursts of 30", "")}},
	}},
	Cases:  []string{"bursts of 30", "bursts of 120", "bursts of 480", "dewpond", "no pool"},
	Rounds: 3,
	Each:   300 * time.Millisecond,
	Run:    runReuseCurve,
	Plots: []experiment.Plot{
		{Series: "hit rate", Title: "Hit rate by the pool's bound", Note: "bursts of random depth, exponential with that mean", Y: "share", LogX: true},
		{Series: "residual", Title: "What is left beside the fitted curve", Note: "measured minus fitted", LogX: true},
	},
}

var curveBounds = []int{8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048}

// reuseOfBounds gives a pool of dewpond, which has the bound that sync.Pool lacks, the sizes of the published
// table, and counts how often each object that was made is used.
func reuseOfBounds(r *experiment.Run) error {
	for _, row := range published {
		bound := int(row[0])
		if r.Case == "no pool" {
			bound = dewpond.NoIdle
		}
		made := 0.0
		pool, err := dewpond.NewPool(dewpond.PoolOptions[[64]byte]{
			New: func() *[64]byte { made++; return new([64]byte) }, Reset: func(*[64]byte) {}, MaxIdle: bound, NoSecondTier: true, IdleTimeout: dewpond.NoDecay,
		})
		if err != nil {
			return err
		}
		random := rand.New(rand.NewPCG(120, uint64(r.Round)))
		gets := 0.0
		var held []*[64]byte
		for range max(r.Count(2000), 50) {
			for range 1 + int(random.ExpFloat64()*120) {
				held = append(held, pool.Get())
				gets++
			}
			for _, b := range held {
				pool.Put(b)
			}
			held = held[:0]
		}
		pool.Close()
		r.Set(fmt.Sprintf("uses_%.0f", row[0]), gets/max(made, 1))
	}
	return nil
}

// judgeCurveSize compares how reuse grows with the pool: sync.Pool has no size that could be set.
func judgeCurveSize(m experiment.Measured) experiment.Finding {
	small, large := experiment.At("dewpond", "uses_16"), experiment.At("dewpond", "uses_1024")
	if f, lacking := m.Lacking(small, large); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("with bursts of 120 a pool of dewpond uses each object %s times at a bound of 16, %s at 64, %s at 256, %s at 1024", m.Text(small), m.Text(experiment.At("dewpond", "uses_64")), m.Text(experiment.At("dewpond", "uses_256")), m.Text(large)),
		Control:  "without a pool once; sync.Pool has no size that could be set",
		Do:       "Bound a pool by the bursts that it serves; above them a larger bound buys nothing.",
	}
	f.Verdict, f.Why = experiment.Counts(100*m.Median(large.Case, large.Figure), 100*m.Median(small.Case, small.Figure), 7.5/2.1)
	return f
}

func runReuseCurve(r *experiment.Run) error {
	if r.Case == "dewpond" || r.Case == "no pool" {
		return reuseOfBounds(r)
	}
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
		f.Verdict, f.Why = experiment.Impossible, "it does not fit the four rows that it is said to fit"
		f.Arithmetic = fmt.Sprintf("7.6 / (1 + exp(-0.012 (size - 120))) is %s: one minus the squares of what is left over those about the mean is %.2f, and not 0.993", predicted, own)
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
		Do:      "Read the knee off your own counts: with bursts as random as these it is at four to six times the mean burst.",
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
