package dewpond_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/internal/go125"
)

// appended is what a caller makes of a BodyPool's block: n bytes, moved by append if need be.
func appended(h *dewpond.BodyPool, n int) []byte { return append(h.Get(), make([]byte, n)...) }

// The size follows the bodies: up at once, to what they need and no further, and down by one
// class at a time.
func TestBodyPoolFollows(t *testing.T) {
	leavesOut(t, "the block that the last body outgrows")
	onlyOnHeap(t, "there are no BodyPools off the heap")
	h := newPool(t, dewpond.BytePoolOptions{}).Bodies()
	if size := dewpond.BodySize(h); size != 512 {
		t.Errorf("it begins with %d bytes", size)
	}
	steps := 0
	for ; dewpond.BodySize(h) < 300_000; steps++ {
		h.Put(appended(h, 300_000))
	}
	if size := dewpond.BodySize(h); size != 327_680 || steps > 7 {
		t.Errorf("after %d bodies of 300,000 bytes its size is %d", steps, size)
	}
	for range 1000 {
		h.Put(appended(h, 300_000))
	}
	if size := dewpond.BodySize(h); size != 327_680 {
		t.Errorf("after 1000 bodies more its size is %d", size)
	}

	steps = 0
	for ; dewpond.BodySize(h) > 64; steps++ {
		h.Put(appended(h, 10))
	}
	if steps < 100 { // 4 for each of 37 classes, and then 15 for each of 9
		t.Errorf("its size fell to the smallest class with %d bodies", steps)
	}
	for range 100 {
		h.Put(h.Get()) // a body of no bytes says nothing
	}
	h.Put(appended(h, 100))
	h.Put(appended(h, 1<<20+1)) // above the largest class
	for range 7 {
		h.Put(appended(h, 2<<20))
	}
	if size := dewpond.BodySize(h); size != 1<<20 {
		t.Errorf("bodies above the largest class make its size %d", size)
	}
	if n := 1<<20 + 1; cap(appended(h, n)) < n {
		t.Error("no body")
	}
}

// A body that is cut to length 0 before Put teaches by its cap: about one in 16 outgrows its block, and where bodies become
// small, so do the blocks, however many large ones are idle.
func TestBodyPoolFollowsCaps(t *testing.T) {
	leavesOut(t, "the block that the last body outgrows")
	onlyOnHeap(t, "there are no BodyPools off the heap")
	notWatched(t, "what waits in quarantine is not idle")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // Get finds what is idle
	for _, n := range []int{1000, 5000, 20_000, 300_000} {
		h := newPool(t, dewpond.BytePoolOptions{}).Bodies()
		body := make([]byte, n)
		for range 20 {
			h.Put(append(h.Get(), body...)[:0])
		}
		const bodies = 4000
		outgrown := 0
		for range bodies {
			b := h.Get()
			if cap(b) < n {
				outgrown++
			}
			h.Put(append(b, body...)[:0])
			if size := dewpond.BodySize(h); size < n/4 || size > 2*n {
				t.Fatalf("bodies of %d bytes make the size %d", n, size)
			}
		}
		if outgrown > bodies/12 {
			t.Errorf("%d of %d bodies of %d bytes outgrow their blocks", outgrown, bodies, n)
		}
		for range 100_000 { // with idle blocks of n bytes
			h.Put(append(h.Get(), body[:100]...)[:0])
		}
		if size := dewpond.BodySize(h); size > 256 {
			t.Errorf("after small bodies the size for those of %d bytes is %d", n, size)
		}
	}
}

// Of bodies of many sizes about one in 16 is larger than the size.
func TestBodyPoolIsOutgrownByOneIn16(t *testing.T) {
	onlyOnHeap(t, "there are no BodyPools off the heap")
	h := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever}).Bodies()
	rng := rand.New(rand.NewPCG(1, 2))
	bytes := make([]byte, 32<<10)
	const bodies = 40_000
	outgrown := 0
	for range bodies {
		n := 1 + rng.IntN(len(bytes))
		if n > dewpond.BodySize(h) {
			outgrown++
		}
		h.Put(append(h.Get(), bytes[:n]...))
	}
	if outgrown < bodies/24 || outgrown > bodies/12 {
		t.Errorf("%d of %d bodies outgrew it, want about %d", outgrown, bodies, bodies/16)
	}
}

