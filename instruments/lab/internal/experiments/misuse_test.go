package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestMisuse(t *testing.T) {
	made := func(panics, noticed, ours, theirs float64) figures {
		return figures{
			"sync.Pool":            {"panics": panics, "two_owners": theirs},
			"dewpond off the heap": {"two_owners": ours, "noticed": 4},
			"dewpond checked":      {"two_owners": 0, "noticed": noticed},
		}
	}
	judges(t, "misuse/panic", 0, made(0, 5, 0, 9), experiment.NotReproduced)
	judges(t, "misuse/panic", 0, made(1, 5, 0, 9), experiment.Reproduced)
	judges(t, "misuse/refused", 0, made(0, 5, 0, 9), experiment.Reproduced)
	judges(t, "misuse/refused", 0, made(0, 3, 0, 9), experiment.DirectionOnly)
	judges(t, "misuse/refused", 0, made(0, 5, 1, 9), experiment.NotReproduced)
	judges(t, "misuse/refused", 0, made(0, 5, 0, 0), experiment.CannotTell)
}
