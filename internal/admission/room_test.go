package admission

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// Idle blocks of any pool of a Budget make room for another pool, as many as necessary, and
// none if all of them would not suffice.
func TestRoomIsMadeOfWhatIsIdle(t *testing.T) {
	b := newBudget(4 * small)
	p, other := newPool(0, b), newPool(0, b)
	if !p.gate.account.makeRoom(small) || b.Used() != small {
		t.Errorf("%d bytes are charged for one block", b.Used())
	}
	p.gate.Uncharge(0)
	for range 3 {
		other.gate.Charge(0)
		other.gate.Add(0, newBlock())
	}
	p.gate.Charge(0)
	if p.gate.TryBytes(5*small) || p.gate.TryBytes(4*small) || len(other.freed) != 0 {
		t.Errorf("%d blocks were let go in vain", len(other.freed))
	}
	if _, permit, err := p.gate.TryGet(0); !permit || err != nil || len(other.freed) != 1 || b.Used() != 4*small || other.loosened != 1 {
		t.Errorf("%v, %v: %d were let go for one, %d bytes are charged", permit, err, len(other.freed), b.Used())
	}
	other.engine.EnterDirect() // so that makeRoom finds them as makeRoomInDepots does
	if !p.gate.account.makeRoom(large) || len(other.freed) != 3 || b.Used() != 4*small {
		t.Errorf("%d were let go, %d bytes are charged", len(other.freed), b.Used())
	}
	if p.gate.account.makeRoom(1) || b.Used() != 4*small {
		t.Errorf("%d bytes are charged", b.Used())
	}
}

// A Budget is charged once for each block, from when it may be allocated until it is freed.
func TestBudgetIsChargedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(2 * small)
		p := newPool(0, b)
		used := func(want int, after string) {
			t.Helper()
			if synctest.Wait(); b.Used() != int64(want*small) || p.gate.account.charged.Load() != b.Used() {
				t.Errorf("after %s %d bytes are charged, want %d blocks", after, b.Used(), want)
			}
		}
		p.gate.TryGet(0)
		used(1, "a miss")
		p.gate.Put(0, newBlock())
		used(1, "its Put")
		p.gate.TryBytes(small)
		used(2, "a slice above the largest class")
		if s := sleeps(t, "s", nil, p.waitBytes(t, small)); !s.done || len(p.freed) != 1 {
			t.Errorf("the idle block was let go: %v", len(p.freed) == 1)
		}
		used(2, "a wait that let the block go")
		s := sleeps(t, "s", nil, p.wait(t, 0))
		p.gate.UnchargeBytes(small)
		used(2, "bytes that went to a waiter")
		if !s.done {
			t.Error("it was not served")
		}
		p.gate.UnchargeBytes(small)
		p.gate.Return(0, 1)
		used(0, "all was given back")
		p.gate.Uncharge(0)
		used(0, "more than all was given back")
		p.gate.Charge(0)
		p.gate.UnchargeBytes(large)
		used(0, "more was given back than was charged")
	})
}

// Waiters for bytes of a Budget are served in the order in which they came to any of its
// pools. No call overtakes them.
func TestClaimsAreServedByTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(2 * small)
		p, other := newPool(0, b), newPool(0, b)
		p.gate.Charge(0)
		p.gate.Charge(0)
		var o order
		sleeps(t, "large", &o, other.waitBytes(t, large))
		sleeps(t, "small", &o, p.wait(t, 0))
		p.gate.Put(0, newBlock()) // the second could have it
		o.expect(t)
		if _, _, err := p.gate.TryGet(0); err != ErrExhausted || p.gate.TryBytes(1) || p.gate.Charge(0) {
			t.Errorf("beside one that waits there is something left: %v", err)
		}
		p.gate.Put(0, newBlock())
		o.expect(t, "large")
		other.gate.UnchargeBytes(large)
		o.expect(t, "large", "small")
	})
}

// AllocRate may delay a waiter until younger waiters have claims. It is served before them.
func TestDelayedClaimKeepsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(2 * small)
		p, other := newPool(1, b), newPool(0, b)
		p.gate.TryGet(0)
		p.gate.Charge(0)
		var o order
		sleeps(t, "delayed", &o, p.wait(t, 0))
		sleeps(t, "later", &o, other.wait(t, 0))
		time.Sleep(time.Second)
		synctest.Wait()
		if b.Waiting() != 2 {
			t.Fatalf("%d wait for bytes", b.Waiting())
		}
		p.gate.UnchargeBytes(small)
		o.expect(t, "delayed")
	})
}

