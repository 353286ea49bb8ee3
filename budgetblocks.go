package dewpond

import (
	"runtime"
	"sync"

	"github.com/dewpond/dewpond/internal/memory"
)

// A block of the Go heap and a slice that somebody has made differ by address alone. So
// an account knows where the blocks lie with which its Budget was charged, and of the
// slices above the largest class how long each is. It keeps none of them alive.
//
// A block that is lost is taken out by a finalizer. No cleanup would do: it runs after
// the block is gone, and by then a stranger's slice may lie there and be taken for the
// block. What has a finalizer is gone only with the collection after that.
type chargedBlocks struct {
	ofClass memory.BlockSet
	lost    []func(*byte) // finalizers, by class; nil where a Source has the blocks

	mu         sync.Mutex // held for one lookup
	large      map[uintptr]int64
	largeBytes int64
}

// findLost makes the account one of blocks on the Go heap.
func (a *account) findLost(sizes []int) {
	for class, size := range sizes {
		a.blocks.lost = append(a.blocks.lost, func(block *byte) {
			if a.blocks.ofClass.Remove(addressAt(block), uint8(class)) {
				a.uncharge(int64(size))
				a.serveLater()
			}
		})
	}
}

// serveLater is serve for a finalizer, for which all finalizers of the process wait.
func (a *account) serveLater() {
	if a.budget.waiting.Load() > 0 {
		go a.serveInReach()
	}
}

// hold notes a block that make has returned, with which the Budget was charged.
func (a *account) hold(class uint8, b []byte) {
	if a == nil {
		return
	}
	a.blocks.ofClass.Add(addressOf(b), class)
	runtime.SetFinalizer(dataOf(b), a.blocks.lost[class])
}

// holds reports whether b is such a block of the class.
func (a *account) holds(class uint8, b []byte) bool {
	return a == nil || a.blocks.ofClass.Has(addressOf(b), class)
}

// letGo is uncharge for a block that the pool lets go of.
func (a *account) letGo(class uint8, b []byte) {
	switch {
	case a == nil:
		return
	case a.blocks.lost == nil: // the Source has taken it back
	case a.blocks.ofClass.Remove(addressOf(b), class):
		runtime.SetFinalizer(dataOf(b), nil)
	default: // it was put back twice, and this is the second time that it goes
		return
	}
	a.uncharge(int64(len(b)))
}

// holdLarge notes a slice above the largest class, with which the Budget was charged.
func (a *account) holdLarge(b []byte) {
	l, size := &a.blocks, int64(len(b))
	l.mu.Lock()
	if l.large == nil {
		l.large = make(map[uintptr]int64)
	}
	l.large[addressOf(b)] = size
	l.largeBytes += size
	l.mu.Unlock()
	runtime.SetFinalizer(dataOf(b), func(data *byte) {
		if a.unchargeLarge(addressAt(data), size) {
			a.serveLater()
		}
	})
}

// letGoLarge ends what holdLarge began, if b is such a slice, to its whole cap.
func (a *account) letGoLarge(b []byte) {
	if a != nil && a.unchargeLarge(addressOf(b), int64(cap(b))) {
		runtime.SetFinalizer(dataOf(b), nil)
		a.serve()
	}
}

func (a *account) unchargeLarge(address uintptr, size int64) (was bool) {
	l := &a.blocks
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.large[address] != size {
		return false
	}
	delete(l.large, address)
	l.largeBytes -= size
	a.uncharge(size)
	return true
}

// unchargeSource is uncharge for all that a Source has, whose pool is collected. What
// is on the Go heap is collected by itself.
func (a *account) unchargeSource() {
	if a.blocks.lost != nil {
		return
	}
	a.blocks.mu.Lock()
	defer a.blocks.mu.Unlock()
	a.uncharge(a.charged.Load() - a.blocks.largeBytes)
}
