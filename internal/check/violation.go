package check

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/internal/callers"
)

// A Kind of misuse.
type Kind uint8

const (
	DoublePut     Kind = iota // of a block that is idle
	WriteAfterPut             // to a block that was idle
	ForeignPut                // of what was never a block
	InteriorPut               // of the inside of a block
	Leak                      // of a block that was never put back
	UseAfterPut               // of a block that was idle and faulted
	PastEnd                   // of what is behind a block
)

// A Violation is one misuse. Where Offence is nil nobody saw who did it.
type Violation struct {
	Kind              Kind
	Size              int           // of the block, in bytes
	Age               time.Duration // since its last Get or Put
	Got, Put, Offence Stack
}

// A Stack is program counters, innermost first.
type Stack []uintptr

// pcs is room for a stack.
type pcs [32]uintptr

// callers returns the stack of its caller's callers, in that room. What is of this
// package may come first, see String.
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

// clone returns nil for a stack that nobody saw.
func (s Stack) clone() Stack {
	if len(s) == 0 {
		return nil
	}
	return slices.Clone(s)
}

const library = "github.com/dewpond/dewpond"

// String has two lines for each frame, as a panic's stack does. What is inside the
// library comes first, and is left out.
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
