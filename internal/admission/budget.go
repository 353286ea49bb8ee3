package admission

import (
	"container/list"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/memory"
)

// A Budget bounds the bytes that any number of pools have together, idle and in use. Its
// lock is the lock of its pools' queues: they are served as one. A Budget needs Init before
// use and must not be copied.
type Budget struct {
	name  string
	limit int64
	used  atomics.Int64

	waiting atomics.Int64     // length of claims; changed under mu
	refusal atomics.Heuristic // a stamp of the last refusal
	members members

	granting atomics.Bool // a goroutine of grantBytesLater is about to look

	locked           // guards the wait queues of every pool of this Budget: they are served as one
	claims list.List // of *waiter that wait for bytes alone, by turn
	turn   uint64    // of the last waiter that came to any of the pools

	short atomics.Uint64 // how often makeRoom has found too little; changed under mu
	room  int64          // more than it has found the last of these times
}

// Init prepares a Budget of limit bytes.
func (b *Budget) Init(name string, limit int64) {
	b.name, b.limit = name, limit
	b.sleepers.Others = " or another of its Budget"
}

// Name returns the name that Init was given.
func (b *Budget) Name() string { return b.name }

// Limit returns the bytes that Init was given.
func (b *Budget) Limit() int64 { return b.limit }

// Used returns the number of bytes that are charged now.
func (b *Budget) Used() int64 { return b.used.Load() }

// Over returns by how many bytes the charges exceed the limit, or 0.
func (b *Budget) Over() int64 { return max(0, b.used.Load()-b.limit) }

// Forsaken reports whether the Budget has had pools and has none now.
func (b *Budget) Forsaken() bool {
	n, joined := b.members.len()
	return joined && n == 0
}

// MemberCount returns how many pools of the Budget are neither closed nor collected.
func (b *Budget) MemberCount() int {
	n, _ := b.members.len()
	return n
}

// An account is what one pool has charged to its Budget. A pool without a Budget has a nil
// account, and its charges always succeed. An account outlives its pool.
type account struct {
	budget  *Budget
	charged atomics.Int64
	number  int                // of the pool among the members
	gone    atomics.Bool       // the pool is closed or collected
	blocks  *memory.HeapBlocks // the charged blocks; nil if an Allocator tracks them
	large   memory.HeapSlices  // the charged slices above the largest class
}

func newAccount(b *Budget, sizes []int, heap bool) *account {
	a := &account{budget: b}
	if heap {
		a.blocks = memory.NewHeapBlocks(len(sizes), func(class uint8) {
			a.uncharge(int64(sizes[class]))
			a.grantBytesLater()
		})
	}
	return a
}

// join makes the account's pool a member of the Budget.
func (a *account) join(g *Gate) {
	a.number = a.budget.members.add(g)
	g.lost = atomics.NewWitness(a.forsake)
}

// leave undoes join. What the pool has charged stays charged. A second call does nothing.
func (a *account) leave() {
	if a != nil && !a.gone.Swap(true) {
		a.budget.members.remove(a.number)
	}
}

// forsake is leave for a pool that the collector has freed, with the blocks of its Allocator.
func (a *account) forsake() {
	a.leave()
	if a.blocks == nil { // the collector tells of each block on the Go heap itself
		a.uncharge(a.charged.Load() - a.large.Bytes())
	}
	a.grantBytesInReach()
}

// charge charges n more bytes if they are within the Budget, and reports whether they are.
// While a waiter has a claim, the bytes that are left are reserved for waiters.
func (a *account) charge(n int) bool {
	return a == nil || a.budget.waiting.Load() == 0 && a.reserve(n)
}

// reserve is charge for the caller whose turn it is.
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

// chargeAnyway charges n more bytes, even past the limit.
func (a *account) chargeAnyway(n int) {
	a.budget.used.Add(int64(n))
	a.charged.Add(int64(n))
}

// uncharge takes n bytes off the Budget, but at most what the pool has charged, whatever its
// Allocator says. The caller must call grantBytes later, without the lock.
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

// Register notes a block of the Go heap that is charged to the Budget.
func (g *Gate) Register(class uint8, block magazine.Block) {
	if g.account != nil {
		g.account.blocks.Add((*byte)(block), class)
	}
}

// Adopt charges and notes a block of the Go heap that the pool has not allocated, and
// reports whether it may be Put. If not, the Budget has no room for the block, and its Put
// counts as dropped.
func (g *Gate) Adopt(class uint8, block magazine.Block) bool {
	a, size := g.account, g.sizes[class]
	if a == nil || g.engine.Closed() { // whose Put drops it
		return true
	}
	if a.charge(size) {
		if a.blocks.Adopt((*byte)(block), class) {
			return true
		}
		a.uncharge(int64(size))
		a.grantBytes()
	}
	g.counters.At(class).puts.Add(1)
	g.counters.At(class).full.Add(1)
	return false
}

// Disown undoes Adopt.
func (g *Gate) Disown(class uint8, block magazine.Block) {
	g.account.unchargeBlock(class, block, g.sizes[class])
	g.account.grantBytes()
}

// Knows reports whether a charged block of the class, not freed since, begins at address.
// Without a Budget blocks are not noted, and Knows returns true.
func (g *Gate) Knows(class uint8, address uintptr) bool {
	return g.account == nil || g.account.blocks.Has(address, class)
}

// Find returns the class, of those from least on, of the charged block that begins where block
// does. Unlike Knows it takes no slice for a block that was adopted and lost. The pool has a
// Budget.
func (g *Gate) Find(block magazine.Block, least uint8) (class uint8, ok bool) {
	return g.account.blocks.Find((*byte)(block), least)
}

// unchargeBlock takes the charge for a block off the Budget.
func (a *account) unchargeBlock(class uint8, block magazine.Block, size int) {
	if a == nil || a.blocks != nil && !a.blocks.Remove((*byte)(block), class) {
		return // a block that was put back twice is here twice, and is not found the second time
	}
	a.uncharge(int64(size))
}

// RegisterLarge notes a slice above the largest class that is charged to the Budget. data is its
// first byte.
func (g *Gate) RegisterLarge(data *byte, size int) {
	a := g.account
	if a == nil {
		return
	}
	a.large.Add(data, int64(size), func() {
		a.uncharge(int64(size))
		a.grantBytesLater()
	})
}

// UnregisterLarge takes a slice that was put back off the Budget, if it was charged. size is the
// whole capacity of the slice.
func (g *Gate) UnregisterLarge(data *byte, size int) {
	if a := g.account; a != nil && a.large.Remove(data, int64(size)) {
		a.uncharge(int64(size))
		a.grantBytes()
	}
}
