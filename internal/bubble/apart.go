package bubble

import (
	"bytes"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// Environment is the variable that has bubbles use a pool together with what is outside, for the
// whole process.
const Environment = "DEWPOND_BUBBLES"

// Apart reports whether pools keep apart what belongs to bubbles, and if not, why. They do in
// the binary of a test that can enter a bubble, but not where it runs benchmarks, which are to
// find pools as they are in production.
var Apart = sync.OnceValues(func() (apart bool, why string) {
	info, _ := debug.ReadBuildInfo()
	why = together(Told, os.Getenv(Environment), info, os.Args, linked)
	return why == "", why
})

// together returns why bubbles use a pool together, or "" if they do not.
func together(told bool, environment string, info *debug.BuildInfo, args []string, linked func() bool) string {
	switch {
	case !told:
		return "this Go does not tell who is in one"
	case environment == "off":
		return Environment + "=off"
	case info == nil:
		return "the binary has no build information"
	case !strings.HasSuffix(info.Path, ".test"):
		return "this is no test"
	case benchmarks(args):
		return "-test.bench is set"
	case !linked():
		return "nothing here calls synctest.Test"
	}
	return ""
}

// benchmarks reports whether a test binary with these arguments is to run benchmarks. Pools are
// made before package flag has parsed them.
func benchmarks(args []string) bool {
	for i, arg := range args {
		name, pattern, ok := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "test.bench" && strings.HasPrefix(arg, "-") {
			return ok && pattern != "" || !ok && i+1 < len(args) && args[i+1] != ""
		}
	}
	return false
}

// linked reports whether the binary has the function that makes bubbles, whose name every
// binary has for stack traces. A binary that cannot be read may have it.
func linked() bool {
	name, err := os.Executable()
	if err != nil {
		return true
	}
	f, err := os.Open(name)
	if err != nil {
		return true
	}
	defer f.Close()
	// The name is not in this package's own constants: there it would always be found.
	found, err := contains(f, strings.Join([]string{"testing", "synctest.Test"}, "/"))
	return found || err != nil
}

// contains reports whether r has a text, which is shorter than what it reads at a time.
func contains(r io.Reader, text string) (bool, error) {
	buffer, kept := make([]byte, 1<<18), 0
	for {
		n, err := io.ReadFull(r, buffer[kept:])
		if bytes.Contains(buffer[:kept+n], []byte(text)) {
			return true, nil
		}
		switch err {
		case nil:
			kept = copy(buffer, buffer[len(buffer)-len(text):])
		case io.EOF, io.ErrUnexpectedEOF:
			return false, nil
		default:
			return false, err
		}
	}
}

// Inside reports whether the caller is in a bubble, as [In] does of time.Now, but it reads one
// clock where that reads two. A bubble's time begins long before the process has begun. A
// bubble whose clock has run until the process's first day, some 27 years, is taken for none
// during that day.
func Inside() bool {
	age := time.Since(began)
	return age < 0 || age > 24*time.Hour && In(time.Now())
}

// Here returns the number of the caller's bubble, or 0 if the caller is in none.
func Here() uint64 {
	if !Inside() {
		return 0
	}
	return Of(time.Now())
}

// Parts are what each bubble has of something that all share outside, by the bubble's number.
// The functions must be set before use. Its methods are safe for concurrent use.
type Parts[P any] struct {
	Make   func(bubble uint64) P // makes a part, under a lock
	Forget func(P)               // is called for a part that goes, under a lock

	mu   sync.Mutex
	of   map[uint64]P
	look int // at how many parts to look for bubbles that have ended
}

// leastLook is the least number of parts at which Of looks for bubbles that have ended, which nothing
// else tells. That takes a stack of every goroutine.
const leastLook = 64

// Of returns the part of the caller's bubble, which it makes if there is none.
func (s *Parts[P]) Of(bubble uint64) P {
	s.mu.Lock()
	defer s.mu.Unlock()
	part, ok := s.of[bubble]
	if ok {
		return part
	}
	if s.of == nil {
		s.of, s.look = map[uint64]P{}, leastLook
	}
	if len(s.of) >= s.look {
		s.forgetLocked(bubble)
		s.look = max(leastLook, 2*len(s.of))
	}
	part = s.Make(bubble)
	s.of[bubble] = part
	return part
}

// forgetLocked forgets the parts of bubbles that have ended, also where they have left goroutines
// behind. The caller's bubble has not: if it does not seem to live, nothing is known, and all stay.
func (s *Parts[P]) forgetLocked(caller uint64) {
	live := living()
	if !live[caller] {
		return
	}
	for _, bubble := range slices.Sorted(maps.Keys(s.of)) {
		if !live[bubble] {
			s.Forget(s.of[bubble])
			delete(s.of, bubble)
		}
	}
}

// Find returns the part of a bubble, if there is one.
func (s *Parts[P]) Find(bubble uint64) (part P, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	part, ok = s.of[bubble]
	return part, ok
}

// All returns the parts that there are, the oldest bubble's first. Between the call of look and that, none
// is forgotten.
func (s *Parts[P]) All(look func()) (all []P) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look()
	if len(s.of) == 0 {
		return nil // and allocates nothing
	}
	for _, bubble := range slices.Sorted(maps.Keys(s.of)) {
		all = append(all, s.of[bubble])
	}
	return all
}
