package dewpond_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
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
	"github.com/dewpond/dewpond/internal/sizeclass"
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
		"Limit": {New: made, MaxOut: 1},
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
			MaxOut: limit,
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
			t.Errorf("MaxOut %d: %q, want %q", limit, calls, want)
		}
		if s := p.Stats(); s.Dropped.ByKeep != 1 || s.Puts != 2 || s.Classes[0].Idle != 1 || s.InUseBytes != 0 {
			t.Errorf("MaxOut %d: %+v", limit, s)
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
	refuses(t, dewpond.PoolOptions[[0]int]{MaxIdle: -2, MaxOut: -1}, "[0]int has size 0", "MaxIdle -2", "MaxOut -1")

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
	p := newObjects(t, dewpond.PoolOptions[account]{Name: "panicking", MaxOut: 2, Drop: func(*account) { panic("Drop") }})
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
		p := newObjects(t, dewpond.PoolOptions[account]{Name: "empty-handed", MaxOut: limit, Reset: func(*account) {}, New: func() *account {
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
			t.Errorf("MaxOut %d: after that, TryGet: %v", limit, err)
		}
		if s := p.Stats(); s.Gets != 1 || s.Misses != 1 || s.OverMaxOut != 0 {
			t.Errorf("MaxOut %d: %+v", limit, s)
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
		MaxOut: 1, MaxIdle: dewpond.NoIdle,
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
	for _, o := range []dewpond.PoolOptions[bytes.Buffer]{{}, {MaxOut: 1}, {Keep: func(*bytes.Buffer) bool { return true }}} {
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
		Gets: 4, Hits: 3, Misses: 1, Puts: 3, Dropped: dewpond.DropStats{Full: 1},
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
	if s := p.Stats(); s.Dropped.Closed != 1 || s.Refused != 0 {
		t.Errorf("after Close: %+v", s)
	}
	p.Close()
}

func TestPoolHitDoesNotAllocate(t *testing.T) {
	notWatched(t, countsAlloc)
	zero := newObjects(t, dewpond.PoolOptions[account]{})
	reset := newObjects(t, dewpond.PoolOptions[bytes.Buffer]{})
	keep := newObjects(t, dewpond.PoolOptions[account]{Keep: func(*account) bool { return true }})
	limited := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 3})
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
			MaxOut:  limit,
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
				t.Fatalf("MaxOut %d: an object was dropped %d times", limit, n)
			}
		}
		s := p.Stats()
		if s.Trimmed+s.Dropped.Full+s.Dropped.ByKeep+s.Dropped.Closed != uint64(len(all)) || s.Dropped.Closed != 1 {
			t.Errorf("MaxOut %d: %d objects, %+v", limit, len(all), s)
		}
		t.Logf("MaxOut %d: %d objects, %d by Trim and Close, %d full, %d by Keep", limit, len(all), s.Trimmed, s.Dropped.Full, s.Dropped.ByKeep)
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

func TestPoolLimit(t *testing.T) {
	leavesOut(t, "objects up to the limit")
	p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 2})
	a, errA := p.TryGet()
	_, errB := p.TryGet()
	_, errC := p.TryGet()
	if errA != nil || errB != nil || !errors.Is(errC, dewpond.ErrExhausted) {
		t.Fatalf("TryGet: %v, %v, %v; want the third refused", errA, errB, errC)
	}
	c := p.Get() // is never refused
	if s := p.Stats(); s.OverMaxOut != 1 || s.Refused != 1 || s.Misses != 3 {
		t.Errorf("%+v", s)
	}
	p.Put(a)
	if _, err := p.TryGet(); !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("with two still out, TryGet: %v", err)
	}
	p.Put(c)
	if v, err := p.TryGet(); err != nil || v != a && v != c {
		t.Errorf("with one out, TryGet: %v, an object that was idle: %v", err, v == a || v == c)
	}
}

// Objects from elsewhere do not raise the limit.
func TestPoolLimitIgnoresStrangers(t *testing.T) {
	leavesOut(t, "the object that uses up the limit")
	p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 1})
	for range 5 {
		p.Put(new(account))
	}
	if _, err := p.TryGet(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.TryGet(); !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("the second TryGet: %v", err)
	}
}

