package dewpond_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
)

// classPools is the best honest use of sync.Pool for bytes: one for each class,
// holding data pointers, which fit an interface without boxing.
type classPools struct {
	class [129]uint8 // of a size's 64 byte step, up to 8 KiB
	sizes []int
	pools [64]sync.Pool
}

func newClassPools() *classPools {
	c := &classPools{sizes: dewpond.DefaultClasses()}
	class := 0
	for i := range c.class {
		for c.sizes[class] < i*64 {
			class++
		}
		c.class[i] = uint8(class)
	}
	return c
}

func (c *classPools) Get(n int) []byte {
	class := c.class[(n+63)/64]
	size := c.sizes[class]
	if block, _ := c.pools[class&63].Get().(*byte); block != nil {
		return unsafe.Slice(block, size)[:n]
	}
	return make([]byte, n, size)
}

func (c *classPools) Put(b []byte) {
	class := c.class[(cap(b)+63)/64]
	if c.sizes[class] == cap(b) {
		c.pools[class&63].Put(unsafe.SliceData(b))
	}
}

// BenchmarkGetPut is a Get, a touch of the first and last byte and a Put, with
// the same through sync.Pool in turn: one round of each, over and over, so that a
// machine whose speed drifts slows both. ratio is ours to theirs.
func BenchmarkGetPut(b *testing.B) {
	for _, size := range []int{128, 8192} {
		ours := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
		theirs := newClassPools()
		b.Run(fmt.Sprintf("size=%d/goroutines=1", size), func(b *testing.B) {
			compareRounds(b, func(n int) { ourLoop(ours, size, n) }, func(n int) { theirLoop(theirs, size, n) })
		})
		b.Run(fmt.Sprintf("size=%d/goroutines=GOMAXPROCS", size), func(b *testing.B) {
			compareRounds(b,
				func(n int) { parallel(n, func(n int) { ourLoop(ours, size, n) }) },
				func(n int) { parallel(n, func(n int) { theirLoop(theirs, size, n) }) })
		})
	}
}

// BenchmarkReturn is a Get and its Return, and its control a Get and its Put of the same
// pool, of a slice that is in memory: the difference is a store.
func BenchmarkReturn(b *testing.B) {
	p := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	versus(b, "size=128", func(n int) {
		var held struct{ block []byte }
		keep := &held
		for range n {
			keep.block = p.Get(128)
			p.Return(&keep.block)
		}
	}, func(n int) {
		var held struct{ block []byte }
		keep := &held
		for range n {
			keep.block = p.Get(128)
			p.Put(keep.block)
		}
	})
}

// BenchmarkBudget is a pool with a Budget, and in turn one without: a Put of the first
// looks its block up. misses are of a Get that allocates and a Put that lets go.
func BenchmarkBudget(b *testing.B) {
	for _, size := range []int{128, 8192} {
		for _, misses := range []bool{false, true} {
			o := dewpond.BytePoolOptions{Zero: dewpond.ZeroNever}
			if misses {
				o.MaxIdleBytes = dewpond.NoIdle
			}
			without := newPool(b, o)
			o.Budget = dewpond.MustBudget("", 1<<30)
			with := newPool(b, o)
			for _, p := range []*dewpond.BytePool{with, without} {
				if err := p.Prewarm(size, 1000); (err != nil) != misses { // so that there is a table of some size
					b.Fatal(err)
				}
			}
			b.Run(fmt.Sprintf("size=%d/misses=%v/goroutines=1", size, misses), func(b *testing.B) {
				compareRounds(b, func(n int) { ourLoop(with, size, n) }, func(n int) { ourLoop(without, size, n) })
			})
			b.Run(fmt.Sprintf("size=%d/misses=%v/goroutines=GOMAXPROCS", size, misses), func(b *testing.B) {
				compareRounds(b,
					func(n int) { parallel(n, func(n int) { ourLoop(with, size, n) }) },
					func(n int) { parallel(n, func(n int) { ourLoop(without, size, n) }) })
			})
		}
	}
}

// BenchmarkBudgetBytes is what a Budget's pool notes of each block, in bytes.
func BenchmarkBudgetBytes(b *testing.B) {
	const count = 200_000
	for b.Loop() {
		taken := func(o dewpond.BytePoolOptions) float64 {
			var before, after runtime.MemStats
			p := newPool(b, o)
			blocks := make([][]byte, count)
			runtime.GC()
			runtime.ReadMemStats(&before)
			for i := range blocks {
				blocks[i] = p.Get(1024)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			runtime.KeepAlive(blocks)
			return float64(after.HeapAlloc+after.OtherSys+after.GCSys-before.HeapAlloc-before.OtherSys-before.GCSys) / count
		}
		without := taken(dewpond.BytePoolOptions{})
		b.ReportMetric(taken(dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 1<<30)})-without, "bytes/block")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkGetBatch is eight blocks by GetBatch and as many Puts, for each block, and its
// control eight Gets.
func BenchmarkGetBatch(b *testing.B) {
	const count = 8
	p := newPool(b, dewpond.BytePoolOptions{})
	blocks := make([][]byte, count)
	ctx := b.Context()
	round := func(n int, get func()) {
		for range n / count {
			get()
			putAll(p, blocks)
		}
	}
	compareRounds(b,
		func(n int) {
			round(n, func() {
				if err := p.GetBatch(ctx, blocks, 1000); err != nil {
					b.Fatal(err)
				}
			})
		},
		func(n int) {
			round(n, func() {
				for i := range blocks {
					blocks[i] = p.Get(1000)
				}
			})
		})
}
