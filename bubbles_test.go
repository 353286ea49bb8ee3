package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
)

// A clock is an object whose timer and channel belong to the bubble in which it was made.
type clock struct {
	timer *time.Timer
	done  chan bool
	n     int
}

// keepApart has the pools that a test makes keep bubbles apart.
func keepApart(t *testing.T) {
	t.Helper()
	notWatched(t, "an object that leaves its bubble is never put back")
	if !dewpond.KeepApart(t) {
		t.Skip("pools do not keep bubbles apart here: " + dewpond.MustPool(dewpond.PoolOptions[int]{}).Stats().Bubbles)
	}
}

// newHeapPool makes a pool on the heap: an Allocator is one for all bubbles.
func newHeapPool(t *testing.T, o dewpond.BytePoolOptions) *dewpond.BytePool {
	o.Name = t.Name()
	p := dewpond.MustBytePool(o)
	t.Cleanup(func() { p.Close() })
	return p
}

// clocks is a pool of clocks that says what it calls.
type clocks struct {
	*dewpond.Pool[clock]
	mu     sync.Mutex
	called map[string]int
}

func newClocks(t *testing.T, o dewpond.PoolOptions[clock]) *clocks {
	c := &clocks{called: map[string]int{}}
	call := func(what string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.called[what]++
	}
	o.New = func() *clock {
		call("New")
		k := &clock{timer: time.NewTimer(time.Hour), done: make(chan bool, 1)}
		k.timer.Stop()
		return k
	}
	o.Keep = func(*clock) bool { call("Keep"); return true }
	o.Reset = func(k *clock) { call("Reset"); k.timer.Stop(); k.n = 0 }
	o.Drop = func(k *clock) { call("Drop"); close(k.done) }
	c.Pool = newObjects(t, o)
	return c
}

// calls returns what was called since the last time.
func (c *clocks) calls() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := strings.TrimPrefix(fmt.Sprint(c.called), "map")
	clear(c.called)
	return s
}

// use takes a clock, does with it what only its own bubble may, and puts it back.
func (c *clocks) use() {
	k := c.Get()
	k.timer.Reset(time.Millisecond)
	<-k.timer.C
	k.done <- true
	<-k.done
	k.n++
	c.Put(k)
}

// Objects that belong to a bubble are used in bubbles and outside, in turn. Without parts this
// ends the process.
func TestBubblesKeepNothing(t *testing.T) {
	keepApart(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that a Get finds what was put on another processor
	p := newClocks(t, dewpond.PoolOptions[clock]{})
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			p.calls()
			p.use()
			p.use()
			if got := p.calls(); got != "[Drop:2 Keep:2 New:2 Reset:2]" {
				t.Errorf("two uses in a bubble call %s", got)
			}
			if err := p.Prewarm(3); err != nil || p.calls() != "[]" {
				t.Errorf("Prewarm in a bubble: %v", err)
			}
			p.Trim()
		})
		p.use()
	}
	p.use()
	if s := p.Stats(); s.Gets != 10 || s.Hits != 3 || s.Puts != 10 || s.Dropped.Full != 6 || s.InUseBytes != 0 || s.Classes[0].Idle != 1 || s.Bubbles != "apart" {
		t.Errorf("%+v", s)
	}
}

// What crosses from a bubble to the outside, or back, or to another bubble, harms nobody.
func TestObjectsCrossBubbles(t *testing.T) {
	for _, limit := range []int{0, 1} {
		t.Run(fmt.Sprint("Limit ", limit), func(t *testing.T) {
			keepApart(t)
			p := newClocks(t, dewpond.PoolOptions[clock]{MaxOut: limit})
			mustHave := func(what, want string) {
				t.Helper()
				if got := p.calls(); got != want {
					t.Errorf("%s calls %s, want %s", what, got, want)
				}
			}
			var stray *clock
			synctest.Test(t, func(*testing.T) { stray = p.Get() })
			p.calls()
			p.Put(stray)
			mustHave("Put outside", "[]")
			synctest.Test(t, func(*testing.T) { stray = p.Get() })
			p.calls()
			synctest.Test(t, func(*testing.T) { p.Put(stray) })
			mustHave("Put in another bubble", "[]")
			stray = p.Get()
			p.calls()
			synctest.Test(t, func(*testing.T) { p.Put(stray) })
			mustHave("Put in a bubble of what is from outside", "[Drop:1 Keep:1 Reset:1]")
			if _, err := p.TryGet(); err != nil {
				t.Errorf("after all was put back: %v", err)
			}
			if s := p.Stats(); s.Gets != 4 || s.Puts != 3 || s.InUseBytes != int64(reflect.TypeFor[clock]().Size()) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// An object that Drop has given away in a bubble, and New returns outside, is from outside.
func TestDroppedObjectIsMadeAgain(t *testing.T) {
	keepApart(t)
	given := new(channelled)
	p := newObjects(t, dewpond.PoolOptions[channelled]{
		MaxOut: 1,
		New: func() *channelled {
			v := given
			given = new(channelled)
			return v
		},
		Drop: func(v *channelled) { given = v },
	})
	synctest.Test(t, func(*testing.T) { p.Put(p.Get()) })
	for range 3 {
		v, err := p.TryGet()
		if err != nil {
			t.Fatal(err)
		}
		p.Put(v)
	}
	if s := p.Stats(); s.Misses != 2 || s.Hits != 2 {
		t.Errorf("%+v", s)
	}
}

// A bubble has a MaxOut of its own, and waits by its own clock for what is put back in it.
func TestBubbleHasItsLimit(t *testing.T) {
	keepApart(t)
	p := newClocks(t, dewpond.PoolOptions[clock]{MaxOut: 1})
	held, err := p.TryGet()
	if err != nil {
		t.Fatal(err)
	}
	outside := make(chan error)
	go func() {
		k, err := p.GetContext(context.Background())
		p.Put(k)
		outside <- err
	}()
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			k, err := p.TryGet()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.TryGet(); !errors.Is(err, dewpond.ErrExhausted) {
				t.Errorf("a second object: %v", err)
			}
			start := time.Now()
			go func() {
				time.Sleep(time.Hour)
				p.Put(k)
			}()
			again, err := p.GetContext(t.Context())
			if took := time.Since(start); err != nil || took != time.Hour {
				t.Errorf("after %v: %v", took, err)
			}
			p.Put(again)
		})
	}
	p.Put(held)
	if err := <-outside; err != nil {
		t.Error(err)
	}
}

// A bubble that ends while one waits in it leaves nobody behind for others.
func TestBubbleEndsWithWaiters(t *testing.T) {
	keepApart(t)
	byBudget := newHeapPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 64), Classes: []int{64}})
	objects := newClocks(t, dewpond.PoolOptions[clock]{MaxOut: 1})
	for range 2 {
		func() {
			defer func() { _ = recover() }() // the end of a bubble in which somebody waits is a panic
			synctest.Test(t, func(t *testing.T) {
				objects.Get()
				byBudget.Get(64)
				go func() { _, _ = objects.GetContext(context.Background()) }()
				go func() { _, _ = byBudget.GetContext(context.Background(), 64) }()
				synctest.Wait()
			})
		}()
		for range 2 {
			k, err := objects.GetContext(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			objects.Put(k)
			b, err := byBudget.GetContext(context.Background(), 64)
			if err != nil {
				t.Fatal(err)
			}
			byBudget.Put(b)
		}
	}
}

