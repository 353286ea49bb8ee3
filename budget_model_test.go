package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// A budgetModel is what pools that share a Budget must do for one user: it knows what
// is out and which calls wait. What is idle the pools say.
type budgetModel struct {
	t       *testing.T
	rng     *rand.Rand
	budget  *dewpond.Budget
	source  *meter
	pools   []*modelPool
	waiting []*modelWaiter // in the order in which they came
	leaving int            // bytes that one who has given up is about to put back
	failing bool           // the source is
	log     []string
}

type modelPool struct {
	*dewpond.BytePool
	sizes  []int
	keeps  bool // else its MaxIdleBytes is NoIdle
	mine   bool // its blocks are the heap's, or offheap's, and no meter's
	closed bool
	out    [][]byte
}

func (p *modelPool) outBytes() (n int64) {
	for _, b := range p.out {
		n += int64(cap(b))
	}
	return n
}

// largest is the size of the largest class. What is above it is of class len(p.sizes).
func (p *modelPool) largest() int { return p.sizes[len(p.sizes)-1] }

// ofClass is the part of outBytes that is in blocks.
func (p *modelPool) ofClass() (n int64) {
	for _, b := range p.out {
		if cap(b) <= p.largest() {
			n += int64(cap(b))
		}
	}
	return n
}

// A modelWaiter is one call of GetContext, or of GetBatch if it wants several blocks.
type modelWaiter struct {
	pool   *modelPool
	size   int
	class  int
	n      int // blocks
	held   int // that it has collected
	cancel context.CancelFunc
	done   chan struct{}
	blocks [][]byte
	err    error
}

// bytes is what the waiter wants altogether.
func (w *modelWaiter) bytes() int { return w.n * w.size }

// Whatever one user does: what is charged is what is out and idle, TryGet and
// waiters never take it above the limit, are refused or wait only where they must, and
// waiters are served in the order in which they came, at once.
func TestBudgetFollowsModel(t *testing.T) {
	leavesOut(t, "the blocks of a call that its script ends in")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	seeds := 400
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			m := newBudgetModel(t, uint64(seed))
			for range 100 {
				m.step()
				synctest.Wait()
				m.check()
				if t.Failed() {
					t.Fatalf("seed %d: %q", seed, m.log)
				}
			}
			m.end()
			if t.Failed() {
				t.Fatalf("seed %d: %q", seed, m.log)
			}
		})
	}
}

func newBudgetModel(t *testing.T, seed uint64) *budgetModel {
	m := &budgetModel{t: t, rng: rand.New(rand.NewPCG(1, seed)), budget: dewpond.MustBudget("model", 32<<10), source: new(meter)}
	for range 3 {
		m.open()
	}
	return m
}

// open makes one of four kinds of pools.
func (m *budgetModel) open() {
	p := &modelPool{keeps: true}
	o := dewpond.BytePoolOptions{Budget: m.budget, Memory: m.source, IdleTimeout: dewpond.NoDecay, Zero: dewpond.ZeroNever}
	switch m.rng.IntN(4) {
	case 3:
		p.mine, o.Memory = true, nil
		fallthrough
	case 0:
		p.sizes = []int{512, 1024, 8192}
	case 1:
		p.sizes = []int{1024, 16 << 10, 48 << 10} // one in no shard, and one too large for the budget
	case 2:
		p.sizes, p.keeps, o.MaxIdleBytes = []int{512, 4096}, false, dewpond.NoIdle
	}
	o.Classes = p.sizes
	p.BytePool = newPool(m.t, o)
	m.pools = append(m.pools, p)
}

