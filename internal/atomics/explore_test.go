//go:build dewpond_explore

package atomics

import (
	"slices"
	"testing"
	"unsafe"
)

// Each method asks the explorer once, about the right object and the right kind of access,
// before it does what its twin in sync/atomic does.
func TestEachAccessIsAnnounced(t *testing.T) {
	var log []string
	var object unsafe.Pointer
	var asked func() // checks with the object that the access is still to come
	Explore.Access = func(at unsafe.Pointer, write bool) {
		if at != object {
			t.Error("the explorer was asked about another object")
		}
		if asked != nil {
			asked()
		}
		log = append(log, map[bool]string{false: "read", true: "write"}[write])
	}
	want := func(name string, did ...string) {
		t.Helper()
		if !slices.Equal(log, did) {
			t.Errorf("%s: the explorer was asked %q, want %q", name, log, did)
		}
		log, asked = nil, nil
	}

	var n Int64
	object = unsafe.Pointer(&n)
	asked = func() {
		if n.v != 0 {
			t.Error("Add came before the explorer was asked")
		}
	}
	if n.Add(3) != 3 {
		t.Error("Add")
	}
	want("Add", "write")
	if n.Load() != 3 {
		t.Error("Load")
	}
	want("Load", "read")
	if n.Swap(4) != 3 || n.v != 4 {
		t.Error("Swap")
	}
	want("Swap", "write")
	if n.CompareAndSwap(3, 5) || !n.CompareAndSwap(4, 5) || n.v != 5 {
		t.Error("CompareAndSwap")
	}
	want("CompareAndSwap, twice", "write", "write")
	n.Store(6)
	want("Store", "write")

	var p Pointer[int]
	object = unsafe.Pointer(&p)
	if p.Store(new(int)); p.Load() == nil {
		t.Error("Pointer")
	}
	want("a Pointer", "write", "read")

	var m Mutex
	object = unsafe.Pointer(&m)
	Explore.Wait = func(at unsafe.Pointer, ready func() bool) {
		if at != object || !ready() {
			t.Error("Lock waits for a free mutex")
		}
		log = append(log, "wait")
	}
	m.Lock()
	want("Lock", "wait")
	if m.TryLock() {
		t.Error("TryLock of a locked mutex")
	}
	m.Unlock()
	if !m.TryLock() {
		t.Error("TryLock of a free mutex")
	}
	want("TryLock, Unlock, TryLock", "write", "write", "write")
	Explore.Wait = func(_ unsafe.Pointer, ready func() bool) {
		if ready() {
			t.Error("Lock does not wait for a locked mutex")
		}
		log = append(log, "wait")
	}
	m.Lock()
	want("Lock of a locked mutex", "wait")

	var s Statistic
	var h Heuristic
	s.Add(1)
	if h.Add(1); s.Load() != 1 || h.Load() != 1 || h.Swap(2) != 1 || !h.CompareAndSwap(2, 3) || h.CompareAndSwap(2, 4) {
		t.Error("Statistic and Heuristic")
	}
	want("a Statistic and a Heuristic")
}
