package check

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/internal/callers"
)

// A Kind is a kind of misuse.
type Kind uint8

const (
	DoublePut     Kind = iota // a Put of a block that is idle
	WriteAfterPut             // a write to a block while it was idle
	ForeignPut                // a Put of a slice that was never a block
	InteriorPut               // a Put of the inside of a block
	Leak                      // a block that was never put back
	UseAfterPut               // an access to an idle block, which faulted
	PastEnd                   // an access behind a block
)

// A Violation is one misuse. Offence is nil if the misuse itself was not observed.
type Violation struct {
	Kind              Kind
	Size              int           // of the block, in bytes
	Age               time.Duration // since its last Get or Put
	Got, Put, Offence Stack
}

// A Stack is program counters, innermost first.
type Stack []uintptr

// pcs is a buffer for a stack.
type pcs [32]uintptr

// callers returns the stack of its caller's callers, in the given buffer. Frames of
// this package may come first: see [Stack.String].
func (c *Checker) callers(room *pcs) Stack {
	if c.few {
		return room[:callers.Callers(room[:len(room)/2])]
	}
	return room[:runtime.Callers(3, room[:])]
}

// exactly returns the stack of its caller's callers.
func exactly() Stack {
	var room pcs
	return Stack(room[:runtime.Callers(3, room[:])]).clone()
}

// clone returns nil for an empty stack.
func (s Stack) clone() Stack {
	if len(s) == 0 {
		return nil
	}
	return slices.Clone(s)
}

const library = "github.com/dewpond/dewpond"

// String returns two lines for each frame, as the stack of a panic has. It leaves out
// the innermost frames that are inside the library.
func (s Stack) String() string {
	if len(s) == 0 {
		return "\tunknown\n"
	}
	var text strings.Builder
	frames := runtime.CallersFrames(s)
	for inside := true; ; {
		f, more := frames.Next()
		inside = inside && more && (strings.HasPrefix(f.Function, library+".") || strings.HasPrefix(f.Function, library+"/internal/check.(*Checker)."))
		if !inside && f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			fmt.Fprintf(&text, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			return text.String()
		}
	}
}
