package admission

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// A pool is a gate, its engine, and the owner of both: all of a pool but the memory.
type pool struct {
	gate   Gate
	engine magazine.Engine

	mu       sync.Mutex
	freed    []magazine.Block
	loosened int
	kept     int
	finds    func() // called for each block that is freed; nil: not called
}

func (p *pool) Free(_ uint8, block magazine.Block, l *late.List) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.freed = append(p.freed, block)
	if p.finds != nil {
		l.Add(p.finds)
	}
}

func (p *pool) Loosened() { p.mu.Lock(); p.loosened++; p.mu.Unlock() }
func (p *pool) Kept()     { p.mu.Lock(); p.kept++; p.mu.Unlock() }

// The two classes of a pool lie singly in the depot.
const (
	small = 256 << 10
	large = 512 << 10
)

// newPool makes a pool with AllocRate and a Budget; 0 and nil mean without.
func newPool(perSecond int, b *Budget) *pool {
	p := new(pool)
	sizes := []int{small, large}
	p.engine.Init(magazine.Config{Sizes: sizes, MaxIdleBytes: 64 << 20})
	p.gate.Init(Config{Name: "fake", Owner: p, Engine: &p.engine, Sizes: sizes, AllocRate: perSecond, Budget: b})
	p.gate.Join()
	return p
}

// exhausted makes a pool without a Budget whose AllocRate allows no miss for a second.
func exhausted(t *testing.T) *pool {
	t.Helper()
	p := newPool(1, nil)
	if _, permit, err := p.gate.TryGet(0); !permit || err != nil {
		t.Fatalf("the first miss: permit %v, %v", permit, err)
	}
	return p
}

func newBudget(limit int) *Budget {
	b := new(Budget)
	b.Init("", int64(limit))
	return b
}

func newBlock() magazine.Block { return magazine.Block(new([32]byte)) }

// close ends a pool as its owner does.
func (p *pool) close() {
	var l late.List
	defer l.End()
	defer p.gate.End()
	p.gate.Close(&l)
}

// A sleeper is a goroutine in Wait or WaitBytes.
type sleeper struct {
	name  string
	done  bool
	block magazine.Block
	err   error
}

// sleeps begins a wait and returns when it sleeps or has ended. It needs a bubble. When the
// wait ends, its name is added to order.
func sleeps(t *testing.T, name string, o *order, wait func() (magazine.Block, error)) *sleeper {
	s := &sleeper{name: name}
	go func() {
		s.block, s.err = wait()
		s.done = true
		if o != nil {
			o.add(name)
		}
	}()
	synctest.Wait()
	return s
}

func (p *pool) wait(t *testing.T, class uint8) func() (magazine.Block, error) {
	return p.waitUntil(t.Context(), class)
}

func (p *pool) waitUntil(ctx context.Context, class uint8) func() (magazine.Block, error) {
	return func() (magazine.Block, error) {
		blocks, err := p.gate.Wait(ctx, class, 1, nil)
		if len(blocks) == 0 {
			return nil, err
		}
		return blocks[0], err
	}
}

func (p *pool) waitBytes(t *testing.T, n int) func() (magazine.Block, error) {
	return func() (magazine.Block, error) { return nil, p.gate.WaitBytes(t.Context(), n) }
}

func TestTryGetTakesWhatIsIdleBeforeItRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exhausted(t)
		if _, _, err := p.gate.TryGet(0); err != ErrExhausted {
			t.Errorf("past AllocRate: %v", err)
		}
		block := newBlock()
		p.gate.Put(0, block)
		if got, permit, err := p.gate.TryGet(0); got != block || permit || err != nil {
			t.Errorf("%v, permit %v, %v, want the block that is idle", got, permit, err)
		}
		time.Sleep(time.Second)
		if got, permit, err := p.gate.TryGet(0); got != nil || !permit || err != nil {
			t.Errorf("a second later: %v, permit %v, %v, want a permit", got, permit, err)
		}
		p.close()
		if _, err := p.gate.Idle(0); err != ErrClosed {
			t.Errorf("after Close: %v", err)
		}
	})
}

// The next caller gets a permission that came to nothing.
func TestReturnGivesBackMissAndCharge(t *testing.T) {
	b := newBudget(small)
	p := newPool(1, b)
	for range 3 {
		if _, permit, err := p.gate.TryGet(0); !permit || err != nil || b.Used() != small {
			t.Fatalf("%v, %v, %d bytes are charged", permit, err, b.Used())
		}
		if _, _, err := p.gate.TryGet(0); err != ErrExhausted || b.Used() != small {
			t.Errorf("the second: %v, %d bytes are charged", err, b.Used())
		}
		p.gate.Return(0, 1)
		if b.Used() != 0 {
			t.Errorf("%d bytes are charged and nothing is there", b.Used())
		}
	}
}

