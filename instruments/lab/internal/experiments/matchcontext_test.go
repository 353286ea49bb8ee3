package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestMatchContext(t *testing.T) {
	onHeap := 500.0
	made := func(pooled, stale float64) figures {
		return figures{
			"new, escapes":      {"allocs_per_op": 3, "alloc_bytes_per_op": 500},
			"new, on the stack": {"allocs_per_op": 0, "alloc_bytes_per_op": 0},
			"sync.Pool":         {"allocs_per_op": pooled, "request_ns": 100, "stale_values": stale, "made_bytes": onHeap},
			"dewpond":           {"stale_values": 0},
		}
	}
	judges(t, "match-context/allocs", 0, made(0, 14), experiment.Reproduced)
	judges(t, "match-context/allocs", 0, made(1, 14), experiment.DirectionOnly)
	judges(t, "match-context/allocs", 0, made(3, 14), experiment.NotReproduced)
	judges(t, "match-context/stack", 0, made(0, 14), experiment.NotReproduced)
	onHeap = 0
	judges(t, "match-context/stack", 0, made(0, 14), experiment.Reproduced)
	judges(t, "match-context/reset", 0, made(0, 14), experiment.NotReproduced)
	judges(t, "match-context/reset", 0, made(0, 0), experiment.Reproduced)
}
