package admission

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/internal/magazine"
)

// A batch is a goroutine that waits for several blocks.
type batch struct {
	*sleeper
	blocks []magazine.Block
	waited time.Duration
}

// waitsFor begins a wait for n blocks of a class, by a caller that brings some.
func (p *pool) waitsFor(t *testing.T, ctx context.Context, name string, o *order, class uint8, n int, found ...magazine.Block) *batch {
	b := new(batch)
	b.sleeper = sleeps(t, name, o, func() (magazine.Block, error) {
		began := time.Now()
		blocks, err := p.gate.Wait(ctx, class, n, found)
		b.blocks, b.waited = blocks, time.Since(began)
		return nil, err
	})
	return b
}

// missed makes a pool without a Budget whose AllocRate of n misses is used up.
func missed(t *testing.T, n int) *pool {
	t.Helper()
	p := newPool(n, nil)
	if !p.gate.Allow(0, n) || p.gate.Allow(0, 1) {
		t.Fatal("AllocRate does not allow as many misses as it says")
	}
	return p
}

func puts(p *pool, class uint8, n int) (blocks []magazine.Block) {
	for range n {
		blocks = append(blocks, newBlock())
		p.gate.Put(class, blocks[len(blocks)-1])
	}
	return blocks
}

// A batch gets all of its blocks before anybody behind it gets one, whoever puts them back.
func TestBatchCollectsInItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := missed(t, 3)
		var o order
		sleeps(t, "before", &o, p.wait(t, 0))
		b := p.waitsFor(t, t.Context(), "batch", &o, 0, 3)
		after := sleeps(t, "after", &o, p.wait(t, 0))
		first := puts(p, 0, 1)
		o.expect(t, "before")
		blocks := puts(p, 0, 2)
		o.expect(t, "before")
		blocks = append(blocks, puts(p, 0, 1)...)
		o.expect(t, "before", "batch")
		if !slices.Equal(b.blocks, blocks) || slices.Contains(b.blocks, first[0]) || b.err != nil || after.done {
			t.Errorf("it got %v, %v; %v were put back", b.blocks, b.err, blocks)
		}
		puts(p, 0, 1)
		o.expect(t, "before", "batch", "after")
		if c := p.gate.Counts(0); c.Puts != 5 || c.Handed != 5 || p.gate.Waiting() != 0 {
			t.Errorf("%+v, and %d wait", c, p.gate.Waiting())
		}
	})
}

// A batch takes what is idle when it comes, and what its caller has found.
func TestBatchTakesWhatIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := missed(t, 3)
		idle, found := puts(p, 0, 1), newBlock()
		b := p.waitsFor(t, t.Context(), "batch", nil, 0, 3, found)
		if b.done || p.engine.Deposited(0) != 0 {
			t.Fatalf("it has ended %v, %d blocks are idle", b.done, p.engine.Deposited(0))
		}
		idle = append(idle, puts(p, 0, 1)...)
		if synctest.Wait(); !slices.Equal(b.blocks, append([]magazine.Block{found}, idle...)) {
			t.Errorf("it got %v, want %v and %v", b.blocks, found, idle)
		}
	})
}

