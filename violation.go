package dewpond

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/hooks"
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

// A ViolationKind is a kind of misuse that checked mode finds: see [CheckMode].
type ViolationKind uint8

// The numbers are package check's. Each constant names its type, so that go doc lists it there.

const (
	DoublePut     ViolationKind = ViolationKind(check.DoublePut)     // a Put of a block or object that is idle
	WriteAfterPut ViolationKind = ViolationKind(check.WriteAfterPut) // a write to an idle block or object, found when it leaves the pool or goes to its next owner
	ForeignPut    ViolationKind = ViolationKind(check.ForeignPut)    // a Put of a slice that this pool never handed out
	InteriorPut   ViolationKind = ViolationKind(check.InteriorPut)   // a Put of a slice that starts inside a block
	Leak          ViolationKind = ViolationKind(check.Leak)          // a block or object that was never put back: found when it is collected or, off the heap, at Close
	UseAfterPut   ViolationKind = ViolationKind(check.UseAfterPut)   // a read or write of an idle block off the heap, or of one that DEWPOND_GUARD=fault guards, which faults
	PastEnd       ViolationKind = ViolationKind(check.PastEnd)       // a read or write past the cap of a block off the heap, which faults
	DoubleRelease ViolationKind = ViolationKind(check.DoubleRelease) // a Release of a Lease by an owner that has released
	WriteBeyond   ViolationKind = ViolationKind(check.WriteBeyond)   // a write behind the slice that PutWritten was given
	ReadAfterPut  ViolationKind = ViolationKind(check.ReadAfterPut)  // a read of an idle block, or a write of zeros, found by DEWPOND_GUARD
)

// String returns, for instance, "double Put".
func (k ViolationKind) String() string { return check.Kind(k).String() }

// A Violation is one misuse of a pool, or several leaks of one place.
//
// What leaks together, for instance all that one garbage collection finds, is one
// Violation for each place: Count blocks with the same Got and the same Owners. With
// CheckSampled the collector's leaks are one Violation each.
type Violation struct {
	Kind ViolationKind
	Pool string        // the pool's name in statistics
	Size int           // of the block or object, in bytes; of the largest if Count is more than 1
	Age  time.Duration // since its Get, or since its Put if that was later; of the oldest if Count is more than 1

	// Got, Put and Offence are the stacks of the Get, of the earlier Put and of the misuse,
	// as program counters for [runtime.CallersFrames], innermost first. Each is nil if there
	// was no such call or if it was not recorded. The first few frames are in this library.
	// With [CheckSampled] a stack has at most 16 frames. For [WriteAfterPut], Offence is the
	// stack that found the write. For a fault it is the stack that faulted. For
	// [DoubleRelease], Got is the stack of what made the owner, and Put that of its first
	// Release.
	Got, Put, Offence []uintptr

	Type  string // of a Pool's objects, as "main.Order"; "" for blocks
	Count int    // of the blocks or objects: more than 1 for a Leak alone
	Bytes int    // in all of them

	// Offset is where something is in the block or object, in bytes: what was written
	// ([WriteAfterPut], [WriteBeyond]), the slice that was put back ([InteriorPut]), or the byte that was
	// touched ([UseAfterPut], [PastEnd]).
	Offset int

	Written  int    // WriteAfterPut, WriteBeyond: how many bytes there are from the first that was written to the last
	Old, New []byte // WriteAfterPut, WriteBeyond: the first 32 of them, as they were and as they are
	Field    string // WriteAfterPut of an object: the field at Offset, as "Account.Name"

	// Holder is the name of the pool that watches the block which a foreign slice begins
	// in ([ForeignPut]). Got and Put are that block's. It is "" if no pool knows the slice.
	Holder string

	// Owners are the owners of a leaked [Lease] that have not released, if the lease was
	// ever retained: for each the stack of what made it. Got is the first of them unless that
	// owner has released.
	Owners [][]uintptr

	advice string // what else may help to find the misuse
}

// String returns a report of several lines, with the stacks.
func (v Violation) String() string { return v.report().String() }

// report returns what a Violation says in the form that is written for persons. It is the inverse
// of reports.violation: a test sees that neither forgets a field. A conversion of the struct would
// need fields of one type, and Kind is ours here.
func (v Violation) report() check.Report {
	r := check.Report{
		Violation: check.Violation{
			Kind: check.Kind(v.Kind), Size: v.Size, Age: v.Age,
			Got: v.Got, Put: v.Put, Offence: v.Offence,
			Count: v.Count, Bytes: v.Bytes,
			Offset: v.Offset, Written: v.Written, Old: v.Old, New: v.New,
			Holder: v.Holder,
		},
		Pool: v.Pool, Type: v.Type, Field: v.Field, Advice: v.advice,
	}
	for _, o := range v.Owners {
		r.Owners = append(r.Owners, o)
	}
	return r
}

// reports receives a pool's violations. It outlives the pool, because a leak may be found
// when both the block and the pool are gone.
type reports struct {
	pool    string
	objects reflect.Type // of a Pool; nil for blocks
	advice  string       // for a WriteAfterPut
	on      func(Violation)
	count   atomic.Uint64

	logged check.Seen
}

func (r *reports) violation(found check.Violation) Violation {
	v := Violation{
		Kind: ViolationKind(found.Kind), Pool: r.pool, Size: found.Size, Age: found.Age,
		Got: found.Got, Put: found.Put, Offence: found.Offence,
		Count: found.Count, Bytes: found.Bytes,
		Offset: found.Offset, Written: found.Written, Old: found.Old, New: found.New,
		Holder: found.Holder,
	}
	for _, o := range found.Owners {
		v.Owners = append(v.Owners, o)
	}
	if r.objects != nil {
		v.Type = r.objects.String()
	}
	if v.Kind == WriteAfterPut || v.Kind == ReadAfterPut {
		v.Field, v.advice = check.FieldAt(r.objects, uintptr(v.Offset)), r.advice
	}
	return v
}

func (r *reports) report(found check.Violation) {
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
		v.report().Log()
	}
}

// listeners has the functions that were registered with OnViolation.
var listeners struct {
	mu  sync.Mutex
	all []*func(Violation)
}

// OnViolation registers f for every misuse that checked mode finds in any pool, even in
// a pool that has been closed or collected. f is called after the pool's own
// [BytePoolOptions.OnViolation], under the same rules. While an f is registered, nothing
// is logged. A call of stop ends the registration. When stop returns, f may still be
// running. OnViolation is meant for test harnesses.
func OnViolation(f func(Violation)) (stop func()) {
	if f == nil {
		panic("dewpond: OnViolation(nil): give a function to call")
	}
	listeners.mu.Lock()
	defer listeners.mu.Unlock()
	listeners.all = append(slices.Clone(listeners.all), &f) // tellAll may be reading the old slice
	return func() {
		listeners.mu.Lock()
		defer listeners.mu.Unlock()
		listeners.all = slices.DeleteFunc(slices.Clone(listeners.all), func(g *func(Violation)) bool { return g == &f })
	}
}

// tellAll calls every registered function, and reports whether there was one.
func tellAll(v Violation) bool {
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
