package dewpond_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/misuse"
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
	var found []misuse.Violation
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(v misuse.Violation) { found = append(found, v) }})
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
		if v.Kind != misuse.Leak || v.Count != 1 || v.Bytes != v.Size || !strings.Contains(v.String(), "hintOfTheTest") {
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

// A packet is what a client of a message broker gets: runs of one byte, each as a count
// and the byte.
type packet []byte

// newPacket returns a packet for a body of n bytes.
func newPacket(n int) (p packet) {
	for i := 0; n > 0; i++ {
		run := min(n, 1+i*7%200)
		p = append(p, byte(run), byte(i))
		n -= run
	}
	return p
}

// decompress appends the body of a packet, as decompressors do: how large it is shows only
// at its end.
func decompress(dst []byte, p packet) []byte {
	for i := 0; i < len(p); i += 2 {
		for range p[i] {
			dst = append(dst, p[i+1])
		}
	}
	return dst
}

// packets returns what a broker sends: bodies of some kilobytes, a few much larger.
func packets(n int) (all []packet) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		all = append(all, newPacket(int(8192*math.Exp(0.6*rng.NormFloat64()))+600))
	}
	return all
}

// What a decompressor returns has outgrown the block that it was given. Put back, it is no
// block, and the next Get misses again. A BodyPool adopts it, and soon hands out blocks that
// few bodies outgrow.
func TestBodyPoolOnADecompressor(t *testing.T) {
	notWatched(t, putsForeign)
	onlyOnHeap(t, "a body that outgrows its block is on the heap")
	const count, atOnce = 1200, 4
	plain := newPool(t, dewpond.BytePoolOptions{Name: "plain"})
	pool := newPool(t, dewpond.BytePoolOptions{Name: "bodies"})
	bodies := pool.Bodies()
	outgrown := 0
	var out [][]byte
	for i, p := range packets(count) {
		plain.Put(decompress(plain.Get(512)[:0], p))

		block := bodies.Get()
		body := decompress(block, p)
		if cap(body) != cap(block) {
			outgrown++
		}
		if string(body) != string(decompress(nil, p)) {
			t.Fatalf("the body of packet %d is wrong", i)
		}
		if out = append(out, body); len(out) < atOnce {
			continue
		}
		if s := pool.Stats(); s.InUseBytes != atOnce*int64(dewpond.BodySize(bodies)) {
			t.Fatalf("%d bytes are in use while %d bodies of %d are out", s.InUseBytes, atOnce, dewpond.BodySize(bodies))
		}
		for _, body := range out {
			bodies.Put(body)
		}
		if out = out[:0]; pool.Stats().InUseBytes != 0 {
			t.Fatalf("%d bytes are in use while nothing is out", pool.Stats().InUseBytes)
		}
	}
	if s := plain.Stats(); s.Hits != 0 || s.InUseBytes != count*512 {
		t.Errorf("with Put %d of %d hits and %d bytes in use; the control shows nothing", s.Hits, s.Gets, s.InUseBytes)
	}
	s := pool.Stats()
	t.Logf("%.1f %% hits, %d of %d outgrew their blocks, which have %d bytes now", 100*s.HitRate(), outgrown, s.Gets, dewpond.BodySize(bodies))
	if s.HitRate() < 0.8 || s.Gets != count || s.Puts != count {
		t.Errorf("%.1f %% of %d Gets hit", 100*s.HitRate(), s.Gets)
	}
}

// Slices that append has moved are there for the next caller, cleared, and none counts as in
// use: by a SliceBodyPool, and by Adopt where the caller has both slices.
func TestGrownSlicesAreReused(t *testing.T) {
	notWatched(t, "it counts hits, and has a row that is watched")
	t.Run("pointers", func(t *testing.T) { grownSlicesAreReused(t, entry{Name: "alice"}) })
	t.Run("plain", func(t *testing.T) { grownSlicesAreReused(t, [3]uint32{1, 2, 3}) })
	t.Run("bytes", func(t *testing.T) { grownSlicesAreReused(t, byte(7)) })
}

