package admission

import (
	"context"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/internal/magazine"
)

func TestBlocksGoToThoseWhoCameFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exhausted(t)
		var o order
		var all []*sleeper
		for _, name := range []string{"a", "b", "c"} {
			all = append(all, sleeps(t, name, &o, p.wait(t, 0)))
		}
		other := sleeps(t, "other class", &o, p.wait(t, 1))
		for _, s := range all {
			block := newBlock()
			p.gate.Put(0, block)
			if synctest.Wait(); s.block != block || s.err != nil {
				t.Errorf("%s has got %v, %v", s.name, s.block, s.err)
			}
		}
		o.expect(t, "a", "b", "c")
		if other.done || p.gate.Waiting() != 1 {
			t.Errorf("%d wait for the other class", p.gate.Waiting())
		}
		p.gate.Put(1, newBlock())
		o.expect(t, "a", "b", "c", "other class")
	})
}

// Put leaves its block and looks for waiters second; a waiter counts itself and looks for a
// block second. Here the halves of the two run one after the other in every order.
func TestNoWakeUpIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exhausted(t)
		block := newBlock()
		p.engine.Push(0, block) // a Put that has looked and found no waiter
		if s := sleeps(t, "s", nil, p.wait(t, 0)); s.block != block {
			t.Error("a waiter sleeps while a block that was put back before is idle")
		}
		s := sleeps(t, "s", nil, p.wait(t, 0))
		p.engine.Add(0, block) // a Put that has looked before there was a waiter
		p.gate.finish(0, block, magazine.KeptDirect)
		if synctest.Wait(); s.block != block {
			t.Error("a Put left its block idle while a waiter sleeps")
		}
		s = sleeps(t, "s", nil, p.wait(t, 0))
		p.gate.handOrFinish(0, block, magazine.NoRoom) // a Put that found no room before there was one
		if synctest.Wait(); s.block != block {
			t.Error("a Put dropped its block while a waiter sleeps")
		}
		p.gate.handOrFinish(0, block, magazine.Wanted) // a Put that found a waiter, which is gone
		if p.engine.Deposited(0) != 1 {
			t.Error("a block is lost whose waiter was gone")
		}
	})
}

// A pool stays in direct mode while there are waiters; otherwise no Put would look for them.
func TestNoLeaveDirectBesideAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exhausted(t)
		s := sleeps(t, "s", nil, p.wait(t, 0))
		p.gate.queue.puts.Store(63)
		p.gate.queue.refusal.Store(0) // long ago
		if p.gate.leaveDirect(); !p.engine.IsDirect() {
			t.Error("the pool left direct mode")
		}
		p.gate.Put(0, newBlock())
		synctest.Wait()
		p.gate.queue.puts.Store(63)
		if p.gate.leaveDirect(); !s.done || p.engine.IsDirect() {
			t.Error("the pool did not leave direct mode after the last waiter left")
		}
	})
}

// A waiter whose context is done leaves every list.
func TestCancelledWaiterIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exhausted(t)
		ctx, cancel := context.WithCancel(t.Context())
		s := sleeps(t, "s", nil, p.waitUntil(ctx, 0))
		next := sleeps(t, "next", nil, p.wait(t, 0))
		cancel()
		if synctest.Wait(); s.err != context.Canceled || p.gate.Waiting() != 1 {
			t.Errorf("%v, and %d wait", s.err, p.gate.Waiting())
		}
		block := newBlock()
		p.gate.Put(0, block)
		if synctest.Wait(); next.block != block {
			t.Error("the next was not served")
		}
		p.gate.Put(0, block)
		if p.engine.Deposited(0) != 1 || p.engine.Waiting(0) {
			t.Error("a block was not kept though there are no waiters")
		}
		if blocks, err := p.gate.Wait(ctx, 0, 1, nil); err != nil || len(blocks) != 1 {
			t.Errorf("Wait for an idle block, with a context that is done: %v", err)
		}
		if _, err := p.gate.Wait(ctx, 0, 1, nil); err != context.Canceled {
			t.Errorf("Wait for what is not idle, with a context that is done: %v", err)
		}
	})
}

// A waiter whose Context panics has given up when it does.
func TestCancelledWaiterWhoseContextPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := missed(t, 3)
		ctx, cancel := context.WithCancel(t.Context())
		var text any
		go func() {
			defer func() { text = recover() }()
			p.gate.Wait(panickyContext{ctx}, 0, 2, []magazine.Block{newBlock()})
		}()
		synctest.Wait()
		cancel()
		if synctest.Wait(); text != "Err" || p.gate.Waiting() != 0 || p.engine.Deposited(0) != 1 {
			t.Errorf("it panics with %v; %d wait, and %d blocks are idle", text, p.gate.Waiting(), p.engine.Deposited(0))
		}
	})
}

type panickyContext struct{ context.Context }

func (panickyContext) Err() error { panic("Err") }