// A thousand bubbles leave no more behind than some dozens do.
func TestManyBubblesLeaveNothing(t *testing.T) {
	keepApart(t)
	p := newClocks(t, dewpond.PoolOptions[clock]{MaxOut: 10})
	b := newHeapPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 1<<20)})
	goroutines := runtime.NumGoroutine()
	parts := func(n int) {
		for range n {
			synctest.Test(t, func(*testing.T) {
				p.use()
				p.Get() // and loses it
				b.Put(b.Get(100))
			})
		}
	}
	parts(1000)
	const few = 64
	if n := dewpond.PartsOf(p.Pool); n > few {
		t.Errorf("%d parts after 1000 bubbles", n)
	}
	if n := dewpond.PartsOfBytes(b); n > few {
		t.Errorf("a BytePool has %d parts", n)
	}
	for dewpond.Births(p.Pool) > 0 || runtime.NumGoroutine() > goroutines { // if it stays so, the test runs into its timeout
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if s := p.Stats(); s.Gets != 2000 || s.Puts != 1000 || s.Misses != 2000 || s.InUseBytes > few*int64(s.Classes[0].Size) {
		t.Errorf("%+v", s)
	}
	if s := b.Stats(); s.Gets != 1000 || s.IdleBytes > few*128 {
		t.Errorf("%+v", s)
	}
}

// A pool that a bubble has made reuses in it, so that its tests find a Reset that forgets.
func TestBubbleReusesItsOwnPool(t *testing.T) {
	keepApart(t)
	var p *clocks
	synctest.Test(t, func(t2 *testing.T) {
		p = newClocks(t, dewpond.PoolOptions[clock]{})
		for range 10 {
			p.use()
		}
		if got := p.calls(); got != "[Keep:10 New:1 Reset:10]" {
			t2.Errorf("ten uses call %s", got)
		}
	})
	synctest.Test(t, func(*testing.T) { p.use() })
	p.use()
	if got := p.calls(); got != "[Drop:1 Keep:2 New:2 Reset:2]" {
		t.Errorf("two uses elsewhere call %s", got)
	}
	p.Close()
	if got := p.calls(); got != "[Drop:1]" {
		t.Errorf("Close outside calls %s: what the bubble has made is the bubble's", got)
	}
}

// Where a timer outside takes a bubble for dead that lives, decay leaves alone what is idle in the bubble,
// also what is in quarantine: Drop would touch the bubble's channels.
func TestBubbleDecaysWithinAlone(t *testing.T) {
	keepApart(t)
	world := newOutsider(t)
	synctest.Test(t, func(t *testing.T) {
		p := newClocks(t, dewpond.PoolOptions[clock]{Check: dewpond.CheckAll, MaxIdle: 8, IdleTimeout: time.Second})
		var all []*clock
		for range 12 {
			all = append(all, p.Get())
		}
		for _, k := range all {
			p.Put(k)
		}
		if got := p.calls(); got != "[Drop:4 Keep:12 New:12 Reset:12]" {
			t.Errorf("twelve uses call %s", got)
		}
		if v := world.do(func() { dewpond.DecayHere(p.Pool) }); v != nil {
			t.Error(v)
		}
		if got := p.calls(); got != "[]" || p.Stats().Classes[0].Idle != 8 {
			t.Errorf("decay outside calls %s, and leaves %d of 8", got, p.Stats().Classes[0].Idle)
		}
		time.Sleep(time.Minute)
		if got := p.calls(); got != "[Drop:8]" {
			t.Errorf("decay in the bubble calls %s", got)
		}
	})
}

