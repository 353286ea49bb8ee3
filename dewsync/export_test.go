package dewsync

import (
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/hooks"
)

// Sources returns what dewpond.Pools yields for each type of a pool's objects.
func Sources(p *Pool) (all []*dewpond.Pool[hooks.Word]) {
	for _, k := range p.all() {
		all = append(all, k.pool)
	}
	return all
}

// ForgetLayout has pools that are first used from now on keep each object in a box.
func ForgetLayout() (restore func()) {
	known := layoutIsKnown
	layoutIsKnown = false
	return func() { layoutIsKnown = known }
}

func LayoutIsKnown() bool { return layoutIsKnown }

const MostTypes = mostTypes

var (
	Agrees = agrees
	Split  = split
	Join   = join
)

// FirstUse is the pool's first use, twice at once: both find no kind of x.
func FirstUse(p *Pool, x any) (same bool) {
	var first, second atomic.Pointer[kind]
	done := make(chan bool)
	p.mu.Lock() // so that neither is done before the other has begun
	p.name = "first use"
	for _, to := range []*atomic.Pointer[kind]{&first, &second} {
		go func() { to.Store(p.kindOf(x)); done <- true }()
	}
	p.mu.Unlock()
	<-done
	<-done
	return first.Load() == second.Load() && len(p.all()) == 1
}

func init() { youngCalls, youngTime = 0, 0 }

// StartYoung has pools be young for as many calls as in a program, and while they are younger than age for as many
// more.
func StartYoung(age time.Duration) (restore func()) {
	youngCalls, youngTime = leastCalls, age
	return func() { youngCalls, youngTime = 0, 0 }
}

// YoungAge is how long calls are a young Pool's beyond the first.
const YoungAge = youngAge

// SetAge sets the time since the start of the program, until the returned function is called.
func SetAge(age time.Duration) (restore func()) {
	before := sinceStart
	sinceStart = func() time.Duration { return age }
	return func() { sinceStart = before }
}

// ChangeSettings does what package dewtest does once it has set DEWPOND_CHECK.
func ChangeSettings() { hooks.Settings.Add(1) }
