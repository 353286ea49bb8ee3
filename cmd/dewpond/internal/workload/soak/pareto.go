package soak

import (
	"math"
	"math/rand/v2"
)

// A pareto is a heavy-tailed distribution between two bounds: most values are near the lower
// bound, and now and then one is near the upper. A lower exponent makes the tail heavier.
type pareto struct{ least, most, exponent float64 }

func (p pareto) draw(random *rand.Rand) float64 {
	cut := 1 - math.Pow(p.least/p.most, p.exponent)
	return p.least / math.Pow(1-random.Float64()*cut, 1/p.exponent)
}
