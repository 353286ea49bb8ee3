package dewpond_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/internal/percpu"
	"github.com/dewpond/dewpond/misuse"
)

func TestGetEveryN(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	classes := dewpond.DefaultClasses()
	largest := classes[len(classes)-1]
	class := 0
	for n := 1; n <= largest; n++ {
		if n > 64<<10 && n%509 != 0 && n != classes[class] && n != classes[class]+1 {
			continue // around every class, and a sample between
		}
		for classes[class] < n {
			class++
		}
		b := p.Get(n)
		if len(b) != n || cap(b) != classes[class] {
			t.Fatalf("Get(%d): len %d, cap %d; want cap %d", n, len(b), cap(b), classes[class])
		}
		p.Put(b)
	}
	if s := p.Stats(); s.InUseBytes != 0 || s.Oversize != 0 || s.Gets != s.Puts {
		t.Errorf("after Get and Put of every size: %+v", s)
	}
}

func TestGetOversize(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 1024}})
	for _, n := range []int{1025, 5 << 20} {
		b := p.Get(n)
		if len(b) != n {
			t.Errorf("Get(%d): len %d", n, len(b))
		}
		p.Put(b)
	}
	if b, err := p.TryGet(2000); err != nil || len(b) != 2000 {
		t.Errorf("TryGet(2000) = %d bytes, %v", len(b), err)
	}
	s := p.Stats()
	if s.Oversize != 3 || s.Gets != 3 || s.Misses != 0 || s.InUseBytes != 0 || s.Dropped.Oversize != 2 {
		t.Errorf("Oversize %d, Gets %d, Misses %d, InUseBytes %d, Dropped.Oversize %d; want 3, 3, 0, 0, 2",
			s.Oversize, s.Gets, s.Misses, s.InUseBytes, s.Dropped.Oversize)
	}
}

func TestNegativeSizePanics(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Name: "frames"})
	for name, f := range map[string]func(){
		"Get(-1)":        func() { p.Get(-1) },
		"TryGet(-2)":     func() { p.TryGet(-2) },
		"GetContext(-3)": func() { p.GetContext(t.Context(), -3) },
		"Prewarm(-4)":    func() { p.Prewarm(-4, 1) },
		"Grow by -5":     func() { p.Grow(nil, -5) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				message, _ := recover().(string)
				if !strings.HasPrefix(message, "dewpond: "+name) || !strings.Contains(message, `"frames"`) {
					t.Errorf("panicked with %q, want it to name the call and the pool", message)
				}
			}()
			f()
		})
	}
	if s := p.Stats(); s.Gets != 0 {
		t.Errorf("Gets %d after panics, want 0", s.Gets)
	}
}

func TestPutAcceptsAnyLength(t *testing.T) {
	notWatched(t, putsForeign)
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Get(100) // 128
	p.Put(b[:0])
	p.Put(make([]byte, 3, 128))
	idle, foreign := int64(256), uint64(0) // it cannot be told from a block
	if offHeap {
		idle, foreign = 128, 1
	}
	if s := p.Stats(); s.IdleBytes != idle || s.Dropped.Foreign != foreign || s.Puts != 2 {
		t.Errorf("IdleBytes %d, Dropped.Foreign %d, Puts %d; want %d, %d and 2", s.IdleBytes, s.Dropped.Foreign, s.Puts, idle, foreign)
	}
}

