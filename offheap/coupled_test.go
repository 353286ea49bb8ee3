package offheap_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/offheap"
)

const mib, gib = int64(1 << 20), int64(1 << 30)

var on = offheap.Options{Coupled: true}

// The limit follows the committed bytes, to within a step and in steps, and a Get or
// Put of an idle block does not even read it.
func TestLimitFollowsCommitted(t *testing.T) {
	f, newCoupled, total := coupled(t, gib)
	p := newCoupled(on)
	var blocks [][]byte
	check := func(when string) {
		t.Helper()
		committed := p.Stats().OffHeap.Committed
		off := f.now() - (gib - committed)
		if off <= -mib || off >= mib {
			t.Fatalf("%s: %d bytes are committed, and the limit is %d", when, committed, f.now())
		}
		if got := total(); got.Coupled != committed || got.LimitLowered != gib-f.now() || got.LimitAtFloor || got.LimitLost {
			t.Fatalf("%s: %d bytes are committed, the limit is %d: %+v", when, committed, f.now(), got)
		}
	}
	for range 2000 { // of one page each
		blocks = append(blocks, p.Get(4096))
		check("growing by pages")
	}
	if want := 2000 * 4096 / int(mib); f.sets != want {
		t.Errorf("the limit was set %d times for %d bytes, want %d", f.sets, 2000*4096, want)
	}
	for _, size := range []int{64 << 10, 1 << 20} {
		for range 100 {
			blocks = append(blocks, p.Get(size))
			check("growing")
		}
	}
	give(p, blocks...)
	calls := f.calls
	for range 1000 {
		give(p, p.Get(4096), p.Get(1<<20))
	}
	if f.calls != calls {
		t.Errorf("Get and Put of idle blocks looked at the limit %d times", f.calls-calls)
	}
	check("all idle: they are resident")
	keep := take(p, 1<<20, 50)
	p.Trim()
	check("trimmed")
	if got := f.now(); got != gib-50*mib {
		t.Errorf("with 50 MiB out the limit is %d", got)
	}
	give(p, keep...)
	if err := p.Close(); err != nil || f.now() != gib {
		t.Errorf("Close: %v; the limit is %d", err, f.now())
	}
}

func TestUncoupledPoolLeavesTheLimit(t *testing.T) {
	f, newCoupled, total := coupled(t, gib)
	p := newCoupled(offheap.Options{})
	blocks := take(p, 1<<20, 20)
	if f.calls != 0 || f.now() != gib {
		t.Errorf("%d looks at the limit, it is %d", f.calls, f.now())
	}
	if got := total(); got.Coupled != 0 || got.LimitLowered != 0 || got.Committed < 20*mib {
		t.Errorf("%+v", got)
	}
	give(p, blocks...)
}

// The shares of several pools add up, whichever is closed first, and blocks that are
// out keep their pool's share until they are back.
func TestCoupledPoolsAddUp(t *testing.T) {
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		f, newCoupled, _ := coupled(t, gib)
		pools := []*dewpond.BytePool{newCoupled(on), newCoupled(on)}
		blocks := [][][]byte{take(pools[0], 1<<20, 10), take(pools[1], 1<<20, 30)}
		if got := f.now(); got != gib-40*mib {
			t.Fatalf("the limit is %d", got)
		}
		left := 40 * mib
		for i, which := range order {
			p, out := pools[which], blocks[which]
			if err := p.Close(); err == nil || f.now() != gib-left {
				t.Errorf("Close with blocks out: %v; the limit is %d", err, f.now())
			}
			give(p, out[1:]...)
			if i == 0 && f.now() != gib-left {
				t.Errorf("one block is out: the limit is %d", f.now())
			}
			give(p, out[0])
			left -= mib * int64(len(out))
			if f.now() != gib-left {
				t.Errorf("closed %d of two: the limit is %d, want %d", i+1, f.now(), gib-left)
			}
		}
		// Now another limit may be found.
		f.set(2 * gib)
		p := newCoupled(on)
		more := take(p, 1<<20, 5)
		if f.now() != 2*gib-5*mib {
			t.Errorf("a new pool: the limit is %d", f.now())
		}
		give(p, more...)
	}
}

