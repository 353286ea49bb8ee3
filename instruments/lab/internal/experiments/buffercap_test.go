package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestBufferCap(t *testing.T) {
	made := func(figure string, c16, c64, c1024, c1500 float64) figures {
		return figures{"cap 16": {figure: c16}, "cap 64": {figure: c64}, "cap 1024": {figure: c1024}, "cap 1500": {figure: c1500}}
	}
	judges(t, "buffer-cap/reuse", 0, made("hit_share", 0.98, 0.996, 0.735, 1), experiment.Reproduced)
	judges(t, "buffer-cap/reuse", 0, made("hit_share", 0.98, 0.996, 0.9, 1), experiment.DirectionOnly)
	judges(t, "buffer-cap/reuse", 0, made("hit_share", 0.999, 0.999, 0.999, 1), experiment.NotReproduced)
	judges(t, "buffer-cap/table", 0, made("p99_ns", 4.7, 3.1, 5.9, 1), experiment.Inconsistent)
	possible := judgeCapTable(closedTable{users: 1000, rate: 1.2e6, before: 3.1e6, after: 5.9e6})
	judgesBy(t, "buffer-cap/table", possible, 0.02, made("p99_ns", 4.7, 3.1, 5.9, 1), experiment.Reproduced)
	judgesBy(t, "buffer-cap/table", possible, 0.02, made("p99_ns", 4.7, 3.1, 3.1, 1), experiment.NotReproduced)
	judgesBy(t, "buffer-cap/table", possible, 0.5, made("p99_ns", 4.7, 3.1, 4, 1), experiment.CannotTell)
	judges(t, "buffer-cap/pause", 0.02, made("pause_ns", 128e3, 42e3, 217e3, 1), experiment.Reproduced)
	judges(t, "buffer-cap/pause", 0.02, made("pause_ns", 190e3, 190e3, 190e3, 1), experiment.NotReproduced)
	judges(t, "buffer-cap/best", 0.02, made("warm_1200_ns", 70, 60, 114, 60), experiment.Reproduced)
	judges(t, "buffer-cap/best", 0.02, made("warm_1200_ns", 60, 60, 61, 60), experiment.NotReproduced)
	judges(t, "buffer-cap/best", 0.5, made("warm_1200_ns", 60, 60, 80, 60), experiment.CannotTell)
	judges(t, "buffer-cap/unfetched", 0, made("unfetched_share", 0, 0, 0.41, 0), experiment.Reproduced)
	judges(t, "buffer-cap/unfetched", 0, made("unfetched_share", 0, 0, 0.1, 0), experiment.DirectionOnly)
	judges(t, "buffer-cap/unfetched", 0, made("unfetched_share", 0, 0, 0, 0), experiment.NotReproduced)
	judges(t, "buffer-cap/rule", 0.02, made("cold_1200_ns", 900, 800, 500, 300), experiment.Reproduced)
	judges(t, "buffer-cap/rule", 0.02, made("cold_1200_ns", 300, 300, 300, 300), experiment.NotReproduced)
}