func grownSlicesAreReused[T comparable](t *testing.T, x T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const rounds, elements = 200, 1000
	for name, o := range map[string]dewpond.SlicePoolOptions[T]{
		"plain":  {},
		"Budget": {Budget: dewpond.MustBudget("", 1<<20)},
		"Check":  {Check: dewpond.CheckAll},
		"Reset":  {Reset: func(s []T) { clear(s) }},
	} {
		t.Run(name, func(t *testing.T) {
			bodies := newSlices(t, o)
			b := bodies.Bodies()
			grown := newSlices(t, o)
			for range rounds {
				s := b.Get()
				mustBeCleared(t, s)
				for range elements {
					s = append(s, x)
				}
				b.Put(s)

				block := grown.Get(elements / 2)
				mustBeCleared(t, block)
				s = block[:0]
				for range elements {
					s = append(s, x)
				}
				if cap(s) != cap(block) {
					grown.Adopt(s)
				}
				grown.Put(block)
			}
			if s := bodies.Stats(); s.HitRate() < 0.9 && name != "Check" || s.InUseBytes != 0 || s.Puts != s.Gets || s.Dropped.Foreign != 0 || s.Violations != 0 {
				t.Errorf("a SliceBodyPool: %d of %d hit, %d bytes in use, %d foreign, %d violations", s.Hits, s.Gets, s.InUseBytes, s.Dropped.Foreign, s.Violations)
			}
			s := grown.Stats()
			if s.InUseBytes != 0 || s.Adopted == 0 || s.Dropped.Foreign != 0 || s.Violations != 0 {
				t.Errorf("Adopt: %d adopted, %d bytes in use, %d foreign, %d violations", s.Adopted, s.InUseBytes, s.Dropped.Foreign, s.Violations)
			}
			for _, c := range s.Classes { // what was adopted serves Gets of its size
				if c.Idle > 0 && name != "Check" {
					slice := grown.Get(c.Size / int(unsafe.Sizeof(x)))
					if got := grown.Stats(); got.Misses != s.Misses {
						t.Errorf("Get misses where %d slices of %d bytes are idle", c.Idle, c.Size)
					}
					mustBeCleared(t, slice)
					grown.Put(slice)
				}
			}
			runtime.KeepAlive(b)
		})
	}
}

// A slice that is cut to length 0 before Put teaches by its cap.
func TestSliceBodyPoolFollowsCaps(t *testing.T) {
	notWatched(t, "what waits in quarantine is not idle")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n, rounds = 10_000, 1000
	bodies := newSlices(t, dewpond.SlicePoolOptions[uint64]{}).Bodies()
	outgrown := 0
	for range rounds {
		s := bodies.Get()
		if cap(s) < n {
			outgrown++
		}
		bodies.Put(append(s, make([]uint64, n)...)[:0])
	}
	if outgrown > rounds/8 {
		t.Errorf("%d of %d slices of %d elements outgrow what Get returns", outgrown, rounds, n)
	}
}

func mustBeCleared[T comparable](t *testing.T, s []T) {
	t.Helper()
	if slices.ContainsFunc(s[:cap(s)], func(x T) bool { return x != *new(T) }) {
		t.Fatalf("a slice has %v in it", s[:cap(s)])
	}
}

// What cannot become a slice of the pool is refused.
func TestSlicePoolRefusesToAdopt(t *testing.T) {
	p := newSlices(t, dewpond.SlicePoolOptions[[3]uint32]{Classes: []int{8, 64}})
	for n, foreign := range map[int]bool{0: false, 7: true, 8: false, 17: true, 64: false, 65: false} {
		before := p.Stats()
		p.Adopt(make([][3]uint32, n))
		s := p.Stats().Sub(before)
		want := fmt.Sprint(n == 8 || n == 64, foreign, n == 65)
		if got := fmt.Sprint(s.Adopted == 1, s.Dropped.Foreign == 1, s.Dropped.Oversize == 1); got != want {
			t.Errorf("Adopt of cap %d: adopted, foreign, too large are %s, want %s", n, got, want)
		}
	}
	s := make([][3]uint32, 8, 12) // cut to 8
	p.Adopt(s)
	got := p.Get(8)
	defer p.Put(got)
	if cap(got) != 8 {
		t.Errorf("a slice of cap %d", cap(got))
	}
}

// BenchmarkBodyPool is bodies of many sizes that a decompressor appends byte by byte: from a
// BodyPool's blocks, and in turn from blocks of a small size that are put back as they are
// (put), from blocks of the right size, which only who knows it can ask for (known), and
// from nothing (make). bare is Get and Put of a body of one byte, beside a Get and Put of
// the pool itself.
func BenchmarkBodyPool(b *testing.B) {
	all := packets(256)
	var sizes []int
	for _, p := range all {
		sizes = append(sizes, len(decompress(nil, p)))
	}
	pool := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	other := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	bodies := pool.Bodies()
	hint := func(n int) {
		for i := range n {
			bodies.Put(decompress(bodies.Get(), all[i%len(all)]))
		}
	}
	for _, control := range []struct {
		name string
		body func(i int)
	}{
		{"put", func(i int) { other.Put(decompress(other.Get(512)[:0], all[i])) }},
		{"known", func(i int) { other.Put(decompress(other.Get(sizes[i])[:0], all[i])) }},
		{"make", func(i int) { sink = decompress(nil, all[i]) }},
	} {
		versus(b, control.name, hint, func(n int) {
			for i := range n {
				control.body(i % len(all))
			}
		})
	}
	small := pool.Bodies()
	versus(b, "bare", func(n int) {
		for range n {
			small.Put(append(small.Get(), 1))
		}
	}, func(n int) {
		for range n {
			other.Put(append(other.Get(512)[:0], 1))
		}
	})
}

