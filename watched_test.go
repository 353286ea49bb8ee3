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
// first line, with notWatched or leavesOut.

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
	seesGather  = "it looks at gathering, and a pool with CheckAll is gathered for good"
	countsMiss  = "it counts misses, and a quarantine makes more"
	countsAlloc = "it counts allocations"
)

// leavers are the tests that leave something out, by name, and whether they have done so.
var leavers sync.Map // of *leaver

type leaver struct {
	sync.Mutex
	left bool
}

// leavesOut says that a test ends with blocks or objects out: it is watched, but not for
// leaks. It fails if nothing is out, so that it does not stay where it is not needed.
func leavesOut(t *testing.T, what string) {
	t.Helper()
	if !watched {
		return
	}
	l := new(leaver)
	leavers.Store(t.Name(), l)
	t.Cleanup(func() { // after those of the test's pools
		leavers.Delete(t.Name())
		if !l.left && !t.Failed() && !t.Skipped() {
			t.Errorf("it says that it leaves out %s, and leaves out nothing", what)
		}
	})
}

// leaverOf returns what leavesOut said of a test, or nil.
func leaverOf(t testing.TB) *leaver {
	test, _, _ := strings.Cut(t.Name(), "/")
	l, _ := leavers.Load(test)
	found, _ := l.(*leaver)
	return found
}

// tellAllButLeaks fails the test at any violation but a leak.
func (l *leaver) tellAllButLeaks(t testing.TB) func(dewpond.Violation) {
	return func(v dewpond.Violation) {
		if v.Kind != dewpond.Leak {
			t.Errorf("%v", v)
			return
		}
		l.saw(true)
	}
}

func (l *leaver) saw(left bool) {
	l.Lock()
	defer l.Unlock()
	l.left = l.left || left
}

// closeAtEnd closes a pool with the test.
func (l *leaver) closeAtEnd(t testing.TB, p interface {
	ReportLeaks() int
	Close() error
}) {
	t.Cleanup(func() {
		l.saw(p.ReportLeaks() > 0)
		p.Close()
	})
}

// watches reports whether a pool of these options is to fail its test at any misuse.
func watches(mode dewpond.CheckMode, on func(dewpond.Violation)) bool {
	return watched && mode == dewpond.CheckOff && on == nil
}

// watchedPool is dewtest.NewBytePool, and watchedObjects is dewtest.NewPool, but for tests
// that leave something out. A pool decays only if the test sets an IdleTimeout: while a
// collection's tick holds a block of the quarantine, a count may miss it.
func watchedPool(t testing.TB, o dewpond.BytePoolOptions) *dewpond.BytePool {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = -1
	}
	l := leaverOf(t)
	if l == nil {
		return dewtest.NewBytePool(t, o)
	}
	o.Check, o.OnViolation = dewpond.CheckAll, l.tellAllButLeaks(t)
	p, err := dewpond.NewBytePool(o)
	if err != nil {
		t.Fatal(err)
	}
	l.closeAtEnd(t, p)
	return p
}

func watchedObjects[T any](t testing.TB, o dewpond.PoolOptions[T]) *dewpond.Pool[T] {
	if o.IdleTimeout == 0 {
		o.IdleTimeout = -1
	}
	l := leaverOf(t)
	if l == nil {
		return dewtest.NewPool(t, o)
	}
	o.Check, o.OnViolation = dewpond.CheckAll, l.tellAllButLeaks(t)
	p := dewpond.NewPool(o)
	l.closeAtEnd(t, p)
	return p
}
