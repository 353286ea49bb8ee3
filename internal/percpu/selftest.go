//go:build !dewpond_explore

package percpu

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	selfTestTries = 10
	selfTestHold  = 100 * time.Microsecond // a stop-the-world takes tens
)

// selfTest looks whether pin and unpin do what the pinned engine says of Pin: the id is
// below GOMAXPROCS, no other goroutine gets it meanwhile, and Grace does not return.
// An error is always a fault of pin, however busy the machine is. Without one, watched says in
// how many tries another goroutine called Grace while the caller was pinned.
//
// A try in which none does says nothing, so the next one waits for it twice as long: the
// sixth for 32 ms, and it is the last. Where GOMAXPROCS is 1 none can, and all six see this: no
// other goroutine runs, for longer than the 10 ms that the scheduler lets one run.
func selfTest(pin func() int, unpin func()) (watched int, err error) {
	for patience := time.Millisecond; watched < selfTestTries && patience <= 32*time.Millisecond; {
		answered, err := try(pin, unpin, patience)
		if err != nil {
			return watched, err
		}
		if answered {
			watched++
		} else {
			patience *= 2
		}
	}
	return watched, nil
}

// try pins, has another goroutine pin for a moment and then call Grace, and looks what came
// of it before it unpins. The other goroutine has ended when try returns.
func try(pin func() int, unpin func(), patience time.Duration) (answered bool, err error) {
	var ready, pinned, asked, over atomic.Bool
	var other int
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ready.Store(true)
		for !pinned.Load() {
			runtime.Gosched()
		}
		other = pin()
		unpin()
		asked.Store(true)
		Grace()
		over.Store(true)
	}()
	for !ready.Load() {
		runtime.Gosched()
	}

	id := pin()
	pinned.Store(true)
	for start := time.Now(); !asked.Load() && time.Since(start) < patience; {
	}
	answered = asked.Load()
	for start := time.Now(); answered && !over.Load() && time.Since(start) < selfTestHold; {
	}
	early := over.Load()
	procs := runtime.GOMAXPROCS(0) // as sync.Pool does: while pinned it cannot change
	unpin()
	<-ended

	switch {
	case id < 0 || id >= procs:
		return answered, fmt.Errorf("the id of a P is %d where GOMAXPROCS is %d", id, procs)
	case early:
		return answered, errors.New("the world was stopped while a goroutine was pinned")
	case answered && other == id:
		return answered, fmt.Errorf("two goroutines were pinned to P %d at once", id)
	}
	return answered, nil
}

// mustPass panics if pin and unpin fail the self test, and says what to do.
func mustPass(pin func() int, unpin func()) {
	if _, err := selfTest(pin, unpin); err != nil {
		panic(fmt.Sprintf("dewpond: %s does not pin goroutines as dewpond needs it: %v: build without the tag dewpond_pinned",
			runtime.Version(), err))
	}
}
