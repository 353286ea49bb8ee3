package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestCapacity(t *testing.T) {
	made := func(peak float64) figures {
		of := func(live float64) map[string]float64 {
			return map[string]float64{"peak_bytes": peak * live, "predicted_bytes": 2 * live, "published_bytes": 2e6}
		}
		return figures{"live 5 MB": of(1e7), "live 20 MB": of(4e7), "live 60 MB": of(12e7)}
	}
	judges(t, "capacity/formula", 0, made(2), experiment.Impossible)
	flat := figures{}
	for name := range made(2) {
		flat[name] = map[string]float64{"peak_bytes": 2.2e6, "published_bytes": 2e6}
	}
	consistent := judgeCapacityFormula(2.1e6)
	judgesBy(t, "capacity/formula", consistent, 0.02, flat, experiment.Reproduced)
	judgesBy(t, "capacity/formula", consistent, 0.02, made(2), experiment.NotReproduced)
	judgesBy(t, "capacity/formula", consistent, 0.6, flat, experiment.CannotTell)
	judges(t, "capacity/honest", 0.02, made(2.1), experiment.Reproduced)
	judges(t, "capacity/honest", 0.02, made(4), experiment.NotReproduced)
	judges(t, "capacity/honest", 0.4, made(2), experiment.CannotTell)
}