// What a caller has found goes to those who came before it.
func TestBatchPassesOnWhatOthersWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := missed(t, 4)
		older := sleeps(t, "older", nil, p.wait(t, 0))
		b := p.waitsFor(t, t.Context(), "batch", nil, 0, 4, newBlock(), newBlock())
		if !older.done || older.block == nil || b.done {
			t.Error("the older one was not served")
		}
		puts(p, 0, 3)
		if synctest.Wait(); !b.done || len(b.blocks) != 4 {
			t.Errorf("it has %d blocks", len(b.blocks))
		}
		if c := p.gate.Counts(0); c.Puts != 4 || c.Handed != 4 {
			t.Errorf("%+v", c)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(4 * small)
		p, other := newPool(0, budget), newPool(0, budget)
		for range 4 {
			p.gate.Charge(0)
		}
		older := sleeps(t, "older", nil, other.wait(t, 0))
		b := p.waitsFor(t, t.Context(), "batch", nil, 0, 3, newBlock(), newBlock())
		if !older.done || b.done || budget.Used() != 4*small || len(p.freed) != 1 {
			t.Errorf("the older one was served %v, the batch %v, %d bytes are charged, %d blocks were let go", older.done, b.done, budget.Used(), len(p.freed))
		}
		p.gate.Uncharge(0)
		other.gate.Uncharge(0)
		if synctest.Wait(); !b.done || len(b.blocks) != 1 || budget.Used() != 4*small {
			t.Errorf("served %v with %d blocks, %d bytes are charged", b.done, len(b.blocks), budget.Used())
		}
	})
}

// A batch that serves an older waiter with the blocks that it brings may be served by that itself,
// and keeps the others: its misses are due and the timer is late, or bytes were given back and the
// goroutine that did has not yet looked for waiters.
func TestBatchIsServedWhileItGives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := missed(t, 4)
		older := p.waitsFor(t, t.Context(), "older", nil, 0, 2)
		_, paid := p.gate.limiter.clock()
		paid.Add(-3 * p.gate.limiter.interval) // as if time had passed
		b := p.waitsFor(t, t.Context(), "batch", nil, 0, 4, newBlock(), newBlock(), newBlock())
		if !older.done || !b.done || len(older.blocks)+len(b.blocks) != 3 || b.err != nil {
			t.Errorf("the older one has %d blocks, the batch %d, %v", len(older.blocks), len(b.blocks), b.err)
		}
		if p.gate.limiter.allow(1) || p.gate.Waiting() != 0 {
			t.Errorf("the batch did not take three misses, or one of %d waits", p.gate.Waiting())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(6 * small)
		p := newPool(0, budget)
		p.gate.Allow(0, 6)
		older := p.waitsFor(t, t.Context(), "older", nil, 0, 2)
		p.gate.account.uncharge(3 * small)
		b := p.waitsFor(t, t.Context(), "batch", nil, 0, 4, newBlock(), newBlock(), newBlock())
		if !older.done || !b.done || len(older.blocks)+len(b.blocks) != 3 || b.err != nil || budget.Used() != 6*small {
			t.Errorf("the older one has %d blocks, the batch %d, %v; %d bytes are charged", len(older.blocks), len(b.blocks), b.err, budget.Used())
		}
		if p.gate.Waiting() != 0 || budget.Waiting() != 0 {
			t.Errorf("%d wait, %d for bytes", p.gate.Waiting(), budget.Waiting())
		}
	})
}

// AllocRate allows a batch the misses that it lacks at once, and nobody behind it any before.
func TestBatchWaitsForItsMisses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := missed(t, 4) // one each 250 ms
		var o order
		b := p.waitsFor(t, t.Context(), "batch", &o, 0, 4)
		other := p.waitsFor(t, t.Context(), "other class", &o, 1, 1)
		puts(p, 0, 1)
		time.Sleep(600 * time.Millisecond)
		o.expect(t)   // it may allocate two of three
		puts(p, 0, 1) // it lacks no more
		o.expect(t, "batch")
		time.Sleep(time.Second)
		o.expect(t, "batch", "other class")
		if len(b.blocks) != 2 || b.err != nil || b.waited != 600*time.Millisecond || other.waited != 750*time.Millisecond {
			t.Errorf("the batch got %d blocks after %v, the other was served after %v", len(b.blocks), b.waited, other.waited)
		}
	})
}

