package dewpond

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/late"
)

// A ViolationKind is a kind of misuse that checked mode finds: see [CheckMode].
type ViolationKind uint8

const (
	DoublePut     ViolationKind = iota // a Put of a block or object that is idle
	WriteAfterPut                      // a write to an idle block or object, found when it leaves the pool or goes to its next owner
	ForeignPut                         // a Put of a slice that this pool never handed out
	InteriorPut                        // a Put of a slice that starts inside a block
	Leak                               // a block or object that was never put back: found when it is collected or, off the heap, at Close
	UseAfterPut                        // a read or write of an idle block off the heap, which faults
	PastEnd                            // a read or write past the cap of a block off the heap, which faults
)

// String returns, for instance, "double Put".
func (k ViolationKind) String() string {
	switch k {
	case DoublePut:
		return "double Put"
	case WriteAfterPut:
		return "write after Put"
	case ForeignPut:
		return "Put of a foreign slice"
	case InteriorPut:
		return "Put of the inside of a block"
	case Leak:
		return "leak"
	case UseAfterPut:
		return "use after Put"
	case PastEnd:
		return "use past the end of a block"
	}
	return fmt.Sprintf("ViolationKind(%d)", uint8(k))
}

// A Violation is one misuse of a pool.
//
// Got, Put and Offence are the stacks of the Get, of the earlier Put and of the misuse,
// as program counters for [runtime.CallersFrames], innermost first. Each is nil if there
// was no such call or if it was not recorded. The first few frames are in this library.
// With [CheckSampled] a stack has at most 16 frames. For [WriteAfterPut], Offence is the
// stack that found the write. For a fault it is the stack that faulted.
type Violation struct {
	Kind              ViolationKind
	Pool              string
	Size              int           // of the block or object, in bytes
	Age               time.Duration // since its Get, or since its Put if that was later
	Got, Put, Offence []uintptr
}

// String returns a report of several lines, with the stacks.
func (v Violation) String() string {
	text := fmt.Sprintf("dewpond: %v: %d bytes of pool %q", v.Kind, v.Size, v.Pool)
	for _, s := range []struct {
		name  string
		stack []uintptr
	}{{"got", v.Got}, {"put back", v.Put}, {"offence", v.Offence}} {
		if s.stack != nil {
			text += fmt.Sprintf("\n%s at\n%s", s.name, check.Stack(s.stack))
		}
	}
	return text
}

// reports receives a pool's violations. It outlives the pool, because a leak may be found
// when both the block and the pool are gone.
type reports struct {
	pool  string
	on    func(Violation)
	count atomic.Uint64

	logged check.Seen
}

func (r *reports) violation(found check.Violation) Violation {
	return Violation{
		Kind: ViolationKind(found.Kind), Pool: r.pool, Size: found.Size, Age: found.Age,
		Got: found.Got, Put: found.Put, Offence: found.Offence,
	}
}

func (r *reports) report(found check.Violation) {
	r.count.Add(1)
	v := r.violation(found)
	if r.on != nil {
		r.on(v)
	}
	if told := tellAll(v); !told && r.on == nil && r.logged.First(v.Got, v.Offence) {
		slog.Error("dewpond: "+v.Kind.String(), "pool", v.Pool, "size", v.Size, "age", v.Age, "report", v.String())
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

// ReportLeaks reports every block that is out and watched (see [BytePoolOptions.Check])
// as a [Leak], and returns how many it reported. It reports no block twice. It is meant
// for the end of a test or of a program, when all blocks must have been put back. A block
// that is put back later is still accepted.
func (p *BytePool) ReportLeaks() int { return p.actual().checks.reportLeaks() }

// ReportLeaks reports every object that is out and watched (see [PoolOptions.Check]) as
// a [Leak], and returns how many it reported. It reports no object twice. It is meant for
// the end of a test or of a program, when all objects must have been put back. An object
// that is put back later is still accepted.
func (p *Pool[T]) ReportLeaks() int { return p.actual().checks.reportLeaks() }

func (c *checks) reportLeaks() int {
	if c == nil {
		return 0
	}
	var l late.List
	defer l.End()
	leaks, _ := c.Leaks(0, time.Time{}, &l)
	return leaks
}

// ExplainFaults makes a fault of the calling goroutine name the block that was touched:
//
//	defer dewpond.ExplainFaults()()
//
// Off the heap (package offheap) [CheckAll] makes every read or write of an idle block
// fault, and every read or write right behind a block. A fault in Go code is fatal, and
// the runtime says where it was but not whose block it was.
//
// ExplainFaults turns the goroutine's faults into panics, as [debug.SetPanicOnFault]
// does, until end is called. end must be called directly by a defer statement, not by
// another function. It recovers the panic of a fault, reports the [Violation] to the
// pool's OnViolation, and panics again with the Violation, whose String has the stacks
// of the Get, the Put and the fault. It passes on any other panic with its value.
//
// The fault must be in a pool that is neither closed nor collected, and in Go code. A
// fault in C is fatal, and a system call with such a block (a Read into it, for instance)
// returns EFAULT.
func ExplainFaults() (end func()) {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch r := recover(); fault := r.(type) {
		case nil:
		case interface{ Addr() uintptr }: // the runtime error of a fault: see SetPanicOnFault
			if v, ok := explain(fault.Addr()); ok {
				panic(v)
			}
			panic(r)
		default:
			panic(r)
		}
	}
}

// explain finds and reports the violation behind a fault at an address.
func explain(at uintptr) (Violation, bool) {
	for s := range Pools() {
		if p, ok := s.(*BytePool); ok && p.checks != nil {
			if found := p.checks.Fault(at); found != nil {
				p.checks.report(*found)
				return p.checks.violation(*found), true
			}
		}
	}
	return Violation{}, false
}
