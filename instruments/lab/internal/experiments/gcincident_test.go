package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestGCIncident(t *testing.T) {
	made := func(figure string, before, after, nothing float64) figures {
		return figures{"before": {figure: before, "little_holds": 1}, "four together": {figure: after, "little_holds": 1}, "nothing to do": {figure: nothing}, "sync.Pool": {figure: after}}
	}
	judges(t, "gc-incident/table", 0, made("p99_ns", 2e6, 1e6, 1), experiment.Inconsistent)
	possible := judgeIncidentTable(closedTable{users: 400, rate: 12840, before: 1820e6, after: 86e6})
	judgesBy(t, "gc-incident/table", possible, 0.02, made("p99_ns", 1820e6, 86e6, 1), experiment.Reproduced)
	judgesBy(t, "gc-incident/table", possible, 0.02, made("p99_ns", 2e6, 2e6, 1), experiment.NotReproduced)
	judges(t, "gc-incident/interval", 0, figures{"server alone": {"alloc_bytes_per_op": 1500}}, experiment.NotReproduced)
	judges(t, "gc-incident/interval", 0, figures{"server alone": {"alloc_bytes_per_op": 100}}, experiment.Reproduced)
	judges(t, "gc-incident/pause", 0.05, made("pause_ns", 112e6, 4e6, 1e3), experiment.Reproduced)
	judges(t, "gc-incident/pause", 0.05, made("pause_ns", 112e6, 112e6, 1e3), experiment.NotReproduced)
	judges(t, "gc-incident/pause", 0.05, made("pause_ns", 300e3, 300e3, 200e3), experiment.CannotTell)
	judges(t, "gc-incident/throughput", 0.02, made("qps_per_sec", 3180, 12840, 30e3), experiment.Reproduced)
	judges(t, "gc-incident/throughput", 0.02, made("qps_per_sec", 3180, 3500, 30e3), experiment.DirectionOnly)
	judges(t, "gc-incident/throughput", 0.02, made("qps_per_sec", 3180, 3180, 30e3), experiment.NotReproduced)
	judges(t, "gc-incident/throughput", 0.02, made("qps_per_sec", 30e3, 35e3, 40e3), experiment.CannotTell)
	judges(t, "gc-incident/throughput", 0.8, made("qps_per_sec", 30e3, 35e3, 300e3), experiment.CannotTell)
	judges(t, "gc-incident/memory", 0.02, made("rss_peak_bytes", 1.4e9, 0.72e9, 0.5e9), experiment.Reproduced)
	judges(t, "gc-incident/memory", 0.02, made("rss_peak_bytes", 1.4e9, 1.4e9, 0.5e9), experiment.NotReproduced)
	judges(t, "gc-incident/memory", 0.02, made("rss_peak_bytes", 90e6, 90e6, 85e6), experiment.CannotTell)
	judges(t, "gc-incident/garbage", 0.02, made("answer_alloc_bytes_per_op", 5, 2.5, 0), experiment.Reproduced)
	judges(t, "gc-incident/garbage", 0.02, made("answer_alloc_bytes_per_op", 5, 5, 0), experiment.NotReproduced)
	spoiled := made("qps_per_sec", 3180, 12840, 30e3)
	spoiled["before"]["little_holds"] = 0
	judges(t, "gc-incident/throughput", 0, spoiled, experiment.Inconsistent)
}
