package dewpond_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

func TestPoolKeepsEveryObjectOverCollections(t *testing.T) {
	const objects = 500
	dropped := map[*account]bool{}
	p := newObjects(t, dewpond.PoolOptions[account]{Drop: func(v *account) { dropped[v] = true }})
	out := map[*account]bool{}
	for range objects {
		out[p.Get()] = true
	}
	for v := range out {
		p.Put(v)
	}
	for range 5 {
		runtime.GC()
	}
	if s := p.Stats(); s.Classes[0].Idle != objects || s.Misses != objects || s.Puts != objects {
		t.Errorf("after five collections: %+v", s)
	}
	p.Trim()
	for v := range out {
		if !dropped[v] {
			t.Fatal("an object is lost")
		}
	}
	if len(dropped) != objects {
		t.Errorf("%d objects, want %d", len(dropped), objects)
	}
}

// With New and no Reset an object is what its last owner left, as in a sync.Pool, whatever else
// Put has to do.
func TestPoolWithNewLeavesObjectsAsTheyAre(t *testing.T) {
	made := func() *account { return &account{ID: 7} }
	for name, o := range map[string]dewpond.PoolOptions[account]{
		"plain": {New: made},
		"Keep":  {New: made, Keep: func(*account) bool { return true }},
		"Limit": {New: made, Limit: 1},
		"Check": {New: made, Check: dewpond.CheckAll},
	} {
		p := newObjects(t, o)
		v := p.Get()
		if v.ID != 7 {
			t.Errorf("%s: New has made %+v", name, *v)
		}
		v.Name = "alice"
		p.Put(v)
		if *v != (account{7, "alice", ""}) {
			t.Errorf("%s: idle: %+v", name, *v)
		}
	}
	reader := newObjects(t, dewpond.PoolOptions[strings.Reader]{New: func() *strings.Reader { return strings.NewReader("") }})
	r := reader.Get()
	r.Reset("text") // a Reset with an argument is the caller's
	reader.Put(r)
	if r.Len() != 4 {
		t.Errorf("a strings.Reader has %d bytes left", r.Len())
	}
}

func TestPoolSetsPlainStructsToZero(t *testing.T) {
	p := newObjects(t, dewpond.PoolOptions[account]{})
	v := p.Get()
	*v = account{8, "alice", "a@x"}
	p.Put(v)
	if *v != (account{}) {
		t.Errorf("idle: %+v", *v)
	}
	got := p.Get()
	defer p.Put(got)
	if *got != (account{}) {
		t.Errorf("%+v", *got)
	}
}

func TestPoolUsesTheResetMethod(t *testing.T) {
	p := newObjects(t, dewpond.PoolOptions[bytes.Buffer]{})
	b := p.Get()
	b.Grow(1000)
	b.WriteString("alice")
	was := b.Cap()
	p.Put(b)
	if b.Len() != 0 || b.Cap() != was {
		t.Errorf("len %d, cap %d; want 0 and %d", b.Len(), b.Cap(), was)
	}
}

// A Reset option comes before a Reset method, and Keep before both.
func TestPoolAsksKeepBeforeReset(t *testing.T) {
	var calls []string
	note := func(what string) func(*bytes.Buffer) {
		return func(b *bytes.Buffer) { calls = append(calls, fmt.Sprintf("%s %q", what, b)) }
	}
	for _, limit := range []int{0, 3} {
		calls = nil
		p := newObjects(t, dewpond.PoolOptions[bytes.Buffer]{
			Limit: limit,
			Keep: func(b *bytes.Buffer) bool {
				note("keep")(b)
				return b.Len() < 3
			},
			Reset: func(b *bytes.Buffer) {
				note("reset")(b)
				b.Reset()
			},
			Drop: note("drop"),
		})
		a, b := p.Get(), p.Get()
		a.WriteString("ab")
		b.WriteString("abc")
		p.Put(a)
		p.Put(b)
		want := []string{`keep "ab"`, `reset "ab"`, `keep "abc"`, `drop "abc"`}
		if !slices.Equal(calls, want) {
			t.Errorf("Limit %d: %q, want %q", limit, calls, want)
		}
		if s := p.Stats(); s.DroppedOversize != 1 || s.Puts != 2 || s.Classes[0].Idle != 1 || s.InUseBytes != 0 {
			t.Errorf("Limit %d: %+v", limit, s)
		}
	}
}

