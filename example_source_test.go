package dewpond_test

import (
	"fmt"
	"sync"

	"github.com/dewpond/dewpond"
)

// A ledger is an Allocator that knows its blocks, each by its first byte.
type ledger struct {
	sizes sync.Map // from *byte to int
}

func (l *ledger) Alloc(size int) ([]byte, error) {
	block := make([]byte, size) // or memory of another kind
	l.sizes.Store(&block[0], size)
	return block, nil
}

func (l *ledger) Free(block []byte) { l.sizes.Delete(&block[0]) }

func (l *ledger) Owns(b []byte) bool {
	size, ok := l.sizes.Load(&b[:1][0])
	return ok && size == cap(b)
}

// A pool on memory of one's own. Test an Allocator with TestAllocator of package dewtest.
func ExampleSource() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "ledger", Memory: new(ledger)})
	defer pool.Close()

	b := pool.Get(1500)
	pool.Put(b)
	pool.Put(make([]byte, 1536)) // the cap of a class, but no block of the Allocator
	s := pool.Stats()
	fmt.Println(s.IdleBytes, "bytes idle,", s.Dropped.Foreign, "refused")
	// Output: 1536 bytes idle, 1 refused
}