// Misses for blocks that a batch gets while it waits for bytes go to the next in line.
func TestBatchGivesBackMisses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(4 * small)
		p := newPool(4, budget)
		for range 4 {
			p.gate.Charge(0)
		}
		b := p.waitsFor(t, t.Context(), "batch", nil, 0, 3) // has three misses
		next := p.waitsFor(t, t.Context(), "next", nil, 0, 2)
		if budget.Waiting() != 1 {
			t.Fatal("the next does not wait for AllocRate")
		}
		puts(p, 0, 1)
		p.gate.Uncharge(0)
		p.gate.Uncharge(0)
		if synctest.Wait(); !b.done || len(b.blocks) != 1 || budget.Waiting() != 1 {
			t.Errorf("served %v with %d blocks; %d wait for bytes", b.done, len(b.blocks), budget.Waiting())
		}
		p.gate.Uncharge(0)
		p.gate.Uncharge(0)
		if synctest.Wait(); !next.done || len(next.blocks) != 0 || p.gate.limiter.allow(1) {
			t.Errorf("the next was served %v", next.done)
		}
	})
}

// When a batch leaves the line, for whatever reason, the next in line waits no longer than it
// must.
func TestNextInLineNeedsFewerMisses(t *testing.T) {
	for _, way := range []string{"served", "cancelled", "misses given back"} {
		synctest.Test(t, func(t *testing.T) {
			p := missed(t, 4)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b := p.waitsFor(t, ctx, "batch", nil, 0, 4)
			next := p.waitsFor(t, t.Context(), "next", nil, 1, 2)
			var want time.Duration // until the batch is served
			switch way {
			case "served":
				puts(p, 0, 4)
			case "cancelled":
				want = 300 * time.Millisecond
				time.Sleep(want)
				cancel()
			case "misses given back": // the batch can have its four sooner
				p.gate.Return(1, 3)
				want = 250 * time.Millisecond
				time.Sleep(want)
				synctest.Wait()
				p.gate.Return(0, 1)
			}
			time.Sleep(time.Second)
			if synctest.Wait(); !b.done || b.waited != want || !next.done || next.waited != 500*time.Millisecond {
				t.Errorf("%s: the batch waited for %v, want %v, the next for %v, want 500ms", way, b.waited, want, next.waited)
			}
		})
	}
}

// A batch that AllocRate never allows at once gets what is idle, and what AllocRate allows
// now, or is refused at once and keeps nothing.
func TestBatchThatCanNeverBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(2, nil)
		if p.gate.Allow(0, 3) {
			t.Error("AllocRate allows more misses at once than in a second")
		}
		puts(p, 0, 2)
		if b := p.waitsFor(t, t.Context(), "batch", nil, 0, 3, newBlock()); !b.done || b.err != nil || len(b.blocks) != 3 {
			t.Errorf("where all are idle: %v with %d blocks, %v", b.done, len(b.blocks), b.err)
		}
		puts(p, 0, 1)
		waiter := sleeps(t, "w", nil, p.wait(t, 1)) // AllocRate allows it
		b := p.waitsFor(t, t.Context(), "batch", nil, 0, 4, newBlock())
		if b.err != ErrExhausted || len(b.blocks) != 0 || p.engine.Deposited(0) != 2 || p.gate.Waiting() != 0 || !waiter.done {
			t.Errorf("%v with %d blocks; %d are idle", b.err, len(b.blocks), p.engine.Deposited(0))
		}
		if b := p.waitsFor(t, t.Context(), "batch", nil, 0, 3, newBlock()); b.err != nil || len(b.blocks) != 3 {
			t.Errorf("with two idle and one found: %v with %d blocks", b.err, len(b.blocks))
		}
		if !p.gate.Allow(0, 1) {
			t.Error("the batch took a miss")
		}
		puts(p, 0, 3)
		p.gate.Return(0, 1)
		if b := p.waitsFor(t, t.Context(), "batch", nil, 0, 4); b.err != nil || len(b.blocks) != 3 || p.gate.Allow(0, 1) {
			t.Errorf("with three idle and one miss left: %v with %d blocks", b.err, len(b.blocks))
		}
	})
}

