package memory

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// collect runs garbage collections until done: a finalizer runs after one, and an
// object that had a finalizer is gone after the next.
func collect(done func() bool) {
	for !done() {
		runtime.GC()
	}
}

func TestHeapBlocksKnowWhatIsLost(t *testing.T) {
	lost := make(chan uint8, 10)
	h := NewHeapBlocks(2, func(class uint8) { lost <- class })
	kept, removed := &make([]byte, 64)[0], &make([]byte, 64)[0]
	h.Add(kept, 0)
	h.Add(removed, 0)
	h.Add(&make([]byte, 128)[0], 1) // lost at once
	if !h.Has(addressOf(kept), 0) || h.Has(addressOf(kept), 1) || h.Has(addressOf(kept)+16, 0) {
		t.Error("a block is known by its class and where it begins, and by nothing else")
	}
	if h.Remove(removed, 1) || !h.Remove(removed, 0) || h.Remove(removed, 0) || h.Has(addressOf(removed), 0) {
		t.Error("a block is removed once, from its own class")
	}
	removed = nil
	collect(func() bool { return len(lost) > 0 })
	if class := <-lost; class != 1 || len(lost) > 0 {
		t.Errorf("a block of class %d was lost, and %d others", class, len(lost))
	}
	runtime.KeepAlive(kept)
}

func TestHeapSlicesKnowWhatIsLost(t *testing.T) {
	var h HeapSlices
	lost := make(chan int64, 10)
	add := func(size int) *byte {
		data := &make([]byte, size)[0]
		h.Add(data, int64(size), func() { lost <- int64(size) })
		return data
	}
	kept, removed := add(1000), add(2000)
	add(3000)
	if h.Bytes() != 6000 {
		t.Errorf("%d bytes, want 6000", h.Bytes())
	}
	if h.Remove(removed, 1999) || !h.Remove(removed, 2000) || h.Remove(removed, 2000) {
		t.Error("a slice is removed once, with its own size")
	}
	removed = nil
	collect(func() bool { return len(lost) > 0 })
	if size := <-lost; size != 3000 || len(lost) > 0 || h.Bytes() != 1000 {
		t.Errorf("%d bytes were lost, and %d other slices; %d are left", size, len(lost), h.Bytes())
	}
	runtime.KeepAlive(kept)
}

func TestHeapBlocksAdopt(t *testing.T) {
	lost := make(chan uint8, 10)
	h := NewHeapBlocks(2, func(class uint8) { lost <- class })
	add := func() (inside, taken *byte) {
		inside, taken = &make([]byte, 4096)[1024], &make([]byte, 128)[0]
		NewHeapBlocks(1, func(uint8) {}).Add(taken, 0) // has a finalizer from now on, as another pool's block
		for _, block := range []*byte{inside, taken} {
			first, again := h.Adopt(block, 1), h.Adopt(block, 1)
			if !first || !again || !h.Has(addressOf(block), 1) || h.Has(addressOf(block), 0) {
				t.Error("an adopted block is not known by its class and where it begins")
			}
		}
		return inside, taken
	}
	inside, taken := add()
	for _, block := range []*byte{inside, taken} {
		if h.Remove(block, 0) || !h.Remove(block, 1) || !h.Has(addressOf(block), 1) || !h.Remove(block, 1) || h.Remove(block, 1) {
			t.Error("a block is not removed as often as it was adopted")
		}
	}
	if len(h.adopted) != 0 || len(h.all) != 0 {
		t.Errorf("%d blocks are left, %d are looked at", len(h.adopted), len(h.all))
	}
	runtime.KeepAlive(inside)
	runtime.KeepAlive(taken)

	// Lost, each counts as often as it was adopted.
	add()
	collect(func() bool { return len(lost) == 4 })
	h.mu.Lock()
	defer h.mu.Unlock()
	h.set.mu.Lock()
	defer h.set.mu.Unlock()
	if h.set.count != 0 || len(h.adopted) != 0 || len(h.all) != 0 {
		t.Errorf("%d blocks are in the set, %d are adopted, %d are looked at", h.set.count, len(h.adopted), len(h.all))
	}
}

