package magazine

import (
	"math/bits"
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
)

const (
	indexBits = 24
	indexMask = 1<<indexBits - 1
)

// A table turns the index of a magazine into its address, because a stack's head has no
// room for an address and a generation in one word that can be swapped. Lookups are
// lock-free; adding and removing take the mutex, and happen only where memory is
// allocated or let go anyway.
type table struct {
	// Each element points to the first of 64 entries, or of twice as many as the
	// element before.
	chunks [indexBits - chunkBits + 1]atomics.Pointer[atomics.Pointer[magazine]]

	bytes atomics.Heuristic // of the magazines and the chunks

	mu   atomics.Mutex // held for a few instructions and one allocation
	free []uint32
	last uint32
}

// The first chunk has 1<<chunkBits entries and each next one twice as many.
const chunkBits = 6

// place returns the chunk of an index, which is never 0, and the entry in it.
func place(index uint32) (chunk, offset uint32) {
	i := index - 1 + 1<<chunkBits
	chunk = uint32(bits.Len32(i)) - chunkBits - 1
	return chunk, i - 1<<(chunk+chunkBits)
}

// entry returns the entry of an index that add has assigned, so its chunk exists.
func (t *table) entry(index uint32) *atomics.Pointer[magazine] {
	chunk, offset := place(index)
	first := t.chunks[chunk].Load()
	return (*atomics.Pointer[magazine])(unsafe.Add(unsafe.Pointer(first), uintptr(offset)*unsafe.Sizeof(*first)))
}

// at returns the magazine at an index, or nil when it has been removed.
func (t *table) at(index uint32) *magazine { return t.entry(index).Load() }

// below returns the magazine that follows m in a list that popAll took, or nil after
// the last.
func (t *table) below(m *magazine) *magazine {
	if index := m.next.Load(); index != 0 {
		return t.at(index)
	}
	return nil
}

// add makes an empty magazine that the caller owns, or returns nil when 16 million
// exist.
func (t *table) add(places int) *magazine {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := newMagazine(places)
	bytes := m.bytes()
	if last := len(t.free) - 1; last >= 0 {
		m.index, t.free = t.free[last], t.free[:last]
	} else if t.last < indexMask {
		t.last++
		m.index = t.last
	} else {
		return nil
	}
	if chunk, _ := place(m.index); t.chunks[chunk].Load() == nil {
		entries := make([]atomics.Pointer[magazine], 1<<(chunk+chunkBits))
		t.chunks[chunk].Store(&entries[0])
		bytes += int64(len(entries)) * int64(unsafe.Sizeof(entries[0]))
	}
	t.entry(m.index).Store(m)
	t.bytes.Add(bytes)
	return m
}

// remove lets go of a magazine that the caller owns; its index is assigned again. A
// goroutine that is about to lose the race to pop it may find nil at the index, or the
// next magazine there: its swap fails either way, because of the generation.
func (t *table) remove(m *magazine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entry(m.index).Store(nil)
	t.free = append(t.free, m.index)
	t.bytes.Add(-m.bytes())
}