// A batch that gives up puts back what it has, for the next.
func TestCancelledBatchPutsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := missed(t, 3)
		ctx, cancel := context.WithCancel(t.Context())
		b := p.waitsFor(t, ctx, "batch", nil, 0, 3)
		next := sleeps(t, "next", nil, p.wait(t, 0))
		blocks := puts(p, 0, 2)
		cancel()
		if synctest.Wait(); b.err != context.Canceled || len(b.blocks) != 0 || !slices.Contains(blocks, next.block) || p.engine.Deposited(0) != 1 {
			t.Errorf("%v; next %v; %d are idle", b.err, next.block, p.engine.Deposited(0))
		}
		idle := p.engine.Deposited(0)
		b = p.waitsFor(t, ctx, "batch", nil, 0, 2, newBlock())
		if b.err != nil || len(b.blocks) != 2 {
			t.Errorf("with a context that is done, where %d are idle: %v", idle+1, b.err)
		}
		b = p.waitsFor(t, ctx, "batch", nil, 0, 2, newBlock())
		if b.err != context.Canceled || p.engine.Deposited(0) != 1 {
			t.Errorf("with a context that is done: %v, and %d are idle", b.err, p.engine.Deposited(0))
		}
	})
}

// Close ends the wait of a batch, and lets go of what the batch has before Close of the pool's
// memory.
func TestCloseTakesWhatABatchHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(2 * small)
		p, other := newPool(0, budget), newPool(0, budget)
		p.gate.Charge(0)
		p.gate.Charge(0)
		b := p.waitsFor(t, t.Context(), "batch", nil, 0, 2)
		puts(p, 0, 1)
		elsewhere := sleeps(t, "elsewhere", nil, other.wait(t, 0))
		if b.done || elsewhere.done || len(p.freed) != 0 {
			t.Fatal("somebody was served")
		}
		p.gate.Close(&p.gate.queue.late)
		if len(p.freed) != 1 || budget.Used() != small {
			t.Errorf("%d blocks were let go by Close, %d bytes are charged", len(p.freed), budget.Used())
		}
		p.gate.End()
		synctest.Wait()
		if c := p.gate.Counts(0); b.err != ErrClosed || len(b.blocks) != 0 || c.Closed != 1 || c.Puts != 2 || c.Handed != 1 {
			t.Errorf("%v with %d blocks, %+v", b.err, len(b.blocks), c)
		}
		if !elsewhere.done || budget.Used() != 2*small {
			t.Errorf("served elsewhere %v, %d bytes are charged", elsewhere.done, budget.Used())
		}
		if b = p.waitsFor(t, t.Context(), "batch", nil, 0, 2, newBlock()); b.err != ErrClosed || len(p.freed) != 2 {
			t.Errorf("after Close: %v, %d blocks were let go", b.err, len(p.freed))
		}
	})
}

// The first batch of a Budget gets blocks and bytes together. Nobody overtakes it.
func TestBatchGetsBlocksAndBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(4 * small)
		p, other := newPool(0, budget), newPool(0, budget)
		for range 4 {
			p.gate.Charge(0)
		}
		var o order
		b := p.waitsFor(t, t.Context(), "batch", &o, 0, 4)
		sleeps(t, "behind it", &o, other.wait(t, 0))
		sleeps(t, "of its class", &o, p.wait(t, 0))
		puts(p, 0, 2)
		p.gate.Uncharge(0)
		o.expect(t)
		if other.gate.TryBytes(1) || p.gate.Allow(0, 1) || budget.Used() != 3*small {
			t.Errorf("what comes back is not for the batch: %d bytes are charged", budget.Used())
		}
		p.gate.Uncharge(0) // two blocks, and bytes for two
		o.expect(t, "batch")
		if len(b.blocks) != 2 || len(p.freed) != 0 || budget.Used() != 4*small {
			t.Errorf("it got %d blocks, %d were let go, %d bytes are charged", len(b.blocks), len(p.freed), budget.Used())
		}
		p.gate.Uncharge(0)
		o.expect(t, "batch", "behind it")
		p.gate.Uncharge(0)
		o.expect(t, "batch", "behind it", "of its class")
	})
}