// An adopted block that is lost is found although GOMAXPROCS falls while the collector sweeps. With its cleanup alone,
// which then waits on a P that is gone, all of six runs of this test failed.
func TestAdoptedBlocksOutliveTheirP(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var lost, sink atomic.Int64
	h := NewHeapBlocks(1, func(uint8) { lost.Add(1) })
	adopted := int64(0)
	for round := range 60 {
		runtime.GOMAXPROCS(16)
		var stop atomic.Bool
		for range 8 { // they sweep
			go func() {
				for !stop.Load() {
					sink.Add(int64(len(make([]byte, 1024+round))))
				}
			}()
		}
		for range 300 {
			if h.Adopt(&make([]byte, 2048)[0], 0) {
				adopted++
			}
		}
		go runtime.GC()
		time.Sleep(time.Duration(round%30) * 100 * time.Microsecond)
		runtime.GOMAXPROCS(1)
		stop.Store(true)
		for collections := 0; lost.Load() < adopted; collections++ {
			if collections == 1000 {
				t.Fatalf("round %d: of %d lost blocks %d were found after %d collections", round, adopted, lost.Load(), collections)
			}
			runtime.GC()
			runtime.Gosched()
			if collections > 100 {
				time.Sleep(time.Millisecond) // or a thousand collections can be over before AfterCollection has rested
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.set.count != 0 || len(h.adopted) != 0 || len(h.all) != 0 {
		t.Errorf("%d blocks are in the set, %d are adopted, %d are looked at", h.set.count, len(h.adopted), len(h.all))
	}
}

// A variable of a package is never collected.
func TestHeapBlocksDoNotAdoptAVariable(t *testing.T) {
	h := NewHeapBlocks(1, func(uint8) {})
	if h.Adopt(&packageVariable[0], 0) || h.Has(addressOf(&packageVariable[0]), 0) || len(h.adopted) != 0 {
		t.Error("adopted")
	}
}

var packageVariable [64]byte

// Of a block that is lost, and of which no cleanup has told yet, a block that lies there
// now is not the adopted one.
func TestAdoptedBlockWasElsewhere(t *testing.T) {
	h := NewHeapBlocks(1, func(uint8) {})
	was, now := &make([]byte, 64)[0], &make([]byte, 64)[0]
	h.Adopt(was, 0)
	a := h.adopted[word(addressOf(was), 0)]
	delete(h.adopted, word(addressOf(was), 0))
	h.adopted[word(addressOf(now), 0)] = a // as if it had lain there
	h.Add(now, 0)
	if !h.Remove(now, 0) || a.added != 1 {
		t.Error("a block was taken for the adopted one")
	}
	runtime.KeepAlive(was)
}

// While a cleanup tells of a lost block, a block that lies there now is not taken for it either.
func TestFindWhileACleanupRuns(t *testing.T) {
	was, now := &make([]byte, 64)[0], &make([]byte, 64)[0]
	for range 20_000 {
		h := NewHeapBlocks(1, func(uint8) {})
		h.Adopt(was, 0)
		a := h.adopted[word(addressOf(was), 0)]
		a.cleanup.Stop()
		h.Remove(was, 0)
		a.address, a.added = addressOf(now), 1 // as if it had lain there
		h.adopted[word(addressOf(now), 0)] = a
		h.set.Add(addressOf(now), 0)
		done, begins := make(chan struct{}), new(atomic.Bool)
		go func() {
			begins.Store(true)
			a.collected()
			close(done)
		}()
		for !begins.Load() {
			runtime.Gosched()
		}
		if _, ok := h.Find(now, 0); ok {
			t.Fatal("a block was taken for one that was lost")
		}
		<-done
		if h.set.count != 0 {
			t.Fatalf("%d blocks are in the set", h.set.count)
		}
	}
	runtime.KeepAlive(was)
}