// refuses makes a Pool of options that NewPool has to refuse, with an error that says all
// the parts.
func refuses[T any](t *testing.T, o dewpond.PoolOptions[T], parts ...string) {
	t.Helper()
	p, err := dewpond.NewPool(o)
	for _, part := range parts {
		if p != nil || err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("a Pool of %T: %v, want an error that says %q", o, err, part)
		}
	}
}

func TestPoolOptionsThatCannotBeMeant(t *testing.T) {
	// What would be cleared on each Put, and is large.
	type packet [4<<10 + 1]byte
	refuses(t, dewpond.PoolOptions[packet]{Name: "n"}, `"n"`, "dewpond_test.packet has 4097 bytes", "give Reset, a func(*dewpond_test.packet)", "or New")
	dewpond.MustPool(dewpond.PoolOptions[packet]{Reset: func(p *packet) { p[0] = 0 }}).Close()
	dewpond.MustPool(dewpond.PoolOptions[packet]{New: func() *packet { return new(packet) }}).Close()
	dewpond.MustPool(dewpond.PoolOptions[[4 << 10]byte]{}).Close()

	refuses(t, dewpond.PoolOptions[struct{}]{}, "struct {} has size 0")
	refuses(t, dewpond.PoolOptions[[0]int]{MaxIdle: -2, Limit: -1}, "[0]int has size 0", "MaxIdle -2", "Limit -1")

	// A Reset that is promoted leaves the other fields as they are.
	refuses(t, dewpond.PoolOptions[session]{}, "dewpond_test.session", "by its field Buffer", "give Reset")
	refuses(t, dewpond.PoolOptions[struct {
		*bytes.Buffer
		user string
	}]{}, "by its field Buffer")

	// What is nil without New, and what nil keeps nothing of.
	refuses(t, dewpond.PoolOptions[*account]{Reset: func(**account) {}},
		"*dewpond_test.account without New", "take a Pool[dewpond_test.account]", "or give New and Reset")
	refuses(t, dewpond.PoolOptions[io.Writer]{}, "io.Writer without New", "the type that is in it")
	refuses(t, dewpond.PoolOptions[chan int]{}, "chan int without New")
	refuses(t, dewpond.PoolOptions[func()]{}, "func() without New")
	refuses(t, dewpond.PoolOptions[[]int]{}, "[]int without Reset", "func(v *[]int) { clear(*v); *v = (*v)[:0] }")
	refuses(t, dewpond.PoolOptions[map[string]int]{}, "map[string]int without Reset", "func(v *map[string]int) { clear(*v) }")
	dewpond.MustPool(dewpond.PoolOptions[*account]{New: func() **account { v := new(account); return &v }, Reset: func(v **account) { **v = account{} }}).Close()
	dewpond.MustPool(dewpond.PoolOptions[[]int]{Reset: func(v *[]int) { clear(*v); *v = (*v)[:0] }}).Close()
	dewpond.MustPool(dewpond.PoolOptions[[]int]{New: func() *[]int { v := make([]int, 0, 8); return &v }}).Close()
	dewpond.MustPool(dewpond.PoolOptions[truncated]{}).Close()

	dewpond.MustPool(dewpond.PoolOptions[bytes.Buffer]{New: func() *bytes.Buffer { return new(bytes.Buffer) }}).Close()
	dewpond.MustPool(dewpond.PoolOptions[declared]{}).Close()
	dewpond.MustPool(dewpond.PoolOptions[struct{ bytes.Buffer }]{}).Close()
	dewpond.MustPool(dewpond.PoolOptions[padded]{}).Close()
	dewpond.MustPool(dewpond.PoolOptions[generic[int]]{}).Close()

	if text := panics(func() { dewpond.MustPool(dewpond.PoolOptions[struct{}]{}) }); !strings.Contains(text, "struct {} has size 0") {
		t.Errorf("MustPool panics with %q", text)
	}
}

