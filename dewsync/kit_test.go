package dewsync_test

import (
	"runtime"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewsync"
	"github.com/dewpond/dewpond/misuse"
)

// onBoth runs a test with the layout of interfaces that this Go has, and as if it were not known.
func onBoth(t *testing.T, test func(t *testing.T)) {
	t.Run("words", test)
	t.Run("boxes", func(t *testing.T) {
		defer dewsync.ForgetLayout()()
		test(t)
	})
}

// stats returns the statistics of the objects of a pool's first type.
func stats(t *testing.T, p *dewsync.Pool) dewpond.Stats {
	t.Helper()
	sources := dewsync.Sources(p)
	if len(sources) == 0 {
		t.Fatal("the pool has no objects yet, so there are no statistics")
	}
	return sources[0].Stats()
}

// idle returns how many objects of all types are idle.
func idle(p *dewsync.Pool) (n int) {
	for _, s := range dewsync.Sources(p) {
		n += s.Stats().Classes[0].Idle
	}
	return n
}

// trim lets go of all idle objects.
func trim(p *dewsync.Pool) {
	for _, s := range dewsync.Sources(p) {
		s.Trim()
	}
}

// check sets DEWPOND_CHECK for pools that are first used during the test, and returns what
// they report.
func check(t *testing.T, mode string) (found *[]misuse.Violation) {
	t.Setenv("DEWPOND_CHECK", mode)
	found = new([]misuse.Violation)
	t.Cleanup(dewpond.OnViolation(func(v misuse.Violation) { *found = append(*found, v) }))
	return found
}

// oneProcessor has a test run on one: a Get does not look for what lies with another, and a test may be
// moved between a Put and a Get.
func oneProcessor(t *testing.T) {
	t.Helper()
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}
