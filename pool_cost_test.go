package dewpond_test

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/percpu"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// stopsOf returns how often f stops the world. What else runs in the process may stop it too, so f runs
// a few times, after before, and the fewest count.
func stopsOf(before, f func()) (fewest uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for i := range 10 {
		before()
		n := stops()
		f()
		if n = stops() - n; i == 0 || n < fewest {
			fewest = n
		}
	}
	return fewest
}

// Trim and Close stop the world as often as docs/safety.md says.
func TestTrimAndCloseStopTheWorld(t *testing.T) {
	notWatched(t, "pools of CheckAll bypass their shards")
	var p *dewpond.BytePool
	var b []byte
	unused := func() {
		if p != nil { // 32 bits have no address space for all
			p.Put(b)
			p.Close()
		}
		p, b = newPool(t, dewpond.BytePoolOptions{}), nil
	}
	used := func() {
		unused()
		p.Put(p.Get(100))
		l := p.Lease(100)
		l.Release()
	}
	trimmed := func() { used(); p.Trim() }
	allOut := func() { trimmed(); b = p.Get(100) }
	trim := func() { p.Trim() }
	shut := func() { p.Close() }
	unused()
	for _, tt := range []struct {
		what      string
		before, f func()
		want      uint64
	}{
		{"NewBytePool", func() {}, unused, 0},
		{"Trim of an unused pool", unused, trim, 0},
		{"Close of an unused pool", unused, shut, 0},
		{"the first use", unused, func() { p.Put(p.Get(100)) }, 1},
		{"Trim of blocks and handles", used, trim, 2},
		{"a second Trim", trimmed, trim, 0},
		{"Trim where all blocks are out", allOut, trim, 0},
		{"Close of blocks and handles", used, shut, 1},
		{"Close of a trimmed pool", trimmed, shut, 0},
		{"Close of a closed pool", func() { used(); p.Close() }, shut, 0},
	} {
		if !percpu.Pinned {
			tt.want = 0 // it has locks instead
		}
		if n := stopsOf(tt.before, tt.f); n != tt.want {
			t.Errorf("%s stops the world %d times, want %d", tt.what, n, tt.want)
		}
	}
}

// A refusal looks at the pools that have something idle, however many others the Budget has, and
// stops the world once for all.
func TestRefusalLooksAtWhatIsIdle(t *testing.T) {
	notWatched(t, "pools of CheckAll bypass their shards")
	const size = 1024
	for _, tt := range []struct{ pools, idle int }{{10, 0}, {1000, 0}, {1000, 7}} {
		t.Run(fmt.Sprint(tt.pools, " pools, idle in ", tt.idle), func(t *testing.T) {
			if offHeap && tt.pools > 10 {
				t.Skip("off the heap there is no address space for so many")
			}
			var budget *dewpond.Budget
			var all []*dewpond.BytePool
			var out []byte
			fresh := func() {
				for i, p := range all { // 32 bits have no address space for all
					if i == 0 {
						p.Put(out)
					}
					p.Close()
				}
				budget = dewpond.MustBudget("", int64(1+tt.idle)*size)
				all = nil
				for range tt.pools {
					all = append(all, newPool(t, dewpond.BytePoolOptions{Budget: budget, Classes: []int{size, 4 * size}}))
				}
				out = all[0].Get(size)
				for _, p := range all[1 : 1+tt.idle] {
					p.Put(p.Get(size))
				}
			}
			refuse := func() {
				if _, err := all[0].TryGet(int(budget.Limit())); err == nil {
					t.Error("not refused")
				}
			}
			if n := stopsOf(fresh, refuse); n > 1 {
				t.Errorf("the first refusal stops the world %d times", n)
			}
			before := dewpond.Looked(budget)
			for range 10 {
				refuse()
			}
			// Each refusal looks in the depots, moves what is in shards there, and looks again.
			if n, most := dewpond.Looked(budget)-before, uint64(10*5*(tt.idle+1)); n > most {
				t.Errorf("ten refusals look %d times at a pool, want %d at most", n, most)
			}
		})
	}
}

// An unused pool is small, whatever GOMAXPROCS is.
func TestUnusedPoolIsSmall(t *testing.T) {
	onlyOnHeap(t, "off the heap a pool has tables of its memory")
	notWatched(t, "the checks have memory of their own")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 16, 128} {
		runtime.GOMAXPROCS(procs)
		const count = 200
		most := int64(8 << 10)
		if sanitized {
			most = 10 << 10
		}
		var all []*dewpond.BytePool
		first := newPool(t, dewpond.BytePoolOptions{}) // the size table is shared
		each := int64(math.MaxInt64)
		for i := 0; i < 3 || i < 12 && each > most; i++ { // what other goroutines allocate meanwhile counts too
			before := liveHeap()
			for range count {
				all = append(all, newPool(t, dewpond.BytePoolOptions{}))
			}
			each = min(each, (liveHeap()-before)/count)
		}
		unused := all[0].Stats().OverheadBytes
		used := must(makePool(dewpond.BytePoolOptions{}))
		used.Put(used.Get(100))
		t.Logf("GOMAXPROCS %d: %d bytes of heap unused; OverheadBytes %d unused, %d used", procs, each, unused, used.Stats().OverheadBytes)
		used.Close() // or its shards, which it replaces now and then, could come into the next measurement
		if each > most || unused > most {
			t.Errorf("GOMAXPROCS %d: an unused pool has %d bytes on the heap, and says %d; want %d at most", procs, each, unused, most)
		}
		runtime.KeepAlive(first)
		runtime.KeepAlive(all)
	}
}

// A new pool allocates little, whatever its classes are: no block of each is tried.
func TestNewPoolAllocatesLittle(t *testing.T) {
	onlyOnHeap(t, "off the heap a pool has tables of its memory")
	notWatched(t, "the checks have memory of their own")
	var odd []int // none is a size that Go allocates
	for i := range sizeclass.MaxClasses {
		odd = append(odd, (i+1)*8<<10-100)
	}
	const most = 64 << 10
	for name, f := range map[string]func(){
		"NewBytePool":                    func() { must(makePool(dewpond.BytePoolOptions{})).Close() },
		"NewBytePool with other classes": func() { must(makePool(dewpond.BytePoolOptions{Classes: odd})).Close() },
		"NewSlicePool":                   func() { must(dewpond.NewSlicePool(dewpond.SlicePoolOptions[uint64]{})).Close() },
		"a zero BytePool":                func() { new(dewpond.BytePool).Close() },
	} {
		if got := allocatedBytes(f); got > most {
			t.Errorf("%s allocates %d bytes, want %d at most", name, got, most)
		}
	}
}

// BenchmarkNewBytePool has a pool of objects, which has no classes, as its control.
func BenchmarkNewBytePool(b *testing.B) {
	control := func(n int) {
		for range n {
			must(dewpond.NewPool(dewpond.PoolOptions[trade]{})).Close()
		}
	}
	for name, classes := range map[string][]int{"default": nil, "other": {1500, 9000, 65535}} {
		b.Run(name, func(b *testing.B) {
			compareRoundsOf(b, 100, func(n int) {
				for range n {
					must(makePool(dewpond.BytePoolOptions{Classes: classes})).Close()
				}
			}, control)
		})
	}
}

// liveHeap returns the bytes that two collections leave.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