func TestPutRefuses(t *testing.T) {
	notWatched(t, misuses)
	large := dewpond.BytePoolOptions{Classes: []int{65536}}
	for _, tt := range []struct {
		name    string
		o       dewpond.BytePoolOptions
		put     []byte
		foreign uint64
		over    uint64
	}{
		{"nil", dewpond.BytePoolOptions{}, nil, 0, 0},
		{"nil, no small class", large, nil, 0, 0},
		{"no cap", dewpond.BytePoolOptions{}, []byte{}, 0, 0},
		{"no cap, no small class", large, []byte{}, 0, 0},
		{"small, no small class", large, make([]byte, 64), 1, 0},
		{"between classes", dewpond.BytePoolOptions{}, make([]byte, 128, 130), 1, 0},
		{"sub-slice", dewpond.BytePoolOptions{}, make([]byte, 128)[1:], 1, 0},
		{"cut cap", dewpond.BytePoolOptions{}, make([]byte, 128)[:64:100], 1, 0},
		{"large between classes", dewpond.BytePoolOptions{}, make([]byte, 70000), 1, 0},
		{"small at an odd address", dewpond.BytePoolOptions{}, make([]byte, 128+1)[1:], 1, 0},
		{"small at a multiple of 8", dewpond.BytePoolOptions{Zero: dewpond.ZeroNever}, make([]byte, 128+8)[8:], 1, 0},
		{"large at an odd address", large, make([]byte, 65536+1)[1:], 1, 0},
		{"large at a multiple of 8", large, make([]byte, 65536+8)[8:], 1, 0},
		{"above the largest", dewpond.BytePoolOptions{}, make([]byte, 2<<20), 0, 1},
		{"small above the largest", dewpond.BytePoolOptions{Classes: []int{64}}, make([]byte, 128), 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPool(t, tt.o)
			p.Put(tt.put)
			s := p.Stats()
			if s.Dropped.Foreign != tt.foreign || s.Dropped.Oversize != tt.over || s.Puts != tt.foreign+tt.over {
				t.Errorf("Dropped.Foreign %d, Dropped.Oversize %d, Puts %d; want %d, %d and their sum",
					s.Dropped.Foreign, s.Dropped.Oversize, s.Puts, tt.foreign, tt.over)
			}
			if s.IdleBytes != 0 || s.InUseBytes != 0 {
				t.Errorf("IdleBytes %d, InUseBytes %d; want 0", s.IdleBytes, s.InUseBytes)
			}
		})
	}
}

func TestAfterClose(t *testing.T) {
	notWatched(t, putsForeign)
	p := newPool(t, dewpond.BytePoolOptions{})
	out := p.Get(100)
	p.Put(p.Get(1000))
	for range 2 {
		if err := p.Close(); (err != nil) != offHeap { // there it says that out is out
			t.Fatal(err)
		}
	}
	if b := p.Get(100); len(b) != 100 || cap(b) != 128 {
		t.Errorf("Get after Close: len %d, cap %d", len(b), cap(b))
	}
	if _, err := p.TryGet(100); err != dewpond.ErrClosed {
		t.Errorf("TryGet after Close: %v", err)
	}
	if _, err := p.TryGet(5 << 20); err != dewpond.ErrClosed {
		t.Errorf("TryGet of an oversize after Close: %v", err)
	}
	if _, err := p.GetContext(t.Context(), 100); err != dewpond.ErrClosed {
		t.Errorf("GetContext after Close: %v", err)
	}
	if err := p.Prewarm(100, 1); !errors.Is(err, dewpond.ErrClosed) {
		t.Errorf("Prewarm after Close: %v", err)
	}
	p.Put(out)
	p.Put(make([]byte, 128<<10))
	closed, foreign := uint64(2), uint64(0)
	if offHeap {
		closed, foreign = 1, 1
	}
	s := p.Stats()
	if s.Dropped.Closed != closed || s.Dropped.Foreign != foreign || s.IdleBytes != 0 || s.Trimmed != 1 || s.ReleasedBytes != 1024 {
		t.Errorf("Dropped.Closed %d, Dropped.Foreign %d, IdleBytes %d, Trimmed %d, ReleasedBytes %d; want %d, %d, 0, 1, 1024",
			s.Dropped.Closed, s.Dropped.Foreign, s.IdleBytes, s.Trimmed, s.ReleasedBytes, closed, foreign)
	}
	if s.Refused != 0 {
		t.Errorf("Refused %d on a closed pool", s.Refused)
	}
	if p.Trim() != 0 {
		t.Error("Trim after Close released something")
	}
}

