package overwrite

import (
	"sync"
	"testing"
)

// A test may swap a pool.
func TestSwapped(t *testing.T) {
	shared = sync.Pool{New: func() any { return make([]byte, 8) }}
	shared.Put(shared.Get())
	t.Cleanup(func() { shared = sync.Pool{} })
}
