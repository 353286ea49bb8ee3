//go:build dewpond_explore

package magazine

import "unsafe"

// Explore is how internal/proof's explorer sees what the engine is about to do,
// and decides who does it. The explorer sets it before it starts a thread.
var Explore struct {
	// Access is called before each access to something that threads share.
	Access func(object unsafe.Pointer, write bool)
	// Touch is called before a plain access to what only its owner may access.
	Touch func(object unsafe.Pointer)
	// Wait is called before an access that must wait until ready.
	Wait func(object unsafe.Pointer, ready func() bool)
	// Spin is called where a loop waits for some other thread to do something.
	Spin func()
}

func reads[T any](object *T)  { Explore.Access(unsafe.Pointer(object), false) }
func writes[T any](object *T) { Explore.Access(unsafe.Pointer(object), true) }

func yield() { Explore.Spin() }

func touch[T any](object *T) { Explore.Touch(unsafe.Pointer(object)) }

// mustExist catches what would read memory behind the array.
func mustExist(x section) {
	if x.id >= int(x.first.array.procs) {
		panic("FOUND a section that uses a shard its array does not have")
	}
}

// A number has the methods of an atomic integer. Nothing runs between the call of
// Access and the access itself: the explorer runs one thread at a time.
type number[T uint32 | uint64 | uintptr | int64] struct{ v T }

func (n *number[T]) Load() T   { reads(n); return n.v }
func (n *number[T]) Store(v T) { writes(n); n.v = v }
func (n *number[T]) Add(d T) T { writes(n); n.v += d; return n.v }
func (n *number[T]) CompareAndSwap(old, new T) bool {
	writes(n)
	if n.v != old {
		return false
	}
	n.v = new
	return true
}

type (
	atomicUint32  = number[uint32]
	atomicUint64  = number[uint64]
	atomicUintptr = number[uintptr]
	atomicInt64   = number[int64]
)

// A statistic is no access: the order in which threads add to it shows nowhere.
type statistic struct{ v uint64 }

func (s *statistic) Load() uint64 { return s.v }
func (s *statistic) Add(d uint64) { s.v += d }

// Nor is a hint: all it says is how much to ask Shed for.
type hint struct{ v int64 }

func (h *hint) Load() int64        { return h.v }
func (h *hint) Add(d int64) int64  { h.v += d; return h.v }
func (h *hint) Swap(v int64) int64 { old := h.v; h.v = v; return old }
func (h *hint) CompareAndSwap(old, new int64) bool {
	if h.v != old {
		return false
	}
	h.v = new
	return true
}

type atomicBool struct{ v bool }

func (b *atomicBool) Load() bool   { reads(b); return b.v }
func (b *atomicBool) Store(v bool) { writes(b); b.v = v }

type atomicPointer[T any] struct{ v *T }

func (p *atomicPointer[T]) Load() *T   { reads(p); return p.v }
func (p *atomicPointer[T]) Store(v *T) { writes(p); p.v = v }
func (p *atomicPointer[T]) CompareAndSwap(old, new *T) bool {
	writes(p)
	if p.v != old {
		return false
	}
	p.v = new
	return true
}

type mutex struct{ locked bool }

func (m *mutex) Lock() {
	Explore.Wait(unsafe.Pointer(m), func() bool { return !m.locked })
	m.locked = true
}

func (m *mutex) TryLock() bool {
	writes(m)
	if m.locked {
		return false
	}
	m.locked = true
	return true
}

func (m *mutex) Unlock() { writes(m); m.locked = false }

// None returns the slot that all share who have none, and that nobody writes.
func (e *Engine) None() unsafe.Pointer { return unsafe.Pointer(&e.none) }
