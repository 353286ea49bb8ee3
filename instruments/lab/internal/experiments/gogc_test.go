package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestGOGC(t *testing.T) {
	made := func(figure string, g30, g50, g100, g200 float64) figures {
		return figures{"GOGC 30": {figure: g30}, "GOGC 50": {figure: g50}, "GOGC 100": {figure: g100}, "GOGC 200": {figure: g200}}
	}
	judges(t, "gogc/frequency", 0.05, made("collections_per_sec", 20, 12, 6, 3), experiment.Reproduced)
	judges(t, "gogc/frequency", 0.05, made("collections_per_sec", 6, 6, 6, 6), experiment.NotReproduced)
	judges(t, "gogc/peak", 0.05, made("peak_bytes", 38, 44, 56, 87), experiment.Reproduced)
	judges(t, "gogc/peak", 0.05, made("peak_bytes", 60, 60, 60, 70), experiment.DirectionOnly)
	judges(t, "gogc/peak", 0.01, made("peak_bytes", 60, 60, 60, 60), experiment.NotReproduced)
	judges(t, "gogc/pause", 0.05, made("pause_ns", 70, 89, 142, 217), experiment.Reproduced)
	judges(t, "gogc/pause", 0.05, made("pause_ns", 200, 200, 200, 200), experiment.NotReproduced)
	judges(t, "gogc/pause", 0.6, made("pause_ns", 200, 200, 200, 300), experiment.CannotTell)
	judges(t, "gogc/lower", 0.05, made("collections_per_sec", 20, 12, 6, 3), experiment.NotReproduced)
	judges(t, "gogc/lower", 0.05, made("collections_per_sec", 3, 4, 6, 8), experiment.Reproduced)
}