func (m *budgetModel) say(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

// out is the bytes with callers, closed pools' too.
func (m *budgetModel) out() (n int64) {
	for _, p := range m.pools {
		n += p.outBytes()
	}
	return n
}

func (m *budgetModel) room(size int) bool {
	return m.out()+int64(m.leaving)+int64(size) <= m.budget.Limit()
}

// tryError returns what TryGet must return besides a block, and GetBatch besides n blocks if
// it did not wait.
func (m *budgetModel) tryError(p *modelPool, class, n int) error {
	switch {
	case !p.closed && class < len(p.sizes) && p.Stats().Classes[class].Idle >= n:
		return nil
	case p.closed:
		return dewpond.ErrClosed
	case len(m.waiting) > 0 || !m.room(n*p.size(class)):
		return dewpond.ErrExhausted
	case m.fails(p, class):
		return errNoMemory
	}
	return nil // a block that is idle, or was made, with room by others that were let go
}

func (m *budgetModel) step() {
	i := m.rng.IntN(len(m.pools))
	p := m.pools[i]
	class := m.rng.IntN(len(p.sizes) + 1)
	size := p.size(class)
	before := m.budget.Used()
	if m.fails(p, class) && p.Stats().Classes[class].Idle > 0 {
		return // whether that block is found, or the source asked, depends on which shard has it
	}
	switch what := m.rng.IntN(100); {
	case what < 25:
		want := m.tryError(p, class, 1)
		m.say("TryGet %d of %d", size, i)
		b, err := p.TryGet(size)
		if !errors.Is(err, want) {
			m.t.Errorf("TryGet: %v, want %v", err, want)
		}
		m.took(p, b)
		if used := m.budget.Used(); used > max(before, m.budget.Limit()) {
			m.t.Errorf("TryGet takes it from %d to %d", before, used)
		}
	case what < 30:
		m.say("Get %d of %d", size, i)
		m.get(p, class)
	case what < 50:
		m.wait(i, class)
	case what < 80:
		if len(p.out) == 0 {
			return
		}
		at := m.rng.IntN(len(p.out))
		b := p.out[at]
		p.out = slices.Delete(p.out, at, at+1)
		m.say("Put %d to %d", cap(b), i)
		idle := m.idle()
		p.Put(b)
		if before > m.budget.Limit() && m.idle() > idle {
			m.t.Errorf("%d bytes are charged, and a Put keeps %d", before, cap(b))
		}
		m.gaveBack(p, cap(b), before > m.budget.Limit())
	case what < 84:
		m.say("Trim %d", i)
		p.Trim()
		if idle := p.Stats().IdleBytes; idle != 0 {
			m.t.Errorf("%d bytes are idle after Trim", idle)
		}
	case what < 87:
		if class < len(p.sizes) {
			m.prewarm(i, class)
		}
	case what < 92:
		if len(m.waiting) > 0 {
			at := m.rng.IntN(len(m.waiting))
			w := m.waiting[at]
			m.say("cancel %d", at)
			m.waiting = slices.Delete(m.waiting, at, at+1)
			overdrawn := before > m.budget.Limit()
			w.cancel()
			m.ended(w, context.Canceled)
			m.leaving = w.held * w.size
			m.serve() // first those for whom that is enough
			for range w.held {
				m.leaving -= w.size
				m.gaveBack(w.pool, w.size, overdrawn)
			}
		}
	case what < 94:
		m.close(i)
	case what < 96:
		if slices.ContainsFunc(m.waiting, func(w *modelWaiter) bool { return w.n > 1 }) {
			return // whether they need the source depends on who gets what they put back
		}
		m.failing = !m.failing
		m.say("failing: %v", m.failing)
		m.source.fail.Store(m.failing)
	case what < 98:
		m.putStranger(i, size)
	default:
		m.say("sleep")
		time.Sleep(50 * time.Millisecond) // after two of which pools may leave direct mode
		for range 64 {
			if len(m.waiting) == 0 && p.keeps && !m.failing {
				if b, err := p.TryGet(p.sizes[0]); err == nil {
					p.Put(b)
				}
			}
		}
	}
}

// size is what a Get of a class is charged with, and of what is above the largest.
func (p *modelPool) size(class int) int {
	if class < len(p.sizes) {
		return p.sizes[class]
	}
	return p.largest() + 100
}

// fails is whether nothing can be allocated for a Get of a class.
func (m *budgetModel) fails(p *modelPool, class int) bool {
	return m.failing && !p.mine && class < len(p.sizes)
}

// idle is the bytes in all pools.
func (m *budgetModel) idle() (n int64) {
	for _, p := range m.pools {
		n += p.Stats().IdleBytes
	}
	return n
}

// putStranger puts what no pool has handed out, of a class's size or larger, or of an
// own block a part. It changes nothing but what is counted as dropped. A meter owns
// all, by its own word.
func (m *budgetModel) putStranger(i, size int) {
	p := m.pools[i]
	b := make([]byte, size)
	if len(p.out) > 0 && m.rng.IntN(2) == 0 {
		out := p.out[m.rng.IntN(len(p.out))]
		if b = out[: 0 : cap(out)/2]; cap(out) > p.largest() && m.rng.IntN(2) == 0 {
			b = out[16:]
		}
	}
	if !p.mine && slices.Contains(p.sizes, cap(b)) || watched {
		return // welcome, or reported
	}
	m.say("Put a stranger of %d to %d", cap(b), i)
	was, used := p.Stats(), m.budget.Used()
	p.Put(b)
	now := p.Stats()
	if now.IdleBytes != was.IdleBytes || now.InUseBytes != was.InUseBytes || m.budget.Used() != used ||
		now.Dropped.Foreign+now.Dropped.Oversize != was.Dropped.Foreign+was.Dropped.Oversize+1 {
		m.t.Errorf("a stranger of %d bytes: %d bytes are charged, it was %d", cap(b), m.budget.Used(), used)
	}
}

func (m *budgetModel) took(p *modelPool, b []byte) {
	if b != nil {
		p.out = append(p.out, b)
	}
}

func (m *budgetModel) get(p *modelPool, class int) {
	before := p.Stats()
	b := p.Get(p.size(class))
	after := p.Stats()
	over, missed := after.OverBudget > before.OverBudget, after.Misses+after.Oversize > before.Misses+before.Oversize
	if after.OffHeap.Fallback > before.OffHeap.Fallback {
		return // outside the budget, and so not to be put back to a meter
	}
	m.took(p, b)
	switch used := m.budget.Used(); {
	case missed && !over && used > m.budget.Limit():
		m.t.Errorf("Get took it to %d, and did not say so", used)
	case over && !missed || over && len(m.waiting) == 0 && used <= m.budget.Limit():
		m.t.Errorf("Get says it went past the budget; %d are charged", used)
	}
}

// wait begins a GetContext or a GetBatch.
func (m *budgetModel) wait(i, class int) {
	p := m.pools[i]
	n := 1
	if !m.failing {
		n = max(1, m.rng.IntN(8)-3)
	}
	m.say("wait for %d times %d of %d", n, p.size(class), i)
	ctx, cancel := context.WithCancel(m.t.Context())
	w := &modelWaiter{pool: p, size: p.size(class), class: class, n: n, cancel: cancel, done: make(chan struct{}), blocks: make([][]byte, n)}
	want := m.tryError(p, class, n)
	if class < len(p.sizes) {
		w.held = p.Stats().Classes[class].Idle // it takes what is idle first
	}
	go func() {
		if n > 1 {
			w.err = p.GetBatch(ctx, w.blocks, w.size)
		} else {
			w.blocks[0], w.err = p.GetContext(ctx, w.size)
		}
		close(w.done)
	}()
	synctest.Wait()
	if want == dewpond.ErrExhausted && int64(w.bytes()) <= m.budget.Limit() {
		m.waiting = append(m.waiting, w)
		return
	}
	m.ended(w, want)
}

// ended checks how a wait has ended, once every goroutine is blocked.
func (m *budgetModel) ended(w *modelWaiter, want error) {
	synctest.Wait()
	select {
	case <-w.done:
		w.cancel()
		if !errors.Is(w.err, want) {
			m.t.Errorf("a wait for %d blocks: %v, want %v", w.n, w.err, want)
		}
		for _, b := range w.blocks {
			if (b == nil) != (want != nil) {
				m.t.Errorf("of %d blocks one is %d bytes long, with %v", w.n, len(b), w.err)
			}
			m.took(w.pool, b)
		}
	default:
		m.t.Errorf("somebody waits for %d times %d bytes still, with %d out", w.n, w.size, m.out())
	}
}

// serve is whom a Put or the like must have woken, after what was given back is not
// among what is out any more.
func (m *budgetModel) serve() {
	for len(m.waiting) > 0 && m.room(m.waiting[0].bytes()) && !m.t.Failed() {
		w := m.waiting[0]
		m.waiting = m.waiting[1:]
		if m.fails(w.pool, w.class) {
			m.ended(w, errNoMemory)
		} else {
			m.ended(w, nil)
		}
	}
}

// gaveBack is what a Put does for those who wait. What Get took past the budget is for nobody.
func (m *budgetModel) gaveBack(p *modelPool, size int, overdrawn bool) {
	if len(m.waiting) > 0 && !p.closed && !overdrawn {
		if w := m.waiting[0]; w.pool == p && w.size == size && size <= p.largest() { // it gets the block itself
			if w.held++; w.held == w.n {
				m.waiting = m.waiting[1:]
				m.ended(w, nil)
			}
		}
	}
	m.serve()
}

func (m *budgetModel) prewarm(i, class int) {
	p := m.pools[i]
	m.say("Prewarm %d of %d", p.sizes[class], i)
	left := m.budget.Limit() - m.budget.Used()
	count := 1 + m.rng.IntN(3)
	err := p.Prewarm(p.sizes[class], count)
	fits := len(m.waiting) == 0 && int64(count*p.sizes[class]) <= left
	if ok := fits && !m.fails(p, class) && !p.closed && p.keeps; ok != (err == nil) {
		m.t.Errorf("Prewarm of %d: %v, with %d bytes left", count, err, left)
	}
}

// close ends a pool, whose blocks that are out stay charged, and opens another.
func (m *budgetModel) close(i int) {
	p := m.pools[i]
	if p.closed || len(m.pools) > 6 {
		return
	}
	m.say("Close %d", i)
	p.closed = true
	p.Close()
	var theirs []*modelWaiter
	m.waiting = slices.DeleteFunc(m.waiting, func(w *modelWaiter) bool {
		if w.pool == p {
			theirs = append(theirs, w)
		}
		return w.pool == p
	})
	for _, w := range theirs {
		m.ended(w, dewpond.ErrClosed)
	}
	m.serve()
	m.open()
}

func (m *budgetModel) check() {
	var idle, out, source int64
	for i, p := range m.pools {
		s := p.Stats()
		held := m.heldIn(p)
		idle += s.IdleBytes
		out += p.outBytes() + held
		if !p.mine {
			source += s.IdleBytes + p.ofClass() + held
		}
		if s.InUseBytes != p.ofClass()+held {
			m.t.Errorf("pool %d says %d bytes are in use, it is %d and %d collected", i, s.InUseBytes, p.ofClass(), held)
		}
		if s.Budget.Used != m.budget.Used() || s.Budget.Limit != m.budget.Limit() || s.Budget.Name != "model" {
			m.t.Errorf("pool %d says that %q has %d of %d bytes, it is %v", i, s.Budget.Name, s.Budget.Used, s.Budget.Limit, m.budget)
		}
		if over := max(0, m.budget.Used()-m.budget.Limit()); s.Budget.Excess != over {
			m.t.Errorf("pool %d says %d bytes are past the budget, it is %d", i, s.Budget.Excess, over)
		}
	}
	if used := m.budget.Used(); used != idle+out || m.source.bytes.Load() != source {
		m.t.Errorf("%d bytes are charged: %d out, %d idle; the source's %d of %d", used, out, idle, m.source.bytes.Load(), source)
	}
	if len(m.waiting) > 0 && idle != 0 {
		m.t.Errorf("%d bytes are idle while %d wait", idle, len(m.waiting))
	}
	for i, w := range m.waiting {
		select {
		case <-w.done:
			m.t.Errorf("the one who is %d to wait, for %d bytes, was served with %d out: %v", i, w.size, out, w.err)
		default:
		}
	}
}

// heldIn is the bytes that those who wait for a pool have collected.
func (m *budgetModel) heldIn(p *modelPool) (n int64) {
	for _, w := range m.waiting {
		if w.pool == p {
			n += int64(w.held * w.size)
		}
	}
	return n
}

// end puts everything back, which must serve every waiter.
func (m *budgetModel) end() {
	m.failing = false
	m.source.fail.Store(false)
	for range 1000 {
		for _, p := range m.pools {
			if len(p.out) > 0 {
				b := p.out[0]
				p.out = p.out[1:]
				overdrawn := m.budget.Used() > m.budget.Limit()
				p.Put(b)
				m.gaveBack(p, cap(b), overdrawn)
				m.check()
			}
		}
	}
	if len(m.waiting) > 0 || m.out() != 0 {
		m.t.Errorf("%d wait, %d bytes are out", len(m.waiting), m.out())
	}
	for _, p := range m.pools {
		p.Close()
	}
	if used := m.budget.Used(); used != 0 {
		m.t.Errorf("%d bytes are charged after all", used)
	}
}
