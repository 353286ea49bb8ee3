package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestLatencyModel(t *testing.T) {
	made := func(simulated, theory, formula float64) figures {
		return figures{"simulation": {"mean_95_ns": simulated}, "Erlang C": {"mean_95_ns": theory}, "published formula": {"mean_95_ns": formula}}
	}
	judges(t, "latency-model/own", 0, made(10, 10, 160), experiment.Impossible)
	consistent := judgeModelOwn(publishedTotal95)
	judgesBy(t, "latency-model/own", consistent, 0, made(150e6, 150e6, 160e6), experiment.Reproduced)
	judgesBy(t, "latency-model/own", consistent, 0, made(10e6, 10e6, 160e6), experiment.NotReproduced)
	judges(t, "latency-model/predicts", 0.01, made(10, 10, 160), experiment.NotReproduced)
	judges(t, "latency-model/predicts", 0.01, made(10, 10, 10), experiment.Reproduced)
	judges(t, "latency-model/predicts", 0.4, made(10, 10, 10), experiment.CannotTell)
	judges(t, "latency-model/erlang", 0.01, made(10, 10, 160), experiment.Reproduced)
	judges(t, "latency-model/erlang", 0.01, made(20, 10, 160), experiment.NotReproduced)
}