// A TryGet beside Close returns a block or ErrClosed, whatever the Allocator does.
func TestTryGetRacesClose(t *testing.T) {
	needsThreads(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for range 50 {
		p := newPool(t, dewpond.BytePoolOptions{})
		var wg, begun go125.WaitGroup
		begun.Add(4)
		closed := make(chan struct{})
		for range 4 {
			wg.Go(func() {
				var held [][]byte
				b, err := p.TryGet(100)
				begun.Done()
				for ; err == nil && len(held) < 50_000; b, err = p.TryGet(100) { // on a busy machine it is long to Close
					held = append(held, b)
				}
				if err == nil {
					held = append(held, b)
				} else if err != dewpond.ErrClosed {
					t.Error(err)
				}
				<-closed
				for _, b := range held {
					p.Put(b)
				}
			})
		}
		begun.Wait()
		p.Close()
		close(closed)
		wg.Wait()
		if s := p.Stats(); s.Refused != 0 || s.InUseBytes != 0 || s.Dropped.Closed != s.Puts {
			t.Fatalf("Refused %d, InUseBytes %d, Dropped.Closed %d of %d Puts", s.Refused, s.InUseBytes, s.Dropped.Closed, s.Puts)
		}
	}
}

func TestHitDoesNotAllocate(t *testing.T) {
	notWatched(t, countsAlloc)
	for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroNever, dewpond.ZeroOnGet, dewpond.ZeroOnPut} {
		p := newPool(t, dewpond.BytePoolOptions{Zero: zero})
		for _, size := range []int{0, 128, 8192, 32768, 64 << 10} {
			p.Put(p.Get(size))
			misses := p.Stats().Misses
			allocs := allocsPerRun(1000, func() { p.Put(p.Get(size)) })
			if misses = p.Stats().Misses - misses; misses > 20 {
				t.Fatalf("%d misses in 1000 Gets of %d: this tests nothing", misses, size)
			}
			if allocs != 0 {
				t.Errorf("policy %d, %d bytes: %v allocations for a Get and Put, want 0", zero, size, allocs)
			}
		}
	}
}

// A magazine exchange must not allocate either: hold more than two magazines.
func TestExchangeDoesNotAllocate(t *testing.T) {
	notWatched(t, countsAlloc)
	p := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	held := make([][]byte, 1000)
	round := func() {
		for i := range held {
			held[i] = p.Get(128)
		}
		for _, b := range held {
			p.Put(b)
		}
	}
	for range 3 * runtime.GOMAXPROCS(0) {
		round()
	}
	// A goroutine that moves to another P may need a magazine or a block more.
	if allocs := allocsPerRun(100, round); allocs > 5 {
		t.Errorf("%v allocations for a thousand Gets and Puts", allocs)
	}
}

// What other Ps' shards hold is out of a Get's reach: two magazines each. Above 32 KiB
// a Get reclaims it, but once between two collections, and the goroutine may move after.
func TestSurvivesCollections(t *testing.T) {
	notWatched(t, countsMiss)
	for _, tt := range []struct{ size, count int }{{128, 2000}, {8192, 500}, {64 << 10, 256}} {
		p := newPool(t, dewpond.BytePoolOptions{})
		held := make([][]byte, tt.count)
		for i := range held {
			held[i] = p.Get(tt.size)
		}
		for i := range held {
			p.Put(held[i])
		}
		for range 5 {
			runtime.GC()
		}
		before := p.Stats()
		for i := range held {
			held[i] = p.Get(tt.size)
		}
		misses := p.Stats().Sub(before).Misses
		for _, b := range held {
			p.Put(b)
		}
		if limit := outOfReach(tt.size); misses > uint64(limit) {
			t.Errorf("%d of %d Gets of %d bytes missed after five collections, want at most %d",
				misses, tt.count, tt.size, limit)
		}
	}
}

// outOfReach returns how many blocks of a class may lie with other processors.
func outOfReach(size int) int {
	shards := runtime.GOMAXPROCS(0)
	if !percpu.Pinned {
		shards *= 4
	}
	return (shards - 1) * 2 * min(64, max(16, 128<<10/size))
}