// Trim, Close and the timers of decay run outside while a bubble uses the pool, and in it.
func TestPartsLiveThroughClose(t *testing.T) {
	for _, where := range []string{"outside", "in the bubble"} {
		t.Run(where, func(t *testing.T) {
			keepApart(t)
			p, world := newClocks(t, dewpond.PoolOptions[clock]{MaxOut: 2}), newOutsider(t)
			p.use()
			synctest.Test(t, func(t *testing.T) {
				p.use()
				held := p.Get()
				world.do(func() { p.Trim(); p.use() })
				time.Sleep(time.Hour)
				closeIt := func() { p.Close() }
				if where == "outside" {
					world.do(closeIt)
				} else {
					closeIt()
					if _, err := p.TryGet(); err != dewpond.ErrClosed {
						t.Errorf("TryGet after Close: %v", err)
					}
				}
				held.timer.Reset(time.Second)
				<-held.timer.C
				p.Put(held)
			})
			synctest.Test(t, func(t *testing.T) {
				if _, err := p.TryGet(); err != dewpond.ErrClosed {
					t.Errorf("TryGet in a later bubble: %v", err)
				}
			})
			if _, err := p.TryGet(); err != dewpond.ErrClosed {
				t.Errorf("TryGet outside: %v", err)
			}
			if s := p.Stats(); s.Classes[0].Idle != 0 || s.InUseBytes != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A BytePool whose calls may wait has a gate in each bubble, and blocks go home.
func TestBubbleHasItsBudget(t *testing.T) {
	keepApart(t)
	budget := dewpond.MustBudget("", 4096)
	o := dewpond.BytePoolOptions{Classes: []int{1024, 4096}, Budget: budget}
	p, other := newHeapPool(t, o), newHeapPool(t, o)
	slices, err := dewpond.NewSlicePool(dewpond.SlicePoolOptions[byte]{Budget: budget, Classes: []int{4096}})
	if err != nil {
		t.Fatal(err)
	}
	defer slices.Close()
	held, err := p.TryGet(4096)
	if err != nil {
		t.Fatal(err)
	}
	outside := make(chan error)
	go func() {
		b, err := other.GetContext(context.Background(), 1024)
		other.Put(b)
		outside <- err
	}()
	for dewpond.Claims(budget) == 0 {
		runtime.Gosched()
	}
	var stray []byte
	synctest.Test(t, func(t *testing.T) {
		b, err := p.TryGet(4096)
		if err != nil || budget.Used() != 4096 {
			t.Fatalf("%v, %v", err, budget)
		}
		if _, err := slices.TryGet(4096); !errors.Is(err, dewpond.ErrExhausted) {
			t.Errorf("another pool of the Budget: %v", err)
		}
		start := time.Now()
		go func() {
			time.Sleep(time.Minute)
			p.Put(b)
		}()
		if b, err = other.GetContext(t.Context(), 1024); err != nil || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		other.Put(b)
		if stray, err = p.TryGet(1024); err != nil {
			t.Error(err)
		}
		p.Put(held) // it is from outside, where one waits
	})
	if err := <-outside; err != nil {
		t.Error(err)
	}
	before := p.Stats()
	p.Put(stray)
	if s := p.Stats().Sub(before); s.Dropped.Foreign != 1 || s.Violations != 0 {
		t.Errorf("a Put outside of what is from a bubble: %+v", s)
	}

	for _, ends := range []struct {
		by string
		do func(b []byte)
	}{
		{"Put", p.Put},
		{"PutWritten", p.PutWritten},
		{"Adopt", p.Adopt},
		{"Append", func(b []byte) { p.Put(p.Append(b, 1)) }},
		{"Grow", func(b []byte) { p.Put(p.Grow(b, 1)) }},
		{"LeaseOf", func(b []byte) { l := p.LeaseOf(b); l.Release() }},
		{"SlicePool.Put", slices.Put},
		{"SlicePool.Adopt", slices.Adopt},
		{"SlicePool.Append", func(s []byte) { slices.Put(slices.Append(s, 1)) }},
		{"SlicePool.Grow", func(s []byte) { slices.Put(slices.Grow(s, 1)) }},
	} {
		get, trim := p.TryGet, p.Trim
		if strings.HasPrefix(ends.by, "SlicePool") {
			get, trim = slices.TryGet, slices.Trim
		}
		b, err := get(4096)
		if err != nil {
			t.Fatalf("before %s: %v", ends.by, err)
		}
		synctest.Test(t, func(*testing.T) { ends.do(b) })
		if trim(); budget.Used() != 0 {
			t.Fatalf("%d bytes are out after %s of them in a bubble", budget.Used(), ends.by)
		}
	}
}

func TestBubbleHasItsAllocRate(t *testing.T) {
	keepApart(t)
	p, world := newHeapPool(t, dewpond.BytePoolOptions{AllocRate: 1, MaxIdleBytes: dewpond.NoIdle}), newOutsider(t)
	outside := p.Get(100)
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			b, err := p.TryGet(100)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			end := waitFor(t, func(ctx context.Context) error {
				b, err := p.GetContext(ctx, 100)
				p.Put(b)
				return err
			})
			if v := world.do(func() { p.Put(outside); p.Trim() }); v != nil {
				t.Errorf("a Put outside: %v", v)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if err := end(); err != nil || time.Since(start) != time.Second {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
			p.Put(b)
		})
		outside = p.Get(100)
	}
	p.Put(outside)
}

// The zero pool has parts as a pool by NewPool has.
func TestZeroPoolKeepsBubblesApart(t *testing.T) {
	keepApart(t)
	var p dewpond.Pool[struct{ c chan int }]
	p.Put(p.Get())
	synctest.Test(t, func(t *testing.T) {
		for range 3 {
			v := p.Get()
			if v.c != nil {
				t.Error("not zero")
			}
			v.c = make(chan int)
			p.Put(v)
		}
	})
	if s := p.Stats(); s.Gets != 4 || s.Misses != 4 || s.Bubbles != "apart" {
		t.Errorf("%+v", s)
	}
	p.Close()
}

// Misuse in a bubble is seen there.
func TestBubblesAreChecked(t *testing.T) {
	keepApart(t)
	var found []misuse.Violation
	p := newClocks(t, dewpond.PoolOptions[clock]{Check: dewpond.CheckAll, OnViolation: func(v misuse.Violation) { found = append(found, v) }})
	synctest.Test(t, func(*testing.T) { p.use() })
	outside := p.Get()
	synctest.Test(t, func(*testing.T) { p.Put(outside) })
	p.use()
	if len(found) != 0 {
		t.Errorf("%v", found)
	}
	synctest.Test(t, func(*testing.T) { p.Get() })
	if n := dewpond.Unreturned(p.Pool); n != 1 || len(found) != 1 || found[0].Kind != misuse.Leak {
		t.Errorf("%d are out, reported %v", n, found)
	}
}

// Each type of which a value may belong to a bubble has parts, and no other.
func TestWhatMayBelongToBubbles(t *testing.T) {
	for _, belongs := range []any{
		new(int), make(chan int), func() {}, map[int]int{}, []byte{}, sync.WaitGroup{}, struct {
			n  int
			wg [1]sync.WaitGroup
		}{}, [1]*int{}, struct{ any }{}, time.Timer{},
	} {
		if !dewpond.MayBelong(reflect.TypeOf(belongs)) {
			t.Errorf("%T may belong to a bubble", belongs)
		}
	}
	for _, plain := range []any{1, 1.5, [4]uint64{}, struct{ a, b int }{}, [0]*int{}, sync.Mutex{}} {
		if dewpond.MayBelong(reflect.TypeOf(plain)) {
			t.Errorf("%T belongs to no bubble", plain)
		}
	}
}

// What parts cost where there are any: outside of bubbles, and in one. With -v it is in the output.
func TestWhatPartsCost(t *testing.T) {
	apart := func(keep bool) (p *dewpond.Pool[channelled]) {
		t.Run("", func(t *testing.T) {
			if keep {
				keepApart(t)
			}
			p = dewpond.MustPool(dewpond.PoolOptions[channelled]{})
		})
		return p
	}
	with, without := apart(true), apart(false)
	if with == nil {
		t.Skip("there are no parts here")
	}
	each := func(p *dewpond.Pool[channelled]) float64 {
		const n = 200
		start := time.Now()
		for range n {
			p.Put(p.Get())
		}
		return float64(time.Since(start)) / n
	}
	var apartTook, sharedTook []float64
	for range 300 {
		apartTook, sharedTook = append(apartTook, each(with)), append(sharedTook, each(without))
	}
	slices.Sort(apartTook)
	slices.Sort(sharedTook)
	const bubbles = 20
	start := time.Now()
	for range bubbles {
		synctest.Test(t, func(*testing.T) { each(with) })
	}
	t.Logf("Get and Put outside of bubbles: %.0f ns with parts, %.0f ns without; in a bubble %v", apartTook[150], sharedTook[150], time.Since(start)/bubbles/200)
	if s := with.Stats(); s.Gets != 300*200+bubbles*200 {
		t.Errorf("%+v", s)
	}
}

type channelled struct{ done chan bool }

// A pool that a bubble has made is collected with what is idle in it.
func TestPoolOfBubbleIsCollected(t *testing.T) {
	keepApart(t)
	collected := make(chan bool, 10)
	for range 10 {
		synctest.Test(t, func(*testing.T) {
			p := dewpond.MustPool(dewpond.PoolOptions[channelled]{IdleTimeout: dewpond.NoDecay})
			v := p.Get()
			v.done = make(chan bool)
			runtime.AddCleanup(v, func(c chan<- bool) { c <- true }, collected)
			p.Put(v)
		})
	}
	for n := 0; n < 10; { // if they are not, the test runs into its timeout
		runtime.GC()
		select {
		case <-collected:
			n++
		default:
			time.Sleep(time.Millisecond)
		}
	}
}

// A user's tests share a pool, some of them in bubbles. A timer that is armed in one and reset
// outside would be a fatal error.
func TestPoolInBubblesAndOutside(t *testing.T) {
	notWatched(t, "what is put back is in quarantine, which arms no timer")
	for _, first := range []string{"inside", "outside"} {
		p := newPool(t, dewpond.BytePoolOptions{})
		use := func() {
			for range 10 {
				p.Put(p.Get(200_000)) // a class that is in no shard
			}
		}
		bubble := func() {
			synctest.Test(t, func(t *testing.T) {
				use()
				time.Sleep(10 * time.Second) // ticks, if there is a timer of the bubble's
				use()
			})
		}
		if first == "outside" {
			use()
		} else {
			synctest.Test(t, func(t *testing.T) { use() })
		}
		before := p.Stats()
		bubble()
		use()
		bubble()
		use()
		if s := p.Stats().Sub(before); s.Hits != 60 || s.Gets != 60 || !dewpond.Armed(p) {
			t.Errorf("first used %s: of %d Gets %d hit, want all 60; armed %v", first, s.Gets, s.Hits, dewpond.Armed(p))
		}
	}
}

// A bubble in which nothing can happen any more is found, though a pool's timer is armed in it.
func TestTimerHidesNoDeadlock(t *testing.T) {
	notWatched(t, "what is put back is in quarantine, which arms no timer")
	p := newPool(t, dewpond.BytePoolOptions{})
	end := panicOf(func() {
		synctest.Test(t, func(*testing.T) {
			p.Put(p.Get(1 << 20))
			if !dewpond.Armed(p) {
				t.Error("no timer is armed")
			}
			select {}
		})
	})
	if !strings.Contains(fmt.Sprint(end), "all goroutines in bubble are blocked") {
		t.Error(end)
	}
}

// Pools without waits are used by several bubbles and outside, all at once.
func TestPoolsInParallelBubbles(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(v misuse.Violation) { t.Error(v) }})
	objects := newObjects(t, dewpond.PoolOptions[account]{})
	use := func() {
		for i := range 200 {
			b, l, v := p.Get(i*31), dewpond.Default().Lease(i), objects.Get()
			var buffer dewpond.Buffer
			buffer.WriteString("x")
			if i%50 == 0 {
				time.Sleep(time.Millisecond)
				p.Trim()
			}
			buffer.Release()
			objects.Put(v)
			if err := dewpond.Release(l); err != nil {
				t.Error(err)
			}
			p.Put(b)
		}
	}
	t.Run("all", func(t *testing.T) {
		t.Run("outside", func(t *testing.T) {
			t.Parallel()
			use()
		})
		for range 4 {
			t.Run("bubble", func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					go use()
					use()
					time.Sleep(time.Hour)
					use()
				})
			})
		}
	})
	if s := p.Stats(); s.InUseBytes != 0 || s.Violations != 0 {
		t.Errorf("%+v", s)
	}
}

