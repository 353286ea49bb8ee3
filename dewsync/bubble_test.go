package dewsync_test

import (
	"runtime"
	"testing"

	"github.com/dewpond/dewpond/dewsync"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// What New returns need not be on the heap, also in a bubble.
func TestConstantsInBubbles(t *testing.T) {
	for _, x := range []any{"constant", "", struct{ s string }{"x"}, func() {}, runtime.GC, &packageVariable, 5, new(int), make(chan int)} {
		p := &dewsync.Pool{New: func() any { return x }}
		use := func() { p.Put(p.Get()); p.Put(p.Get()) }
		synctest.Test(t, func(*testing.T) { use() })
		use()
		synctest.Test(t, func(*testing.T) { use() })
	}
}
