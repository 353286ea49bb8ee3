package magazine

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// A counter counts to 2^64. Its owner counts without atomic read-modify-writes, and any
// goroutine may read it meanwhile. On 32-bit machines it is two words, so that it never
// wraps unnoticed between two reads, however rare they are.
type counter struct {
	carry [64/bits.UintSize - 1]atomic.Uintptr // how often low has wrapped; no word on 64-bit machines
	low   uintptr
}

var _ = [1]struct{}{}[8-unsafe.Sizeof(counter{})]

// count adds one.
func (c *counter) count() {
	c.low++
	for i := range c.carry {
		if c.low == 0 {
			c.carry[i].Store(c.carry[i].Load() + 1)
		}
	}
}

// load returns the count. last is what load returned before, or 0. The owner stores the
// carry after low has wrapped, and load reads it before low. So the result is right, or
// too small by one carry, and then it is less than last.
func (c *counter) load(last uint64) (n uint64) {
	for i := range c.carry {
		n = uint64(c.carry[i].Load()) << 32
	}
	n += uint64(atomic.LoadUintptr(&c.low))
	if len(c.carry) > 0 && n < last {
		n += 1 << 32
	}
	return n
}
