package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestAttribution(t *testing.T) {
	made := func(perf, moved, share float64) figures {
		return figures{
			"sync.Pool": {"profile_bytes": 1000, "trace_bytes": 5000, "perf_counters": perf, "moved_objects": moved, "pool_share": share},
			"make":      {"pool_share": 0.3},
		}
	}
	judges(t, "attribution/levels", 0, made(2, 0, 0), experiment.Reproduced)
	judges(t, "attribution/levels", 0, made(0, 0, 0), experiment.CannotTell)
	none := made(2, 0, 0)
	none["sync.Pool"]["trace_bytes"] = 0
	judges(t, "attribution/levels", 0, none, experiment.NotReproduced)
	judges(t, "attribution/compaction", 0, made(0, 0, 0), experiment.NotReproduced)
	judges(t, "attribution/compaction", 0, made(0, 7, 0), experiment.Reproduced)
	judges(t, "attribution/split", 0, made(0, 0, 0.6), experiment.Reproduced)
	judges(t, "attribution/split", 0, made(0, 0, 0.2), experiment.DirectionOnly)
	judges(t, "attribution/split", 0, made(0, 0, 0.01), experiment.NotReproduced)
}