// A refusal by one clock is long ago by another: it keeps no pool from its shards.
func TestPoolLeavesDirectByAnyClock(t *testing.T) {
	notWatched(t, seesDirect)
	refused := func(p *dewpond.BytePool) {
		out := useUp(t, p, 64)
		if !dewpond.IsDirect(p) {
			t.Error("not in direct mode after a refusal")
		}
		putAll(p, out)
	}
	leaves := func(p *dewpond.BytePool) { mustLeaveDirect(t, p, func() { p.Put(p.Get(64)) }) }
	for _, budget := range []bool{false, true} {
		for _, first := range []string{"outside", "in a bubble, later"} {
			t.Run(fmt.Sprint(first, ", with a Budget ", budget), func(t *testing.T) {
				o := dewpond.BytePoolOptions{AllocRate: 1}
				if budget {
					o.Budget = dewpond.MustBudget("", 1<<20)
				}
				p := newPool(t, o)
				if first == "outside" {
					refused(p)
				} else {
					synctest.Test(t, func(*testing.T) { time.Sleep(time.Hour); refused(p) })
				}
				synctest.Test(t, func(*testing.T) { leaves(p) })
			})
		}
	}
}

// A testing/synctest bubble that ends while a goroutine of its waits leaves the goroutine behind, for
// ever. The pool forgets it, and serves everybody else; while the bubble lives it does not.
func TestWaiterOfEndedBubbleIsForgotten(t *testing.T) {
	notWatched(t, "blocks that are left out are reported as leaks")
	type pool struct {
		wait  func(context.Context) error // where all is taken
		put   func()                      // gives one back
		close func() error
	}
	byBudget := func(t *testing.T) pool {
		p := newPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 64), Classes: []int{64}})
		b := p.Get(64)
		return pool{func(ctx context.Context) error { _, err := p.GetContext(ctx, 64); return err }, func() { p.Put(b) }, p.Close}
	}
	byObjects := func(t *testing.T) pool {
		p := dewpond.MustPool(dewpond.PoolOptions[int]{Name: t.Name(), MaxOut: 1})
		t.Cleanup(func() { p.Close() })
		o := p.Get()
		return pool{func(ctx context.Context) error { _, err := p.GetContext(ctx); return err }, func() { p.Put(o) }, p.Close}
	}
	for name, make := range map[string]func(t *testing.T) pool{"Budget": byBudget, "Pool": byObjects} {
		for what, use := range map[string]func(t *testing.T, p pool){
			"Put": func(_ *testing.T, p pool) { p.put() },
			"GetContext": func(t *testing.T, p pool) {
				var waits go125.WaitGroup
				waits.Go(func() {
					if err := p.wait(t.Context()); err != nil {
						t.Errorf("GetContext: %v", err)
					}
				})
				p.put()
				waits.Wait() // else the test runs into its timeout
			},
			"Close": func(_ *testing.T, p pool) { p.close() },
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				p, world := make(t), newOutsider(t)
				func() {
					defer func() { _ = recover() }() // the end of a bubble in which somebody waits is a panic
					synctest.Test(t, func(t *testing.T) {
						go p.wait(context.Background())
						synctest.Wait()
						if v := world.do(func() { p.close() }); !isApart(v, t.Name()) {
							t.Errorf("Close while the bubble lives: %v", v)
						}
					})
				}()
				use(t, p)
			})
		}
	}
}

