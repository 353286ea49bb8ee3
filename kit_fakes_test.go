package dewpond_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A fakeSource is a dewpond.Source that knows every block it has given out.
type fakeSource struct {
	mu     sync.Mutex
	blocks map[*byte]int  // size of each that is out
	freed  map[*byte]bool // kept alive, so that no address comes twice
	twice  int            // Frees of what was not out
	fail   error
}

func newFakeSource() *fakeSource {
	return &fakeSource{blocks: map[*byte]int{}, freed: map[*byte]bool{}}
}

func (f *fakeSource) Alloc(size int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, f.fail
	}
	b := make([]byte, size)
	f.blocks[unsafe.SliceData(b)] = size
	return b, nil
}

func (f *fakeSource) Free(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := unsafe.SliceData(b)
	if f.blocks[at] != cap(b) || len(b) != cap(b) {
		f.twice++
	}
	delete(f.blocks, at)
	f.freed[at] = true
}

func (f *fakeSource) Owns(b []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.blocks[unsafe.SliceData(b)] == cap(b)
}

func (f *fakeSource) report() (out, twice int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.blocks), f.twice
}

// A fixedSource is a Source that returns itself for every block.
type fixedSource []byte

func (s fixedSource) Alloc(int) ([]byte, error) { return s, nil }
func (s fixedSource) Free([]byte)               {}
func (s fixedSource) Owns([]byte) bool          { return true }

// A panicsInFree is a fakeSource whose Free panics while it is on, or ends in another way.
type panicsInFree struct {
	*fakeSource
	on  bool
	end func() // nil: it panics
}

func (s *panicsInFree) Free(b []byte) {
	s.fakeSource.Free(b)
	switch {
	case s.on && s.end != nil:
		s.end()
	case s.on:
		panic("Free")
	}
}

// A meter is a dewpond.Source that knows how much it has given out, and how much it
// ever had at once.
type meter struct {
	bytes, most atomic.Int64
	fail        atomic.Bool
}

// errNoMemory is what a meter returns while it fails.
var errNoMemory = errors.New("no memory today")

func (m *meter) Alloc(size int) ([]byte, error) {
	if m.fail.Load() {
		return nil, errNoMemory
	}
	bytes := m.bytes.Add(int64(size))
	for most := m.most.Load(); bytes > most && !m.most.CompareAndSwap(most, bytes); most = m.most.Load() {
	}
	return make([]byte, size), nil
}

func (m *meter) Free(b []byte) { m.bytes.Add(-int64(len(b))) }

func (m *meter) Owns([]byte) bool { return true }

// A hookedContext calls something before its owner waits.
type hookedContext struct {
	context.Context
	before func()
}

func (c hookedContext) Err() error {
	c.before()
	return nil
}
