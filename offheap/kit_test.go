package offheap_test

import (
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// newPool makes a pool that is closed with the test.
func newPool(t testing.TB, o dewpond.BytePoolOptions, m offheap.Options) *dewpond.BytePool {
	t.Helper()
	if o.Name == "" {
		o.Name = t.Name()
	}
	if m.Reserve == 0 && ^uint(0)>>63 == 0 {
		m.Reserve = 32 << 20 // addresses of 32 bits have room for only a few pools of the default
	}
	p, err := m.NewBytePool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// must returns v and panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A fakeLimit stands for the runtime's limit.
type fakeLimit struct {
	mu     sync.Mutex
	limit  int64
	calls  int    // of set
	sets   int    // calls that set it
	before func() // called once, before the limit is next set; nil: not called
}

func (f *fakeLimit) set(to int64) int64 {
	if call := f.before; call != nil && to >= 0 {
		f.before = nil
		call()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.limit
	f.calls++
	if to >= 0 {
		f.limit = to
		f.sets++
	}
	return was
}

func (f *fakeLimit) now() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limit
}

// coupled returns a function that makes pools coupled to a limit of the test. Their
// blocks are mapped, or the test is skipped. The test must put all blocks back: address
// space is scarce with 32 bits.
func coupled(t *testing.T, limit int64) (f *fakeLimit, newCoupled func(m offheap.Options) *dewpond.BytePool, total func() offheap.Totals) {
	t.Helper()
	f = &fakeLimit{limit: limit}
	c := offheap.NewCoupler(f.set)
	return f, func(m offheap.Options) *dewpond.BytePool {
		t.Helper()
		m.Reserve = 256 * mib
		p, err := c.NewBytePool(dewpond.BytePoolOptions{
			Name: t.Name(), Classes: []int{4096, 64 << 10, 1 << 20}, IdleTimeout: dewpond.NoDecay, MaxIdleBytes: gib,
		}, m)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		if p.Stats().OffHeap.Reserved == 0 {
			t.Skip("blocks are not mapped here")
		}
		return p
	}, c.Total
}

// take gets n blocks of a size.
func take(p *dewpond.BytePool, size, n int) [][]byte {
	blocks := make([][]byte, n)
	for i := range blocks {
		blocks[i] = p.Get(size)
	}
	return blocks
}

// give puts blocks back.
func give(p *dewpond.BytePool, blocks ...[]byte) {
	for _, b := range blocks {
		p.Put(b)
	}
}