// BenchmarkBodySizes is 100 bodies at a time whose sizes rise, fall, are of two kinds or have a
// heavy tail: from a BodyPool, and from a sync.Pool of *[]byte that keeps what append has made
// of them. It reports how many Gets found a block, and for each byte of a body how many bytes it
// held and how many were allocated, all after the first quarter of the bodies.
func BenchmarkBodySizes(b *testing.B) {
	const bodies, atOnce, most = 40_000, 100, 1 << 20
	oneIn := func(k, large int) func(*rand.Rand, float64) int {
		return func(r *rand.Rand, _ float64) int {
			if r.IntN(k) == 0 {
				return large
			}
			return 200
		}
	}
	for _, load := range []struct {
		name string
		size func(r *rand.Rand, past float64) int // past is how much of the run is, from 0 to 1
	}{
		{"one-size-5000", func(*rand.Rand, float64) int { return 5000 }},
		{"uniform-to-32K", func(r *rand.Rand, _ float64) int { return 1 + r.IntN(32<<10) }},
		{"rising-200-to-1M", func(_ *rand.Rand, past float64) int { return int(200 * math.Pow(5000, past)) }},
		{"falling-1M-to-200", func(_ *rand.Rand, past float64) int { return int(200 * math.Pow(5000, 1-past)) }},
		{"200-and-100K-in-turn-by-4000", func(_ *rand.Rand, past float64) int { return []int{200, 100_000}[int(past*10)%2] }},
		{"200-one-in-100-1M", oneIn(100, most)},
		{"200-one-in-12-1M", oneIn(12, most)},
		{"200-one-in-12-8K", oneIn(12, 8<<10)},
		{"200-one-in-3-1M", oneIn(3, most)},
		{"lognormal-4K-sigma-1", func(r *rand.Rand, _ float64) int { return min(most, 1+int(4096*math.Exp(r.NormFloat64()))) }},
		{"lognormal-2K-sigma-2", func(r *rand.Rand, _ float64) int { return min(most, 1+int(2048*math.Exp(2*r.NormFloat64()))) }},
		{"pareto-200-alpha-1.1", func(r *rand.Rand, _ float64) int { return int(min(most, 200*math.Pow(1-r.Float64(), -1/1.1))) }},
	} {
		data := make([]byte, most)
		run := func(b *testing.B, get func() []byte, put func([]byte), count func() (gets, hits uint64)) {
			var gets, hits uint64
			var held, length, allocated float64
			for range b.N {
				r := rand.New(rand.NewPCG(1, 2))
				out := make([][]byte, atOnce)
				var m runtime.MemStats
				for i := 0; i < bodies; i += atOnce {
					if i == bodies/4 {
						runtime.ReadMemStats(&m)
						g, h := count()
						gets, hits, allocated = gets-g, hits-h, allocated-float64(m.TotalAlloc)
					}
					for j := range out {
						n := load.size(r, float64(i+j)/bodies)
						out[j] = append(get(), data[:n]...)
						if i >= bodies/4 {
							held, length = held+float64(cap(out[j])), length+float64(n)
						}
					}
					for j, body := range out {
						put(body)
						out[j] = nil
					}
				}
				runtime.ReadMemStats(&m)
				g, h := count()
				gets, hits, allocated = gets+g, hits+h, allocated+float64(m.TotalAlloc)
			}
			b.ReportMetric(100*float64(hits)/float64(gets), "%hits")
			b.ReportMetric(held/length, "held/B")
			b.ReportMetric(allocated/length, "allocated/B")
			b.ReportMetric(0, "ns/op")
		}
		b.Run(load.name+"/dewpond", func(b *testing.B) {
			p := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
			bodies := p.Bodies()
			run(b, bodies.Get, bodies.Put, func() (gets, hits uint64) { s := p.Stats(); return s.Gets, s.Hits })
		})
		b.Run(load.name+"/sync.Pool", func(b *testing.B) {
			var p sync.Pool
			var gets, hits uint64
			run(b, func() []byte {
				gets++
				body, ok := p.Get().(*[]byte)
				if !ok {
					return nil
				}
				hits++
				return (*body)[:0]
			}, func(body []byte) { p.Put(&body) }, func() (uint64, uint64) { return gets, hits })
		})
	}
}
