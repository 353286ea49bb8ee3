package dewpond_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
)

// With -dewpond.memory=watched the pools that tests make are those of dewtest: a test that
// puts back twice, writes late or leaves anything out fails. A pool for which a test sets
// Check or OnViolation is as it asks. A test that cannot run with such pools says so in its
// first line, with notWatched, leavesOut or releasesTwice.

// watched says that it is so now.
var watched bool

// notWatched skips a test that pools of dewtest would fail, because of what it looks at or
// does.
func notWatched(t testing.TB, why string) {
	t.Helper()
	if watched {
		t.Skip("not with the pools of dewtest: " + why)
	}
}

// Why more than one test is not watched.
const (
	misuses     = "it misuses pools"
	putsForeign = "it puts back foreign slices"
	seesDirect  = "it looks at direct mode, which a pool with CheckAll never leaves"
	countsMiss  = "it counts misses, and a quarantine makes more"
	countsAlloc = "it counts allocations"
	seesShards  = "with CheckAll no block is in a shard"
)

// leavers are the tests that do what pools of dewtest fail others for, by name.
var leavers sync.Map // of *leaver

// A leaver is a test that says which kinds of misuse are its purpose, and whether it has
// committed each.
type leaver struct {
	sync.Mutex
	commits map[dewpond.ViolationKind]bool
}

// leavesOut says that a test ends with blocks or objects out: it is watched, but not for
// leaks. It fails if nothing is out, so that it does not stay where it is not needed.
func leavesOut(t *testing.T, what string) {
	t.Helper()
	commits(t, dewpond.Leak, "it says that it leaves out "+what+", and leaves out nothing")
}

// releasesTwice says that a test releases leases twice: it is watched, but not for that.
func releasesTwice(t *testing.T) {
	t.Helper()
	commits(t, dewpond.DoubleRelease, "it says that it releases twice, and does not")
}

func commits(t *testing.T, kind dewpond.ViolationKind, otherwise string) {
	t.Helper()
	if !watched {
		return
	}
	l := leaverOf(t)
	if l == nil {
		l = &leaver{commits: map[dewpond.ViolationKind]bool{}}
		leavers.Store(t.Name(), l)
	}
	l.commits[kind] = false
	t.Cleanup(func() { // after those of the test's pools
		leavers.Delete(t.Name())
		l.Lock()
		defer l.Unlock()
		if !l.commits[kind] && !t.Failed() && !t.Skipped() {
			t.Error(otherwise)
		}
	})
}

// leaverOf returns what a test has said of itself, or nil.
func leaverOf(t testing.TB) *leaver {
	test, _, _ := strings.Cut(t.Name(), "/")
	l, _ := leavers.Load(test)
	found, _ := l.(*leaver)
	return found
}

// tellOthers fails the test at any violation but those that it says it commits.
func (l *leaver) tellOthers(t testing.TB) func(dewpond.Violation) {
	return func(v dewpond.Violation) {
		l.Lock()
		defer l.Unlock()
		if _, ok := l.commits[v.Kind]; !ok {
			t.Errorf("%v", v)
			return
		}
		l.commits[v.Kind] = true
	}
}

// closeAtEnd looks for leaks and closes a pool with the test.
func closeAtEnd(t testing.TB, p interface {
	dewpond.StatsSource
	Close() error
}) {
	t.Cleanup(func() {
		dewtest.ReportLeaks(p)
		p.Close()
	})
}

// watches reports whether a pool of these options is to fail its test at any misuse.
func watches(mode dewpond.CheckMode, on func(dewpond.Violation)) bool {
	return watched && mode == dewpond.CheckOff && on == nil
}

// watchedPool is dewtest.NewBytePool, watchedObjects is dewtest.NewPool, and watchedSlices
// is dewtest.NewSlicePool, but for tests that leave something out. A pool decays only if
// the test sets an IdleTimeout: while a collection's tick holds a block of the quarantine,
// a count may miss it.
func watchedPool(t testing.TB, o dewpond.BytePoolOptions) *dewpond.BytePool {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = dewpond.NoDecay
	}
	l := leaverOf(t)
	if l == nil {
		return dewtest.NewBytePool(t, o)
	}
	o.Check, o.OnViolation = dewpond.CheckAll, l.tellOthers(t)
	p, err := dewpond.NewBytePool(o)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p)
	return p
}

func watchedObjects[T any](t testing.TB, o dewpond.PoolOptions[T]) *dewpond.Pool[T] {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = dewpond.NoDecay
	}
	l := leaverOf(t)
	if l == nil {
		return dewtest.NewPool(t, o)
	}
	o.Check, o.OnViolation = dewpond.CheckAll, l.tellOthers(t)
	p, err := dewpond.NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p)
	return p
}

func watchedSlices[T any](t testing.TB, o dewpond.SlicePoolOptions[T]) *dewpond.SlicePool[T] {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = dewpond.NoDecay
	}
	l := leaverOf(t)
	if l == nil {
		return dewtest.NewSlicePool(t, o)
	}
	o.Check, o.OnViolation = dewpond.CheckAll, l.tellOthers(t)
	p, err := dewpond.NewSlicePool(o)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p)
	return p
}
