package check

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/misuse"
)

// A Profile has every watched block that is out or has leaked, by the stack of its Get. It is a
// *pprof.Profile, which only package checks links.
type Profile interface {
	Add(value any, skip int)
	Remove(value any)
}

// inUse has the Profile, if the program imports package checks. Another package may use pools
// before that one is initialized.
var inUse atomic.Pointer[Profile]

// SetProfile lets the blocks that are watched from now on be in p.
func SetProfile(p Profile) { inUse.Store(&p) }

// A site is what a program counter says of a stack.
type site struct {
	frames int  // how many frames of the library there are, without those of Checker.Get
	caller bool // the frame behind them is the caller's
}

// sites has what is known of the program counters in the stacks of Get, since asking the
// runtime takes as long as walking a stack does.
var sites struct {
	mu sync.RWMutex
	at map[uintptr]site
}

// ownFrames returns how many frames Profile.Add has to skip, called by the Checker.Get that
// has recorded a stack, so that what the profile shows begins with the library's caller.
func ownFrames(stack Stack) int {
	n := 2 // Add's own frame, which Add does not skip by itself, and that of Checker.Get, which may be missing in the stack
	for _, pc := range stack {
		sites.mu.RLock()
		s, ok := sites.at[pc]
		sites.mu.RUnlock()
		if !ok {
			s = newSite(pc)
		}
		n += s.frames
		if s.caller {
			return n
		}
	}
	return 0
}

// newSite finds out what a program counter says, for the first stack that has it.
func newSite(pc uintptr) (s site) {
	frames := runtime.CallersFrames([]uintptr{pc})
	for more := true; more && !s.caller; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == library+"/internal/check.(*Checker).Get", f.Function == library+"/internal/check.(*Checker).callers":
		case isWrapper(f): // the runtime does not count it either
		case misuse.Inside(f.Function):
			s.frames++
		default:
			s.caller = true
		}
	}
	sites.mu.Lock()
	defer sites.mu.Unlock()
	if sites.at == nil {
		sites.at = make(map[uintptr]site)
	}
	sites.at[pc] = s
	return s
}