// A waiter that has a miss, and gets a block or gives up, passes on the miss and its turn.
func TestMissAndTurnArePassedOn(t *testing.T) {
	for _, way := range []string{"served", "cancelled"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBudget(2 * small)
			p, other := newPool(1, b), newPool(0, b)
			p.gate.Charge(0)
			p.gate.Charge(0)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first := sleeps(t, "first", nil, p.waitUntil(ctx, 1)) // for two
			next := sleeps(t, "next", nil, p.wait(t, 0))
			last := sleeps(t, "last", nil, other.waitBytes(t, small))
			p.gate.Uncharge(0) // not enough for the first
			if synctest.Wait(); first.done || next.done || last.done {
				t.Error("a waiter was served before the first")
			}
			if way == "served" {
				p.gate.Put(1, newBlock())
			} else {
				cancel()
			}
			if synctest.Wait(); !first.done || !next.done || last.done || next.block != nil || next.err != nil || p.gate.limiter.allow(1) {
				t.Errorf("the first was %s: next %+v, last %+v", way, next, last)
			}
		})
	}
}

// A claim that is given up lets the next claim proceed.
func TestNextClaimIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(2 * small)
		p := newPool(0, b)
		p.gate.Charge(0)
		ctx, cancel := context.WithCancel(t.Context())
		sleeps(t, "first", nil, func() (magazine.Block, error) { return nil, p.gate.WaitBytes(ctx, large) })
		next := sleeps(t, "next", nil, p.waitBytes(t, small))
		if next.done {
			t.Error("one that came later was served first")
		}
		cancel()
		if synctest.Wait(); !next.done || b.Used() != 2*small {
			t.Errorf("served %v, %d bytes are charged", next.done, b.Used())
		}
	})
}

// Everything that takes a block off a Budget serves the waiters for bytes: decay, Trim, Put, a
// finalizer.
func TestClaimsAreServedByAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(small)
		p := newPool(0, b)
		p.gate.Charge(0)
		s := sleeps(t, "s", nil, p.waitBytes(t, small))
		p.engine.Add(0, newBlock()) // on its way into the depot while the waiter looked
		p.gate.Shed(0, 1)
		if synctest.Wait(); !s.done || b.Used() != small {
			t.Errorf("served %v, %d bytes are charged", s.done, b.Used())
		}
		s = sleeps(t, "s", nil, p.waitBytes(t, small))
		p.engine.Add(0, newBlock())
		p.gate.Trim(new(late.List))
		if synctest.Wait(); !s.done || b.Used() != small {
			t.Errorf("by Trim: served %v, %d bytes are charged", s.done, b.Used())
		}
		s = sleeps(t, "s", nil, p.waitBytes(t, small))
		p.gate.Put(0, newBlock())
		if synctest.Wait(); !s.done || b.Used() != small || p.engine.Deposited(0) != 0 {
			t.Errorf("by Put: served %v, %d bytes are charged", s.done, b.Used())
		}
		s = sleeps(t, "s", nil, p.waitBytes(t, small))
		p.gate.account.uncharge(small)
		p.gate.account.grantBytesLater()
		if synctest.Wait(); !s.done || b.Used() != small {
			t.Errorf("served %v, %d bytes are charged", s.done, b.Used())
		}
	})
}

// Of many refusals at the same time one looks at the pools for all.
func TestManyRefusalsLookOnce(t *testing.T) {
	const callers, idle = 50, 8
	b := newBudget(2 * idle * small)
	var pools []*pool
	for range idle {
		p := newPool(0, b)
		p.gate.Charge(0)
		p.gate.Add(0, newBlock())
		pools = append(pools, p)
	}
	refused := func() {
		if pools[0].gate.account.makeRoom(3 * idle * small) {
			t.Error("not refused")
		}
	}
	refused() // all are in direct mode now
	before := b.Looked()
	refused()
	one := b.Looked() - before
	b.mu.Lock()
	var done go125.WaitGroup
	for range callers {
		done.Go(refused)
	}
	stacks := make([]byte, 1<<20)
	for { // until all wait for the lock
		all := stacks[:runtime.Stack(stacks, true)]
		if bytes.Count(all, []byte("[sync.Mutex.Lock")) == callers && bytes.Count(all, []byte(".tryMakeRoom(")) == callers {
			break
		}
		time.Sleep(time.Millisecond)
	}
	before = b.Looked()
	b.mu.Unlock()
	done.Wait()
	runtime.KeepAlive(pools) // the Budget does not
	if n := b.Looked() - before; one == 0 || n != one {
		t.Errorf("%d refusals at the same time look %d times at a pool, want %d as one does", callers, n, one)
	}
}
