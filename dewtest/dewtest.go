// Package dewtest makes tests fail when they misuse a pool of dewpond. The report has
// the stacks of the Get, of the Put and of the offence, for every block that is put
// back twice, written to after it was put back, or never put back.
//
// Pools need nothing of this package to be safe in bubbles of testing/synctest. An object
// with a channel or a timer, such as a [time.Timer] or a zstd.Decoder, ends the process where
// a [sync.Pool] takes it from one bubble to another. In the binary of a test a [dewpond.Pool]
// and a pool of package dewsync keep bubbles apart:
// https://github.com/dewpond/dewpond/blob/main/docs/ownership.md#in-a-testingsynctest-bubble.
// There a pool from outside keeps nothing in a bubble, so to find a Reset that forgets a
// field, make the pool in the bubble.
//
// A test that makes its own pool makes it with [NewBytePool]:
//
//	func TestEncode(t *testing.T) {
//		pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
//		if err := Encode(pool, order); err != nil {
//			t.Error(err)
//		}
//	} // fails if Encode has not put back what it took
//
// If the code under test has pools of its own, [Main] watches the whole process:
//
//	func TestMain(m *testing.M) { dewtest.Main(m) }
//
// Every pool is then checked as with [dewpond.CheckAll], which costs microseconds for
// each Get: keep benchmarks in other packages. The environment variable DEWPOND_CHECK
// overrides both: DEWPOND_CHECK=off go test checks nothing. A value that is not a mode
// also checks nothing, and logs an error.
//
// In a bubble make a pool, and its Budget, with the bubble's t: the pool reuses in the bubble,
// and it is closed before the bubble ends.
package dewtest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/hooks"
	"github.com/dewpond/dewpond/misuse"
)

// NewBytePool makes a pool with CheckAll that fails the test at any misuse, and closes
// it when the test ends. A block that is out then is a leak: end what uses the pool
// before that, in the test or in a Cleanup that is registered later. The pool's
// OnViolation is called too. Invalid options end the test.
func NewBytePool(tb testing.TB, o dewpond.BytePoolOptions) *dewpond.BytePool {
	tb.Helper()
	return endingBytePool(tb, o, dewpond.NewBytePool)
}

func endingBytePool(tb testing.TB, o dewpond.BytePoolOptions, makePool func(dewpond.BytePoolOptions) (*dewpond.BytePool, error)) *dewpond.BytePool {
	tb.Helper()
	r := newReporter(tb, &o.Name, &o.Check, &o.OnViolation)
	p, err := makePool(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.end(p) })
	return p
}

// NewPool is [NewBytePool] for a [dewpond.Pool].
func NewPool[T any](tb testing.TB, o dewpond.PoolOptions[T]) *dewpond.Pool[T] {
	tb.Helper()
	r := newReporter(tb, &o.Name, &o.Check, &o.OnViolation)
	p, err := dewpond.NewPool(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.end(p) })
	return p
}

// NewSlicePool is [NewBytePool] for a [dewpond.SlicePool].
func NewSlicePool[T any](tb testing.TB, o dewpond.SlicePoolOptions[T]) *dewpond.SlicePool[T] {
	tb.Helper()
	r := newReporter(tb, &o.Name, &o.Check, &o.OnViolation)
	p, err := dewpond.NewSlicePool(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.end(p) })
	return p
}

// newReporter sets the options that each pool of this package has, and returns what it reports to.
func newReporter(tb testing.TB, name *string, check *dewpond.CheckMode, onViolation *func(misuse.Violation)) *reporter {
	r := &reporter{tb: tb, also: *onViolation}
	*check, *onViolation = dewpond.CheckAll, r.report
	if *name == "" {
		*name = tb.Name()
	}
	return r
}

// A reporter fails a test for its pool's violations.
type reporter struct {
	tb   testing.TB
	also func(misuse.Violation)

	mu     sync.Mutex // held while tb is used
	told   tally
	leaked bool
	over   bool // tb must not be used any more
}

func (r *reporter) report(v misuse.Violation) {
	if r.also != nil {
		r.also(v)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		fmt.Fprintf(os.Stderr, "dewtest: after the end of %s: %v\n", r.tb.Name(), v)
		return
	}
	r.leaked = r.leaked || v.Kind == misuse.Leak
	if r.told.first(v) {
		r.tb.Errorf("%v", v)
	}
}

// end looks for what has not been reported yet. Close verifies all idle blocks. What the
// collector or a timer has found just now, neither of them finds.
func (r *reporter) end(p interface {
	dewpond.StatsSource
	Close() error
}) {
	ReportLeaks(p)
	err := p.Close()
	hooks.AwaitReports(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && !r.leaked { // off the heap it says how many blocks are out, as the leaks do
		r.tb.Error(err)
	}
	for _, line := range r.told.rest() {
		r.tb.Error(line)
	}
	r.over = true
}
