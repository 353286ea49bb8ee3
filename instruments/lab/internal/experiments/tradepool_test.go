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
	gc := func(mixed, stacks, off float64) figures {
		return figures{
			"stacks": {"collections": stacks, "allocs_per_op": 2}, "sync.Pool mixed": {"collections": mixed},
			"dewpond off the heap": {"collections": off, "allocs_per_op": 0},
		}
	}
	judges(t, "tradepool/gc", 0, gc(4, 10, 0), experiment.Reproduced)
	judges(t, "tradepool/gc", 0, gc(12, 10, 3), experiment.DirectionOnly)
	judges(t, "tradepool/gc", 0, gc(4, 10, 4), experiment.NotReproduced)
	judges(t, "tradepool/gc", 0, gc(0, 10, 0), experiment.CannotTell)
	judges(t, "tradepool/gc-listing", 0, gc(4, 10, 0), experiment.NotReproduced)
	judges(t, "tradepool/gc-listing", 0, gc(4, 0, 0), experiment.Reproduced)
	costs := func(pool, locked float64) figures {
		return figures{"sync.Pool": {"pair_ns": pool}, "ring with a lock": {"pair_ns": locked}, "ring without synchronization": {"pair_ns": 3}}
	}
	judges(t, "tradepool/cause", 0, costs(10, 20), experiment.NotReproduced)
	judges(t, "tradepool/cause", 0, costs(200, 20), experiment.DirectionOnly)
	judges(t, "tradepool/cause", 0, costs(2000, 20), experiment.Reproduced)
	judges(t, "tradepool/ring", 0.02, costs(12.8, 20), experiment.Reproduced)
	judges(t, "tradepool/ring", 0.02, costs(3, 20), experiment.NotReproduced)
	judges(t, "tradepool/ring-pool", 0.02, costs(12.8, 3.4), experiment.Reproduced)
	judges(t, "tradepool/ring-pool", 0.02, costs(10, 25), experiment.NotReproduced)
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
	if again, fresh := recycle(true), recycle(false); again == 0 || fresh != 0 {
		t.Errorf("%v values have two owners with nodes that are used again, %v with new ones: want some and none", again, fresh)
	}
	if n := reserved(); n != 2048 {
		t.Errorf("512 goroutines that reserve their place leave %d, want 2048", n)
	}
	if n := heldApart(); n != 2047+512 {
		t.Errorf("512 goroutines that have checked before one has pushed leave %d, want each to push", n)
	}
	if leaked(tradeDirty) == 0 || leaked(oursDirty) != 0 {
		t.Error("the secret must leak from the pool of stacks, and not from dewpond")
	}
}
