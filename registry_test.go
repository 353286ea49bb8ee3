package dewpond_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/dewpond/dewpond"
)

func names() (names []string) {
	for p := range dewpond.Pools() {
		names = append(names, p.Name())
	}
	return names
}

func TestNames(t *testing.T) {
	a := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	b := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	c := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	if a.Name() != "twin" || b.Name() != "twin-2" || c.Name() != "twin-3" {
		t.Errorf("names %q, %q, %q", a.Name(), b.Name(), c.Name())
	}
	b.Close()
	d := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	if d.Name() != "twin-2" || d.Stats().Name != "twin-2" {
		t.Errorf("the name of a closed pool is not used again: %q", d.Name())
	}
	got := names()
	if !slices.IsSorted(got) || !slices.Contains(got, "twin-2") || !slices.Contains(got, "twin-3") {
		t.Errorf("Pools: %q", got)
	}
	b.Close() // again: must not take its successor's place
	if !slices.Contains(names(), "twin-2") {
		t.Error("closing a pool twice unregistered another of its name")
	}
	for p := range dewpond.Pools() { // stops when told to, and may lock again
		p.Stats()
		_ = names()
		break
	}
}

// lookedAt makes a pool's registration and returns how often it looked whether a name is
// taken.
func lookedAt(name string) (n *dewpond.Named, looks int) {
	before := dewpond.Looks()
	n = dewpond.NewNamed(name)
	return n, dewpond.Looks() - before
}

// Ten thousand pools of one name are registered with two looks each, and closed and made
// again with few.
func TestManyPoolsOfOneName(t *testing.T) {
	const pools = 10_000
	var live []*dewpond.Named
	for i := range pools {
		n, looks := lookedAt("crowd")
		if looks > 2 {
			t.Fatalf("pool %d: %d looks", i, looks)
		}
		live = append(live, n)
	}
	if first, last := live[0].Name(), live[pools-1].Name(); first != "crowd" || last != "crowd-10000" {
		t.Errorf("the first is %q, the last %q", first, last)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	most, all := 0, 0
	for range 2 * pools {
		i := rng.IntN(pools)
		live[i].Close()
		n, looks := lookedAt("crowd")
		most, all = max(most, looks), all+looks
		live[i] = n
	}
	if most > 32 || all > 2*pools*10 {
		t.Errorf("%d looks at most, %d in all for %d pools", most, all, 2*pools)
	}
	seen := map[string]bool{}
	for _, n := range live {
		if seen[n.Name()] {
			t.Fatalf("two pools are called %q", n.Name())
		}
		seen[n.Name()] = true
	}
	for _, n := range live {
		n.Close()
		n.Close()
	}
	if n := dewpond.Numbers("crowd"); n != 0 {
		t.Errorf("%d numbers are kept of no pool", n)
	}
}

// A pool whose options say a name with a number has it, before and after others of the
// family; and where they have it, it is the first of a family itself.
func TestNamesWithNumbers(t *testing.T) {
	register := func(options, want string) (n *dewpond.Named) {
		t.Helper()
		n, looks := lookedAt(options)
		t.Cleanup(n.Close)
		if n.Name() != want || looks > 32 {
			t.Errorf("%q is called %q, want %q; %d looks", options, n.Name(), want, looks)
		}
		return n
	}
	register("clan-3", "clan-3")
	first := register("clan", "clan")
	second := register("clan", "clan-2")
	register("clan", "clan-4")
	register("clan-4", "clan-4-2")
	register("clan-2", "clan-2-2")
	second.Close()
	register("clan-2", "clan-2") // its own now
	register("clan", "clan-5")   // with 2, 3 and 4 in the way
	first.Close()
	register("clan", "clan")

	// Names that are in the way of every step, or of the first ten thousand.
	register("foe", "foe")
	for step, number := 1, 2; number < 1<<29; step, number = 2*step, number+step {
		name := fmt.Sprintf("foe-%d", number)
		register(name, name)
	}
	for range 100 {
		n, looks := lookedAt("foe")
		if t.Cleanup(n.Close); looks > 40 {
			t.Errorf("%q: %d looks", n.Name(), looks)
		}
	}
	register("wall", "wall")
	for number := range 10_000 {
		name := fmt.Sprintf("wall-%d", number+2)
		register(name, name)
	}
	register("wall", "wall-16385")
}

// Pools of many names come, and go, closed or not: nothing of them stays.
func TestRegistryForgets(t *testing.T) {
	before := dewpond.Families()
	for i := range 1000 {
		for range 3 {
			n := dewpond.NewNamed(fmt.Sprint("brief ", i))
			if i%2 == 0 {
				n.Close()
			}
		}
	}
	left := func() (n int) {
		for i := range 1000 {
			n += dewpond.Numbers(fmt.Sprint("brief ", i))
		}
		return n
	}
	for left() > 0 || dewpond.Families() > before { // else the test runs into its timeout
		runtime.GC()
	}
}

func TestDefault(t *testing.T) {
	b := dewpond.Get(100)
	dewpond.Put(b)
	s := dewpond.Default().Stats()
	if s.Name != "default" || s.Gets == 0 || s.Puts == 0 {
		t.Errorf("Default: %+v", s)
	}
	if !slices.Contains(names(), "default") {
		t.Error("Pools does not have the default pool")
	}
}

// A pool that is dropped without Close is collected, and its blocks with it,
// though the registry knows it, others waited in it, and it was gathered.
func TestDroppedPoolIsCollected(t *testing.T) {
	collected := make(chan struct{})
	block := make(chan struct{})
	func() {
		p, err := makePool(dewpond.BytePoolOptions{Name: "dropped", AllocLimit: 1})
		if err != nil {
			t.Fatal(err)
		}
		p.TryGet(100)
		p.TryGet(100)
		b := make([]byte, 128)
		runtime.AddCleanup(&b[0], func(int) { close(block) }, 0)
		p.Put(b) // off the heap it refuses it, and keeps it no longer either
		runtime.AddCleanup(p, func(int) { close(collected) }, 0)
	}()
	for _, done := range []chan struct{}{collected, block} {
		for waiting := true; waiting; {
			runtime.GC()
			select {
			case <-done:
				waiting = false
			default: // else the test runs into its timeout
			}
		}
	}
	for slices.Contains(names(), "dropped") {
		runtime.GC()
	}
	p := newPool(t, dewpond.BytePoolOptions{Name: "dropped"})
	if p.Name() != "dropped" {
		t.Errorf("the name of a collected pool is not used again: %q", p.Name())
	}
}