// Two batches of two pools, each of which wants the whole Budget, are served one after the
// other.
func TestBatchesDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(4 * small)
		p, other := newPool(0, budget), newPool(0, budget)
		for range 2 {
			p.gate.Charge(0)
			other.gate.Charge(0)
		}
		var o order
		b := p.waitsFor(t, t.Context(), "first", &o, 0, 4)
		puts(p, 0, 1)
		second := other.waitsFor(t, t.Context(), "second", &o, 0, 4)
		puts(other, 0, 2)
		o.expect(t)
		puts(p, 0, 1)
		o.expect(t, "first")
		if len(b.blocks) != 2 || len(other.freed) != 2 {
			t.Errorf("the first got %d blocks, the second %d, %d were let go", len(b.blocks), len(second.blocks), len(other.freed))
		}
		puts(p, 0, 4)
		o.expect(t, "first", "second")
	})
}

// A waiter that AllocRate has delayed takes back what a younger batch has collected.
func TestDelayedClaimTakesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(4 * small)
		p, other := newPool(1, budget), newPool(0, budget)
		p.gate.TryGet(0)
		for range 3 {
			other.gate.Charge(0)
		}
		var o order
		older := p.waitsFor(t, t.Context(), "older", &o, 0, 1)
		younger := other.waitsFor(t, t.Context(), "younger", &o, 0, 3)
		puts(other, 0, 2)
		if o.expect(t); other.gate.Counts(0).Full != 0 || budget.Used() != 4*small {
			t.Fatalf("%+v", other.gate.Counts(0))
		}
		time.Sleep(time.Second)
		o.expect(t, "older")
		if len(other.freed) != 2 || budget.Used() != 3*small {
			t.Errorf("%d were let go, %d bytes are charged, the older has %d blocks", len(other.freed), budget.Used(), len(older.blocks))
		}
		p.gate.Uncharge(0)
		o.expect(t, "older")
		puts(other, 0, 1)
		o.expect(t, "older", "younger")
		if len(younger.blocks) != 1 || budget.Used() != 4*small {
			t.Errorf("the younger has %d blocks, %d bytes are charged", len(younger.blocks), budget.Used())
		}
	})
}

// A batch whose blocks are taken back while it waits for bytes waits for the misses that it
// lacks now, before those behind it.
func TestBatchGoesBackInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(4 * small)
		p, slow := newPool(3, budget), newPool(2, budget)
		slow.gate.Allow(0, 2)
		p.gate.Allow(0, 2) // one miss is left, and another comes each third of a second
		var o order
		older := slow.waitsFor(t, t.Context(), "older", &o, 1, 2) // all of the Budget
		younger := p.waitsFor(t, t.Context(), "younger", &o, 0, 3)
		puts(p, 0, 2) // now one miss is enough for it, and it waits for bytes
		last := p.waitsFor(t, t.Context(), "last", &o, 0, 1)
		time.Sleep(400 * time.Millisecond)
		if o.expect(t); budget.Waiting() != 2 {
			t.Fatalf("%d wait for bytes", budget.Waiting())
		}
		time.Sleep(600 * time.Millisecond) // the older may miss, and takes back two blocks
		o.expect(t)
		slow.gate.Return(0, 1)
		o.expect(t)
		slow.gate.Return(0, 1)
		o.expect(t, "older")
		slow.gate.Uncharge(1)
		o.expect(t, "older")
		slow.gate.Uncharge(1)
		synctest.Wait()
		if !younger.done || !last.done || len(older.blocks)+len(younger.blocks)+len(last.blocks) != 0 || budget.Used() != 4*small || len(p.freed) != 2 {
			t.Errorf("%v %v %v, %d bytes are charged, %d were let go", older.blocks, younger.blocks, last.blocks, budget.Used(), len(p.freed))
		}
		if p.gate.limiter.allow(1) {
			t.Error("the younger did not take a miss for each of its blocks")
		}
	})
}