// A TryGet that panics in a report keeps neither a miss nor bytes.
func TestPanicGivesBackMissAndCharge(t *testing.T) {
	for name, get := range map[string]func(p *pool){
		"TryGet":   func(p *pool) { p.gate.TryGet(0) },
		"TryBytes": func(p *pool) { p.gate.TryBytes(small) },
		"Wait":     func(p *pool) { p.gate.Wait(t.Context(), 0, 1, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBudget(small)
			p, other := newPool(1, b), newPool(0, b)
			other.gate.Charge(0)
			other.gate.Add(0, newBlock())
			other.finds = func() { panic("found") }
			func() {
				defer func() {
					if r := recover(); r != "found" {
						t.Errorf("%s panics with %v", name, r)
					}
				}()
				get(p)
			}()
			if !b.Unlocked() || b.Used() != 0 || b.Waiting() != 0 || p.gate.Waiting() != 0 {
				t.Errorf("unlocked %v, charged %d, %d and %d wait", b.Unlocked(), b.Used(), b.Waiting(), p.gate.Waiting())
			}
			if _, permit, err := p.gate.TryGet(0); !permit || err != nil {
				t.Errorf("the next TryGet: %v, %v", permit, err)
			}
		})
	}
}

func TestOverrunIsNeverRefused(t *testing.T) {
	b := newBudget(small)
	p := newPool(1, b)
	if overLimit, overBudget := p.gate.Overrun(0); overLimit || overBudget || p.gate.Overdrawn() {
		t.Errorf("the first is past AllocRate %v, past the Budget %v", overLimit, overBudget)
	}
	if overLimit, overBudget := p.gate.Overrun(0); !overLimit || !overBudget || !p.gate.Overdrawn() || b.Over() != small {
		t.Errorf("the second is past AllocRate %v, past the Budget %v, by %d", overLimit, overBudget, b.Over())
	}
	if !p.gate.OverrunBytes(7) || b.Used() != 2*small+7 {
		t.Errorf("%d bytes are charged", b.Used())
	}
	p.gate.UnchargeBytes(7)
	p.gate.Put(0, newBlock()) // past the Budget: dropped
	p.gate.Put(0, newBlock()) // within it
	if c := p.gate.Counts(0); len(p.freed) != 1 || c.Full != 1 || c.Puts != 1 || b.Used() != small || p.engine.Deposited(0) != 1 {
		t.Errorf("%d blocks were let go, counted %+v, %d bytes are charged, %d blocks idle", len(p.freed), c, b.Used(), p.engine.Deposited(0))
	}
}

// Every Put is counted once, by the engine or by the gate, whatever the outcome.
func TestPutsAreCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := exhausted(t)
		puts := func(class uint8) uint64 { return p.engine.Counts()[class].Puts + p.gate.Counts(class).Puts }
		s := sleeps(t, "s", nil, p.wait(t, 0))
		p.gate.Put(0, newBlock()) // handed
		synctest.Wait()
		p.gate.Put(0, newBlock())     // kept
		p.gate.PutSlow(0, newBlock()) // kept
		p.gate.Full(0, newBlock())    // dropped
		p.gate.Requeue(0, newBlock()) // counted before
		p.gate.Add(0, newBlock())     // was never out
		if c := p.gate.Counts(0); !s.done || puts(0) != 4 || c.Handed != 1 || c.Full != 1 || p.engine.Deposited(0) != 4 {
			t.Errorf("%d Puts, counted %+v, %d idle", puts(0), c, p.engine.Deposited(0))
		}
		p.close()
		p.gate.Put(0, newBlock())
		p.gate.Full(0, newBlock())
		if c := p.gate.Counts(0); puts(0) != 6 || c.Closed != 2 || c.Full != 1 || len(p.freed) != 1+4+2 {
			t.Errorf("after Close: %d Puts, counted %+v, %d let go", puts(0), c, len(p.freed))
		}
	})
}

// A pool whose engine has no room tells its owner what it drops and what it keeps.
func TestOwnerHearsOfWhatIsKeptAndDropped(t *testing.T) {
	p := newPool(0, nil)
	p.gate.Put(0, newBlock())
	p.gate.Full(0, newBlock())
	p.gate.Shed(0, 5)
	if p.kept != 1 || p.loosened != 1 || len(p.freed) != 2 {
		t.Errorf("kept %d, loosened %d, let go %d", p.kept, p.loosened, len(p.freed))
	}
	var l late.List
	p.gate.Put(0, newBlock())
	if released := p.gate.Trim(&l); released != small || len(p.freed) != 3 {
		t.Errorf("Trim released %d bytes, %d blocks were let go", released, len(p.freed))
	}
}

