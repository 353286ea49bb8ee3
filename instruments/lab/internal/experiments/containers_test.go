package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestContainers(t *testing.T) {
	made := func(after, hits float64) figures {
		of := map[string]float64{"procs_of_half": after, "procs_of_ceil": 1, "procs_before": 2, "sync_hit_share": hits, "dewpond_hit_share": 0.99}
		return figures{"GOMAXPROCS 1": of, "GOMAXPROCS 2": of, "GOMAXPROCS 4": of, "changing": of}
	}
	judges(t, "containers/set", 0, made(2, 0.99), experiment.NotReproduced)
	judges(t, "containers/set", 0, made(1, 0.99), experiment.Reproduced)
	group := func(before, inside float64) figures {
		return figures{halfCPU: {"procs_before": before, "procs_that_follow": 2, "procs_in_group": inside}}
	}
	judges(t, "containers/follows", 0, group(16, 2), experiment.Reproduced)
	judges(t, "containers/follows", 0, group(16, 16), experiment.NotReproduced)
	judges(t, "containers/follows", 0, group(2, 2), experiment.CannotTell)
	set := func(before, inside, widened float64) figures {
		return figures{oneCPU: {"procs_before": before, "procs_in_group": inside, "procs_widened": widened, "followed_ns": 1e9}}
	}
	judges(t, "containers/cpuset", 0, set(8, 1, 8), experiment.Reproduced)
	judges(t, "containers/cpuset", 0, set(8, 1, 1), experiment.DirectionOnly)
	judges(t, "containers/cpuset", 0, set(8, 8, 8), experiment.NotReproduced)
	judges(t, "containers/cpuset", 0, set(1, 1, 1), experiment.CannotTell)
	kills := func(without, bound, budget float64) figures {
		of := func(n float64) map[string]float64 { return map[string]float64{"oom_kills": n, "peak_bytes": 1e8} }
		return figures{unbound + inMemory: of(without), "sync.Pool behind a bound" + inMemory: of(bound), budgeted + inMemory: of(budget)}
	}
	judges(t, "containers/killed", 0, kills(1, 0, 0), experiment.Reproduced)
	judges(t, "containers/killed", 0, kills(0, 0, 0), experiment.NotReproduced)
	judges(t, "containers/killed", 0, kills(1, 1, 0), experiment.NotReproduced)
	judges(t, "containers/reuse", 0, made(2, 0.99), experiment.NotReproduced)
	judges(t, "containers/reuse", 0, made(2, 0.5), experiment.Reproduced)
	some := made(2, 0.99)
	some["GOMAXPROCS 4"] = map[string]float64{"sync_hit_share": 0.5}
	judges(t, "containers/reuse", 0, some, experiment.DirectionOnly)
}
