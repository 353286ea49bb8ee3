package magazine

import (
	"runtime"
	"testing"
	"unsafe"
)

// following makes an engine of one class of blocks of 1 byte, whose bound of 1600 follows what was
// out.
func following(e *Engine, allowance int64) *Allowance {
	a := NewAllowance(func() int64 { return allowance })
	e.Init(Config{Sizes: []int{1}, MaxIdleBytes: 1600, Beyond: a, Unit: 1 << 20})
	return a
}

// take pops n blocks, and makes those that it does not find.
func take(e *Engine, n int) (out []unsafe.Pointer, made int) {
	for range n {
		b := e.Pop(0)
		if b == nil {
			b = block()
			made++
			e.Missed(0, 1)
		}
		out = append(out, b)
	}
	return out, made
}

// give pushes blocks, and returns how many the engine did not keep.
func give(e *Engine, blocks []unsafe.Pointer) (gone int) {
	for _, b := range blocks {
		if e.Push(0, b) != Kept {
			e.Gone(0, 1)
			gone++
		}
	}
	return gone
}

// What was out at once is kept, and found again.
func TestBoundFollowsWhatWasOut(t *testing.T) {
	for _, n := range []int{1600, 1650, 3000, 100_000} {
		var e Engine
		a := following(&e, 1<<40)
		for round := range 5 {
			out, made := take(&e, n)
			gone := give(&e, out)
			if most := 2 * MaxRounds; gone > most || round > 0 && made > most {
				t.Errorf("%d blocks, round %d: %d made, %d let go", n, round, made, gone)
			}
		}
		check(t, &e)
		e.Trim(func(uint8, unsafe.Pointer) {})
		e.EnterDirect()
		if a.Taken() != 0 || e.demand.made.Load() > int64(2*MaxRounds) {
			t.Errorf("%d blocks: after Trim %d bytes are taken of the allowance, and %d blocks are counted", n, a.Taken(), e.demand.made.Load())
		}
	}
}

// Slices that no Get has returned are kept within the bound, also with what else is idle.
func TestForeignBlocksStayWithinTheBound(t *testing.T) {
	var e Engine
	following(&e, 1<<40)
	for range 10_000 {
		out, _ := take(&e, 1)
		give(&e, append(out, block(), block()))
		if n := e.Reserved(); n > 1600 {
			t.Fatalf("%d are idle", n)
		}
	}
}

// A block that is lost is out forever, which gives nobody else room.
func TestLostBlocksGiveNoRoom(t *testing.T) {
	var e Engine
	following(&e, 1<<40)
	const burst = 5000
	for range 200 {
		out, _ := take(&e, burst)
		give(&e, out[burst/100:])
		e.Follow(e.Peak()) // a timeout passes
		if n := e.Reserved(); n > burst+1600 {
			t.Fatalf("%d are idle, of %d that were out at once", n, burst)
		}
	}
	if lost := int64(200 * burst / 100); e.demand.made.Load() < lost {
		t.Errorf("%d are counted, and %d were lost", e.demand.made.Load(), lost)
	}
}

// Once the time of a burst is over, the bound is what it was.
func TestPeakIsForgotten(t *testing.T) {
	var e Engine
	following(&e, 1<<40)
	out, _ := take(&e, 5000)
	e.Low(0)
	if peak := e.Peak(); peak < 5000 || peak > 5000+2*100 {
		t.Errorf("5000 were out, and the peak is %d", peak)
	}
	give(&e, out[:4000])
	e.Low(0)
	e.Peak()
	for range 1000 { // of which each is back before the next
		out, _ := take(&e, 1)
		give(&e, out)
	}
	e.Low(0)
	if peak := e.Peak(); peak < 1000 || peak > 1000+int64(len(e.array().shards))*2*MaxRounds+transferCells*MaxRounds {
		t.Errorf("1000 are out, and the peak is %d", peak)
	}
	e.Shed(0, 4000, func(uint8, unsafe.Pointer) {})
	e.Follow(0)
	give(&e, out[4000:])
	if n := e.Reserved(); n > 1600 {
		t.Errorf("%d are idle after the peak", n)
	}
}

// Engines share their allowance, in bytes of memory.
func TestAllowanceIsShared(t *testing.T) {
	allowance := int64(3000) << 20
	a := NewAllowance(func() int64 { return allowance })
	var engines [3]Engine
	for i := range engines {
		engines[i].Init(Config{Sizes: []int{1}, MaxIdleBytes: 1600, Beyond: a, Unit: 1 << 20})
	}
	var beyond int64
	for i := range engines {
		out, _ := take(&engines[i], 4000)
		give(&engines[i], out)
		beyond += engines[i].Beyond()
	}
	if a.Taken() != beyond<<20 || beyond > 3000 || beyond < 3000-MaxRounds {
		t.Errorf("%d blocks are beyond the bounds, and %d MB are taken", beyond, a.Taken()>>20)
	}
	allowance = 0 // as under pressure
	for i := range engines {
		engines[i].Trim(func(uint8, unsafe.Pointer) {})
		out, _ := take(&engines[i], 4000)
		give(&engines[i], out)
		if n := engines[i].Beyond(); n != 0 {
			t.Errorf("%d are beyond the bound without an allowance", n)
		}
	}
	if a.Taken() != 0 {
		t.Errorf("%d bytes are taken, and nothing is beyond", a.Taken())
	}
}

// An engine that is collected, with what it has beyond its bound, gives its share back.
func TestAllowanceOfCollectedEngine(t *testing.T) {
	a := NewAllowance(func() int64 { return 1 << 40 })
	func() {
		e := new(Engine)
		e.Init(Config{Sizes: []int{1}, MaxIdleBytes: 1600, Beyond: a, Unit: 1 << 20})
		out, _ := take(e, 4000)
		give(e, out)
		if e.Beyond() == 0 || a.Taken() != e.Beyond()<<20 {
			t.Errorf("%d blocks are beyond the bound, and %d bytes are taken", e.Beyond(), a.Taken())
		}
	}()
	for a.Taken() != 0 { // else the test runs into its timeout
		runtime.GC()
		runtime.Gosched()
	}
}