// An outsider does, in no bubble, what a bubble tells it, and returns what it panicked
// with. The bubble stands still meanwhile: it waits on what is not its own.
type outsider struct {
	calls    chan func()
	panicked chan any
}

func newOutsider(t *testing.T) *outsider {
	o := &outsider{make(chan func()), make(chan any)}
	go func() {
		for f := range o.calls {
			o.panicked <- panicOf(f)
		}
	}()
	t.Cleanup(func() { close(o.calls) })
	return o
}

func (o *outsider) do(f func()) any {
	o.calls <- f
	return <-o.panicked
}

// isApart reports whether a call panicked with a sentence that says what to do.
func isApart(v any, pool string) bool {
	s, _ := v.(string)
	return strings.HasPrefix(s, "dewpond: ") && strings.Contains(s, fmt.Sprintf("%q", pool)) &&
		strings.Contains(s, "testing/synctest bubble") && strings.Contains(s, "make a pool in each bubble")
}

// waitFor begins to wait in a bubble, where everything else stands still, and returns how
// to end that, which returns the wait's error.
func waitFor(t *testing.T, get func(context.Context) error) (end func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- get(ctx) }()
	synctest.Wait()
	if len(ended) > 0 {
		t.Errorf("there was no wait: %v", <-ended)
	}
	return func() error {
		cancel()
		return <-ended
	}
}