func TestAnothersLimitEndsCoupling(t *testing.T) {
	f, newCoupled, total := coupled(t, gib)
	p, q := newCoupled(on), newCoupled(on)
	out := take(p, 1<<20, 10)
	f.set(3 * gib)
	if got := total(); !got.LimitLost || got.LimitLowered != 0 {
		t.Errorf("before a move: %+v", got)
	}
	out = append(out, take(p, 1<<20, 10)...)
	more := take(q, 1<<20, 10)
	f.set(gib - 10*mib) // the value it was lowered to, by chance
	more = append(more, take(q, 1<<20, 10)...)
	give(p, out...)
	p.Trim()
	p.Close()
	if got := total(); f.now() != gib-10*mib || !got.LimitLost || got.LimitLowered != 0 || got.Coupled != 20*mib {
		t.Errorf("the limit is %d, %+v", f.now(), got)
	}
	give(q, more...)
	q.Close()
	if got := total(); f.now() != gib-10*mib || got.LimitLost {
		t.Errorf("all are closed: the limit is %d, %+v", f.now(), got)
	}
	p = newCoupled(on)
	out = take(p, 1<<20, 10)
	if got := total(); f.now() != gib-20*mib || got.LimitLost || got.LimitLowered != 10*mib {
		t.Errorf("a new pool: the limit is %d, %+v", f.now(), got)
	}
	give(p, out...)
}

func TestCouplingKeepsToTheFloor(t *testing.T) {
	f, newCoupled, total := coupled(t, 128*mib)
	p := newCoupled(on)
	blocks := take(p, 1<<20, 96)
	if got := total(); f.now() != 32*mib || got.LimitLowered != 96*mib || got.LimitAtFloor {
		t.Errorf("the limit is %d, %+v", f.now(), got)
	}
	blocks = append(blocks, take(p, 1<<20, 96)...)
	if got := total(); f.now() != 32*mib || got.LimitLowered != 96*mib || got.Coupled != 192*mib || !got.LimitAtFloor {
		t.Errorf("the limit is %d, %+v", f.now(), got)
	}
	give(p, blocks[50:]...)
	p.Trim()
	if got := total(); f.now() != 78*mib || got.LimitAtFloor {
		t.Errorf("the limit is %d, %+v", f.now(), got)
	}
	give(p, blocks[:50]...)
}

func TestCouplingWithoutALimit(t *testing.T) {
	f, newCoupled, total := coupled(t, math.MaxInt64)
	p := newCoupled(on)
	blocks := take(p, 1<<20, 20)
	if got := total(); f.sets != 0 || got.LimitLowered != 0 || got.LimitAtFloor || got.LimitLost || got.Coupled != 20*mib {
		t.Errorf("set %d times, %+v", f.sets, got)
	}
	f.set(gib)
	blocks = append(blocks, p.Get(1<<20))
	if f.now() != gib-21*mib {
		t.Errorf("a first limit: %d", f.now())
	}
	give(p, blocks...)
	p.Close()
	if f.now() != gib {
		t.Errorf("closed: %d", f.now())
	}
}

