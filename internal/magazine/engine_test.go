package magazine

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond/internal/percpu"
)

func block() unsafe.Pointer { return unsafe.Pointer(new([64]byte)) }

// check fails unless the engine, which nobody uses, has as much reserved as its
// magazines have room, and shards account for what they hold.
func check(t *testing.T, e *Engine) {
	t.Helper()
	var reserved int64
	a := e.array()
	for id := range a.procs {
		bytes := 0
		for class := range e.sharded {
			s := e.slotOf(a, id, class)
			rooms := int64(s.room)
			if s.previous != nil {
				rooms += int64(s.previous.room)
			}
			e.depots[class].reserved.Add(-rooms)
			reserved += rooms * int64(e.depots[class].size)
			bytes += int(rooms) * e.depots[class].size
		}
		if got := a.shards[id].bytes; got != bytes || bytes > e.shardBytes {
			t.Errorf("shard %d accounts for %d bytes and holds %d, at most %d", id, got, bytes, e.shardBytes)
		}
	}
	for class := range e.depots {
		d := &e.depots[class]
		for m := d.full.pop(&e.table); m != nil; m = d.full.pop(&e.table) {
			if m.n != m.room || m.n == 0 {
				t.Errorf("class %d: a magazine in the depot has %d blocks and room %d", class, m.n, m.room)
			}
			d.reserved.Add(-int64(m.room))
			reserved += int64(m.room) * int64(d.size)
		}
		if left := d.reserved.Load(); left != 0 {
			t.Errorf("class %d: %d places are reserved that no magazine has", class, left)
		}
	}
	if got := e.bounds.reserved.Load(); got != reserved {
		t.Errorf("%d bytes reserved, magazines have room for %d", got, reserved)
	}
}

// Reservations and the shard's account stay true through everything that moves
// magazines. check consumes the engine.
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
		out := make([]int, len(c.Sizes))
		kept := make([]int, len(c.Sizes))
		for i := range blocks {
			class := uint8(i * 7 % len(c.Sizes))
			switch {
			case i%11 == 0:
				e.Gather()
			case i%13 == 0:
				e.Scatter()
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

// A shard that is full of other classes' magazines makes them give way, and never
// holds more than its bound.
func TestShardMakesWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var sizes []int
	for size := 16384; size <= 32768; size += 512 {
		sizes = append(sizes, size)
	}
	var e Engine
	e.Init(Config{Sizes: sizes, MaxIdleBytes: 1 << 30})
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

func TestTableReusesIndexes(t *testing.T) {
	var tb table
	seen := map[uint32]bool{}
	var all []*magazine
	for range 1000 {
		m := tb.add()
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
	if m := tb.add(); m.index != all[500].index {
		t.Errorf("index %d is not given out again", all[500].index)
	}
	tb.free, tb.last = nil, indexMask
	if tb.add() != nil {
		t.Error("a table that is full made another magazine")
	}
}

// Near the end of the generation's bits a pop still changes the head and nothing
// but the generation.
func TestGenerationWraps(t *testing.T) {
	var tb table
	var s stack
	a, b := tb.add(), tb.add()
	s.head.Store(^uint64(indexMask)) // the last generation, empty
	s.push(a)
	s.push(b)
	if s.pop(&tb) != b || s.head.Load() != uint64(a.index) || s.pop(&tb) != a || !s.empty() {
		t.Errorf("head %x after the generation wrapped", s.head.Load())
	}
}
