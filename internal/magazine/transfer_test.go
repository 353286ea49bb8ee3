package magazine

import (
	"runtime"
	"testing"
	"unsafe"
	"weak"
)

// A mark says which magazine it is and whether it is full, at any address.
func TestMarks(t *testing.T) {
	for capacity := range MaxRounds + 1 {
		m := newMagazine(capacity)
		if int(m.capacity) < capacity {
			t.Errorf("%d places asked, %d made", capacity, m.capacity)
		}
		for _, mark := range []*byte{fullMark(m), emptyMark(m)} {
			if marked(mark) != m || isFull(mark) != (mark == fullMark(m)) {
				t.Errorf("a magazine of %d: mark at offset %d: full %v, of another magazine: %v",
					capacity, uintptr(unsafe.Pointer(mark))-uintptr(unsafe.Pointer(m)), isFull(mark), marked(mark) != m)
			}
		}
	}
}

// If one shard only puts and another only gets, magazines go through the transfer
// cache: the depot's stacks and the bounds are not touched.
func TestTransfer(t *testing.T) {
	var e Engine
	e.Init(Config{Sizes: []int{1024}, MaxIdleBytes: 64 << 20})
	e.grow()
	rounds := int(e.array().rounds[0])
	give := func(id uint, n int) {
		for range n {
			pushAt(&e, id, 0, block())
		}
	}
	take := func(id uint, n int) {
		t.Helper()
		for range n {
			if popAt(&e, id, 0) == nil {
				t.Fatal("a block is idle and was not found")
			}
		}
	}
	give(0, 4*rounds)
	take(1, rounds) // the other shard has magazines of its own from here on
	give(0, rounds)
	take(1, rounds)
	give(0, rounds)
	head, reserved := e.depots.At(0).full.head.Load(), e.Reserved()
	for range 100 {
		take(1, rounds)
		give(0, rounds)
	}
	if e.depots.At(0).full.head.Load() != head || e.Reserved() != reserved {
		t.Errorf("a hundred exchanges went through the depot: head %x, was %x; reserved %d, was %d",
			e.depots.At(0).full.head.Load(), head, e.Reserved(), reserved)
	}
	check(t, &e)
	if got := e.Trim(func(uint8, unsafe.Pointer) {}); got != int64(4*rounds*1024) {
		t.Errorf("Trim found %d bytes, want %d", got, 4*rounds*1024)
	}
}

// A magazine that stays in a transfer cache comes to the depot, where age finds it.
func TestTransferIsLeft(t *testing.T) {
	var e Engine
	e.Init(Config{Sizes: []int{1024}, MaxIdleBytes: 64 << 20})
	e.grow()
	rounds := int(e.array().rounds[0])
	for range 4 * rounds {
		pushAt(&e, 0, 0, block())
	}
	if e.array().left.Load() == 0 {
		t.Fatal("the transfer cache is empty: this shows nothing")
	}
	before := e.depots.At(0).blocks.Load()
	Gather([]*Engine{&e})
	if got := e.depots.At(0).blocks.Load(); got <= before || e.array().left.Load() != 0 {
		t.Errorf("the depot has %d blocks, had %d; %d bytes are in the transfer cache", got, before, e.array().left.Load())
	}
	check(t, &e)
}

// A bound that leaves no magazine to the transfer caches is kept.
func TestTransferKeepsBounds(t *testing.T) {
	for _, c := range []Config{
		{Sizes: []int{1024}, MaxIdleBytes: 100 << 10},
		{Sizes: []int{1024}, MaxIdleBytes: 64 << 20, MaxIdlePerClass: 50},
	} {
		var e Engine
		e.Init(c)
		e.grow()
		for range 1000 {
			pushAt(&e, 0, 0, block())
		}
		check(t, &e)
	}
}

// A block that was got and lost is collected although its slot is not used again. A
// slot that is in use is left alone, and so is a block that is idle.
func TestClearStale(t *testing.T) {
	var e Engine
	e.Init(Config{Sizes: []int{64, 128}, MaxIdleBytes: 1 << 20})
	e.grow()
	lose := func() weak.Pointer[[64]byte] {
		b := new([64]byte)
		pushAt(&e, 0, 0, unsafe.Pointer(b))
		if popAt(&e, 0, 0) != unsafe.Pointer(b) {
			t.Fatal("not the block that was put back last")
		}
		return weak.Make(b)
	}
	lost := lose()
	runtime.GC()
	if lost.Value() == nil {
		t.Fatal("the slot does not point to the block: this shows nothing")
	}
	idle := block()
	pushAt(&e, 0, 1, idle)
	all := []*Engine{&e}
	ClearStale(all, new(Stale))
	ClearStale(all, new(Stale))
	runtime.GC()
	if lost.Value() != nil {
		t.Error("a slot that is not used keeps a lost block alive")
	}
	if popAt(&e, 0, 1) != idle {
		t.Error("an idle block is gone")
	}
	used := lose()
	ClearStale(all, new(Stale))
	lose()
	if ClearStale(all, new(Stale)); e.slotOf(e.array(), 0, 0).hot == nil {
		t.Error("a slot in use was cleared, which costs a stop of the world at every collection")
	}
	ClearStale(all, new(Stale))
	if runtime.GC(); used.Value() != nil {
		t.Error("a lost block is alive")
	}
	if _, slots, _ := e.findStale(nil); len(slots) != 0 {
		t.Error("a slot that was cleared is to be cleared again")
	}
	check(t, &e)
}