func TestBubblesHaveNumbers(t *testing.T) {
	if n := dewpond.Bubble(); n != 0 {
		t.Errorf("outside of all bubbles: %d", n)
	}
	seen := map[uint64]bool{0: true, ^uint64(0): true} // what is none, and what cannot be told
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			n := dewpond.Bubble()
			if seen[n] {
				t.Errorf("the bubble's number is %d", n)
			}
			seen[n] = true
			var inTimer, inGoroutine uint64
			time.AfterFunc(1, func() { inTimer = dewpond.Bubble() })
			go func() { inGoroutine = deep(100, dewpond.Bubble) }()
			time.Sleep(2 * time.Nanosecond)
			synctest.Wait()
			if inTimer != n || inGoroutine != n {
				t.Errorf("the bubble's number is %d, %d in its timers, %d in its goroutines", n, inTimer, inGoroutine)
			}
		})
	}
}

// deep calls f so many calls deep.
func deep(n int, f func() uint64) uint64 {
	if n == 0 {
		return f()
	}
	return deep(n-1, f)
}

// The timer that a waiter of a bubble has armed dies with it. The next waiter, in
// another bubble or in none, has a timer of its own.
func TestWaiterOfBubbleLeavesNoDeadTimer(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{AllocRate: 100, MaxIdleBytes: dewpond.NoIdle})
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			out := useUp(t, p, 100)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			b, err := p.GetContext(ctx, 100)
			if err != nil {
				t.Fatalf("with 100 misses a second: %v", err)
			}
			p.Put(b)
			ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if _, err := p.GetContext(ctx, 100); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("within a millisecond: %v", err)
			}
			putAll(p, out)
		})
	}
	out := useUp(t, p, 100)
	b, err := p.GetContext(context.Background(), 100)
	if err != nil {
		t.Error(err)
	}
	p.Put(b)
	putAll(p, out)
}

// The timer of a waiter outside is of no use in a bubble.
func TestWaiterOfBubbleHasTimerOfItsOwn(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1, MaxIdleBytes: dewpond.NoIdle})
	putAll(p, useUp(t, p, 100))
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	go func() {
		b, err := p.GetContext(ctx, 100)
		if err == nil { // within a second, which a busy machine may take
			p.Put(b)
		}
		waits <- err
	}()
	for !dewpond.Waiting(p) && p.Stats().Misses < 2 {
		runtime.Gosched()
	}
	timer := dewpond.MissTimer(p)
	cancel()
	<-waits
	world := newOutsider(t)
	synctest.Test(t, func(t *testing.T) {
		putAll(p, useUp(t, p, 100))
		end := waitFor(t, func(ctx context.Context) error {
			b, err := p.GetContext(ctx, 100)
			p.Put(b)
			return err
		})
		world.do(timer) // which takes nothing away from the waiter
		time.Sleep(time.Second)
		synctest.Wait()
		if err := end(); err != nil {
			t.Error(err)
		}
	})
}

// A waiter outside is served by the real clock, also if a bubble puts blocks back: it
// takes none of the misses that AllocRate allows the bubble.
func TestOutsidersTakeNoMissesOfBubble(t *testing.T) {
	const limit = 5
	budget := dewpond.MustBudget("", 4096)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 4096}, Budget: budget, AllocRate: limit})
	b, err := p.TryGet(4096)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	const many = 100 * limit // so that some are without a miss whenever the bubble gives back
	ended := make(chan error, many)
	for range many {
		go func() {
			b, err := p.GetContext(ctx, 4096)
			p.Put(b)
			ended <- err
		}()
	}
	for dewpond.Claims(budget) == 0 {
		runtime.Gosched()
	}
	synctest.Test(t, func(t *testing.T) {
		p.Put(b)
		<-ended
		cancel()
		for range many - 1 {
			<-ended
		}
		out := useUp(t, p, 1024)
		if len(out) != 4 { // of the Budget
			t.Errorf("%d of 4 blocks are there", len(out))
		}
		putAll(p, out)
		p.Trim()
		if out = useUp(t, p, 1024); len(out) != limit-4 {
			t.Errorf("AllocRate allows %d after 4, not %d", len(out), limit-4)
		}
		putAll(p, out)
	})
}

