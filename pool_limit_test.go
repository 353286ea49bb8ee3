package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

func TestPoolLimit(t *testing.T) {
	leavesOut(t, "objects up to the limit")
	p := newObjects(t, dewpond.PoolOptions[account]{Limit: 2})
	a, errA := p.TryGet()
	_, errB := p.TryGet()
	_, errC := p.TryGet()
	if errA != nil || errB != nil || !errors.Is(errC, dewpond.ErrExhausted) {
		t.Fatalf("TryGet: %v, %v, %v; want the third refused", errA, errB, errC)
	}
	c := p.Get() // is never refused
	if s := p.Stats(); s.OverLimit != 1 || s.Refused != 1 || s.Misses != 3 {
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
	p := newObjects(t, dewpond.PoolOptions[account]{Limit: 1})
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
	p := newObjects(t, dewpond.PoolOptions[account]{Limit: 2})
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
		if s := p.Stats(); s.OverLimit != 2*want || s.Refused != 0 {
			t.Errorf("%d out: OverLimit %d, Refused %d", s.Gets, s.OverLimit, s.Refused)
		}
	}
}

// Waiters are served in the order in which they came, one for each Put, and no later
// caller overtakes them.
func TestPoolServesWaitersInOrder(t *testing.T) {
	leavesOut(t, "the objects of the last waiters")
	synctest.Test(t, func(t *testing.T) {
		p := newObjects(t, dewpond.PoolOptions[account]{Limit: 2})
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
		p := newObjects(t, dewpond.PoolOptions[account]{Limit: 1})
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
	p := newObjects(t, dewpond.PoolOptions[account]{Limit: 1})
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
		p := newObjects(t, dewpond.PoolOptions[account]{Limit: 1})
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
			p := newObjects(t, dewpond.PoolOptions[account]{Limit: limit})
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
			if most.Load() > int64(limit) || s.Misses > uint64(limit) || s.OverLimit != 0 {
				t.Errorf("%d out at once, %d made; the limit is %d", most.Load(), s.Misses, limit)
			}
			if s.Refused != uint64(refused.Load()) || s.InUseBytes != 0 {
				t.Errorf("%d refusals, %+v", refused.Load(), s)
			}
			t.Logf("%d at once, %d made, %d of %d refused", most.Load(), s.Misses, s.Refused, s.Gets+s.Refused)
		})
	}
}