// No bytes need no block: an empty slice is always to be had, costs nothing and counts
// nowhere.
func TestNoBytesNeedNoBlock(t *testing.T) {
	exhausted := dewpond.MustBudget("", 1)
	for name, p := range map[string]*dewpond.BytePool{
		"default":   newPool(t, dewpond.BytePoolOptions{}),
		"large":     newPool(t, dewpond.BytePoolOptions{Classes: []int{64 << 10}}),
		"no budget": newPool(t, dewpond.BytePoolOptions{Budget: exhausted}),
		"checked":   newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll}),
		"sampled":   newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckSampled, Zero: dewpond.ZeroOnGet}),
		"Source":    newPool(t, dewpond.BytePoolOptions{Memory: newFakeSource()}),
		"zero":      new(dewpond.BytePool),
	} {
		check := func(what string, b []byte, err error) {
			t.Helper()
			if err != nil || b == nil || len(b) != 0 || cap(b) != 0 {
				t.Errorf("%s: %s returned %#v with cap %d, %v", name, what, b, cap(b), err)
			}
			p.Put(b)
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		check("Get", p.Get(0), nil)
		b, err := p.TryGet(0)
		check("TryGet", b, err)
		b, err = p.GetContext(done, 0)
		check("GetContext", b, err)
		s := p.Scope()
		check("Scope.Get", s.Get(0), nil)
		s.Close()
		p.Put([]byte{})
		p.Put(make([]byte, 33)[33:]) // begins anywhere
		check("Append", p.Append(p.Get(0)), nil)
		if b := p.Grow(nil, 0); b != nil {
			t.Errorf("%s: Grow(nil, 0) returned %#v", name, b)
		}
		if err := p.Prewarm(0, 10); err != nil {
			t.Errorf("%s: Prewarm(0, 10): %v", name, err)
		}

		l := p.Lease(0)
		check("Lease.Bytes", l.Bytes(), nil)
		other := l.Retain()
		if err := dewpond.Release(l); err != nil || other.Len() != 0 {
			t.Errorf("%s: Release of an empty Lease: %v", name, err)
		}
		check("the other owner's Bytes", other.Bytes(), nil)
		if err := dewpond.Release(other); err != nil {
			t.Errorf("%s: the last Release: %v", name, err)
		}

		if s := p.Stats(); s.Gets|s.Puts|s.Refused|s.Dropped.Foreign|s.Violations != 0 || s.IdleBytes != 0 || s.InUseBytes != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
		if _, err := p.TryGet(0); err != dewpond.ErrClosed {
			t.Errorf("%s: TryGet(0) after Close: %v", name, err)
		}
		check("Get after Close", p.Get(0), nil)
	}
	if exhausted.Used() != 0 {
		t.Errorf("%d bytes are charged", exhausted.Used())
	}
}

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
		t.Errorf("the Allocator has %d blocks out, %d freed twice", out, twice)
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
		p := newPool(t, dewpond.BytePoolOptions{MaxIdlePerClass: 100, AllocRate: 1})
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

// Trim beside Gets and Puts releases every block that was idle before, unless
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
	dewpond.Default().Put(dewpond.Default().Get(100))
	if p.Trim() == 0 {
		t.Error("Trim lets nothing go")
	}
}

// The owner reslices to cap, writes everywhere and puts back a shorter slice. A
// pool that clears the length alone leaves the rest: here the next owner reads
// nothing of it, through any length.
func TestZeroing(t *testing.T) {
	secret := bytes.Repeat([]byte("secret"), 1<<14)
	for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet, dewpond.ZeroNever} {
		for _, size := range []int{1, 100, 8000, 60000} {
			p := newPool(t, dewpond.BytePoolOptions{Zero: zero, AllocRate: 1 << 20})
			leaked := 0
			for i := range 50 {
				var b []byte
				switch i % 3 { // each way to a block
				case 0:
					b = p.Get(size)
				case 1:
					b, _ = p.TryGet(size)
				case 2:
					b, _ = p.GetContext(t.Context(), size)
				}
				whole := b[:cap(b)]
				if bytes.Count(whole, []byte{0}) != len(whole) {
					leaked++
				}
				copy(whole, secret)
				p.Put(b[:i%2])
			}
			if zero == dewpond.ZeroNever {
				if leaked == 0 {
					t.Errorf("%d bytes: with ZeroNever nothing was left to read, so this test cannot fail", size)
				}
			} else if leaked > 0 {
				t.Errorf("policy %d, %d bytes: %d of 50 blocks still had bytes of their last owner", zero, size, leaked)
			}
		}
	}
}

