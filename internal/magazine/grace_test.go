package magazine

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/percpu"
)

// An owned block knows whether a goroutine owns it.
type owned struct {
	out atomic.Bool
	_   [56]byte
}

// reclaimStress has 64 goroutines pop and push while Trim and EnterDirect replace the
// array and GOMAXPROCS changes, and returns how often a block had two owners.
func reclaimStress(length time.Duration) (violations, drains int64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var e Engine
	e.Init(Config{Sizes: []int{64, 1024}, MaxIdleBytes: 1 << 20})
	var stop atomic.Bool
	var doubled atomic.Int64
	var wg go125.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			class := uint8(g % 2)
			for !stop.Load() {
				var held [4]*owned
				for i := range held {
					b := (*owned)(e.Pop(class))
					if b == nil {
						b = new(owned)
					}
					if !b.out.CompareAndSwap(false, true) {
						doubled.Add(1)
						b = new(owned)
						b.out.Store(true)
					}
					held[i] = b
				}
				for _, b := range held {
					b.out.Store(false)
					e.Push(class, unsafe.Pointer(b))
				}
			}
		})
	}
	for end := time.Now().Add(length); time.Now().Before(end) && doubled.Load() < 1000; drains++ {
		switch drains % 8 {
		case 0:
			runtime.GOMAXPROCS(1 + int(drains/8%8))
		case 1:
			e.EnterDirect()
		case 2:
			e.LeaveDirect()
		default:
			e.Trim(func(uint8, unsafe.Pointer) {})
		}
	}
	stop.Store(true)
	wg.Wait()
	return doubled.Load(), drains
}

func TestReclaimGivesNoBlockTwoOwners(t *testing.T) {
	violations, drains := reclaimStress(2 * time.Second)
	if violations > 0 {
		t.Errorf("%d times a block had two owners in %d drains", violations, drains)
	}
	t.Logf("%d drains", drains)
}

// trimsInSection reports whether a Trim ended while a goroutine was in a section that
// it had entered before.
func trimsInSection() bool {
	var e Engine
	e.Init(Config{Sizes: []int{64}, MaxIdleBytes: 1 << 20})
	e.Push(0, block()) // else Trim has nothing to do
	var inside, trimmed atomic.Bool
	found := make(chan bool)
	go func() {
		x := e.Enter()
		inside.Store(true)
		for range 10_000_000 { // some milliseconds
			if trimmed.Load() {
				break
			}
		}
		overlap := trimmed.Load()
		x.Exit()
		found <- overlap
	}()
	for !inside.Load() {
		runtime.Gosched()
	}
	e.Trim(func(uint8, unsafe.Pointer) {})
	trimmed.Store(true)
	return <-found
}

func TestTrimWaitsForSections(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	if !percpu.Pinned {
		if trimsInSection() {
			t.Fatal("Trim ended while a goroutine held the lock of a shard")
		}
		return // the portable engine's locks cannot be left out
	}
	for range 20 {
		if trimsInSection() {
			t.Fatal("Trim ended while a goroutine was in a section of the old array")
		}
	}
	// Without the grace period a Trim does end in a section, unless the two never
	// overlap.
	defer func(before func()) { gracePeriod = before }(gracePeriod)
	gracePeriod = func() {}
	for !trimsInSection() { // if it never does, the test runs into its timeout
	}
}
