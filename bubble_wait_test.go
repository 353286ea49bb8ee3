package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

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
	p := newPool(t, dewpond.BytePoolOptions{AllocLimit: 100, MaxIdleBytes: dewpond.NoIdle})
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
	p := newPool(t, dewpond.BytePoolOptions{AllocLimit: 1, MaxIdleBytes: dewpond.NoIdle})
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
// takes none of the misses that AllocLimit allows the bubble.
func TestOutsidersTakeNoMissesOfBubble(t *testing.T) {
	const limit = 5
	budget := dewpond.MustBudget("", 4096)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 4096}, Budget: budget, AllocLimit: limit})
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
			t.Errorf("AllocLimit allows %d after 4, not %d", len(out), limit-4)
		}
		putAll(p, out)
	})
}

// AllocLimit counts by each bubble's own clock, from the beginning, and by the world's.
// No bubble turns back the clock of another, nor the world's.
func TestAllocLimitCountsByOneClock(t *testing.T) {
	const limit = 3
	options := dewpond.BytePoolOptions{AllocLimit: limit, MaxIdleBytes: dewpond.NoIdle}
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
		p, world := newObjects(t, dewpond.PoolOptions[account]{Limit: 1}), newOutsider(t)
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
		p, world := newPool(t, dewpond.BytePoolOptions{AllocLimit: 1}), newOutsider(t)
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
		if s := p.Stats(); s.InUseBytes != 0 || s.DroppedFull != 1 {
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
		p := newPool(t, dewpond.BytePoolOptions{AllocLimit: 1})
		putAll(p, useUp(t, p, 5000))
		end := waitFor(t, func(ctx context.Context) error { _, err := p.GetContext(ctx, 100); return err })
		if v := world.do(func() { p.Close() }); !isApart(v, p.Name()) {
			t.Errorf("Close outside: %v", v)
		}
		if s := p.Stats(); s.IdleBytes == 0 {
			t.Error("a Close that panicked has let go of what was idle")
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
		p := newObjects(t, dewpond.PoolOptions[account]{Limit: 1})
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
		p := newPool(t, dewpond.BytePoolOptions{AllocLimit: 1})
		out := useUp(t, p, 100)
		ctx, cancel := context.WithCancel(t.Context())
		const many = 1000 // so that AllocLimit serves some while the test runs, and not all
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
		p := newObjects(t, dewpond.PoolOptions[account]{Limit: 1})
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