// A truncated is a slice that knows how to keep its array.
type truncated []int

func (v *truncated) Reset() { clear(*v); *v = (*v)[:0] }

// A session resets only its buffer, a declared all of itself.
type session struct {
	bytes.Buffer
	User string
}

type declared session

type generic[T any] struct {
	bytes.Buffer
	V T
}

func (g *generic[T]) Reset() { *g = generic[T]{} }

func (d *declared) Reset() { *d = declared{} }

// Close ends waits and leaves the registry also where Drop panics.
func TestPoolCloseOutlivesPanics(t *testing.T) {
	p := newObjects(t, dewpond.PoolOptions[account]{Name: "panicking", Limit: 2, Drop: func(*account) { panic("Drop") }})
	if err := p.Prewarm(1); err != nil {
		t.Fatal(err)
	}
	if text := panics(func() { p.Close() }); text != "Drop" {
		t.Errorf("Close panics with %q", text)
	}
	if _, err := p.GetContext(t.Context()); err != dewpond.ErrClosed {
		t.Errorf("GetContext: %v", err)
	}
	if slices.Contains(names(), "panicking") {
		t.Error("the pool is still registered")
	}
}

// What a Trim lets go of is the collector's, also where Drop panics.
func TestPoolTrimOutlivesPanics(t *testing.T) {
	notWatched(t, "its Drop panics, and does so again in Close")
	const n = 300
	var gone atomic.Int64
	p := newObjects(t, dewpond.PoolOptions[account]{Drop: func(*account) { panic("Drop") }})
	func() {
		var out []*account
		for range n {
			v := p.Get()
			runtime.AddCleanup(v, func(int) { gone.Add(1) }, 0)
			out = append(out, v)
		}
		for _, v := range out {
			p.Put(v)
		}
	}()
	if text := panics(func() { p.Trim() }); text != "Drop" {
		t.Errorf("Trim panics with %q", text)
	}
	for gone.Load() < n { // else the test runs into its timeout
		runtime.GC()
	}
	runtime.KeepAlive(p)
}

// The largest object that a Pool sets to zero, which is larger than a goroutine's first stack.
func TestPoolOfLargeObjects(t *testing.T) {
	p := newObjects(t, dewpond.PoolOptions[struct {
		name  string
		bytes [4<<10 - unsafe.Sizeof("")]byte
	}]{})
	v := p.Get()
	last := len(v.bytes) - 1
	v.name, v.bytes[last] = "alice", 7
	p.Put(v)
	if v.name != "" || v.bytes[last] != 0 {
		t.Error("a large object is not set to zero")
	}
}

func TestPoolNewReturnsNil(t *testing.T) {
	for _, limit := range []int{0, 1} {
		none := true
		p := newObjects(t, dewpond.PoolOptions[account]{Name: "empty-handed", Limit: limit, Reset: func(*account) {}, New: func() *account {
			if none {
				return nil
			}
			return new(account)
		}})
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, `New of pool "empty-handed`) {
					t.Errorf("panics with %s", r)
				}
			}()
			p.Get()
		}()
		none = false
		v, err := p.TryGet()
		if v == nil || err != nil {
			t.Errorf("Limit %d: after that, TryGet: %v", limit, err)
		}
		if s := p.Stats(); s.Gets != 1 || s.Misses != 1 || s.OverLimit != 0 {
			t.Errorf("Limit %d: %+v", limit, s)
		}
		p.Put(v)
	}
}

