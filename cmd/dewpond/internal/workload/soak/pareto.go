package soak

import (
	"math"
	"math/rand/v2"
)

// A pareto is a heavy-tailed distribution between two ends: most of what it draws is
// near the lower one, and now and then something is near the upper. The lower the
// tail's exponent, the heavier the tail.
type pareto struct{ least, most, exponent float64 }

func (p pareto) draw(random *rand.Rand) float64 {
	cut := 1 - math.Pow(p.least/p.most, p.exponent)
	return p.least / math.Pow(1-random.Float64()*cut, 1/p.exponent)
}