// A block that a Put hands straight to a waiter is cleared like any other.
func TestZeroingOfHandedBlock(t *testing.T) {
	for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet} {
		synctest.Test(t, func(t *testing.T) { // where no second ends, after which AllocRate allows one more
			p := newPool(t, dewpond.BytePoolOptions{Zero: zero, AllocRate: 1})
			out := p.Get(100)
			got := make(chan []byte)
			go func() {
				b, _ := p.GetContext(t.Context(), 100)
				got <- b
			}()
			synctest.Wait()
			if !dewpond.Waiting(p) {
				t.Fatal("nobody waits")
			}
			copy(out[:cap(out)], bytes.Repeat([]byte{1}, 128))
			p.Put(out[:1])
			b := <-got
			if bytes.Count(b[:cap(b)], []byte{0}) != cap(b) {
				t.Errorf("policy %d: the waiter reads bytes of the last owner", zero)
			}
			p.Put(b)
		})
	}
}

func TestGrowAndAppendLeaveNothingBehind(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Append(nil, bytes.Repeat([]byte{1}, 100)...)
	b = p.Append(b, bytes.Repeat([]byte{2}, 1000)...) // the first block went back
	old := p.Get(100)
	if bytes.Count(old[:cap(old)], []byte{0}) != cap(old) {
		t.Error("the block that Append gave back still has its bytes")
	}
	p.Put(old)
	p.Put(b)
}

// PutWritten clears what it is given and trusts that the rest is as it was.
func TestPutWritten(t *testing.T) {
	notWatched(t, "with CheckAll nothing is trusted")
	for _, size := range []int{512, 64 << 10, 128 << 10, 1 << 20} {
		p := newPool(t, dewpond.BytePoolOptions{})
		trusts := !offHeap && size <= 128<<10
		b := p.Get(size)
		copy(b, "written")
		p.PutWritten(b[:7])
		again := p.Get(size)
		if !bytes.Equal(again, make([]byte, size)) {
			t.Errorf("%d bytes: what was written is still there: %q", size, again[:7])
		}
		again[100] = 1
		p.PutWritten(again[:7])
		last := p.Get(size)
		if unsafe.SliceData(last) != unsafe.SliceData(again) {
			t.Fatalf("%d bytes: another block", size)
		}
		if (last[100] == 1) != trusts {
			t.Errorf("%d bytes: what was written behind is %d; the pool trusts: %v", size, last[100], trusts)
		}
	}
}

// PutWritten refuses what Put refuses, and ignores what Put ignores.
func TestPutWrittenOfForeignSlices(t *testing.T) {
	notWatched(t, "it puts back what is no block")
	p := newPool(t, dewpond.BytePoolOptions{})
	p.PutWritten(nil)
	p.PutWritten(make([]byte, 0, 100))
	p.PutWritten(p.Get(512)[8:16])
	p.PutWritten(make([]byte, 10, 2<<20))
	if s := p.Stats(); s.Dropped.Foreign != 2 || s.Dropped.Oversize != 1 || s.IdleBytes != 0 {
		t.Errorf("%+v", s)
	}
	var zero dewpond.BytePool
	defer zero.Close()
	zero.PutWritten(zero.Get(512)[:3])
	if s := zero.Stats(); s.Puts != 1 || s.IdleBytes != 512 {
		t.Errorf("the zero pool: %+v", s)
	}
}

