package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestLatencyModel(t *testing.T) {
	made := func(simulated, theory, formula float64) figures {
		return figures{"simulation": {"mean_95_ns": simulated, "p99_95_ns": simulated}, "Erlang C": {"mean_95_ns": theory}, "published formula": {"mean_95_ns": formula}}
	}
	judges(t, "latency-model/own", 0, made(40e6, 10, 160), experiment.NotReproduced)
	judges(t, "latency-model/own", 0, made(300e6, 10, 160), experiment.Reproduced)
	judges(t, "latency-model/own", 0, made(900e6, 10, 160), experiment.DirectionOnly)
	judges(t, "latency-model/predicts", 0.01, made(10, 10, 160), experiment.NotReproduced)
	judges(t, "latency-model/predicts", 0.01, made(10, 10, 10), experiment.Reproduced)
	judges(t, "latency-model/predicts", 0.4, made(10, 10, 10), experiment.CannotTell)
	judges(t, "latency-model/erlang", 0.01, made(10, 10, 160), experiment.Reproduced)
	judges(t, "latency-model/erlang", 0.01, made(20, 10, 160), experiment.NotReproduced)
}
