package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestGCWindow(t *testing.T) {
	made := func(figure string, without, with, control float64) figures {
		return figures{"make": {figure: without}, "sync.Pool as published": {figure: with}, "overwrite in place": {figure: control}, "sync.Pool repaired": {figure: 0}}
	}
	judges(t, "gc-window/collections", 0.02, made("collections", 454, 22, 4), experiment.Reproduced)
	judges(t, "gc-window/collections", 0.02, made("collections", 20, 10, 4), experiment.DirectionOnly)
	judges(t, "gc-window/collections", 0.02, made("collections", 20, 20, 4), experiment.NotReproduced)
	judges(t, "gc-window/worst", 0.02, made("push_max_ns", 50e6, 36e6, 1e6), experiment.Reproduced)
	judges(t, "gc-window/worst", 0.02, made("push_max_ns", 50e6, 36e6, 30e6), experiment.NotReproduced)
	judges(t, "gc-window/tail", 0.02, made("push_p999_ns", 20e3, 4e3, 1e3), experiment.Reproduced)
	judges(t, "gc-window/tail", 0.02, made("push_p999_ns", 20e3, 20e3, 1e3), experiment.NotReproduced)
	judges(t, "gc-window/tail", 0.7, made("push_p999_ns", 20e3, 15e3, 1e3), experiment.CannotTell)
	judges(t, "gc-window/once", 0, made("lost", 0, 1, 0), experiment.NotReproduced)
	judges(t, "gc-window/once", 0, made("lost", 0, 0, 0), experiment.Reproduced)
}
