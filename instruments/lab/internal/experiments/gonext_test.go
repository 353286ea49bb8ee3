package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestGoNext(t *testing.T) {
	two := func(figure string, now float64, other string, before float64) figures {
		return figures{"this Go": {figure: now}, other: {figure: before}}
	}
	judges(t, "go-next/malloc", 0.02, two("make_64_ns", 14, "small malloc off", 20), experiment.Reproduced)
	judges(t, "go-next/malloc", 0.01, two("make_64_ns", 20, "small malloc off", 20), experiment.NotReproduced)
	judges(t, "go-next/malloc", 0.4, two("make_64_ns", 14, "small malloc off", 20), experiment.CannotTell)
	judges(t, "go-next/greentea", 0.02, two("collect_ns", 7, "Green Tea off", 10), experiment.Reproduced)
	judges(t, "go-next/greentea", 0.01, two("collect_ns", 12, "Green Tea off", 10), experiment.NotReproduced)
	judges(t, "go-next/small", 0.02, figures{"this Go": {"make_64_ns": 20, "dewpond_64_ns": 8}}, experiment.Reproduced)
	judges(t, "go-next/small", 0.02, figures{"this Go": {"make_64_ns": 8, "dewpond_64_ns": 8}}, experiment.NotReproduced)
}
