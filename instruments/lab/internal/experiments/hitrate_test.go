package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestHitRate(t *testing.T) {
	made := func(small, large, huge, allocs float64) figures {
		of := map[string]float64{
			"hit_8_share": small, "hit_32_share": large, "hit_128_share": small, "hit_65536_share": huge,
			"by_value_16_allocs_per_op": allocs, "by_pointer_16_allocs_per_op": 0, "memstats_share": -1e5,
		}
		return figures{"collections": of, "no collections": of}
	}
	judges(t, "hit-rate/size", 0, made(0.9998, 0.9998, 1, 1), experiment.NotReproduced)
	judges(t, "hit-rate/size", 0, made(0.93, 0.63, 1, 1), experiment.Reproduced)
	judges(t, "hit-rate/size", 0, made(0.93, 0.88, 1, 1), experiment.DirectionOnly)
	judges(t, "hit-rate/size", 0, made(0.63, 0.93, 1, 1), experiment.NotReproduced)
	judges(t, "hit-rate/pressure", 0, figures{"collections": {"misses_8": 100, "misses_32": 140}}, experiment.Reproduced)
	judges(t, "hit-rate/pressure", 0, figures{"collections": {"misses_8": 50, "misses_32": 50}}, experiment.NotReproduced)
	judges(t, "hit-rate/pressure", 0, figures{"collections": {"misses_8": 10, "misses_32": 14}}, experiment.NotReproduced)
	judges(t, "hit-rate/large", 0, made(1, 1, 0.999, 1), experiment.NotReproduced)
	judges(t, "hit-rate/large", 0, made(1, 1, 0, 1), experiment.Reproduced)
	judges(t, "hit-rate/by-value", 0, made(1, 1, 1, 1), experiment.NotReproduced)
	judges(t, "hit-rate/by-value", 0, made(1, 1, 1, 0), experiment.Reproduced)
	judges(t, "hit-rate/memstats", 0, made(1, 1, 1, 1), experiment.Impossible)
	judges(t, "hit-rate/memstats", 0, figures{"collections": {"memstats_share": 0.98, "hit_128_share": 0.99}}, experiment.Reproduced)
}

// The count of misses is right where they are forced.
func TestHitsCounts(t *testing.T) {
	if misses, gets := hits(64, 64, false, always, func() any { return new(int) }); misses != gets || gets != 64 {
		t.Errorf("%d misses of %d first Gets, want 64 of 64", misses, gets)
	}
}
