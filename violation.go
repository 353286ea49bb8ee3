package dewpond

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/hooks"
	"github.com/dewpond/dewpond/misuse"
)

// A CheckMode says how closely a pool watches what its callers do with its blocks or
// objects. The environment variable DEWPOND_CHECK overrides the mode of every pool. Its
// value is off, sampled, sampled=1/N or all, where N is rounded up to a power of two. Any
// other value counts as off, so that a mistyped value does not slow a program down, and
// is an error on standard error once, when the program starts.
//
// An object of a [Pool], an element of a [SlicePool] and an object of package dewsync may have
// fields that goroutines share. The runtime, or a goroutine of the object, may change these
// while the object is idle. So they are neither compared, nor read, nor poisoned:
//
//   - structs of the packages sync, sync/atomic and weak, [time.Timer] and [time.Ticker];
//   - structs of crypto/tls, expvar, net, net/http and net/textproto, and of this module, that
//     contain one of these, such as an http.Transport, a [Budget] and a dewsync.Pool.
//
// This holds at any depth by value, in embedded structs and arrays too. All other fields of an
// idle object must stay as they are. A write to them is reported even if it is made under a lock, or
// by a function of sync/atomic such as atomic.AddInt64. Of an object that has only shared fields no
// write is found.
type CheckMode uint8

const (
	// CheckOff finds only the misuse that costs nothing to find. The ownership document
	// lists it: https://github.com/dewpond/dewpond/blob/main/docs/ownership.md.
	CheckOff CheckMode = iota
	// CheckSampled does what CheckAll does, but only for one in 1024 of the blocks or
	// objects that are handed out, chosen as if at random. It is meant for production. It soon finds misuse that
	// happens often: after 710 leaks the chance that it has seen one is 50 %, after 4714
	// leaks 99 %.
	CheckSampled
	// CheckAll watches everything, at a cost of microseconds for each Get. It is meant
	// for tests. Each misuse is reported with the stacks of the Get, of the Put and of
	// the misuse. Off the heap any read or write of an idle block faults: see
	// ExplainFaults of package offheap.
	CheckAll
)

// String returns off, sampled or all: the words of DEWPOND_CHECK.
func (m CheckMode) String() string { return check.Mode(m).String() }

// valid returns an error if the option Check is not a mode.
func (m CheckMode) valid() error {
	if m > CheckAll {
		return fmt.Errorf("option Check %d: give CheckOff, CheckSampled or CheckAll", m)
	}
	return nil
}

// effective returns the mode that is in force, and N if one in N is watched: a power of
// two.
func (m CheckMode) effective() (mode CheckMode, every uint) {
	text := os.Getenv(check.Environment)
	if text == "" {
		return m, check.SampleEvery
	}
	parsed, every, ok := check.ParseMode(text)
	if !ok {
		unknownMode.Do(func() {
			check.Note("the environment's "+check.Environment+" is none of off, sampled, sampled=1/N and all: it counts as off", "value", text)
		})
	}
	return CheckMode(parsed), every
}

// unknownMode logs once that the value in the environment is not a mode.
var unknownMode = new(sync.Once)

func init() {
	CheckOff.effective() // logs an invalid value when the program starts
	hooks.Fault = explain
	hooks.ReportLeaks = func(p any) (n int, ok bool) {
		pool, ok := p.(livePool)
		if !ok {
			return 0, false
		}
		return pool.reportLeaks(), true
	}
	hooks.AwaitReports = func(p any) {
		if p == nil {
			check.Await(nil)
			return
		}
		for _, c := range p.(livePool).ownChecks() {
			if c != nil {
				check.Await(c.Checker)
			}
		}
	}
	hooks.Release = func(lease any) bool { return lease.(Lease).releaseOnce() }
	setWordHooks()
}

// reports receives a pool's violations. It outlives the pool, because a leak may be found
// when both the block and the pool are gone.
type reports struct {
	pool    string
	objects reflect.Type // of a Pool; nil for blocks
	advice  string       // for a WriteAfterPut
	on      func(misuse.Violation)
	count   atomic.Uint64

	logged check.Seen
}

// violation returns what was found with what the pool knows of it.
func (r *reports) violation(found misuse.Violation) misuse.Violation {
	found.Pool = r.pool
	if r.objects != nil {
		found.Type = r.objects.String()
	}
	if found.Kind == misuse.WriteAfterPut || found.Kind == misuse.ReadAfterPut {
		found.Field, found.Advice = check.FieldAt(r.objects, uintptr(found.Offset)), r.advice
	}
	return found
}

func (r *reports) report(found misuse.Violation) {
	r.count.Add(uint64(found.Count))
	v := r.violation(found)
	if r.on != nil {
		r.on(v)
	}
	second := v.Offence
	if second == nil {
		second = v.Put
	}
	if told := tellAll(v); !told && r.on == nil && r.logged.First(v.Got, second) {
		check.Log(v)
	}
}

// listeners has the functions that were registered with OnViolation.
var listeners struct {
	mu  sync.Mutex
	all []*func(misuse.Violation)
}

// OnViolation registers f for every misuse that checked mode finds in any pool, even in
// a pool that has been closed or collected. f is called after the pool's own
// [BytePoolOptions.OnViolation], under the same rules. While an f is registered, nothing
// is logged. A call of stop ends the registration. When stop returns, f may still be
// running. OnViolation is meant for test harnesses.
func OnViolation(f func(misuse.Violation)) (stop func()) {
	if f == nil {
		panic("dewpond: OnViolation(nil): give a function to call")
	}
	listeners.mu.Lock()
	defer listeners.mu.Unlock()
	listeners.all = append(slices.Clone(listeners.all), &f) // tellAll may be reading the old slice
	return func() {
		listeners.mu.Lock()
		defer listeners.mu.Unlock()
		listeners.all = slices.DeleteFunc(slices.Clone(listeners.all), func(g *func(misuse.Violation)) bool { return g == &f })
	}
}

// tellAll calls every registered function, and reports whether there was one.
func tellAll(v misuse.Violation) bool {
	listeners.mu.Lock()
	all := listeners.all
	listeners.mu.Unlock()
	for _, f := range all {
		(*f)(v)
	}
	return len(all) > 0
}

// explain finds and reports the Violation behind a fault at an address.
func explain(at uintptr) (violation any, ok bool) {
	for s := range Pools() {
		if p, ok := s.(*BytePool); ok && p.checks != nil {
			if found := p.checks.Fault(at); found != nil {
				p.checks.report(*found)
				return p.checks.violation(*found), true
			}
		}
	}
	return explainGuarded(at)
}

// sampled returns what the checks have seen.
func (c *checks) sampled() *misuse.Sampled {
	s := &c.Sample
	return &misuse.Sampled{Watched: s.Watched.Load(), Out: histogramOf(&s.Out), Idle: histogramOf(&s.Idle), Asked: histogramOf(&s.Asked)}
}

// histogramOf returns the counts of h.
func histogramOf(h *check.Histogram) (of misuse.Histogram) {
	of.Counts, of.Sum = h.Load()
	return of
}
