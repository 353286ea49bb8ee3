package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestFrameworks(t *testing.T) {
	made := func(misses, get, request, allocs float64) figures {
		return figures{
			"gin":       {"miss_share": misses, "contexts": 10, "request_ns": request, "allocs_per_op": 2},
			"echo":      {"miss_share": 0, "contexts": 10},
			"fiber":     {"miss_share": 0, "contexts": 10},
			"sync.Pool": {"get_ns": get},
			"New":       {"allocs_per_op": allocs},
		}
	}
	judges(t, "frameworks/size", 0, made(0.001, 10, 600, 3), experiment.NotReproduced)
	judges(t, "frameworks/size", 0, made(0.127, 10, 600, 3), experiment.Reproduced)
	judges(t, "frameworks/cost", 0, made(0, 10, 600, 3), experiment.NotReproduced)
	judges(t, "frameworks/cost", 0, made(0, 40e3, 60e3, 3), experiment.Reproduced)
	judges(t, "frameworks/cost", 0, made(0, 10, 60e3, 3), experiment.NotReproduced)
	judges(t, "frameworks/new", 0, made(0, 10, 600, 3), experiment.NotReproduced)
	judges(t, "frameworks/new", 0, made(0, 10, 600, 0), experiment.Reproduced)
}

func TestFrameworksAdapters(t *testing.T) {
	made := func(ours, fiber float64) figures {
		all := figures{}
		for _, c := range []string{"net/http", "gin", "echo", "fiber"} {
			all[c] = map[string]float64{"alloc_bytes_per_op": 4000, "request_ns": 2000}
			all[c+", dewpond"] = map[string]float64{"alloc_bytes_per_op": ours, "request_ns": 1800, "block_miss_share": 0.001}
		}
		all["fiber, dewpond"]["alloc_bytes_per_op"] = fiber
		return all
	}
	judges(t, "frameworks/adapters", 0.02, made(800, 400), experiment.Reproduced)
	judges(t, "frameworks/adapters", 0.02, made(800, 3200), experiment.DirectionOnly)
	judges(t, "frameworks/adapters", 0.01, made(800, 4000), experiment.NotReproduced)
	judges(t, "frameworks/adapters", 0.01, made(8000, 400), experiment.NotReproduced)
	judges(t, "frameworks/adapters", 0.4, made(3600, 400), experiment.CannotTell)
}

// Every framework answers the request, on the heap and on blocks that all come back.
func TestFrameworksServe(t *testing.T) {
	for _, f := range allFrameworks() {
		contexts := &seen{all: map[any]bool{}}
		one := f.serve(contexts)()
		for range 3 {
			if n := one(); n != answered {
				t.Errorf("the answer of %s has %d bytes, want %d", f.name, n, answered)
			}
		}
		if f.name[:3] != "net" && len(contexts.all) < 1 {
			t.Errorf("the handler of %s was not called", f.name)
		}
		if f.pool == nil {
			continue
		}
		if s := f.pool.Stats(); s.Gets < 3 || s.InUseBytes != 0 {
			t.Errorf("%s: %d gets, and %d bytes are still in use", f.name, s.Gets, s.InUseBytes)
		}
	}
}