// One body in 12 has 1 MiB and the others 200 bytes: none of those holds more than 16 times
// its size, and of the Gets only those miss whose block a large body before has lost, whether
// or not all bodies had 1 MiB at first.
func TestBodiesOfTwoSizes(t *testing.T) {
	notWatched(t, countsMiss)
	onlyOnHeap(t, "there are no BodyPools off the heap")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // another P's shard may have the idle blocks
	for _, before := range []bool{false, true} {
		p := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
		words := newSlices(t, dewpond.SlicePoolOptions[uint64]{})
		t.Run(fmt.Sprintf("bytes, 1 MiB before %t", before), func(t *testing.T) {
			bodiesOfTwoSizes[byte](t, before, p.Bodies(), p.Stats)
		})
		t.Run(fmt.Sprintf("words, 1 MiB before %t", before), func(t *testing.T) {
			bodiesOfTwoSizes[uint64](t, before, words.Bodies(), words.Stats)
		})
	}
}

func bodiesOfTwoSizes[T any](t *testing.T, before bool, bodies interface {
	Get() []T
	Put([]T)
}, stats func() dewpond.Stats) {
	const rounds, atOnce, oneIn, small, large = 150, 24, 12, 200, 1 << 20 // bytes
	bytes := func(n int) int { return n * int(unsafe.Sizeof(*new(T))) }
	elements := make([]T, large/bytes(1))
	out := make([][]T, atOnce)
	held := 0
	var settled dewpond.Stats
	for round := range rounds {
		if round == rounds/2 {
			settled, held = stats(), 0
		}
		for i := range out {
			n := small / bytes(1)
			if i%oneIn == 0 || before && round < 5 {
				n = len(elements)
			}
			if out[i] = append(bodies.Get(), elements[:n]...); bytes(n) == small {
				held = max(held, bytes(cap(out[i])))
			}
		}
		for i, b := range out {
			bodies.Put(b)
			out[i] = nil
		}
	}
	d := stats().Sub(settled)
	few := d.HitRate() < 0.9 && !losesSome(d) // with -race the second tier drops blocks at random
	if t.Logf("a body of %d bytes holds up to %d; %.1f %% hits", small, held, 100*d.HitRate()); held > 16*small || few {
		t.Errorf("a body of %d bytes holds up to %d; %.1f %% hits", small, held, 100*d.HitRate())
	}
}

// A pool of one class has nothing to learn.
func TestBodyPoolOfOneClass(t *testing.T) {
	onlyOnHeap(t, "there are no BodyPools off the heap")
	for _, class := range []int{64, 256 << 10} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{class}})
		h := p.Bodies()
		for range 100 {
			h.Put(appended(h, 10))
			h.Put(appended(h, 100))
		}
		if s := p.Stats(); dewpond.BodySize(h) != class || s.InUseBytes != 0 || s.Gets != 200 || s.Puts != 200 {
			t.Errorf("size %d, %+v", dewpond.BodySize(h), s)
		}
	}
}

// In use is what is out of each BodyPool, at its present size, and what is out of the pool.
func TestBodyPoolsInUse(t *testing.T) {
	onlyOnHeap(t, "there are no BodyPools off the heap")
	for _, o := range []dewpond.BytePoolOptions{{}, {Budget: dewpond.MustBudget("", 64<<20)}, {Check: dewpond.CheckAll}} {
		p := newPool(t, o)
		small, large := p.Bodies(), p.Bodies()
		for range 10 {
			large.Put(appended(large, 60_000))
		}
		var out [][]byte
		for range 3 {
			out = append(out, appended(small, 10), appended(large, 80_000))
		}
		own := p.Get(1024)
		p.Put(p.Get(512))
		if s, want := p.Stats(), int64(1024+3*dewpond.BodySize(small)+3*dewpond.BodySize(large)); s.InUseBytes != want {
			t.Errorf("%d bytes are in use, want %d", s.InUseBytes, want)
		}
		for i, b := range out {
			if i%2 == 0 {
				small.Put(b)
			} else {
				large.Put(b)
			}
		}
		expectInUse := func(want int64) {
			t.Helper()
			if s := p.Stats(); s.InUseBytes != want || s.Gets != s.Hits+s.Misses {
				t.Errorf("%d bytes are in use, want %d: %+v", s.InUseBytes, want, s)
			}
		}
		expectInUse(1024)
		p.Put(own)
		expectInUse(0)
		// What is put back without a Get is not minus in use.
		small.Put(make([]byte, 1024))
		expectInUse(0)
		runtime.KeepAlive(small)
		runtime.KeepAlive(large)
	}
}

