package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestDrivers(t *testing.T) {
	made := func(figure string, pool, all float64) figures {
		return figures{"pool": {figure: pool}, "registry": {figure: all}}
	}
	judges(t, "drivers/singletons", 0.05, made("upload_ns", 40, 2), experiment.Reproduced)
	judges(t, "drivers/singletons", 0.01, made("upload_ns", 40, 40), experiment.Reproduced)
	judges(t, "drivers/singletons", 0.01, made("upload_ns", 20, 40), experiment.NotReproduced)
	judges(t, "drivers/singletons", 0.7, made("upload_ns", 40, 40), experiment.CannotTell)
	judges(t, "drivers/objects", 0, made("drivers_made", 6, 3), experiment.Reproduced)
	judges(t, "drivers/objects", 0, made("drivers_made", 3, 3), experiment.NotReproduced)
}