// On the Go heap the runtime counts the blocks, so no gauge may.
func TestCouplingOnTheHeapDoesNothing(t *testing.T) {
	f := &fakeLimit{limit: gib}
	c := offheap.NewCoupler(f.set)
	p, err := c.NewBytePool(dewpond.BytePoolOptions{Name: t.Name(), Classes: []int{1 << 20}}, offheap.Options{Reserve: 64 * mib, Coupled: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Stats().OffHeap.Reserved != 0 {
		t.Skip("blocks are mapped here")
	}
	before := offheap.Total()
	blocks := take(p, 1<<20, 20)
	if got := p.Stats().OffHeap.Committed; got != 20*mib {
		t.Errorf("%d bytes are committed", got)
	}
	if f.sets != 0 || c.Total().Coupled != 0 || offheap.Total() != before {
		t.Errorf("the limit was set %d times, %+v", f.sets, c.Total())
	}
	give(p, blocks...)
}

// A pool grows while the limit is raised for another that has shrunk, by just as much,
// so that compared with the old mark nothing has changed.
func TestGrowthWhileTheLimitMoves(t *testing.T) {
	f := &fakeLimit{limit: gib}
	c := offheap.NewCoupler(f.set)
	a, errA := c.NewArena(64 * mib)
	b, errB := c.NewArena(64 * mib)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if !a.Usage().Mapped {
		t.Skip("nothing is mapped here")
	}
	shrinks, err := a.Alloc(10 << 20)
	if err != nil || f.now() != gib-10*mib {
		t.Fatalf("%v, the limit is %d", err, f.now())
	}
	a.Free(shrinks)
	var grown []byte
	f.before = func() { grown, err = b.Alloc(10 << 20) }
	a.Decommit()
	if err != nil || grown == nil || f.now() != gib-10*mib {
		t.Errorf("%v, with %d bytes committed the limit is %d", err, b.Usage().Committed, f.now())
	}
	b.Free(grown)
	a.Close()
	b.Close()
	if f.now() != gib {
		t.Errorf("in the end the limit is %d", f.now())
	}
}

// Two coupled arenas grow and shrink, from several goroutines each: at every rest the
// limit is right to within a step, and in the end it is restored. The test uses arenas
// because under the race detector pools are on the heap.
func TestCouplingConcurrently(t *testing.T) {
	f := &fakeLimit{limit: gib}
	c := offheap.NewCoupler(f.set)
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		var blocks [2][2][][]byte
		a, errA := c.NewArena(256 * mib)
		b, errB := c.NewArena(256 * mib)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if !a.Usage().Mapped {
			t.Skip("nothing is mapped here")
		}
		var wg go125.WaitGroup
		for i := range 2 {
			for j, x := range []interface {
				Alloc(int) ([]byte, error)
				Free([]byte)
				Decommit() (int64, error)
			}{a, b} {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(round), uint64(2*i+j)))
					var mine [][]byte
					for range 300 {
						if rng.IntN(2) == 0 {
							b, err := x.Alloc(64 << rng.IntN(15))
							if err != nil {
								t.Error(err)
								return
							}
							mine = append(mine, b)
						} else if len(mine) > 0 {
							at := rng.IntN(len(mine))
							x.Free(mine[at])
							mine[at] = mine[len(mine)-1]
							mine = mine[:len(mine)-1]
							if rng.IntN(4) == 0 {
								x.Decommit()
							}
						}
					}
					blocks[i][j] = mine
				})
			}
		}
		wg.Wait()
		committed := a.Usage().Committed + b.Usage().Committed
		if off := f.now() - (gib - committed); off <= -mib || off >= mib {
			t.Fatalf("round %d: %d bytes are committed, and the limit is %d", round, committed, f.now())
		}
		// Both close while other goroutines free blocks, and the one that ends last
		// restores.
		for i := range 2 {
			wg.Go(func() {
				for _, x := range blocks[i][0] {
					a.Free(x)
				}
				a.Close()
			})
			wg.Go(func() {
				for _, x := range blocks[i][1] {
					b.Free(x)
				}
				b.Close()
			})
		}
		wg.Wait()
		if f.now() != gib || a.Usage().Reserved != 0 || b.Usage().Reserved != 0 {
			t.Fatalf("round %d: in the end the limit is %d", round, f.now())
		}
	}
	if f.sets < 2*rounds {
		t.Errorf("the limit was set %d times in %d rounds: the test misses its aim", f.sets, rounds)
	}
}