// Whatever of the user's panics, the pool stays whole: with Limit 1 the next object
// can be had.
func TestPoolOutlivesPanics(t *testing.T) {
	var fail string
	may := func(what string) {
		if what == fail {
			panic(what)
		}
	}
	p := newObjects(t, dewpond.PoolOptions[account]{
		Limit: 1, MaxIdle: dewpond.NoIdle,
		New:   func() *account { may("New"); return new(account) },
		Reset: func(*account) { may("Reset") },
		Keep:  func(*account) bool { may("Keep"); return true },
		Drop:  func(*account) { may("Drop") },
	})
	for _, fail = range []string{"New", "Reset", "Keep", "Drop", ""} {
		what := fail
		func() {
			defer func() {
				if r := recover(); what != "" && r != what {
					t.Errorf("panics with %v, want %v", r, what)
				}
			}()
			v, err := p.TryGet()
			if err != nil {
				t.Errorf("before %q: %v", what, err)
				return
			}
			p.Put(v)
		}()
	}
}

func TestPoolPutNil(t *testing.T) {
	for _, o := range []dewpond.PoolOptions[bytes.Buffer]{{}, {Limit: 1}, {Keep: func(*bytes.Buffer) bool { return true }}} {
		p := newObjects(t, o)
		p.Put(nil)
		if s := p.Stats(); s.Puts != 0 || s.Classes[0].Idle != 0 {
			t.Errorf("%+v: %+v", o, s)
		}
	}
	p := newObjects(t, dewpond.PoolOptions[account]{})
	p.Put(nil)
	if s := p.Stats(); s.Puts != 0 {
		t.Errorf("%+v", s)
	}
}

func TestPoolStats(t *testing.T) {
	leavesOut(t, "an object of a closed pool")
	p := newObjects(t, dewpond.PoolOptions[[16]byte]{Name: "counted", MaxIdle: 2})
	if err := p.Prewarm(2); err != nil {
		t.Fatal(err)
	}
	if err := p.Prewarm(1); err == nil || !strings.Contains(err.Error(), "raise MaxIdle") {
		t.Errorf("Prewarm beyond MaxIdle: %v", err)
	}
	if err := p.Prewarm(-1); err == nil {
		t.Error("Prewarm(-1) passes")
	}
	a, b, c := p.Get(), p.Get(), p.Get()
	p.Put(a)
	p.Put(b)
	p.Put(c)
	d := p.Get()
	_ = d
	s := p.Stats()
	want := dewpond.Stats{
		Name: "counted", Engine: s.Engine,
		Gets: 4, Hits: 3, Misses: 1, Puts: 3, DroppedFull: 1,
		IdleBytes: 16, InUseBytes: 16,
		Classes: []dewpond.ClassStats{{Size: 16, Gets: 4, Hits: 3, Misses: 1, Puts: 3, Idle: 1, InUse: 1}},
	}
	compare(t, s, want)
	if released := p.Trim(); released != 16 {
		t.Errorf("Trim: %d bytes", released)
	}
	if s := p.Stats(); s.Trimmed != 1 || s.ReleasedBytes != 16 || s.IdleBytes != 0 {
		t.Errorf("after Trim: %+v", s)
	}
	if !slices.Contains(names(), "counted") {
		t.Error("Pools does not have the pool")
	}
	p.Close()
	if slices.Contains(names(), "counted") {
		t.Error("Pools has a closed pool")
	}
	p.Put(d)
	if _, err := p.TryGet(); err != dewpond.ErrClosed {
		t.Errorf("TryGet after Close: %v", err)
	}
	if err := p.Prewarm(1); err != dewpond.ErrClosed {
		t.Errorf("Prewarm after Close: %v", err)
	}
	if p.Get() == nil {
		t.Error("Get after Close has nothing")
	}
	if s := p.Stats(); s.DroppedClosed != 1 || s.Refused != 0 {
		t.Errorf("after Close: %+v", s)
	}
	p.Close()
}

