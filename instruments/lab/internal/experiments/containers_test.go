package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestContainers(t *testing.T) {
	made := func(after, hits float64) figures {
		of := map[string]float64{"procs_of_half": after, "procs_before": 2, "sync_hit_share": hits, "dewpond_hit_share": 0.99}
		return figures{"GOMAXPROCS 1": of, "GOMAXPROCS 2": of, "GOMAXPROCS 4": of, "changing": of}
	}
	judges(t, "containers/set", 0, made(2, 0.99), experiment.Impossible)
	judges(t, "containers/set", 0, made(1, 0.99), experiment.Reproduced)
	judges(t, "containers/reuse", 0, made(2, 0.99), experiment.NotReproduced)
	judges(t, "containers/reuse", 0, made(2, 0.5), experiment.Reproduced)
	some := made(2, 0.99)
	some["GOMAXPROCS 4"] = map[string]float64{"sync_hit_share": 0.5}
	judges(t, "containers/reuse", 0, some, experiment.DirectionOnly)
}
