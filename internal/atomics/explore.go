//go:build dewpond_explore

package atomics

import (
	"time"
	"unsafe"
)

// Explore is how the explorer of instruments/proof sees what is about to be done, and decides
// which thread does it. The explorer sets it before it starts a thread.
var Explore struct {
	// Access is called before each access to an object that threads share.
	Access func(object unsafe.Pointer, write bool)
	// Touch is called before a plain access to an object that only its owner may access.
	Touch func(object unsafe.Pointer)
	// Wait is called before an access that must wait until ready returns true.
	Wait func(object unsafe.Pointer, ready func() bool)
	// Spin is called where a loop waits for another thread.
	Spin func()
	// AfterFunc may run f as a thread of the explorer.
	AfterFunc func(f func())
}

// Explored says that the explorer runs the program.
const Explored = true

func reads[T any](object *T)  { Explore.Access(unsafe.Pointer(object), false) }
func writes[T any](object *T) { Explore.Access(unsafe.Pointer(object), true) }

// Yield tells the explorer to run another thread.
func Yield() { Explore.Spin() }

// Touch announces a plain access to object.
func Touch[T any](object *T) { Explore.Touch(unsafe.Pointer(object)) }

// now is later than every time that the program sets before it.
var now = time.Now().Add(time.Hour)

// Now always returns the same time.
func Now() time.Time { return now }

// AfterFunc gives f to the explorer, which has no clock.
func AfterFunc(_ time.Duration, f func()) { Explore.AfterFunc(f) }

// A Timer is none of the runtime's.
type Timer struct{}

// After is AfterFunc.
func (t *Timer) After(_ time.Duration, f func()) *Timer {
	Explore.AfterFunc(f)
	return nil
}

// NewTimer panics: a thread sleeps by the explorer alone.
func NewTimer(time.Duration) *time.Timer { panic("a thread sleeps") }

// AfterCollection does nothing: scenarios have no collections.
func AfterCollection(func()) {}

// A Witness is never lost: scenarios have no collections.
type Witness struct{}

// NewWitness returns nil.
func NewWitness(func()) *Witness { return nil }

// A word has the methods of an atomic. Nothing runs between the call of Access and the access
// itself: the explorer runs one thread at a time.
type word[T comparable] struct{ v T }

func (w *word[T]) Load() T   { reads(w); return w.v }
func (w *word[T]) Store(v T) { writes(w); w.v = v }
func (w *word[T]) Swap(v T) (old T) {
	writes(w)
	old, w.v = w.v, v
	return old
}

func (w *word[T]) CompareAndSwap(old, new T) bool {
	writes(w)
	if w.v != old {
		return false
	}
	w.v = new
	return true
}

// A number is a word that can be added to.
type number[T uint32 | uint64 | uintptr | int64] struct{ word[T] }

func (n *number[T]) Add(d T) T { writes(n); n.v += d; return n.v }
func (n *number[T]) And(m T) T { writes(n); old := n.v; n.v &= m; return old }
func (n *number[T]) Or(m T) T  { writes(n); old := n.v; n.v |= m; return old }

type (
	Bool           = word[bool]
	Int64          = number[int64]
	Uint32         = number[uint32]
	Uint64         = number[uint64]
	Uintptr        = number[uintptr]
	Pointer[T any] struct{ word[*T] }
)

// A Statistic is no access: nothing depends on the order in which threads add to it.
type Statistic struct{ v uint64 }

func (s *Statistic) Load() uint64 { return s.v }
func (s *Statistic) Add(d uint64) { s.v += d }

// A Heuristic is no access: the result is right whatever its value.
type Heuristic struct{ v int64 }

func (h *Heuristic) Load() int64        { return h.v }
func (h *Heuristic) Store(v int64)      { h.v = v }
func (h *Heuristic) Add(d int64) int64  { h.v += d; return h.v }
func (h *Heuristic) Swap(v int64) int64 { old := h.v; h.v = v; return old }
func (h *Heuristic) CompareAndSwap(old, new int64) bool {
	if h.v != old {
		return false
	}
	h.v = new
	return true
}

// A Cache keeps all that was put into it.
type Cache struct{ kept []any }

func (c *Cache) Put(x any) { writes(c); c.kept = append(c.kept, x) }

func (c *Cache) Get() (x any) {
	writes(c)
	if last := len(c.kept) - 1; last >= 0 {
		x, c.kept = c.kept[last], c.kept[:last]
	}
	return x
}

// A Mutex is a lock. The explorer sees a thread that waits for it.
type Mutex struct{ locked bool }

func (m *Mutex) Lock() {
	Explore.Wait(unsafe.Pointer(m), func() bool { return !m.locked })
	m.locked = true
}

func (m *Mutex) TryLock() bool {
	writes(m)
	if m.locked {
		return false
	}
	m.locked = true
	return true
}

func (m *Mutex) Unlock() { writes(m); m.locked = false }
