package dewtest

import (
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// NewOffHeapBytePool is [NewBytePool] with blocks outside the Go heap (see package offheap),
// of the same classes. It shows who writes to a block after its Put, and who reads it: on
// Linux every touch of an idle block faults. The fault ends the process with the stack of the
// goroutine that has touched the block. To have the stacks of the Get and the Put as well,
// write in the test, and in each goroutine that may touch it:
//
//	defer offheap.ExplainFaults()()
//
// A write right behind the cap of a block faults too. On other systems and under the race
// detector a write is found later, as with NewBytePool. A leak is found at the end of the
// test alone.
func NewOffHeapBytePool(tb testing.TB, o dewpond.BytePoolOptions) *dewpond.BytePool {
	tb.Helper()
	if o.Classes == nil {
		o.Classes = dewpond.DefaultClasses()
	}
	return endingBytePool(tb, o, offheap.NewBytePool)
}
