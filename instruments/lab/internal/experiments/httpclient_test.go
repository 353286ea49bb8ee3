package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestHTTPClient(t *testing.T) {
	dials := func(many float64) figures {
		return figures{"default, 64 at once": {"dials_share": many}, "default, 2 at once": {"dials_share": 0.0001}, "tuned, 64 at once": {"dials_share": 0.001}}
	}
	judges(t, "http-client/dials", 0, dials(0.99), experiment.Reproduced)
	judges(t, "http-client/dials", 0, dials(0.5), experiment.DirectionOnly)
	judges(t, "http-client/dials", 0, dials(0), experiment.NotReproduced)
	rates := func(tuned float64) figures {
		return figures{"default, 64 at once": {"requests_per_sec": 10e3}, "tuned, 64 at once": {"requests_per_sec": tuned}}
	}
	judges(t, "http-client/tuned", 0.05, rates(28e3), experiment.Reproduced)
	judges(t, "http-client/tuned", 0.05, rates(6e3), experiment.NotReproduced)
	judges(t, "http-client/tuned", 0.05, rates(10e3), experiment.NotReproduced)
	judges(t, "http-client/tuned", 0.6, rates(14e3), experiment.CannotTell)
}
