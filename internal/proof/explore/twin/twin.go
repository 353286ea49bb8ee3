//go:build dewpond_explore

// Package twin stands in for sync, sync/atomic and the timers of package runtime and
// time in files outside internal/magazine that the explorer schedules. They do not
// name their atomics through aliases, as the engine does: the test that builds the
// explorer replaces their imports (sources in overlay_test.go).
package twin

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/magazine"
)

// Used counts the accesses that came by here, so that a scenario can tell that the
// imports were replaced.
var Used int

// Timers are what AfterFunc was given and nobody has called yet.
var Timers []func()

func at[T any](object *T, write bool) {
	Used++
	magazine.Explore.Access(unsafe.Pointer(object), write)
}

type number[T uint32 | uint64] struct{ v T }

func (n *number[T]) Load() T   { at(n, false); return n.v }
func (n *number[T]) Store(v T) { at(n, true); n.v = v }
func (n *number[T]) Swap(v T) (old T) {
	at(n, true)
	old, n.v = n.v, v
	return old
}

func (n *number[T]) CompareAndSwap(old, new T) bool {
	at(n, true)
	if n.v != old {
		return false
	}
	n.v = new
	return true
}

type (
	Uint32 = number[uint32]
	Uint64 = number[uint64]
)

type Bool struct{ v bool }

func (b *Bool) Load() bool   { at(b, false); return b.v }
func (b *Bool) Store(v bool) { at(b, true); b.v = v }

func (b *Bool) CompareAndSwap(old, new bool) bool {
	at(b, true)
	if b.v != old {
		return false
	}
	b.v = new
	return true
}

type Pointer[T any] struct{ v *T }

func (p *Pointer[T]) Load() *T   { at(p, false); return p.v }
func (p *Pointer[T]) Store(v *T) { at(p, true); p.v = v }

type Mutex struct{ locked bool }

func (m *Mutex) Lock() {
	Used++
	magazine.Explore.Wait(unsafe.Pointer(m), func() bool { return !m.locked })
	m.locked = true
}

func (m *Mutex) Unlock() { at(m, true); m.locked = false }

// AfterFunc keeps f for the scenario to call.
func AfterFunc(_ any, f func()) { Timers = append(Timers, f) }

// AddCleanup does nothing: no collection happens in a scenario.
func AddCleanup[T, S any](*T, func(S), S) {}
