package experiment

import (
	"maps"
	"slices"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

// MadeUp returns figures that nobody has measured, for tests of judges: by case and figure, the
// same in each of six rounds but for the noise, a share of 1. With much noise the rounds of two
// cases scatter apart.
func MadeUp(noise float64, figures map[string]map[string]float64) Measured {
	// The signs of two neighbours are independent over the rounds.
	signs := [][]float64{{1, -1, 1, -1, 1, -1}, {1, 1, -1, -1, 1, -1}, {-1, 1, 1, -1, -1, 1}, {1, -1, -1, 1, -1, 1}}
	var m Measured
	for i, name := range slices.Sorted(maps.Keys(figures)) {
		names := slices.Sorted(maps.Keys(figures[name]))
		for round := range 6 {
			r := result.Round{Contender: name, Round: round, Ops: 1, Figures: map[string]float64{}}
			for j, f := range names {
				r.Figures[f] = figures[name][f] * (1 + noise*signs[(i+j)%len(signs)][round])
			}
			m.Rounds = append(m.Rounds, r)
		}
	}
	return m
}