// A BodyPool that nobody has any more leaves nothing in use, and the pool does not keep it.
func TestBodyPoolsAreCollected(t *testing.T) {
	onlyOnHeap(t, "there are no BodyPools off the heap")
	notWatched(t, "a pool with CheckAll keeps its BodyPools")
	p := newPool(t, dewpond.BytePoolOptions{})
	for range 1000 {
		p.Bodies().Get()
	}
	for p.Stats().InUseBytes != 0 {
		runtime.GC() // a BodyPool that stays ends in the test's timeout
	}
	var kept []*dewpond.BodyPool
	for range 1000 {
		kept = append(kept, p.Bodies())
	}
	if n := dewpond.BodyPools(p); n == 2000 {
		t.Errorf("the pool knows %d BodyPools, of which half are gone", n)
	}
	kept[0].Get()
	kept[999].Get()
	if s := p.Stats(); s.InUseBytes != 2*512 {
		t.Errorf("%d bytes are in use", s.InUseBytes)
	}
	runtime.KeepAlive(kept)
}

// A block that append has outgrown is no leak, one that is not put back is.
func TestBodyPoolLeaks(t *testing.T) {
	onlyOnHeap(t, "there are no BodyPools off the heap")
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it reports what it finds lost, and ReportLeaks does not again
	var found []dewpond.Violation
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(v dewpond.Violation) { found = append(found, v) }})
	h := hintOfTheTest(p)
	for range 100 {
		h.Put(appended(h, 5000))
		h.Put(appended(h, 50_000))
	}
	for range 5 {
		runtime.GC()
	}
	if n := dewtest.ReportLeaks(p); n != 0 || len(found) != 0 {
		t.Fatalf("%d leaks, %v", n, found)
	}
	kept := h.Get()
	h.Get()
	if n := dewtest.ReportLeaks(p); n != 2 || len(found) != 2 || dewtest.ReportLeaks(p) != 0 {
		t.Fatalf("of two leaks %d are reported: %v", n, found)
	}
	for _, v := range found {
		if v.Kind != dewpond.Leak || v.Count != 1 || v.Bytes != v.Size || !strings.Contains(v.String(), "hintOfTheTest") {
			t.Errorf("%v", v)
		}
	}
	if s := p.Stats(); s.Violations != 2 {
		t.Errorf("%d violations are counted", s.Violations)
	}
	h.Put(kept)
}

//go:noinline
func hintOfTheTest(p *dewpond.BytePool) *dewpond.BodyPool { return p.Bodies() }

// Any number of goroutines may use one BodyPool. No two have one block.
func TestBodyPoolConcurrently(t *testing.T) {
	onlyOnHeap(t, "there are no BodyPools off the heap")
	p := newPool(t, dewpond.BytePoolOptions{})
	h := p.Bodies()
	var wg go125.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(g)))
			for range 500 {
				b := h.Get()
				for range rng.IntN(3000) {
					b = append(b, byte(g))
				}
				runtime.Gosched()
				for _, x := range b {
					if x != byte(g) {
						t.Errorf("%d in the body of goroutine %d", x, g)
						return
					}
				}
				h.Put(b)
			}
		})
	}
	wg.Wait()
	if s := p.Stats(); s.InUseBytes != 0 || s.Gets != 4000 || s.Puts != 4000 {
		t.Errorf("%+v", s)
	}
}