// With CheckAll a write behind what PutWritten is given is found, and the next owner does not read it.
func TestPutWrittenLooksBehind(t *testing.T) {
	for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet} {
		var found []misuse.Violation
		p := newPool(t, dewpond.BytePoolOptions{
			Zero: zero, Check: dewpond.CheckAll, OnViolation: func(v misuse.Violation) { found = append(found, v) },
		})
		b := p.Get(512)
		copy(b, "written")
		p.PutWritten(b[:7])
		b = p.Get(512)
		b[100], b[102] = 1, 3
		p.PutWritten(b[:7])
		if len(found) != 1 || found[0].Kind != misuse.WriteBeyond || found[0].Offset != 100 || !bytes.Equal(found[0].New, []byte{1, 0, 3}) ||
			found[0].Got == nil || found[0].Offence == nil {
			t.Fatalf("found %v", found)
		}
		for range 300 { // until it leaves the quarantine
			b := p.Get(512)
			if !bytes.Equal(b, make([]byte, 512)) {
				t.Fatal("it is read by another owner")
			}
			p.Put(b)
		}
		p.Close()
		if len(found) != 1 {
			t.Errorf("found %v", found)
		}
	}
}

// Every block begins at a multiple of 16, fresh and when it comes back, and when pages
// behind it are guarded.
func TestBlocksBeginAtMultiplesOf16(t *testing.T) {
	for _, check := range []dewpond.CheckMode{dewpond.CheckOff, dewpond.CheckAll} {
		p := newPool(t, dewpond.BytePoolOptions{Check: check})
		for _, size := range dewpond.DefaultClasses() {
			for range 3 {
				a, b := p.Get(size), p.Get(size-1)
				if addressOf(a)%16 != 0 || addressOf(b)%16 != 0 {
					t.Errorf("blocks of %d bytes begin at %#x and %#x", size, addressOf(a), addressOf(b))
				}
				p.Put(a)
				p.Put(b)
			}
		}
		if s := p.Stats(); s.Dropped.Foreign != 0 || s.InUseBytes != 0 {
			t.Errorf("%d blocks were taken for strangers, %d bytes are in use", s.Dropped.Foreign, s.InUseBytes)
		}
	}
}

// Classes of no size of Go's: those of EDNS, QUIC and a UDP packet, and one that shards do not hold.
var anySizes = []int{65, 1232, 1452, 65535, 200_001}

// A Get has exactly the cap of its class, whatever that is, and what is put back is found again.
func TestClassesOfAnySize(t *testing.T) {
	onlyOnHeap(t, "off the heap a class is a multiple of 16")
	notWatched(t, "it counts misses, and has a row that is watched")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, o := range map[string]dewpond.BytePoolOptions{
		"plain":  {Classes: anySizes},
		"Budget": {Classes: anySizes, Budget: dewpond.MustBudget("", 1<<20)},
		"Check":  {Classes: anySizes, Check: dewpond.CheckAll},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, o)
			class, step := 0, 16
			if testing.Short() {
				step = 160
			}
			for n := 1; n <= 200_001; n++ {
				for anySizes[class] < n {
					class++
				}
				if n > 70 && n%step > 2 && n < anySizes[class]-20 {
					continue
				}
				b := p.Get(n)
				if len(b) != n || cap(b) != anySizes[class] || bytes.Count(b[:cap(b)], []byte{0}) != cap(b) {
					t.Fatalf("Get(%d) has %d bytes of %d, want all of %d zero", n, len(b), cap(b), anySizes[class])
				}
				b[:cap(b)][cap(b)-1] = 1
				p.Put(b)
				l := p.Lease(n)
				if b := l.Bytes(); len(b) != n || cap(b) != anySizes[class] {
					t.Fatalf("Lease(%d) has %d bytes of %d, want %d", n, len(b), cap(b), anySizes[class])
				}
				l.Release()
			}
			s := p.Stats()
			if most := 3 * uint64(len(anySizes)); s.Misses > most && name != "Check" || s.InUseBytes != 0 || s.Dropped.Foreign != 0 {
				t.Errorf("%d misses, want %d at most; %d bytes in use, %d foreign", s.Misses, most, s.InUseBytes, s.Dropped.Foreign)
			}
			if name == "Check" {
				return
			}
			p.Put(make([]byte, 1456)) // in a step with 1452
			if s := p.Stats(); s.Dropped.Foreign != 1 {
				t.Errorf("%d slices of another cap are refused, want 1", s.Dropped.Foreign)
			}
		})
	}
}

