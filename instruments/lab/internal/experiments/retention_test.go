package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestRetention(t *testing.T) {
	lost := func(n float64) figures {
		return figures{"sync.Pool": {"burst_misses": n, "blocks": 256}, "channel": {"burst_misses": 0}}
	}
	judges(t, "retention/vanish", 0, lost(256), experiment.Reproduced)
	judges(t, "retention/vanish", 0, lost(100), experiment.DirectionOnly)
	judges(t, "retention/vanish", 0, lost(0), experiment.NotReproduced)
	two := func(figure string, theirs, ours, off float64) figures {
		return figures{"sync.Pool": {figure: theirs}, "dewpond": {figure: ours}, "dewpond off the heap": {figure: off}}
	}
	judges(t, "retention/burst", 0.05, two("burst_ns", 6e6, 120e3, 0), experiment.Reproduced)
	judges(t, "retention/burst", 0.05, two("burst_ns", 300e3, 120e3, 0), experiment.DirectionOnly)
	judges(t, "retention/burst", 0.05, two("burst_ns", 120e3, 120e3, 0), experiment.NotReproduced)
	judges(t, "retention/ballast", 0.02, two("collections_per_sec", 10, 11, 19), experiment.Reproduced)
	judges(t, "retention/ballast", 0.02, two("collections_per_sec", 10, 11, 11), experiment.NotReproduced)
	judges(t, "retention/ballast", 0.5, two("collections_per_sec", 10, 11, 14), experiment.CannotTell)
}
