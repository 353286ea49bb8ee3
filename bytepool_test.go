package dewpond_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/percpu"
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
	if s.Oversize != 3 || s.Gets != 3 || s.Misses != 0 || s.InUseBytes != 0 || s.DroppedOversize != 2 {
		t.Errorf("Oversize %d, Gets %d, Misses %d, InUseBytes %d, DroppedOversize %d; want 3, 3, 0, 0, 2",
			s.Oversize, s.Gets, s.Misses, s.InUseBytes, s.DroppedOversize)
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
	if s := p.Stats(); s.IdleBytes != idle || s.DroppedForeign != foreign || s.Puts != 2 {
		t.Errorf("IdleBytes %d, DroppedForeign %d, Puts %d; want %d, %d and 2", s.IdleBytes, s.DroppedForeign, s.Puts, idle, foreign)
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
			if s.DroppedForeign != tt.foreign || s.DroppedOversize != tt.over || s.Puts != tt.foreign+tt.over {
				t.Errorf("DroppedForeign %d, DroppedOversize %d, Puts %d; want %d, %d and their sum",
					s.DroppedForeign, s.DroppedOversize, s.Puts, tt.foreign, tt.over)
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
	if s.DroppedClosed != closed || s.DroppedForeign != foreign || s.IdleBytes != 0 || s.Trimmed != 1 || s.ReleasedBytes != 1024 {
		t.Errorf("DroppedClosed %d, DroppedForeign %d, IdleBytes %d, Trimmed %d, ReleasedBytes %d; want %d, %d, 0, 1, 1024",
			s.DroppedClosed, s.DroppedForeign, s.IdleBytes, s.Trimmed, s.ReleasedBytes, closed, foreign)
	}
	if s.Refused != 0 {
		t.Errorf("Refused %d on a closed pool", s.Refused)
	}
	if p.Trim() != 0 {
		t.Error("Trim after Close released something")
	}
}

// A TryGet beside Close returns a block or ErrClosed, whatever the Source does.
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
		if s := p.Stats(); s.Refused != 0 || s.InUseBytes != 0 || s.DroppedClosed != s.Puts {
			t.Fatalf("Refused %d, InUseBytes %d, DroppedClosed %d of %d Puts", s.Refused, s.InUseBytes, s.DroppedClosed, s.Puts)
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