func TestPoolHitDoesNotAllocate(t *testing.T) {
	notWatched(t, countsAlloc)
	zero := newObjects(t, dewpond.PoolOptions[account]{})
	reset := newObjects(t, dewpond.PoolOptions[bytes.Buffer]{})
	keep := newObjects(t, dewpond.PoolOptions[account]{Keep: func(*account) bool { return true }})
	limited := newObjects(t, dewpond.PoolOptions[account]{Limit: 3})
	for name, pair := range map[string]func(){
		"zero":    func() { zero.Put(zero.Get()) },
		"reset":   func() { reset.Put(reset.Get()) },
		"keep":    func() { keep.Put(keep.Get()) },
		"limited": func() { limited.Put(limited.Get()) },
	} {
		if n := allocsPerRun(1000, pair); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Each object that is let go, by whatever way, is dropped once, and none while it
// is in use.
func TestPoolDropsOnce(t *testing.T) {
	type object struct {
		inUse   atomic.Bool
		dropped atomic.Int32
		_       [4]byte
	}
	for _, limit := range []int{0, 6} {
		var mu sync.Mutex
		var all []*object
		var oversize atomic.Int64
		p := newObjects(t, dewpond.PoolOptions[object]{
			MaxIdle: 4,
			Limit:   limit,
			New: func() *object {
				v := new(object)
				mu.Lock()
				all = append(all, v)
				mu.Unlock()
				return v
			},
			Reset: func(*object) {},
			Keep:  func(*object) bool { return oversize.Add(1)%7 != 0 },
			Drop: func(v *object) {
				if v.inUse.Load() {
					t.Error("dropped while in use")
				}
				v.dropped.Add(1)
			},
		})
		stop := make(chan struct{})
		var trims go125.WaitGroup
		trims.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					p.Trim()
					runtime.Gosched()
				}
			}
		})
		var users go125.WaitGroup
		for range 8 {
			users.Go(func() {
				for range 2000 {
					v := p.Get()
					if v.inUse.Swap(true) {
						t.Error("two owners")
					}
					if v.dropped.Load() != 0 {
						t.Error("handed out after it was dropped")
					}
					if rand.IntN(8) == 0 {
						runtime.Gosched()
					}
					v.inUse.Store(false)
					p.Put(v)
				}
			})
		}
		users.Wait()
		close(stop)
		trims.Wait()
		last := p.Get()
		p.Close()
		if last.dropped.Load() != 0 {
			t.Error("Close dropped an object that was out")
		}
		p.Put(last)
		for _, v := range all {
			if n := v.dropped.Load(); n != 1 {
				t.Fatalf("Limit %d: an object was dropped %d times", limit, n)
			}
		}
		s := p.Stats()
		if s.Trimmed+s.DroppedFull+s.DroppedOversize+s.DroppedClosed != uint64(len(all)) || s.DroppedClosed != 1 {
			t.Errorf("Limit %d: %d objects, %+v", limit, len(all), s)
		}
		t.Logf("Limit %d: %d objects, %d by Trim and Close, %d full, %d by Keep", limit, len(all), s.Trimmed, s.DroppedFull, s.DroppedOversize)
	}
}

// A pool that is dropped without Close is collected, objects and all.
func TestDroppedObjectPoolIsCollected(t *testing.T) {
	gone := make(chan struct{})
	func() {
		p := dewpond.MustPool(dewpond.PoolOptions[account]{Name: "dropped-objects"})
		v := p.Get()
		runtime.AddCleanup(v, func(int) { close(gone) }, 0)
		p.Put(v)
	}()
	for collected := false; !collected; {
		runtime.GC()
		select {
		case <-gone:
			collected = true
		default: // else the test runs into its timeout
		}
	}
	for slices.Contains(names(), "dropped-objects") {
		runtime.GC()
	}
}
