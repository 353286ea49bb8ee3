package arena

import (
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond/internal/memory"
)

// peek reads a state in a way that the race detector does not see.
//
//go:norace
func peek(state *memory.State) uint32 { return *(*uint32)(unsafe.Pointer(state)) }

// unsafeSlice returns n bytes from where b begins, which may extend past b.
func unsafeSlice(b []byte, n int) []byte { return unsafe.Slice(unsafe.SliceData(b), n) }

// onBoth runs a test on mapped memory, if this system has it, and on the heap.
func onBoth(t *testing.T, test func(t *testing.T, c Config)) {
	t.Run("heap", func(t *testing.T) { test(t, Config{OnHeap: true}) })
	if platform().maps() {
		t.Run("mapped", func(t *testing.T) { test(t, Config{}) })
	}
}

// newTest makes an arena that the test closes with closeTest.
func newTest(t testing.TB, c Config) *Arena {
	t.Helper()
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// mustAlloc allocates a block, or ends the test.
func mustAlloc(t testing.TB, a *Arena, size int) []byte {
	t.Helper()
	b, err := a.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// closeTest closes an arena whose blocks the test has all freed.
func closeTest(t testing.TB, a *Arena) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if u := a.Usage(); u.Reserved != 0 || u.Spans != 0 || u.Committed != 0 || u.Refused != 0 {
		t.Errorf("after Close: %+v", u)
	}
}

// notZero returns the index of the first byte that is not zero, or -1.
func notZero(b []byte) int {
	for i, x := range b {
		if x != 0 {
			return i
		}
	}
	return -1
}

// returnDirectly is Return as a pool does it, without the arena. Without a table it
// accepts nothing. The cap is one that a block can have.
func returnDirectly(a *Arena, b []byte) (accepted bool) {
	blocks := a.Blocks()
	state := blocks.Find(addressOf(b), uint(cap(b)))
	return state != nil && state.Return(memory.WhenOut(addressOf(b), uint(cap(b))))
}
