package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestPadding(t *testing.T) {
	made := func(b16, b64, b128 float64) figures {
		return figures{"16 B": {"add_ns": b16}, "64 B": {"add_ns": b64}, "128 B": {"add_ns": b128}}
	}
	judges(t, "padding/line", 0.03, made(15, 5, 5), experiment.Reproduced)
	judges(t, "padding/line", 0.03, made(7, 5, 5), experiment.DirectionOnly)
	judges(t, "padding/line", 0.03, made(5, 5, 5), experiment.NotReproduced)
	judges(t, "padding/line", 0.5, made(9, 5, 5), experiment.CannotTell)
	judges(t, "padding/two-lines", 0.03, made(15, 5, 5), experiment.Reproduced)
	judges(t, "padding/two-lines", 0.03, made(15, 10, 5), experiment.NotReproduced)
	judges(t, "padding/two-lines", 0.4, made(15, 5, 5), experiment.CannotTell)
}
