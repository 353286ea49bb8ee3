package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestUnbounded(t *testing.T) {
	made := func(figure string, without, with float64) figures {
		return figures{"no bound": {figure: without}, "sync.Pool behind a bound": {figure: with}, "dewpond with a Budget": {figure: with}}
	}
	judges(t, "unbounded/growth", 0.05, made("rss_peak_bytes", 200e6, 20e6), experiment.Reproduced)
	judges(t, "unbounded/growth", 0.05, made("rss_peak_bytes", 20e6, 20e6), experiment.NotReproduced)
	judges(t, "unbounded/throughput", 0.02, made("packets_per_sec", 10e3, 10e3), experiment.Reproduced)
	judges(t, "unbounded/throughput", 0.02, made("packets_per_sec", 10e3, 20e3), experiment.Reproduced)
	judges(t, "unbounded/throughput", 0.02, made("packets_per_sec", 20e3, 10e3), experiment.NotReproduced)
	judges(t, "unbounded/throughput", 0.4, made("packets_per_sec", 10e3, 10e3), experiment.CannotTell)
}