// Bounds count what Go allocates: 1536 bytes for 1452.
func TestClassesOfAnySizeAreBounded(t *testing.T) {
	onlyOnHeap(t, "off the heap a class is a multiple of 16")
	notWatched(t, "blocks in quarantine count by their cap")
	b := dewpond.MustBudget("", 4*1536)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1452}, Budget: b})
	var out [][]byte
	for len(out) < 10 {
		block, err := p.TryGet(1452)
		if err != nil {
			break
		}
		out = append(out, block)
	}
	if len(out) != 4 || b.Used() != 4*1536 {
		t.Errorf("a Budget of 4 has %d blocks, %d bytes", len(out), b.Used())
	}
	for _, block := range out {
		p.Put(block)
	}
	small := newPool(t, dewpond.BytePoolOptions{Classes: []int{1452}, Budget: dewpond.MustBudget("", 1500)})
	if _, err := small.GetContext(t.Context(), 1452); !errors.Is(err, dewpond.ErrExhausted) { // else it waits forever
		t.Errorf("GetContext beyond the whole Budget: %v", err)
	}
	if err := small.GetBatch(t.Context(), make([][]byte, 1), 1452); !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("GetBatch beyond the whole Budget: %v", err)
	}

	bounded := newPool(t, dewpond.BytePoolOptions{Classes: []int{1452}, MaxIdleBytes: 100 * 1536})
	out = out[:0]
	for range 200 {
		out = append(out, bounded.Get(1452))
	}
	for _, block := range out {
		bounded.Put(block)
	}
	if s := bounded.Stats(); s.Classes[0].Idle > 100 || s.Classes[0].Idle < 50 {
		t.Errorf("%d blocks are idle, want 50 to 100", s.Classes[0].Idle)
	}
}

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

// BenchmarkHotPath holds what a hit costs beside what it cannot be without: ratio is a
// Get, a touch and a Put of one size, less the touch alone, to two pairs of Pin and
// Unpin. All three are measured in turn, round by round.
func BenchmarkHotPath(b *testing.B) {
	if !percpu.Pinned {
		b.Skip("the portable engine pins nothing")
	}
	for _, size := range []int{128, 8192} {
		b.Run("size="+sizeName(size), func(b *testing.B) {
			const round = 2_000
			p := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
			ourLoop(p, size, 1000)
			block := p.Get(size)
			var hits, pins, ratios []float64
			for b.Loop() {
				start := time.Now()
				ourLoop(p, size, round)
				first := time.Now()
				touchLoop(block, round)
				second := time.Now()
				pinLoop(round)
				third := time.Now()
				hit := float64(first.Sub(start)-second.Sub(first)) / round
				pin := float64(third.Sub(second)) / round
				hits, pins, ratios = append(hits, hit), append(pins, pin), append(ratios, hit/pin)
			}
			p.Put(block)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(middle(hits), "hit-ns")
			b.ReportMetric(middle(pins), "pins-ns")
			b.ReportMetric(middle(ratios), "ratio")
		})
	}
}

func sizeName(n int) string {
	if n == 128 {
		return "128"
	}
	return "8192"
}

//go:noinline
func touchLoop(b []byte, n int) {
	for range n {
		touchOne(b)
	}
}

//go:noinline
func touchOne(b []byte) { b[0], b[len(b)-1] = 1, 1 }

func pinLoop(n int) {
	for range n {
		percpu.Pin()
		percpu.Unpin()
		percpu.Pin()
		percpu.Unpin()
	}
}
