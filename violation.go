package dewpond

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/check"
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
