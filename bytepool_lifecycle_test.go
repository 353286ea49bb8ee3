package dewpond_test

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// Trim reaches the blocks in every P's shard, also those of Ps that GOMAXPROCS
// has taken away since.
func TestTrimReachesEveryShard(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	source := newFakeSource()
	for _, o := range []dewpond.BytePoolOptions{{}, {Memory: source}} {
		p := newPool(t, o)
		var wg go125.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				var held [5][]byte
				for j := range held {
					held[j] = p.Get(64 << (i % 11))
					runtime.Gosched()
				}
				for _, b := range held {
					p.Put(b)
				}
			})
		}
		wg.Wait()
		s := p.Stats()
		if want := int64(s.Misses); int64(blocks(s)) != want {
			t.Errorf("%d blocks idle, %d were made", blocks(s), want)
		}
		runtime.GOMAXPROCS(2)
		if got := p.Trim(); got != s.IdleBytes || got == 0 {
			t.Errorf("Trim released %d bytes, %d were idle", got, s.IdleBytes)
		}
		if s := p.Stats(); s.IdleBytes != 0 || s.Trimmed != s.Misses {
			t.Errorf("after Trim %d bytes are idle, and %d of %d blocks released", s.IdleBytes, s.Trimmed, s.Misses)
		}
		runtime.GOMAXPROCS(8)
	}
	if out, twice := source.report(); out != 0 || twice != 0 {
		t.Errorf("the Source has %d blocks out, %d freed twice", out, twice)
	}
}

// Trim lets go: the collector can have the blocks.
func TestTrimmedBlocksAreCollected(t *testing.T) {
	notWatched(t, putsForeign)
	onlyOnHeap(t, "the collector does not have the blocks; offheap's TestTrimDecommits says who has")
	p := newPool(t, dewpond.BytePoolOptions{})
	var wg go125.WaitGroup
	const blocks = 20
	wg.Add(blocks)
	func() {
		for range blocks {
			b := make([]byte, 8192)
			runtime.AddCleanup(&b[0], func(int) { wg.Done() }, 0)
			p.Put(b)
		}
	}()
	if got := p.Trim(); got != blocks*8192 {
		t.Fatalf("Trim released %d", got)
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for {
		runtime.GC()
		select {
		case <-done:
			return // else the test runs into its timeout
		default:
		}
	}
}

func TestPrewarm(t *testing.T) {
	leavesOut(t, "the blocks that it counts")
	synctest.Test(t, func(t *testing.T) { // whose clock stands still: there is no second miss
		p := newPool(t, dewpond.BytePoolOptions{MaxIdlePerClass: 100, AllocLimit: 1})
		p.Put(p.Get(2000)) // the one miss: from here on TryGet finds blocks wherever they lie
		p.Trim()
		if err := p.Prewarm(1000, 80); err != nil {
			t.Fatal(err)
		}
		for i := range 80 {
			if _, err := p.TryGet(1000); err != nil {
				t.Fatalf("TryGet %d of 80: %v", i, err)
			}
		}
		if s := p.Stats(); s.Hits != 80 || s.Misses != 1 {
			t.Errorf("Hits %d, Misses %d; want 80 and 1", s.Hits, s.Misses)
		}
		for name, err := range map[string]error{
			"too many":  p.Prewarm(2000, 101),
			"negative":  p.Prewarm(2000, -1),
			"too large": p.Prewarm(2<<20, 1),
		} {
			if err == nil {
				t.Errorf("Prewarm with %s blocks returned no error", name)
			}
		}
		if s := p.Stats(); s.IdleBytes != 100*2048 {
			t.Errorf("IdleBytes %d, want the 100 blocks that fit", s.IdleBytes)
		}
	})
}

// Trim beside Gets and Puts lets go of every block that was idle before, unless
// somebody got it meanwhile.
func TestTrimBesideUsers(t *testing.T) {
	needsThreads(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for range 30 {
		source := newFakeSource()
		p := newPool(t, dewpond.BytePoolOptions{Memory: source, Zero: dewpond.ZeroNever})
		if err := p.Prewarm(1024, 400); err != nil {
			t.Fatal(err)
		}
		before := source.all()
		var got sync.Map
		var stop atomic.Bool
		var users, started go125.WaitGroup
		for range 4 {
			started.Add(1)
			users.Go(func() {
				var held [3][]byte
				for i := 0; !stop.Load(); i++ {
					for j := range held {
						held[j] = p.Get(1024)
						got.Store(unsafe.SliceData(held[j]), true)
					}
					for _, b := range held {
						p.Put(b)
					}
					if i == 0 {
						started.Done()
					}
				}
			})
		}
		started.Wait()
		p.Trim()
		left := source.all()
		stop.Store(true)
		users.Wait()
		stayed := 0
		for at := range before {
			if _, ok := got.Load(at); left[at] && !ok {
				stayed++
			}
		}
		if stayed > 0 {
			t.Fatalf("%d blocks were idle before Trim and still were after it", stayed)
		}
	}
}

// all returns the blocks that are out of the source.
func (f *fakeSource) all() map[*byte]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[*byte]bool{}
	for at := range f.blocks {
		all[at] = true
	}
	return all
}

// The pool that all packages of the program share is not closed, but trimmed.
func TestDefaultIsNotClosed(t *testing.T) {
	p := dewpond.Default()
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), `Close of pool "default"`) || !strings.Contains(err.Error(), "Trim") {
		t.Errorf("Close returns %v", err)
	}
	if _, err := p.TryGet(100); err != nil {
		t.Errorf("TryGet after Close: %v", err)
	}
	dewpond.Put(dewpond.Get(100))
	if p.Trim() == 0 {
		t.Error("Trim lets nothing go")
	}
}
