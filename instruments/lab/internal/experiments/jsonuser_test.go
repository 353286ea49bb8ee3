package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestJSONUser(t *testing.T) {
	two := func(figure, other string, plain, pooled float64) figures {
		return figures{"new": {figure: plain}, other: {figure: pooled}}
	}
	judges(t, "json-user/time", 0.005, two("decode_ns", "sync.Pool", 721, 664), experiment.Reproduced)
	judges(t, "json-user/time", 0.005, two("decode_ns", "sync.Pool", 721, 400), experiment.DirectionOnly)
	judges(t, "json-user/time", 0.3, two("decode_ns", "sync.Pool", 721, 664), experiment.CannotTell)
	judges(t, "json-user/time", 0.005, two("decode_ns", "sync.Pool", 721, 800), experiment.NotReproduced)
	judges(t, "json-user/v2", 0.01, two("decode_ns", "new, v2", 700, 700), experiment.NotReproduced)
	judges(t, "json-user/bytes", 0, two("alloc_bytes_per_op", "sync.Pool", 816, 240), experiment.Reproduced)
	judges(t, "json-user/bytes", 0, two("alloc_bytes_per_op", "sync.Pool", 816, 816), experiment.NotReproduced)
	judges(t, "json-user/v2", 0.02, two("decode_ns", "new, v2", 700, 250), experiment.Reproduced)
	judges(t, "json-user/v2", 0.02, two("decode_ns", "new, v2", 700, 600), experiment.DirectionOnly)
	service := func(empty, hits, right float64) figures {
		return figures{"service": {"shared_empty": empty, "shared_misses": 20, "own_hit_share": hits, "counters_right": right}}
	}
	misses := func(n float64) figures { return figures{"service": {"shared_empty": 499, "shared_misses": n}} }
	judges(t, "json-user/test", 0, misses(20), experiment.Reproduced)
	judges(t, "json-user/test", 0, misses(492), experiment.NotReproduced)
	judges(t, "json-user/test", 0, misses(1), experiment.NotReproduced)
	judges(t, "json-user/reuse", 0, service(0, 0.999, 1), experiment.Reproduced)
	judges(t, "json-user/reuse", 0, service(0, 0.5, 1), experiment.NotReproduced)
	judges(t, "json-user/reuse", 0, service(0, 0.999, 0), experiment.CannotTell)
}
