package check

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/dewpond/dewpond/misuse"
)

// One violation stands for the leaks of one place, that of the most bytes first.
func TestByPlace(t *testing.T) {
	leak := func(size int, age time.Duration, got uintptr, owners ...[]uintptr) misuse.Violation {
		return misuse.Violation{Kind: misuse.Leak, Size: size, Age: age, Count: 1, Bytes: size, Got: Stack{got, 7}, Owners: owners}
	}
	places := byPlace([]misuse.Violation{
		leak(64, 3, 1), leak(512, 1, 2), leak(128, 5, 1), leak(64, 4, 1),
		leak(64, 1, 1, Stack{9}), leak(64, 2, 1, Stack{9}), leak(64, 1, 1, Stack{8}),
	})
	want := []misuse.Violation{
		{Kind: misuse.Leak, Size: 512, Age: 1, Count: 1, Bytes: 512, Got: Stack{2, 7}},
		{Kind: misuse.Leak, Size: 128, Age: 5, Count: 3, Bytes: 256, Got: Stack{1, 7}},
		{Kind: misuse.Leak, Size: 64, Age: 2, Count: 2, Bytes: 128, Got: Stack{1, 7}, Owners: [][]uintptr{{9}}},
		{Kind: misuse.Leak, Size: 64, Age: 1, Count: 1, Bytes: 64, Got: Stack{1, 7}, Owners: [][]uintptr{{8}}},
	}
	if !slices.EqualFunc(places, want, func(a, b misuse.Violation) bool {
		return a.Size == b.Size && a.Age == b.Age && a.Count == b.Count && a.Bytes == b.Bytes && comparePlaces(a, b) == 0
	}) {
		t.Errorf("got %+v\nwant %+v", places, want)
	}
}

// Out counts blocks, and reports places.
func TestOutByPlace(t *testing.T) {
	d := newDesk()
	var all [][]byte
	for range 100 {
		b := make([]byte, 64)
		d.getHere(b)
		all = append(all, b)
	}
	if n, left := d.Out(0, time.Now()); n != 100 || left != 0 {
		t.Errorf("%d are out, and %d", n, left)
	}
	if found := d.take(); len(found) != 1 || found[0].Count != 100 || found[0].Bytes != 6400 {
		t.Errorf("reported %v", found)
	}
	runtime.KeepAlive(all)
}

// A leak of a block with several owners names those that are left, and the next Get of the
// block knows none of them.
func TestOwners(t *testing.T) {
	d, b := newDesk(), make([]byte, 64)
	owners := func() [][]uintptr {
		t.Helper()
		d.Out(0, time.Now())
		found := d.take()
		if len(found) != 1 {
			t.Fatalf("reported %v", found)
		}
		s := d.shard(at(b))
		s.at[at(b)].reported = false // so that Out reports it again
		return found[0].Owners
	}
	if d.Retained(at(b)) != nil {
		t.Error("an owner of a block that is not watched")
	}
	d.getHere(b)
	if left := owners(); left != nil {
		t.Errorf("of a block that has one owner: %v", left)
	}
	second, third := d.retainHere(b), d.Retained(at(b))
	if left := owners(); len(left) != 3 || !slices.Equal(left[0], d.shard(at(b)).at[at(b)].got) {
		t.Errorf("of three: %v", left)
	}
	d.Released(third)
	first := d.ReleasedFirst(at(b))
	if left := owners(); len(left) != 1 || !slices.Equal(left[0], second.made) {
		t.Errorf("of the second alone: %v", left)
	}
	d.releaseHere(second)
	before := second.released
	if d.Released(second); !slices.Equal(second.released, before) {
		t.Error("a second Release is taken for the first")
	}
	d.ReleasedAgain(second, 0)
	d.expect(t, misuse.DoubleRelease, "retainHere", "releaseHere", "TestOwners")
	d.ReleasedAgain(first, 0)
	d.expect(t, misuse.DoubleRelease, "getHere", "TestOwners", "TestOwners")
	d.ReleasedAgain(nil, 64)
	d.expect(t, misuse.DoubleRelease, "", "", "TestOwners")
	d.putHere(b)
	Poison(b)
	d.getHere(b)
	if left := owners(); left != nil {
		t.Errorf("of the next: %v", left)
	}
}

//go:noinline
func (d *desk) retainHere(b []byte) *Owner { return d.Retained(at(b)) }

//go:noinline
func (d *desk) releaseHere(o *Owner) { d.Released(o) }
