package dewpond

import (
	"container/list"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/late"
)

// A Budget bounds the bytes that any number of BytePools have together, idle and in
// use: see BytePoolOptions.Budget. All methods may be called by any number of
// goroutines at once.
//
// A block is charged, with the size of its class, from when a pool allocates it until
// the pool lets it go: idle blocks stay charged. A slice above the largest class is
// charged, with its size, until it is put back. What its owner loses is charged until
// the collector finds it; of a block off the heap, until its pool is collected. What
// TryGet and GetContext allocate never takes Used above the limit. Get is never refused:
// what it takes past the limit counts in Used too, and in Stats.OverBudget, and while
// Used is above the limit a Put to any of the pools lets its block go.
//
// On the heap a pool with a Budget takes back only what it has handed out, which it
// knows by address. What Stats.HeapFallback counts is not charged.
type Budget struct {
	limit int64
	used  atomic.Int64

	waiting atomic.Int64             // length of claims; changed under mu
	refusal atomic.Int64             // a stamp of the last one
	members atomic.Pointer[[]member] // replaced, under mu; never changed

	// mu is the mutex of the queues of all pools of the budget, which so are one
	// queue. It is held over Gather and while idle blocks are let go.
	mu       sync.Mutex
	late     late.List // what has come up since mu was locked: see unlock
	sleepers bubble.Sleepers
	claims   list.List // of *waiter that wait for bytes alone, by turn
	turn     uint64    // of the last that came to any of the pools
}

// A member is one pool of a Budget, which keeps none alive.
type member struct {
	*account
	pool weak.Pointer[BytePool]
}

// An account is what one pool has charged to its Budget. A pool without a Budget has
// none, and may charge what it likes. It outlives the pool.
type account struct {
	budget  *Budget
	charged atomic.Int64
	blocks  chargedBlocks
}

// NewBudget makes a budget of so many bytes. It panics unless limit is positive.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		panic(fmt.Sprintf("dewpond: NewBudget(%d): give a number of bytes above 0", limit))
	}
	b := &Budget{limit: limit, sleepers: bubble.Sleepers{Others: " or another of its Budget"}}
	b.members.Store(new([]member))
	return b
}

// Limit returns the bytes that NewBudget was given.
func (b *Budget) Limit() int64 { return b.limit }

// Used returns the bytes that are charged now.
func (b *Budget) Used() int64 { return b.used.Load() }

// join makes a pool one of the budget's. Both may be nil.
func (b *Budget) join(p *BytePool, sizes []int) {
	if b == nil {
		return
	}
	p.account = &account{budget: b}
	if p.source == nil {
		p.account.findLost(sizes)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	members := append([]member(nil), *b.members.Load()...)
	members = append(members, member{p.account, weak.Make(p)})
	b.members.Store(&members)
	if b.waiting.Load() > 0 {
		p.engine.Gather() // so that its Puts look at waiting
	}
	runtime.AddCleanup(p, (*account).forsake, p.account)
}

// leave ends what join began. What the pool has charged stays so.
func (a *account) leave() {
	if a == nil {
		return
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	var members []member
	for _, m := range *b.members.Load() {
		if m.account != a {
			members = append(members, m)
		}
	}
	b.members.Store(&members)
}

// forsake is leave for a pool that is collected, and its Source's blocks with it.
func (a *account) forsake() {
	a.leave()
	a.unchargeSource()
	a.serveInReach()
}

// overdrawn reports whether more is charged than the limit, as only Get does.
func (a *account) overdrawn() bool { return a != nil && a.budget.over() > 0 }

// over returns by how much more is charged than the limit.
func (b *Budget) over() int64 { return max(0, b.used.Load()-b.limit) }

// charge reports whether so many bytes more are within the budget, and counts them.
// While somebody waits, what is left is his.
func (a *account) charge(n int) bool {
	return a == nil || a.budget.waiting.Load() == 0 && a.reserve(n)
}

// reserve is charge for whose turn it is.
func (a *account) reserve(n int) bool {
	b := a.budget
	for used := b.used.Load(); int64(n) <= b.limit-used; used = b.used.Load() {
		if b.used.CompareAndSwap(used, used+int64(n)) {
			a.charged.Add(int64(n))
			return true
		}
	}
	return false
}

// chargeAnyway counts so many bytes more, whatever the limit.
func (a *account) chargeAnyway(n int) {
	a.budget.used.Add(int64(n))
	a.charged.Add(int64(n))
}

// uncharge takes back what was charged. Whoever calls it calls serve later, without
// the budget's lock. It takes back at most what the pool has, whatever its Source says
// is its own.
func (a *account) uncharge(n int64) {
	if a == nil {
		return
	}
	for charged := a.charged.Load(); charged > 0; charged = a.charged.Load() {
		if n := min(n, charged); a.charged.CompareAndSwap(charged, charged-n) {
			a.budget.used.Add(-n)
			return
		}
	}
}
