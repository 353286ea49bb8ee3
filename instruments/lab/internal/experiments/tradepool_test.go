package experiments

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

func TestTradePool(t *testing.T) {
	two := func(figure string, mixed, stacks float64) figures {
		return figures{"sync.Pool mixed": {figure: mixed}, "stacks": {figure: stacks}}
	}
	judges(t, "tradepool/p99", 0.05, two("pair_p99_ns", 128e3, 41e3), experiment.Reproduced)
	judges(t, "tradepool/p99", 0.05, two("pair_p99_ns", 300, 700), experiment.NotReproduced)
	judges(t, "tradepool/p99", 0.6, two("pair_p99_ns", 300, 150), experiment.CannotTell)
	judges(t, "tradepool/tail", 0.05, two("pair_p999_ns", 492e3, 137e3), experiment.Reproduced)
	judges(t, "tradepool/tail", 0.05, two("pair_p999_ns", 492e3, 400e3), experiment.DirectionOnly)
	judges(t, "tradepool/tail", 0.05, two("pair_p999_ns", 300, 900), experiment.NotReproduced)
	gc := func(cycles, allocs float64) figures {
		return figures{"stacks": {"collections_5s": cycles, "allocs_per_op": allocs}, "sync.Pool mixed": {"collections_5s": 12}}
	}
	judges(t, "tradepool/gc", 0, gc(0, 0), experiment.Reproduced)
	judges(t, "tradepool/gc", 0, gc(30, 2), experiment.Impossible)
	judges(t, "tradepool/gc", 0, gc(3, 0.5), experiment.NotReproduced)
	costs := func(pool, locked float64) figures {
		return figures{"sync.Pool": {"pair_ns": pool}, "ring with a lock": {"pair_ns": locked}, "ring without synchronization": {"pair_ns": 3}}
	}
	judges(t, "tradepool/cause", 0, costs(10, 20), experiment.Impossible)
	judges(t, "tradepool/cause", 0, costs(200, 20), experiment.DirectionOnly)
	judges(t, "tradepool/cause", 0, costs(2000, 20), experiment.Reproduced)
	judges(t, "tradepool/ring", 0.02, costs(12.8, 3.4), experiment.Reproduced)
	judges(t, "tradepool/ring", 0.02, costs(10, 25), experiment.NotReproduced)
}

func TestTradeFaults(t *testing.T) {
	faults := func(figure string, v float64) figures {
		return figures{"faults": {"too_small_share": 0.98, "classes_in_use": 10, "most_in_class": 2048, "most_held_apart": 2048, "refused": 10_000, "allocated": 60_000, "leaked": 12, "leaked_dewpond": 0, "two_owners": 1, figure: v}}
	}
	judges(t, "tradepool/classes", 0, faults("", 0), experiment.NotReproduced)
	judges(t, "tradepool/classes", 0, figures{"faults": {"too_small_share": 0, "classes_in_use": 16}}, experiment.Reproduced)
	judges(t, "tradepool/cap", 0, faults("most_in_class", 2559), experiment.NotReproduced)
	judges(t, "tradepool/cap", 0, faults("most_held_apart", 2559), experiment.NotReproduced)
	judges(t, "tradepool/cap", 0, faults("", 0), experiment.Reproduced)
	judges(t, "tradepool/limiter", 0, faults("allocated", 60_000), experiment.NotReproduced)
	judges(t, "tradepool/limiter", 0, faults("allocated", 50_000), experiment.Reproduced)
	judges(t, "tradepool/clean", 0, faults("leaked", 12), experiment.NotReproduced)
	judges(t, "tradepool/clean", 0, faults("leaked", 0), experiment.Reproduced)
	judges(t, "tradepool/recycle", 0, faults("two_owners", 1), experiment.NotReproduced)
	judges(t, "tradepool/recycle", 0, faults("two_owners", 0), experiment.Reproduced)
}

// The faults that do not depend on the machine are there.
func TestTradeFaultsAreThere(t *testing.T) {
	if n := recycle(); n == 0 {
		t.Error("no value has two owners")
	}
	if n := heldApart(); n != 2047+512 {
		t.Errorf("512 goroutines that have checked before one has pushed leave %d, want each to push", n)
	}
	if leaked(tradeDirty) == 0 || leaked(oursDirty) != 0 {
		t.Error("the secret must leak from the pool of stacks, and not from dewpond")
	}
}
