package dewpond_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
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

// ourLoop and theirLoop are one loop written twice: through an interface or a type
// parameter the calls would be indirect, which users' calls are not.
func ourLoop(p *dewpond.BytePool, size, n int) {
	for range n {
		b := p.Get(size)
		b[0], b[len(b)-1] = 1, 1
		p.Put(b)
	}
}

func theirLoop(p *classPools, size, n int) {
	for range n {
		b := p.Get(size)
		b[0], b[len(b)-1] = 1, 1
		p.Put(b)
	}
}

// parallel shares n among a goroutine for each P.
func parallel(n int, loop func(n int)) {
	var wg sync.WaitGroup
	procs := runtime.GOMAXPROCS(0)
	for range procs {
		wg.Go(func() { loop(n / procs) })
	}
	wg.Wait()
}

func compareRounds(b *testing.B, ours, theirs func(n int)) {
	const round = 100_000
	ours(1000)
	theirs(1000)
	var a, c time.Duration
	n := 0
	for b.Loop() {
		start := time.Now()
		ours(round)
		middle := time.Now()
		theirs(round)
		a += middle.Sub(start)
		c += time.Since(middle)
		n += round
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(a.Nanoseconds())/float64(n), "dewpond-ns")
	b.ReportMetric(float64(c.Nanoseconds())/float64(n), "sync.Pool-ns")
	b.ReportMetric(float64(a)/float64(c), "ratio")
}
