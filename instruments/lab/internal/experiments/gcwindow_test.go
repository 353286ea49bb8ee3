package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestGCWindow(t *testing.T) {
	made := func(figure string, without, with, control float64) figures {
		return figures{"make": {figure: without}, "sync.Pool as published": {figure: with}, "overwrite in place": {figure: control}, "sync.Pool repaired": {figure: 0}}
	}
	counted := func(without, with, pushes float64) figures {
		f := made("collections_full", without, with, 0)
		f["make"]["pushes"] = pushes
		return f
	}
	judges(t, "gc-window/collections", 0, counted(454, 22, 100e6), experiment.Reproduced)
	judges(t, "gc-window/collections", 0, counted(50, 1, 10e6), experiment.Reproduced)
	judges(t, "gc-window/collections", 0, counted(20, 10, 10e6), experiment.DirectionOnly)
	judges(t, "gc-window/collections", 0, counted(20, 20, 10e6), experiment.NotReproduced)
	judges(t, "gc-window/collections", 0, counted(12, 0, 2.5e6), experiment.DirectionOnly)
	judges(t, "gc-window/collections", 0, counted(0, 0, 100), experiment.CannotTell)
	judges(t, "gc-window/worst", 0.02, made("push_max_ns", 50e6, 36e6, 1e6), experiment.Reproduced)
	judges(t, "gc-window/worst", 0.02, made("push_max_ns", 50e6, 36e6, 30e6), experiment.NotReproduced)
	judges(t, "gc-window/tail", 0.02, made("push_p999_ns", 20e3, 4e3, 1e3), experiment.Reproduced)
	judges(t, "gc-window/tail", 0.02, made("push_p999_ns", 20e3, 20e3, 1e3), experiment.NotReproduced)
	judges(t, "gc-window/tail", 0.7, made("push_p999_ns", 20e3, 15e3, 1e3), experiment.CannotTell)
	judges(t, "gc-window/once", 0, made("lost", 0, 1, 0), experiment.NotReproduced)
	judges(t, "gc-window/once", 0, made("lost", 0, 0, 0), experiment.Reproduced)
}
