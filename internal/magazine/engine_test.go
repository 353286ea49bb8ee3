package magazine

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond/internal/percpu"
)

// Reservations and the shards' accounts stay exact through everything that moves
// magazines.
func TestReservationsAddUp(t *testing.T) {
	const blocks = 3000
	for _, c := range []Config{
		{Sizes: []int{64, 1024, 16384, 65536}, MaxIdleBytes: 64 << 20},
		{Sizes: []int{64, 1024, 16384, 65536}, MaxIdleBytes: 1 << 20},
		{Sizes: []int{64, 1024, 16384, 65536}, MaxIdleBytes: 64 << 20, MaxIdlePerClass: 37},
		{Sizes: []int{64, 1024, 16384, 65536}, MaxIdleBytes: 5000},
		{Sizes: []int{64}, MaxIdleBytes: 0},
	} {
		var e Engine
		e.Init(c)
		e.grow()
		out := make([]int, len(c.Sizes))
		kept := make([]int, len(c.Sizes))
		for i := range blocks {
			class := uint8(i * 7 % len(c.Sizes))
			switch {
			case i%11 == 0:
				e.EnterDirect()
			case i%13 == 0:
				e.LeaveDirect()
			case i%5 == 0:
				if e.Pop(class) != nil {
					out[class]++
				}
			case i%17 == 0:
				e.Add(class, block()) // counts as neither
			default:
				if r := e.Push(class, block()); r == Kept || r == KeptDirect {
					kept[class]++
				}
			}
		}
		for class, got := range e.Counts() {
			if got.Puts != uint64(kept[class]) || got.Hits != uint64(out[class]) {
				t.Errorf("%+v: class %d counts %+v, want %d Puts and %d Hits", c, class, got, kept[class], out[class])
			}
		}
		check(t, &e)
	}
}

// A shard that is full of other classes' magazines makes them give way, and never holds
// more than its bound.
func TestShardMakesWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var sizes []int
	for size := 16384; size <= 32768; size += 512 {
		sizes = append(sizes, size)
	}
	var e Engine
	e.Init(Config{Sizes: sizes, MaxIdleBytes: 1 << 30})
	e.grow()
	for range 3 {
		for class := range sizes {
			for range 10 {
				e.Push(uint8(class), block())
			}
			for range 5 {
				if e.Pop(uint8(class)) == nil && percpu.Pinned {
					t.Fatal("a block that was just put back is out of reach on the only P")
				}
			}
		}
	}
	check(t, &e)
}

// Widening a magazine makes way for the places it adds, even if the slot's other
// magazine has its full width.
func TestWideningMakesWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const shardBytes, size = 32 << 10, 1024
	const most = shardBytes / 2 / size // blocks in a magazine
	bound := int64(4 * percpu.Procs() * shardBytes)
	var e Engine
	e.Init(Config{Sizes: []int{64, size, 64 << 10}, MaxIdleBytes: bound})
	e.grow()
	e.Add(2, block())
	for range most {
		pushAt(&e, 0, 1, block())
	}
	for e.Reserved() < bound-4*size {
		e.Add(1, block())
	}
	for range 4 { // the bytes allow no more: a second magazine with 4 places
		pushAt(&e, 0, 1, block())
	}
	e.Pop(2)
	for range 2 * MaxRounds {
		pushAt(&e, 0, 0, block())
	}
	before := e.array().shards[0].bytes
	if before != (most+4)*size+2*MaxRounds*64 {
		t.Fatalf("the shard holds %d bytes: this is not the case to test", before)
	}
	pushAt(&e, 0, 1, block())
	if s := e.slotOf(e.array(), 0, 1); s.room != most || s.previousRoom != most {
		t.Errorf("magazines of %d and %d places, want %d each", s.room, s.previousRoom, most)
	}
	check(t, &e)
}

// A Put calls LeaveDirect, so LeaveDirect must not wait for a goroutine that holds mu over a grace
// period.
func TestLeaveDirectDoesNotWait(t *testing.T) {
	var e Engine
	e.Init(Config{Sizes: []int{64}, MaxIdleBytes: 1 << 20})
	e.grow()
	e.EnterDirect()
	e.mu.Lock()
	e.LeaveDirect() // if it waits, the test runs into its timeout
	e.mu.Unlock()
	if !e.IsDirect() {
		t.Error("LeaveDirect replaced the array while another goroutine was about to")
	}
	if e.LeaveDirect(); e.IsDirect() {
		t.Error("LeaveDirect did nothing")
	}
}

