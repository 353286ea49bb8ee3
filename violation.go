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

// A ViolationKind is a kind of misuse that checked mode finds.
type ViolationKind uint8

const (
	DoublePut     ViolationKind = iota // a Put of a block or object that is idle
	WriteAfterPut                      // a write to one that is idle, found when it leaves the pool or goes to its next owner
	ForeignPut                         // a Put of what this pool never handed out
	InteriorPut                        // a Put of a slice of a block that starts later than the block
	Leak                               // one that was collected, or off the heap out at Close, without a Put
	UseAfterPut                        // a read or write of a block that is idle, off the heap: it faults
	PastEnd                            // a read or write behind a block, past its cap, off the heap: it faults
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

// A Violation is one misuse of a pool. The stacks are program counters for
// runtime.CallersFrames, innermost first: of the Get, of the earlier Put, and of the
// offence, each nil where there was none or nobody saw it. The first few are this
// library's; with CheckSampled there are 16 at most. For a write after Put, Offence is
// where it was found; for a fault, the stack that faulted.
type Violation struct {
	Kind              ViolationKind
	Pool              string
	Size              int           // of the block or object, in bytes
	Age               time.Duration // since its Get, or its Put where that came later
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

// reports is where a pool's violations go. It outlives the pool, for a leak may be
// found when both are gone.
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

// listeners are who wants to know of every pool's violations.
var listeners struct {
	mu  sync.Mutex
	all []*func(Violation)
}

// OnViolation calls f for every misuse that checked mode finds in any pool, also in one
// that has been closed or collected, after the pool's own OnViolation and under the same
// rules. While there is an f nothing is logged. It ends with stop; f may be running
// still when stop returns. Test harnesses are what it is for.
func OnViolation(f func(Violation)) (stop func()) {
	if f == nil {
		panic("dewpond: OnViolation(nil): give a function to call")
	}
	listeners.mu.Lock()
	defer listeners.mu.Unlock()
	listeners.all = append(slices.Clone(listeners.all), &f) // tellAll may have the old one
	return func() {
		listeners.mu.Lock()
		defer listeners.mu.Unlock()
		listeners.all = slices.DeleteFunc(slices.Clone(listeners.all), func(g *func(Violation)) bool { return g == &f })
	}
}

// tellAll reports whether there was anybody to tell.
func tellAll(v Violation) bool {
	listeners.mu.Lock()
	all := listeners.all
	listeners.mu.Unlock()
	for _, f := range all {
		(*f)(v)
	}
	return len(all) > 0
}

// ReportLeaks reports every block that Check watches and that is out as a Leak, none
// twice, and returns how many. It is for the end of a test or of a program, when all
// must have come back; a block that comes back later is taken all the same.
func (p *BytePool) ReportLeaks() int { return p.actual().checks.reportLeaks() }

// ReportLeaks reports every object that Check watches and that is out as a Leak, none
// twice, and returns how many. It is for the end of a test or of a program, when all
// must have come back; an object that comes back later is taken all the same.
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

// ExplainFaults makes the faults of a goroutine name the block that was touched:
//
//	defer dewpond.ExplainFaults()()
//
// Off the heap (package offheap) CheckAll makes any touch of a block fault while it is
// idle, and any of what is right behind a block. A fault in Go code is fatal, and the
// runtime then says where it was, but not whose block. From this call until the function
// that it returns is called, which must be by defer and without another function around
// it, it is a panic, as by debug.SetPanicOnFault. What it returns recovers that panic,
// reports the Violation to the pool's OnViolation, and panics again with the Violation,
// whose String has the stacks of the Get, the Put and the fault. Any other panic goes on
// with the value that it had.
//
// The fault must be in a pool that is neither closed nor collected, and in Go code: in C
// it is fatal, and a system call (a Read into the block, say) returns EFAULT.
func ExplainFaults() (end func()) {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch r := recover(); fault := r.(type) {
		case nil:
		case interface{ Addr() uintptr }: // as of SetPanicOnFault
			if v, ok := explain(fault.Addr()); ok {
				panic(v)
			}
			panic(r)
		default:
			panic(r)
		}
	}
}

// explain finds and reports the violation that a fault is.
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
