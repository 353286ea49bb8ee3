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
		return figures{"control group": {"procs_before": before, "procs_that_follow": 2, "procs_in_group": inside}}
	}
	judges(t, "containers/follows", 0, group(16, 2), experiment.Reproduced)
	judges(t, "containers/follows", 0, group(16, 16), experiment.NotReproduced)
	judges(t, "containers/follows", 0, group(2, 2), experiment.CannotTell)
	judges(t, "containers/reuse", 0, made(2, 0.99), experiment.NotReproduced)
	judges(t, "containers/reuse", 0, made(2, 0.5), experiment.Reproduced)
	some := made(2, 0.99)
	some["GOMAXPROCS 4"] = map[string]float64{"sync_hit_share": 0.5}
	judges(t, "containers/reuse", 0, some, experiment.DirectionOnly)
}