func TestTableReusesIndexes(t *testing.T) {
	var tb table
	seen := map[uint32]bool{}
	var all []*magazine
	for range 1000 {
		m := tb.add(1)
		if seen[m.index] || m.index == 0 || tb.at(m.index) != m {
			t.Fatalf("index %d", m.index)
		}
		seen[m.index] = true
		all = append(all, m)
	}
	tb.remove(all[500])
	if tb.at(all[500].index) != nil {
		t.Error("a removed magazine is still in the table")
	}
	if m := tb.add(1); m.index != all[500].index {
		t.Errorf("index %d is not given out again", all[500].index)
	}
	tb.free, tb.last = nil, indexMask
	if tb.add(1) != nil {
		t.Error("a table that is full made another magazine")
	}
}

// Near the end of the generation's bits a pop still changes the head and nothing but
// the generation.
func TestGenerationWraps(t *testing.T) {
	var tb table
	var s stack
	a, b := tb.add(1), tb.add(1)
	s.head.Store(^uint64(indexMask)) // the last generation, empty
	s.push(a)
	s.push(b)
	if s.pop(&tb) != b || s.head.Load() != uint64(a.index) || s.pop(&tb) != a || !s.empty() {
		t.Errorf("head %x after the generation wrapped", s.head.Load())
	}
}

// An engine whose Init makes the shards has the first block in them, in the array of Init: nothing waits for sections.
func TestInitMakesShards(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, shards := range []bool{false, true} {
		e := new(Engine)
		e.Init(Config{Sizes: []int{64}, MaxIdleBytes: 1 << 20, Shards: shards})
		first := e.array()
		b := block()
		e.Push(0, b)
		if same := e.array() == first; same != shards {
			t.Errorf("Shards: %v; the first use leaves the array: %v", shards, same)
		}
		if got := e.Pop(0); got != b || e.array().mode != sharded || e.array().procs != 1 {
			t.Errorf("Shards: %v; a Pop returns %p, want %p", shards, got, b)
		}
		if hits := e.Counts()[0].Hits; hits != 1 {
			t.Errorf("Shards: %v; %d hits", shards, hits)
		}
		check(t, e)
	}
}

// A pool that is made while GOMAXPROCS is high, and first used when it is low, makes no magazine that
// a shard would fill beyond its capacity.
func TestShardsOfFewerProcs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	var e Engine
	e.Init(Config{Sizes: []int{64, 4096}, MaxIdleBytes: 1 << 20, MaxIdlePerClass: 400})
	runtime.GOMAXPROCS(1)
	var all []unsafe.Pointer
	for range 300 {
		all = append(all, block())
	}
	for range 2 {
		for _, b := range all {
			e.Push(0, b)
		}
		for b := e.Pop(0); b != nil; b = e.Pop(0) {
		}
	}
	for class, rounds := range e.array().rounds {
		if d := e.depots.At(uint8(class)); int(rounds) > d.places || rounds > 1 && !d.several {
			t.Errorf("class %d: %d rounds in magazines with %d places; several: %v", class, rounds, d.places, d.several)
		}
	}
}

// TestFramesApart wants the portable engine to find a block that was pushed from another depth of
// the stack, since its hint is where the frame lies.
func TestFramesApart(t *testing.T) {
	if percpu.Pinned {
		t.Skip("the pinned engine knows the P")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var e Engine
	e.Init(Config{Sizes: []int{64}, MaxIdleBytes: 1 << 20})
	for depth := range 200 {
		if depth == 100 {
			e.Arm() // finds as much
		}
		deeper(depth%100, func() { e.Push(0, block()) })
		if e.Pop(0) == nil {
			t.Fatalf("a block that was pushed %d frames deeper is not found", depth%100)
		}
	}
	check(t, &e)
}

// deeper calls f that many frames, of half a KiB each, from here.
//
//go:noinline
func deeper(frames int, f func()) {
	var frame [512]byte
	if frames > 0 {
		deeper(frames-1, f)
		runtime.KeepAlive(&frame)
		return
	}
	f()
}