// With the slices of the calls before, ClearStale allocates nothing, also where it clears slots.
func TestClearStaleAllocatesNothing(t *testing.T) {
	var e Engine
	e.Init(Config{Sizes: []int{64}, MaxIdleBytes: 1 << 20})
	e.grow()
	all, idle, cleared := []*Engine{&e}, block(), 0
	var scratch Stale
	cycle := func() {
		pushAt(&e, 0, 0, idle)
		popAt(&e, 0, 0)
		for range 2 { // the second finds that the slot was not used since the first
			_, visits := clearStale(all, &scratch)
			cleared += visits
		}
	}
	if n := testing.AllocsPerRun(100, cycle); n != 0 || cleared < 100 {
		t.Errorf("%v allocations, and %d slots were cleared", n, cleared)
	}
}

// While an engine is held only the slots that are to be cleared are visited, however many
// engines, shards and classes there are.
func TestClearStaleHoldsBriefly(t *testing.T) {
	var sizes []int
	for class := range 16 {
		sizes = append(sizes, 64<<class)
	}
	for _, n := range []int{10, 100} {
		var all []*Engine
		for range n {
			e := new(Engine)
			e.Init(Config{Sizes: sizes, MaxIdleBytes: 1 << 30})
			e.grow()
			for class := range sizes {
				pushAt(e, 0, uint8(class), block())
			}
			all = append(all, e)
		}
		clearStale(all, new(Stale))
		clearStale(all, new(Stale)) // all are idle now
		for _, e := range all[:n/2] {
			pushAt(e, 0, 3, block())
			popAt(e, 0, 3)
		}
		if looks, visits := clearStale(all, new(Stale)); visits != 0 || looks < n*len(sizes) {
			t.Errorf("%d engines: %d looks and %d visits although no slot is stale", n, looks, visits)
		}
		if looks, visits := clearStale(all, new(Stale)); visits != n/2 || looks < n*len(sizes) {
			t.Errorf("%d engines: %d looks, %d visits, want %d", n, looks, visits, n/2)
		}
	}
}

// Empty magazines go, a few at a time while blocks are idle, and then all.
func TestShedSpares(t *testing.T) {
	var e Engine
	e.Init(Config{Sizes: []int{64}, MaxIdleBytes: 64 << 20, Direct: true})
	e.Pop(0) // as of the first use
	empty := e.Overhead()
	const blocks = 1000
	for range blocks {
		e.Push(0, block())
	}
	if per := (e.Overhead() - empty) / blocks; per > 48 {
		t.Errorf("each idle block costs %d bytes", per)
	}
	for range blocks - 1 {
		e.Pop(0)
	}
	e.DropSpares() // records how many there are
	full := e.Overhead()
	e.DropSpares()
	if now := e.Overhead(); now >= full || now < full*3/4 {
		t.Errorf("of %d bytes %d are left after one call", full, now)
	}
	for range 50 {
		e.DropSpares()
	}
	table := int64(2 * blocks * unsafe.Sizeof(uintptr(0))) // the table stays
	if now := e.Overhead(); now-empty > table+64 {
		t.Errorf("%d bytes are left for one block", now-empty)
	}
	e.Pop(0)
	e.DropSpares()
	if left := e.depots.At(0).spares.Load(); left != 0 || e.takeSpare(e.depots.At(0)) != nil {
		t.Errorf("%d empty magazines are left in an empty engine", left)
	}
}

// Reclaim finds large blocks in another shard, once between two collections.
func TestReclaim(t *testing.T) {
	var e Engine
	e.Init(Config{Sizes: []int{1024, 64 << 10}, MaxIdleBytes: 64 << 20})
	e.grow()
	fill := func() {
		for class := range uint8(2) {
			for range 2 * e.array().rounds[1] { // two magazines
				pushAt(&e, 0, class, block())
			}
		}
	}
	fill()
	if e.Reclaim(0) {
		t.Error("reclaimed small blocks")
	}
	if popAt(&e, 1, 1) != nil {
		t.Fatal("found without Reclaim: this shows nothing")
	}
	if !e.Reclaim(1) || popAt(&e, 1, 1) == nil {
		t.Error("large blocks in another shard are not found")
	}
	fill()
	if e.Reclaim(1) {
		t.Error("reclaimed twice between two collections")
	}
	ClearStale([]*Engine{&e}, new(Stale))
	if !e.Reclaim(1) {
		t.Error("not reclaimed after a collection")
	}
	if ClearStale([]*Engine{&e}, new(Stale)); e.Reclaim(1) {
		t.Error("reclaimed where no shard has anything")
	}
	check(t, &e)
}

// A counter keeps counting when a word wraps, also for a reader between low and its
// carry.
func TestCounterCarries(t *testing.T) {
	var c counter
	c.low = ^uintptr(0) - 1
	last := c.load(0)
	for range 3 {
		c.count()
		if n := c.load(last); n != last+1 && unsafe.Sizeof(c.low) == 4 {
			t.Fatalf("%d after %d", n, last)
		} else {
			last = n
		}
	}
	if len(c.carry) == 0 {
		return
	}
	c = counter{low: ^uintptr(0)}
	last = c.load(0)
	c.low++ // the owner is about to count the carry
	if n := c.load(last); n != last+1 {
		t.Errorf("%d after %d while the carry is under way", n, last)
	}
}