// After Close a call that returns ErrClosed does not count as out. Every call returns it,
// also with its ctx done and the Limit reached.
func TestClosedPoolCountsWhatIsOut(t *testing.T) {
	leavesOut(t, "the objects that it counts")
	p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 2})
	p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for want := range uint64(2) {
		for range 3 {
			_, tried := p.TryGet()
			_, waited := p.GetContext(ctx)
			if tried != dewpond.ErrClosed || waited != dewpond.ErrClosed {
				t.Errorf("TryGet: %v, GetContext: %v", tried, waited)
			}
		}
		p.Get()
		p.Get() // the fourth is past Limit, as the third is
		if s := p.Stats(); s.OverMaxOut != 2*want || s.Refused != 0 {
			t.Errorf("%d out: OverMaxOut %d, Refused %d", s.Gets, s.OverMaxOut, s.Refused)
		}
	}
}

// Waiters are served in the order in which they came, one for each Put, and no later
// caller overtakes them.
func TestPoolServesWaitersInOrder(t *testing.T) {
	leavesOut(t, "the objects of the last waiters")
	synctest.Test(t, func(t *testing.T) {
		p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 2})
		out := []*account{p.Get(), p.Get()}
		var mu sync.Mutex
		var order []int
		for i := range 6 {
			go func() {
				v, err := p.GetContext(t.Context())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
				out = append(out, v)
			}()
			synctest.Wait()
		}
		for n := range 6 {
			if len(order) != n {
				t.Fatalf("%d were served by %d Puts", len(order), n)
			}
			p.Put(out[n])
			if _, err := p.TryGet(); !errors.Is(err, dewpond.ErrExhausted) && n < 5 {
				t.Errorf("TryGet overtook who waits: %v", err)
			}
			synctest.Wait()
		}
		if !slices.Equal(order, []int{0, 1, 2, 3, 4, 5}) {
			t.Errorf("served in the order %v", order)
		}
		if s := p.Stats(); s.Misses > 2 {
			t.Errorf("%d objects for a limit of 2", s.Misses)
		}
	})
}

// A wait that is cancelled takes nothing with it, also when an object comes at the
// same moment.
func TestPoolCancelledWaitLeaksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 1})
		for range 300 {
			v, err := p.TryGet()
			if err != nil {
				t.Fatalf("the one object is lost: %v", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			var wg go125.WaitGroup
			for range 3 {
				wg.Go(func() {
					w, err := p.GetContext(ctx)
					if err == nil {
						p.Put(w)
					} else if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			switch rand.IntN(3) {
			case 0: // at once
				wg.Go(func() { p.Put(v) })
				cancel()
			case 1:
				cancel()
				synctest.Wait()
				p.Put(v)
			case 2:
				time.Sleep(2 * time.Second)
				p.Put(v)
			}
			wg.Wait()
			cancel()
		}
		if s := p.Stats(); s.InUseBytes != 0 || s.Misses != 1 || s.Refused == 0 {
			t.Errorf("%+v", s)
		}
	})
}

// ctx is looked at only before waiting.
func TestPoolGetContextWithAnEndedContext(t *testing.T) {
	leavesOut(t, "the object that uses up the limit")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("why"))
	p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 1})
	if _, err := p.GetContext(ctx); err != nil {
		t.Errorf("with an object to be had: %v", err)
	}
	if _, err := p.GetContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with none: %v", err)
	}
	if s := p.Stats(); s.Refused != 1 {
		t.Errorf("Refused %d, want 1", s.Refused)
	}
}

func TestPoolCloseEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 1})
		v := p.Get()
		var ended atomic.Int64
		for range 3 {
			go func() {
				if _, err := p.GetContext(context.Background()); err != dewpond.ErrClosed {
					t.Errorf("GetContext: %v", err)
				}
				ended.Add(1)
			}()
		}
		synctest.Wait()
		p.Close()
		synctest.Wait()
		if ended.Load() != 3 {
			t.Errorf("%d of 3 waits ended", ended.Load())
		}
		for range 2 {
			if _, err := p.GetContext(context.Background()); err != dewpond.ErrClosed {
				t.Errorf("GetContext after Close: %v", err)
			}
			p.Put(v)
		}
		if s := p.Stats(); s.Refused != 0 {
			t.Errorf("Refused %d: Close is no refusal", s.Refused)
		}
	})
}