// AllocRate counts by each bubble's own clock, from the beginning, and by the world's.
// No bubble turns back the clock of another, nor the world's.
func TestAllocRateCountsByOneClock(t *testing.T) {
	const limit = 3
	options := dewpond.BytePoolOptions{AllocRate: limit, MaxIdleBytes: dewpond.NoIdle}
	inBubble := func(t *testing.T, p *dewpond.BytePool) {
		for _, pause := range []time.Duration{0, time.Second, time.Hour} {
			time.Sleep(pause)
			out := useUp(t, p, 100)
			if len(out) != limit {
				t.Errorf("%v later %d misses were allowed, not %d", pause, len(out), limit)
			}
			putAll(p, out)
		}
	}
	outside := func(t *testing.T, p *dewpond.BytePool) {
		out := useUp(t, p, 100) // ends, and soon
		if len(out) < limit {
			t.Errorf("outside %d misses were allowed, not %d", len(out), limit)
		}
		putAll(p, out)
	}
	t.Run("made outside", func(t *testing.T) {
		p := newPool(t, options)
		synctest.Test(t, func(t *testing.T) { inBubble(t, p) })
		outside(t, p)
		synctest.Test(t, func(t *testing.T) { inBubble(t, p) })
	})
	t.Run("made in a bubble", func(t *testing.T) {
		var p *dewpond.BytePool
		synctest.Test(t, func(t2 *testing.T) {
			p = newPool(t, options)
			inBubble(t2, p)
		})
		outside(t, p)
		synctest.Test(t, func(t *testing.T) { inBubble(t, p) })
	})
	t.Run("two bubbles", func(t *testing.T) {
		if runtime.GOMAXPROCS(0) == 1 {
			t.Skip("the two must run at once, and go test runs as many tests as GOMAXPROCS")
		}
		p := newPool(t, options)
		late, early := make(chan bool), make(chan bool)
		t.Run("both", func(t *testing.T) {
			t.Run("late", func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Hour)
					inBubble(t, p)
					late <- true
					<-early
					if out := useUp(t, p, 100); len(out) > 0 {
						t.Errorf("%d more were allowed after another bubble's", len(out))
					}
				})
			})
			t.Run("early", func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					<-late
					inBubble(t, p)
					early <- true
				})
			})
		})
	})
}

// While a goroutine waits in a bubble, a call from elsewhere that would wake it panics, and
// does the pool no harm.
func TestNobodyElseWakesWaiterOfBubble(t *testing.T) {
	t.Run("Put and Close of a limited Pool", func(t *testing.T) {
		p, world := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 1}), newOutsider(t)
		v := p.Get()
		synctest.Test(t, func(t *testing.T) {
			end := waitFor(t, func(ctx context.Context) error { _, err := p.GetContext(ctx); return err })
			if v := world.do(func() { p.Close() }); !isApart(v, p.Name()) {
				t.Errorf("Close: %v", v)
			}
			if v := world.do(func() { _, _ = p.GetContext(context.Background()) }); !isApart(v, p.Name()) {
				t.Errorf("GetContext: %v", v)
			}
			if v := world.do(func() { p.Put(v) }); !isApart(v, p.Name()) {
				t.Errorf("Put: %v", v)
			}
			if err := end(); !errors.Is(err, context.Canceled) {
				t.Errorf("the wait: %v", err)
			}
			if v := world.do(func() {
				if v, err := p.GetContext(context.Background()); err == nil {
					p.Put(v)
				} else {
					t.Error(err)
				}
			}); v != nil {
				t.Errorf("after the wait: %v", v)
			}
		})
		if s := p.Stats(); s.InUseBytes != 0 || s.Misses != 1 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("Put and Close of a BytePool", func(t *testing.T) {
		p, world := newPool(t, dewpond.BytePoolOptions{AllocRate: 1}), newOutsider(t)
		b := p.Get(100)
		synctest.Test(t, func(t *testing.T) {
			own := useUp(t, p, 100)
			end := waitFor(t, func(ctx context.Context) error { _, err := p.GetContext(ctx, 100); return err })
			if v := world.do(func() { p.Put(b) }); !isApart(v, p.Name()) {
				t.Errorf("Put: %v", v)
			}
			if v := world.do(func() { p.Close() }); !isApart(v, p.Name()) {
				t.Errorf("Close: %v", v)
			}
			if v := world.do(func() { _, _ = p.GetContext(context.Background(), 100) }); !isApart(v, p.Name()) {
				t.Errorf("GetContext: %v", v)
			}
			if v := world.do(func() { _ = p.Prewarm(100, 1) }); !isApart(v, p.Name()) || p.Stats().IdleBytes != 0 {
				t.Errorf("Prewarm: %v, %d idle", v, p.Stats().IdleBytes)
			}
			if v := world.do(func() { p.Put(p.Get(5000)) }); v != nil {
				t.Errorf("Put of a class that nobody waits for: %v", v)
			}
			if err := end(); !errors.Is(err, context.Canceled) {
				t.Errorf("the wait: %v", err)
			}
			putAll(p, own)
		})
		if s := p.Stats(); s.InUseBytes != 0 || s.Dropped.Full != 1 {
			t.Errorf("%+v", s)
		}
	})
	for _, size := range []int{1024, 4096} { // one class with the waiter, and not
		t.Run(fmt.Sprint("Put to a Budget of ", size), func(t *testing.T) {
			budget := dewpond.MustBudget("", 4096)
			o := dewpond.BytePoolOptions{Classes: []int{64, 1024, 4096}, Budget: budget}
			p, world := newPool(t, o), newOutsider(t)
			o.Name = "another"
			other := newPool(t, o)
			out := useUp(t, p, size)
			synctest.Test(t, func(t *testing.T) {
				end := waitFor(t, func(ctx context.Context) error {
					b, err := p.GetContext(ctx, 4096)
					p.Put(b)
					return err
				})
				if v := world.do(func() { _, _ = other.GetContext(context.Background(), 64) }); !isApart(v, "another") {
					t.Errorf("GetContext of another pool, which would wait behind: %v", v)
				}
				for _, b := range out[1:] {
					if v := world.do(func() { p.Put(b) }); v != nil {
						t.Errorf("Put that does not end the wait: %v", v)
					}
				}
				if v := world.do(func() { p.Put(out[0]) }); !isApart(v, p.Name()) {
					t.Errorf("Put: %v", v)
				}
				if used := budget.Used(); used != 0 {
					t.Errorf("%d are charged after a Put that panicked", used)
				}
				if v := world.do(func() { p.Trim() }); !isApart(v, p.Name()) {
					t.Errorf("Trim: %v", v)
				}
				if v := world.do(func() { dewpond.TrimAsTimer(p) }); v != nil {
					t.Errorf("a timer: %v", v)
				}
				p.Trim()
				if err := end(); err != nil {
					t.Errorf("after a Trim in the bubble: %v", err)
				}
			})
			if b, err := other.GetContext(context.Background(), 64); err != nil {
				t.Errorf("after the wait: %v", err)
			} else {
				other.Put(b)
			}
		})
	}
}

