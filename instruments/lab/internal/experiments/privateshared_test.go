package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestPrivateShared(t *testing.T) {
	made := func(figure string, private, shared float64) figures {
		return figures{"private": {figure: private}, "shared": {figure: shared}}
	}
	judges(t, "private-shared/time", 0.05, made("pair_ns", 24, 89), experiment.Reproduced)
	judges(t, "private-shared/time", 0.05, made("pair_ns", 24, 32), experiment.DirectionOnly)
	judges(t, "private-shared/time", 0.05, made("pair_ns", 12, 10), experiment.NotReproduced)
	judges(t, "private-shared/time", 0.6, made("pair_ns", 24, 50), experiment.CannotTell)
	judges(t, "private-shared/objects", 0, made("new_objects", 0, 1270), experiment.Reproduced)
	judges(t, "private-shared/objects", 0, made("new_objects", 500, 1), experiment.NotReproduced)
	judges(t, "private-shared/objects", 0, made("new_objects", 4, 5), experiment.DirectionOnly)
}
