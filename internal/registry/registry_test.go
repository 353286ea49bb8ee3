package registry

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A thing is what the tests register: alive until it is marked as gone.
type thing struct {
	*Entry
	gone bool
}

func add(r *Registry[*thing], name string) *thing {
	s := new(thing)
	s.Entry = r.Reserve(name, func() (*thing, bool) { return s, !s.gone })
	r.Publish(s.Entry)
	return s
}

// looked is add that also returns how often it looked whether a name is taken.
func looked(r *Registry[*thing], name string) (s *thing, looks int) {
	before := r.looks
	s = add(r, name)
	return s, r.looks - before
}

func names(r *Registry[*thing]) (names []string) {
	for _, s := range r.Live() {
		names = append(names, s.Name())
	}
	slices.Sort(names)
	return names
}

func TestNames(t *testing.T) {
	var r Registry[*thing]
	add(&r, "a")
	second, third := add(&r, "a"), add(&r, "a")
	if got := names(&r); !slices.Equal(got, []string{"a", "a-2", "a-3"}) {
		t.Errorf("%q", got)
	}
	r.Remove(second.Entry)
	fourth := add(&r, "a")
	if fourth.Name() != "a-2" {
		t.Errorf("%q was given up, and the next is called %q", second.Name(), fourth.Name())
	}
	r.Remove(second.Entry) // again
	third.gone = true
	if got := names(&r); !slices.Equal(got, []string{"a", "a-2"}) {
		t.Errorf("%q", got)
	}
}

// A dead entry has no name, even before it is removed; to remove it then does not touch its
// successor.
func TestSuccessor(t *testing.T) {
	var r Registry[*thing]
	first := add(&r, "a")
	first.gone = true
	second := add(&r, "a")
	r.Remove(first.Entry)
	if got := names(&r); second.Name() != "a" || !slices.Equal(got, []string{"a"}) {
		t.Errorf("the second is called %q, and %q are alive", second.Name(), got)
	}
	r.Remove(second.Entry)
	if got := names(&r); got != nil {
		t.Errorf("%q are alive", got)
	}
}

// An entry has its name before Live finds it.
func TestReserve(t *testing.T) {
	var r Registry[*thing]
	e := r.Reserve("a", func() (*thing, bool) { return &thing{}, true })
	if n := len(r.Live()); n != 0 || e.Name() != "a" || add(&r, "a").Name() != "a-2" {
		t.Errorf("%q is reserved; %d are alive", e.Name(), n)
	}
	r.Publish(e)
	if n := len(r.Live()); n != 2 {
		t.Errorf("%d are alive, want 2", n)
	}
	removed := r.Reserve("b", func() (*thing, bool) { return &thing{}, true })
	r.Remove(removed)
	r.Publish(removed)
	if n := len(r.Live()); n != 2 {
		t.Errorf("%d are alive after one was removed before it was published, want 2", n)
	}
}

// Ten thousand entries of one name are registered with two looks each, and removed and
// registered again with few.
func TestManyOfOneName(t *testing.T) {
	const count = 10_000
	var r Registry[*thing]
	var live []*thing
	for i := range count {
		s, looks := looked(&r, "crowd")
		if looks > 2 {
			t.Fatalf("number %d: %d looks", i, looks)
		}
		live = append(live, s)
	}
	if first, last := live[0].Name(), live[count-1].Name(); first != "crowd" || last != "crowd-10000" {
		t.Errorf("the first is %q, the last %q", first, last)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	most, all := 0, 0
	for range 2 * count {
		i := rng.IntN(count)
		r.Remove(live[i].Entry)
		s, looks := looked(&r, "crowd")
		most, all = max(most, looks), all+looks
		live[i] = s
	}
	if most > 32 || all > 2*count*10 {
		t.Errorf("%d looks at most, %d in all for %d registrations", most, all, 2*count)
	}
	if n := len(slices.Compact(names(&r))); n != count {
		t.Errorf("%d names for %d", n, count)
	}
}

// An entry that asks for a name with a number gets it, before and after others of the family.
// Then it starts a family itself.
func TestNamesWithNumbers(t *testing.T) {
	var r Registry[*thing]
	register := func(wanted, name string) *thing {
		t.Helper()
		s, looks := looked(&r, wanted)
		if s.Name() != name || looks > 32 {
			t.Errorf("%q is called %q, want %q; %d looks", wanted, s.Name(), name, looks)
		}
		return s
	}
	register("clan-3", "clan-3")
	first := register("clan", "clan")
	second := register("clan", "clan-2")
	register("clan", "clan-4")
	register("clan-4", "clan-4-2")
	register("clan-2", "clan-2-2")
	r.Remove(second.Entry)
	register("clan-2", "clan-2") // its own now
	register("clan", "clan-5")   // with 2, 3 and 4 in the way
	r.Remove(first.Entry)
	register("clan", "clan")

	// Names that are in the way of every step, or of the first ten thousand.
	register("foe", "foe")
	for step, number := 1, 2; number < 1<<29; step, number = 2*step, number+step {
		name := fmt.Sprintf("foe-%d", number)
		register(name, name)
	}
	for range 100 {
		if s, looks := looked(&r, "foe"); looks > 40 {
			t.Errorf("%q: %d looks", s.Name(), looks)
		}
	}
	register("wall", "wall")
	for number := range 10_000 {
		name := fmt.Sprintf("wall-%d", number+2)
		register(name, name)
	}
	register("wall", "wall-16385")
}

// Nothing is kept of entries that come and go, whether they died before they were removed or
// not.
func TestRegistryForgets(t *testing.T) {
	var r Registry[*thing]
	for i := range 1000 {
		var all []*thing
		for range 3 {
			all = append(all, add(&r, fmt.Sprint("brief ", i)))
		}
		for _, s := range all {
			s.gone = i%2 == 0
			r.Remove(s.Entry)
			r.Remove(s.Entry)
		}
	}
	if len(r.entries) != 0 || len(r.families) != 0 {
		t.Errorf("%d entries and %d families are kept of nothing", len(r.entries), len(r.families))
	}
}