// A pool in direct mode uses its shards again once there are no waiters and the last refusal is long
// ago, unless it is in direct mode permanently.
func TestLeaveDirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(0, newBudget(100*small))
		p.gate.Idle(0)
		puts := func() {
			for range 64 {
				p.gate.Charge(0)
				p.gate.Put(0, newBlock())
				p.engine.Pop(0)
				p.gate.Uncharge(0)
			}
		}
		if puts(); !p.engine.IsDirect() {
			t.Error("the pool left direct mode at once")
		}
		time.Sleep(directFor)
		s := sleeps(t, "s", nil, p.waitBytes(t, 100*small))
		if puts(); !s.done || p.engine.IsDirect() {
			t.Errorf("served %v, in direct mode %v", s.done, p.engine.IsDirect())
		}
		p.gate.direct = true
		p.engine.EnterDirect()
		if puts(); !p.engine.IsDirect() {
			t.Error("a pool that stays in direct mode left it")
		}
	})
}

// A Budget does not keep its members alive. Blocks of an Allocator go with the pool that is
// collected; a slice above the largest class may still be in use.
func TestCollectedPoolLeavesItsBudget(t *testing.T) {
	b := newBudget(10 * small)
	slice := make([]byte, 2*small)
	func() {
		p := newPool(0, b)
		p.gate.Charge(0)
		p.gate.TryBytes(len(slice))
		p.gate.RegisterLarge(&slice[0], len(slice))
	}()
	for b.MemberCount() > 0 || b.Used() != 2*small {
		runtime.GC()
	}
	runtime.KeepAlive(slice)
}

// On the Go heap a block is known by its address, and is taken off the Budget once.
func TestHeapBlocksAreLetGoOnce(t *testing.T) {
	b := newBudget(10 * small)
	p := new(pool)
	p.engine.Init(magazine.Config{Sizes: []int{small}})
	p.gate.Init(Config{Name: "fake", Owner: p, Engine: &p.engine, Sizes: []int{small}, Budget: b, Heap: true})
	p.gate.Join()
	mine, other := make([]byte, small), make([]byte, small)
	block := magazine.Block(&mine[0])
	p.gate.Charge(0)
	p.gate.Charge(0)
	p.gate.Register(0, block)
	address := func(data *byte) uintptr { return uintptr(magazine.Block(data)) }
	if !p.gate.Knows(0, address(&mine[0])) || p.gate.Knows(0, address(&other[0])) {
		t.Error("a block that is registered is not known, or one that is not registered is")
	}
	p.gate.Put(0, block)
	p.gate.Put(0, block)
	if b.Used() != small || p.gate.Knows(0, address(&mine[0])) {
		t.Errorf("one of two blocks was put back twice, and %d bytes are charged", b.Used())
	}
	p.gate.RegisterLarge(&other[0], small)
	p.gate.UnregisterLarge(&other[0], small-1)
	if b.Used() != small {
		t.Error("half of a slice was taken off the Budget")
	}
	p.gate.UnregisterLarge(&other[0], small)
	p.gate.UnregisterLarge(&other[0], small)
	if b.Used() != 0 {
		t.Errorf("everything is back, and %d bytes are charged", b.Used())
	}
	func() {
		lost := make([]byte, small)
		p.gate.Charge(0)
		p.gate.Register(0, magazine.Block(&lost[0]))
	}()
	for b.Used() > 0 {
		runtime.GC()
	}
	runtime.KeepAlive(mine)
}

// An order is the order in which waits ended.
type order struct {
	mu    sync.Mutex
	names []string
}

func (o *order) add(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.names = append(o.names, name)
}

func (o *order) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.names, want) {
		t.Errorf("served %v, want %v", o.names, want)
	}
}

// A block that somebody else has allocated is charged if the Budget has room for it, and
// otherwise counts as dropped.
func TestGateAdopts(t *testing.T) {
	b := newBudget(2 * small)
	p := new(pool)
	p.engine.Init(magazine.Config{Sizes: []int{small}, MaxIdleBytes: 64 << 20})
	p.gate.Init(Config{Name: "fake", Owner: p, Engine: &p.engine, Sizes: []int{small}, Budget: b, Heap: true})
	p.gate.Join()
	var mine [3][]byte
	for i := range mine {
		mine[i] = make([]byte, 2*small)[small:] // not where its memory begins
		if got := p.gate.Adopt(0, magazine.Block(&mine[i][0])); got != (i < 2) {
			t.Errorf("block %d of 2: %v", i, got)
		}
	}
	if c := p.gate.Counts(0); b.Used() != 2*small || c.Puts != 1 || c.Full != 1 {
		t.Errorf("%d bytes are charged, %+v", b.Used(), c)
	}
	if p.gate.Disown(0, magazine.Block(&mine[0][0])); b.Used() != small {
		t.Errorf("%d bytes are charged", b.Used())
	}
	p.gate.Put(0, magazine.Block(&mine[1][0]))
	var l late.List
	if released := p.gate.Trim(&l); released != small || b.Used() != 0 {
		t.Errorf("Trim released %d bytes, %d are charged", released, b.Used())
	}
	p.gate.Close(&l)
	p.gate.End()
	if !p.gate.Adopt(0, magazine.Block(&mine[2][0])) || b.Used() != 0 {
		t.Errorf("after Close %d bytes are charged", b.Used())
	}
	l.End()
}