// At most Limit objects are out, and no more than Limit are ever made, however many
// ask, on however many Ps.
func TestPoolLimitHolds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for _, limit := range []int{1, 3, 17} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: limit})
			var out, most, refused atomic.Int64
			var wg go125.WaitGroup
			for i := range 64 {
				wg.Go(func() {
					for range 300 {
						var v *account
						var err error
						if i%2 == 0 {
							v, err = p.GetContext(t.Context())
						} else {
							v, err = p.TryGet()
						}
						if err != nil {
							refused.Add(1)
							if i%2 == 0 || !errors.Is(err, dewpond.ErrExhausted) {
								t.Error(err)
							}
							continue
						}
						n := out.Add(1)
						for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
						}
						if i%3 == 0 {
							runtime.Gosched()
						}
						out.Add(-1)
						p.Put(v)
					}
				})
			}
			wg.Wait()
			s := p.Stats()
			if most.Load() > int64(limit) || s.Misses > uint64(limit) || s.OverMaxOut != 0 {
				t.Errorf("%d out at once, %d made; the limit is %d", most.Load(), s.Misses, limit)
			}
			if s.Refused != uint64(refused.Load()) || s.InUseBytes != 0 {
				t.Errorf("%d refusals, %+v", refused.Load(), s)
			}
			t.Logf("%d at once, %d made, %d of %d refused", most.Load(), s.Misses, s.Refused, s.Gets+s.Refused)
		})
	}
}

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

// A padded is a bytes.Buffer that shares its cache lines with no other: which ones
// do is an accident of when they were allocated, and costs more than any pool.
type padded struct {
	bytes.Buffer
	_ [128 - 40]byte
}

// BenchmarkPool is a Get, a write and a Put of a Pool, and its control the same
// through a sync.Pool of pointers with the same reset.
func BenchmarkPool(b *testing.B) {
	trades := dewpond.MustPool(dewpond.PoolOptions[trade]{Name: "trades"})
	theirTrades := sync.Pool{New: func() any { return new(trade) }}
	versus(b, "zero", func(n int) {
		for range n {
			v := trades.Get()
			v.ID = 1
			trades.Put(v)
		}
	}, func(n int) {
		for range n {
			v := theirTrades.Get().(*trade)
			v.ID = 1
			*v = trade{}
			theirTrades.Put(v)
		}
	})

	buffers := dewpond.MustPool(dewpond.PoolOptions[padded]{Name: "buffers"})
	theirBuffers := sync.Pool{New: func() any { return new(padded) }}
	versus(b, "reset", func(n int) {
		for range n {
			v := buffers.Get()
			v.WriteByte(1)
			buffers.Put(v)
		}
	}, func(n int) {
		for range n {
			v := theirBuffers.Get().(*padded)
			v.WriteByte(1)
			v.Reset()
			theirBuffers.Put(v)
		}
	})

	small := func(b *padded) bool { return b.Cap() < 64<<10 }
	kept := dewpond.MustPool(dewpond.PoolOptions[padded]{Name: "kept", Keep: small})
	versus(b, "keep", func(n int) {
		for range n {
			v := kept.Get()
			v.WriteByte(1)
			kept.Put(v)
		}
	}, func(n int) {
		for range n {
			v := theirBuffers.Get().(*padded)
			v.WriteByte(1)
			if small(v) {
				v.Reset()
				theirBuffers.Put(v)
			}
		}
	})
}

// A jsonEncoder is an encoder with the buffer that it writes to.
type jsonEncoder struct {
	bytes.Buffer
	*json.Encoder
}

func newJSONEncoder() *jsonEncoder {
	e := new(jsonEncoder)
	e.Encoder = json.NewEncoder(&e.Buffer)
	return e
}

