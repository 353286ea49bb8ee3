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
	"github.com/dewpond/dewpond/internal/go125/synctest"
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

// newHeapPool makes a pool on the heap: a Source is one for all bubbles.
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
	if s := p.Stats(); s.Gets != 10 || s.Hits != 3 || s.Puts != 10 || s.DroppedFull != 6 || s.InUseBytes != 0 || s.Classes[0].Idle != 1 || s.Bubbles != "apart" {
		t.Errorf("%+v", s)
	}
}

// What crosses from a bubble to the outside, or back, or to another bubble, harms nobody.
func TestObjectsCrossBubbles(t *testing.T) {
	for _, limit := range []int{0, 1} {
		t.Run(fmt.Sprint("Limit ", limit), func(t *testing.T) {
			keepApart(t)
			p := newClocks(t, dewpond.PoolOptions[clock]{Limit: limit})
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
		Limit: 1,
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

// A bubble has a Limit of its own, and waits by its own clock for what is put back in it.
func TestBubbleHasItsLimit(t *testing.T) {
	keepApart(t)
	p := newClocks(t, dewpond.PoolOptions[clock]{Limit: 1})
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
	objects := newClocks(t, dewpond.PoolOptions[clock]{Limit: 1})
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
	p := newClocks(t, dewpond.PoolOptions[clock]{Limit: 10})
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
			p, world := newClocks(t, dewpond.PoolOptions[clock]{Limit: 2}), newOutsider(t)
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
	if s := p.Stats().Sub(before); s.DroppedForeign != 1 || s.Violations != 0 {
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
		{"Replace", func(b []byte) { p.Replace(b, append(b, 1)) }},
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

func TestBubbleHasItsAllocLimit(t *testing.T) {
	keepApart(t)
	p, world := newHeapPool(t, dewpond.BytePoolOptions{AllocLimit: 1, MaxIdleBytes: dewpond.NoIdle}), newOutsider(t)
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
	var found []dewpond.Violation
	p := newClocks(t, dewpond.PoolOptions[clock]{Check: dewpond.CheckAll, OnViolation: func(v dewpond.Violation) { found = append(found, v) }})
	synctest.Test(t, func(*testing.T) { p.use() })
	outside := p.Get()
	synctest.Test(t, func(*testing.T) { p.Put(outside) })
	p.use()
	if len(found) != 0 {
		t.Errorf("%v", found)
	}
	synctest.Test(t, func(*testing.T) { p.Get() })
	if n := dewpond.Unreturned(p.Pool); n != 1 || len(found) != 1 || found[0].Kind != dewpond.Leak {
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