// A delayed waiter that is served by the first blocks that it takes back leaves the others theirs.
func TestDelayedClaimTakesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := newBudget(16 * small)
		slow, p, q := newPool(4, budget), newPool(12, budget), newPool(2, budget)
		slow.gate.Allow(0, 4) // the next miss comes in a quarter of a second
		p.gate.Allow(0, 10)
		q.gate.Allow(0, 2)
		var o order
		slow.waitsFor(t, t.Context(), "delayed", &o, 0, 1)
		keeps := q.waitsFor(t, t.Context(), "keeps", &o, 0, 2)
		puts(q, 0, 1)
		p.waitsFor(t, t.Context(), "gives", &o, 0, 3)
		puts(p, 0, 2) // now it waits for bytes, with two misses
		o.expect(t)
		time.Sleep(300 * time.Millisecond) // it goes back in line, where its misses are due by now: that looks at the claims
		o.expect(t, "delayed")
		if len(p.freed) != 2 || len(q.freed) != 0 {
			t.Errorf("%d and %d blocks were taken back", len(p.freed), len(q.freed))
		}
		puts(q, 0, 1)
		if o.expect(t, "delayed", "keeps"); len(keeps.blocks) != 2 {
			t.Errorf("it has %d blocks", len(keeps.blocks))
		}
		p.gate.UnchargeBytes(2 * small)
		o.expect(t, "delayed", "keeps", "gives")
	})
}

// A batch that cannot wait, because others wait outside of its bubble, loses nothing.
func TestBatchOfAnotherBubble(t *testing.T) {
	p := missed(t, 2)
	go p.gate.Wait(t.Context(), 0, 2, nil)
	for p.gate.Waiting() == 0 {
		time.Sleep(time.Microsecond)
	}
	synctest.Test(t, func(t *testing.T) {
		block := newBlock()
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a wait beside one outside of the bubble does not panic")
				}
			}()
			p.gate.Wait(t.Context(), 0, 2, []magazine.Block{block})
		}()
	})
	if n := p.gate.Waiting(); n != 1 {
		t.Errorf("%d wait", n)
	}
	puts(p, 0, 1)
	for p.gate.Waiting() > 0 {
		time.Sleep(time.Microsecond)
	}
}

// The calls that slept are counted, and how long, by the clock of each.
func TestSleepsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := missed(t, 2)
		expect := func(n uint64, d time.Duration) {
			t.Helper()
			synctest.Wait()
			if calls, slept := p.gate.Waits(); calls != n || slept != d {
				t.Errorf("%d calls slept for %v, want %d for %v", calls, slept, n, d)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		p.waitsFor(t, ctx, "cancelled", nil, 0, 2)
		time.Sleep(time.Millisecond)
		expect(1, time.Millisecond)
		p.waitsFor(t, ctx, "already cancelled", nil, 0, 2)
		p.waitsFor(t, ctx, "already cancelled", nil, 0, 1)
		p.waitsFor(t, t.Context(), "never", nil, 0, 3)
		puts(p, 0, 2)
		p.waitsFor(t, t.Context(), "found", nil, 0, 2)
		expect(1, time.Millisecond)
		sleeps(t, "s", nil, p.wait(t, 0))
		sleeps(t, "s", nil, p.wait(t, 0))
		time.Sleep(time.Millisecond)
		puts(p, 0, 2)
		expect(3, 3*time.Millisecond)
		if in := bubble.In(time.Now()); !in {
			t.Error("this is no bubble")
		}
	})
}