// BenchmarkReset compares objects that are reset to a destination, in the form of the examples, with a
// sync.Pool whose users reset after Get. A gzip.Writer is also used where other work touches 1, 4 or
// 64 MiB of memory between two uses: what is reset before Put is cold again after the next Get.
func BenchmarkReset(b *testing.B) {
	text := bytes.Repeat([]byte("the quick brown fox, "), 100) // 2.1 KB
	to := new(bytes.Buffer)

	zippers := dewpond.MustPool(dewpond.PoolOptions[zipper]{
		New:     func() *zipper { return &zipper{Writer: gzip.NewWriter(nil)} },
		Reset:   func(z *zipper) { z.to.Writer = nil },
		MaxIdle: 32,
	})
	writers := sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	varied := make([]byte, 11_000) // of which every place has another hash, as in what people write
	random := rand.New(rand.NewPCG(1, 1))
	for i := range varied {
		varied[i] = "abcdefghij klmno"[random.IntN(16)]
	}
	zip := func() {
		to.Reset()
		z := zippers.Get()
		z.to.Writer = to
		z.Reset(&z.to)
		z.Write(varied)
		z.Close()
		zippers.Put(z)
	}
	theirZip := func() {
		to.Reset()
		w := writers.Get().(*gzip.Writer)
		w.Reset(to)
		w.Write(varied)
		w.Close()
		writers.Put(w)
	}
	other := make([]byte, 64<<20)
	for _, between := range []int{0, 1, 4, 64} {
		b.Run(fmt.Sprintf("gzip/between=%dMiB", between), func(b *testing.B) {
			compareUses(b, 400/(between+4), func(use func()) {
				if between == 0 {
					use() // what is used is as warm as one use leaves it
				}
				for at := 0; at < between<<20; at += 64 {
					other[at]++
				}
			}, zip, theirZip)
		})
	}

	readers := dewpond.MustPool(dewpond.PoolOptions[bufio.Reader]{
		New:   func() *bufio.Reader { return bufio.NewReaderSize(nil, 4096) },
		Reset: func(r *bufio.Reader) { r.Reset(nil) },
	})
	theirReaders := sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4096) }}
	from := bytes.NewReader(text)
	words := func(r *bufio.Reader) {
		for _, err := r.ReadSlice(','); err == nil; _, err = r.ReadSlice(',') {
		}
	}
	b.Run("bufio", func(b *testing.B) {
		compareRoundsOf(b, 20_000, func(n int) {
			for range n {
				from.Reset(text)
				r := readers.Get()
				r.Reset(from)
				words(r)
				readers.Put(r)
			}
		}, func(n int) {
			for range n {
				from.Reset(text)
				r := theirReaders.Get().(*bufio.Reader)
				r.Reset(from)
				words(r)
				theirReaders.Put(r)
			}
		})
	})

	encoders := dewpond.MustPool(dewpond.PoolOptions[jsonEncoder]{New: newJSONEncoder, Reset: func(e *jsonEncoder) { e.Reset() }})
	theirEncoders := sync.Pool{New: func() any { return newJSONEncoder() }}
	value := trade{ID: 7, Name: "alice", Email: "a@x"}
	b.Run("json", func(b *testing.B) {
		compareRoundsOf(b, 20_000, func(n int) {
			for range n {
				e := encoders.Get()
				e.Encode(&value)
				encoders.Put(e)
			}
		}, func(n int) {
			for range n {
				e := theirEncoders.Get().(*jsonEncoder)
				e.Reset()
				e.Encode(&value)
				theirEncoders.Put(e)
			}
		})
	})

	type digest struct{ hash.Hash }
	digests := dewpond.MustPool(dewpond.PoolOptions[digest]{New: func() *digest { return &digest{sha256.New()} }, Reset: func(d *digest) { d.Reset() }})
	theirDigests := sync.Pool{New: func() any { return &digest{sha256.New()} }}
	var sum [sha256.Size]byte
	b.Run("hash", func(b *testing.B) {
		compareRoundsOf(b, 20_000, func(n int) {
			for range n {
				d := digests.Get()
				d.Write(text)
				d.Sum(sum[:0])
				digests.Put(d)
			}
		}, func(n int) {
			for range n {
				d := theirDigests.Get().(*digest)
				d.Reset()
				d.Write(text)
				d.Sum(sum[:0])
				theirDigests.Put(d)
			}
		})
	})
}