// Close of a pool ends the waits of its bubble also after a Close outside that panicked.
func TestCloseInBubbleAfterOneOutside(t *testing.T) {
	world := newOutsider(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
		putAll(p, useUp(t, p, 5000))
		end := waitFor(t, func(ctx context.Context) error { _, err := p.GetContext(ctx, 100); return err })
		if v := world.do(func() { p.Close() }); !isApart(v, p.Name()) {
			t.Errorf("Close outside: %v", v)
		}
		if s := p.Stats(); s.IdleBytes == 0 {
			t.Error("a Close that panicked has released what was idle")
		}
		p.Close()
		synctest.Wait()
		if err := end(); err != dewpond.ErrClosed {
			t.Errorf("Close in the bubble: %v", err)
		}
	})
}

// While a goroutine waits outside, a wait in a bubble panics: no Put outside could wake it.
// What is put back in the bubble wakes the waiter outside.
func TestNobodyWaitsInBubbleBehindOutsiders(t *testing.T) {
	t.Run("Pool", func(t *testing.T) {
		p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 1})
		v := p.Get()
		served := make(chan error)
		go func() {
			v, err := p.GetContext(context.Background())
			p.Put(v)
			served <- err
		}()
		for dewpond.WaitingFor(p) == 0 {
			runtime.Gosched()
		}
		synctest.Test(t, func(t *testing.T) {
			if v := panicOf(func() { _, _ = p.GetContext(t.Context()) }); !isApart(v, p.Name()) {
				t.Errorf("GetContext: %v", v)
			}
			p.Put(v)
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("BytePool", func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
		out := useUp(t, p, 100)
		ctx, cancel := context.WithCancel(t.Context())
		const many = 1000 // so that AllocRate serves some while the test runs, and not all
		ended, done := make(chan error, many), make(chan bool)
		var wg go125.WaitGroup
		for range many {
			wg.Go(func() {
				b, err := p.GetContext(ctx, 100)
				ended <- err
				<-done
				p.Put(b)
			})
		}
		for !dewpond.Waiting(p) {
			runtime.Gosched()
		}
		synctest.Test(t, func(t *testing.T) {
			if v := panicOf(func() { _, _ = p.GetContext(t.Context(), 5000) }); !isApart(v, p.Name()) {
				t.Errorf("GetContext: %v", v)
			}
			putAll(p, out) // to the waiter
		})
		cancel()
		for range many {
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		close(done)
		wg.Wait()
	})
}

// Of two bubbles that share a pool one finds it out.
func TestTwoBubblesDoNotShareWaits(t *testing.T) {
	t.Run("Limit", func(t *testing.T) {
		p := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 1})
		twoBubbles(t, p.Name(), func(ctx context.Context) (put func(), err error) {
			v, err := p.GetContext(ctx)
			return func() { p.Put(v) }, err
		})
	})
	t.Run("Budget", func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 4096)})
		twoBubbles(t, p.Name(), func(ctx context.Context) (put func(), err error) {
			b, err := p.GetContext(ctx, 4096)
			return func() { p.Put(b) }, err
		})
	})
}

// twoBubbles has one bubble wait for what another puts back.
func twoBubbles(t *testing.T, pool string, get func(context.Context) (put func(), err error)) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("the two must run at once, and go test runs as many tests as GOMAXPROCS")
	}
	out, waits, back := make(chan bool), make(chan bool), make(chan bool)
	t.Run("both", func(t *testing.T) {
		t.Run("owner", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				put, err := get(t.Context())
				if err != nil {
					t.Error(err)
				}
				out <- true
				<-waits
				if v := panicOf(put); !isApart(v, pool) {
					t.Errorf("Put: %v", v)
				}
				if v := panicOf(func() { _, _ = get(t.Context()) }); !isApart(v, pool) {
					t.Errorf("GetContext: %v", v)
				}
				back <- true
			})
		})
		t.Run("waiter", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				<-out
				end := waitFor(t, func(ctx context.Context) error { _, err := get(ctx); return err })
				waits <- true
				<-back
				if err := end(); !errors.Is(err, context.Canceled) {
					t.Errorf("the wait: %v", err)
				}
				put, err := get(t.Context()) // what the owner could not hand over
				if err != nil {
					t.Error(err)
				}
				put()
			})
		})
	})
}
