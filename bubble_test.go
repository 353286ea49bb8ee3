package dewpond_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

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
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(v dewpond.Violation) { t.Error(v) }})
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
				o := dewpond.BytePoolOptions{AllocLimit: 1}
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