// A waiter takes a grant that comes before it has given up.
func TestCancelledWaiterTakesItsGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exhausted(t)
		w, block := p.gate.newWaiter(0, 1, 0), newBlock()
		if err := w.begin(); err != nil {
			t.Fatal(err)
		}
		p.gate.Put(0, block)
		if w.giveUp() || <-w.grant != nil || w.takeBlock() != block {
			t.Error("it does not get the block that was handed over")
		}
		if p.gate.Waiting() != 0 || p.engine.Waiting(0) {
			t.Error("it is still waiting")
		}
	})
}

// AllocRate lets waiters allocate as time passes, oldest first.
func TestTimerLetsWaitersAllocate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(2, nil)
		for range 2 {
			p.gate.TryGet(0)
		}
		var o order
		for _, name := range []string{"a", "b", "c"} {
			sleeps(t, name, &o, p.wait(t, 0))
		}
		time.Sleep(500*time.Millisecond - time.Nanosecond)
		o.expect(t)
		time.Sleep(time.Nanosecond)
		o.expect(t, "a")
		if _, _, err := p.gate.TryGet(1); err != ErrExhausted {
			t.Errorf("TryGet while there are waiters: %v", err)
		}
		time.Sleep(500 * time.Millisecond)
		o.expect(t, "a", "b")
		time.Sleep(500 * time.Millisecond)
		o.expect(t, "a", "b", "c")
	})
}

// A permission that comes to nothing goes to a waiter, at once.
func TestReturnedMissGoesToAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exhausted(t)
		s := sleeps(t, "s", nil, p.wait(t, 0))
		p.gate.limiter.restore(bubble.Of(time.Now()), 1) // returnMiss is about to look for waiters
		if _, _, err := p.gate.TryGet(0); err != ErrExhausted {
			t.Errorf("TryGet took a miss that is for a waiter: %v", err)
		}
		p.gate.limiter.allow(1)
		p.gate.Return(0, 1)
		if synctest.Wait(); !s.done || s.block != nil || s.err != nil {
			t.Errorf("served %v, %v, %v", s.done, s.block, s.err)
		}
	})
}

func TestCloseEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(small)
		p, other := newPool(1, b), newPool(0, b)
		p.gate.Charge(0)
		var all []*sleeper
		for range 2 { // one waits for bytes, and one for a miss
			all = append(all, sleeps(t, "s", nil, p.wait(t, 0)))
		}
		all = append(all, sleeps(t, "s", nil, p.waitBytes(t, 10)))
		elsewhere := sleeps(t, "elsewhere", nil, other.wait(t, 0))
		p.close()
		synctest.Wait()
		for _, s := range all {
			if s.err != ErrClosed {
				t.Errorf("a wait has ended %v with %v", s.done, s.err)
			}
		}
		if elsewhere.done || b.Waiting() != 1 || b.MemberCount() != 1 {
			t.Errorf("served elsewhere %v, %d wait for %d pools", elsewhere.done, b.Waiting(), b.MemberCount())
		}
		if _, err := p.gate.Wait(t.Context(), 0, 1, nil); err != ErrClosed {
			t.Errorf("a wait after Close: %v", err)
		}
		p.gate.Put(0, newBlock())
		if synctest.Wait(); !elsewhere.done || elsewhere.err != nil || len(p.freed) != 1 || b.Used() != small {
			t.Errorf("served elsewhere %v %v, let go %d, charged %d", elsewhere.done, elsewhere.err, len(p.freed), b.Used())
		}
	})
}

// A waiter in a bubble can be woken only from there.
func TestBubblesAreKeptApart(t *testing.T) {
	panics := func(f func()) (text any) {
		defer func() { text = recover() }()
		f()
		return nil
	}
	p, block := newPool(1, nil), newBlock()
	p.gate.TryGet(0)
	b := newBudget(small)
	q := newPool(0, b)
	q.gate.Charge(0)
	calls, texts := make(chan func()), make(chan any)
	go func() { // in no bubble
		for f := range calls {
			texts <- panics(f)
		}
	}()
	defer close(calls)
	synctest.Test(t, func(t *testing.T) {
		p.gate.TryGet(0) // of the bubble's own misses
		s := sleeps(t, "s", nil, p.wait(t, 0))
		forBytes := sleeps(t, "for bytes", nil, q.wait(t, 0))
		for name, f := range map[string]func(){
			"Put":             func() { p.gate.Put(0, block) },
			"Wait":            func() { p.gate.Wait(t.Context(), 0, 1, nil) },
			"Close":           func() { p.gate.MustReach() },
			"Uncharge":        func() { q.gate.Uncharge(0) },
			"Close, of bytes": func() { q.gate.MustReach() },
		} {
			calls <- f
			if text := <-texts; text == nil {
				t.Errorf("%s outside of the bubble does not panic", name)
			}
		}
		if p.gate.Put(0, block); len(p.freed) != 1 {
			t.Errorf("%d blocks were let go by the Put that panicked", len(p.freed))
		}
		if synctest.Wait(); s.block != block {
			t.Error("the bubble's own Put does not serve its waiter")
		}
		if b.Used() != 0 {
			t.Errorf("%d bytes are charged for one that could not be woken", b.Used())
		}
		q.gate.Uncharge(0)
		if synctest.Wait(); !forBytes.done || b.Used() != small {
			t.Error("the bubble's own Uncharge does not serve its waiter")
		}
	})
}
